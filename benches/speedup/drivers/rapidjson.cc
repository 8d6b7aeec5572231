// Parses JSON files again and again with RapidJSON: as documents, in place, and as a stream of events; writes them in two styles.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#include "rapidjson/document.h"
#include "rapidjson/prettywriter.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

using namespace rapidjson;

// Sums what a value holds.
static double weigh(const Value &value)
{
    double sum = 1;
    if (value.IsObject())
        for (const auto &member : value.GetObject())
            sum += member.name.GetStringLength() + weigh(member.value);
    else if (value.IsArray())
        for (const auto &element : value.GetArray())
            sum += weigh(element);
    else if (value.IsNumber())
        sum += value.GetDouble();
    else if (value.IsString())
        sum += value.GetStringLength();
    return sum;
}

struct Counter : BaseReaderHandler<UTF8<>, Counter> {
    size_t values = 0, letters = 0;
    bool Default() { return ++values; }
    bool String(const char *, SizeType length, bool) { letters += length; return ++values; }
    bool Key(const char *, SizeType length, bool) { letters += length; return true; }
};

int main(int argc, char **argv)
{
    int rounds = atoi(argv[1]);
    for (int i = 2; i < argc; i++) {
        std::ifstream file(argv[i]);
        std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        double weight = 0;
        size_t written = 0;
        Counter counter;
        for (int round = 0; round < rounds; round++) {
            Document document;
            if (document.Parse(text.c_str()).HasParseError())
                return printf("%s: error at %zu\n", argv[i], document.GetErrorOffset()), 1;
            weight += weigh(document);
            StringBuffer plain, pretty;
            Writer<StringBuffer> writer(plain);
            PrettyWriter<StringBuffer> pretty_writer(pretty);
            document.Accept(writer);
            document.Accept(pretty_writer);
            written += plain.GetSize() + pretty.GetSize();
            std::vector<char> copy(text.c_str(), text.c_str() + text.size() + 1);
            Document in_place;
            in_place.ParseInsitu<kParseFullPrecisionFlag>(copy.data());
            weight += weigh(in_place);
            Reader reader;
            StringStream stream(text.c_str());
            reader.Parse(stream, counter);
        }
        printf("%.6g %zu %zu %zu\n", weight, written, counter.values, counter.letters);
    }
}
