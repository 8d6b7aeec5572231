/* Makes XML and parses it, in pieces. Arguments: number of elements, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expat.h"
#include "text.h"

static unsigned long starts, attributes, letters;

static void start(void *data, const XML_Char *name, const XML_Char **pairs)
{
    starts += name[0];
    for (; *pairs; pairs += 2)
        attributes += strlen(pairs[1]);
}

static void end(void *data, const XML_Char *name) { starts ^= name[0]; }

static void characters(void *data, const XML_Char *text, int length) { letters += length; }

int main(int argc, char **argv)
{
    int elements = atoi(argv[1]);
    size_t size = 1 << 16, room = (size_t)elements * 240 + 100;
    char *words = text_make(size, argc > 2 ? atoi(argv[2]) : 1), *xml = malloc(room), *at = xml;
    at += sprintf(at, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<all xmlns:x=\"urn:x\">");
    for (int i = 0; i < elements; i++) {
        const char *word = words + text_random() % (size - 100);
        int kind = text_random() % 8;
        at += sprintf(at, "<%s%d id=\"n%d\" x:size='%d'>%.*s", kind & 1 ? "item" : "x:node", kind, i, kind * i,
                      20 + (int)(text_random() % 60), word);
        if (kind == 3)
            at += sprintf(at, "<!-- %d --> &amp; &#x41; caf\xc3\xa9 <![CDATA[<%d>]]>", i, i);
        if (kind == 5)
            at += sprintf(at, "<?p %d?><empty/>\n", i);
        at += sprintf(at, "</%s%d>\n", kind & 1 ? "item" : "x:node", kind);
    }
    at += sprintf(at, "</all>");
    for (int namespaces = 0; namespaces < 2; namespaces++) {
        XML_Parser parser = namespaces ? XML_ParserCreateNS(NULL, '|') : XML_ParserCreate(NULL);
        XML_SetElementHandler(parser, start, end);
        XML_SetCharacterDataHandler(parser, characters);
        for (char *from = xml; from < at; from += 4000) {
            int length = at - from < 4000 ? at - from : 4000;
            if (XML_Parse(parser, from, length, from + length == at) != XML_STATUS_OK)
                return 1;
        }
        XML_ParserFree(parser);
    }
    printf("%lu %lu %lu\n", starts, attributes, letters);
    return 0;
}
