// A library that the program opens.
#include "standard_plugins.h"
#include <algorithm>

struct Counter : Plugin {
    int run(std::vector<std::string> words) override
    {
        std::map<std::string, int, bool (*)(const std::string &, const std::string &)> counts(by_size);
        for (auto &word : words)
            counts[word]++;
        int most = 0;
        std::for_each(counts.begin(), counts.end(), [&](auto &entry) { most = larger(most, entry.second); });
        return most;
    }
};

extern "C" Plugin *make()
{
    Plugin::made()++;
    return new Counter;
}
