/* Makes YAML, parses it and writes it again. Arguments: number of entries, seed. */
#include <stdio.h>
#include <stdlib.h>

#include "text.h"
#include "yaml.h"

int main(int argc, char **argv)
{
    int entries = atoi(argv[1]);
    size_t size = 1 << 16, room = (size_t)entries * 300 + 100, written = 0, events = 0;
    char *words = text_make(size, argc > 2 ? atoi(argv[2]) : 1), *yaml = malloc(room), *at = yaml;
    unsigned char *output = malloc(2 * room);
    for (size_t i = 0; i < size; i++)
        if (words[i] == '\n' || words[i] == ',')
            words[i] = ' ';
    for (int i = 0; i < entries; i++) {
        const char *word = words + text_random() % (size - 100);
        switch (text_random() % 5) {
        case 0: at += sprintf(at, "- plain: x%.30s\n  number: %d\n", word, i); break;
        case 1: at += sprintf(at, "- &a%d [one, %d, 'two''s %.20s', {k: v}]\n", i, i, word); break;
        case 2: at += sprintf(at, "- \"quoted \\t \\u00e9 %.40s\"\n", word); break;
        case 3: at += sprintf(at, "- |\n  literal %.40s\n  and more\n", word); break;
        default: at += sprintf(at, "- ? key%d\n  : >\n    folded %.30s\n    # comment\n", i, word);
        }
    }
    yaml_parser_t parser;
    yaml_emitter_t emitter;
    yaml_event_t event;
    int done = 0;
    if (!yaml_parser_initialize(&parser) || !yaml_emitter_initialize(&emitter))
        return 1;
    yaml_parser_set_input_string(&parser, (unsigned char *)yaml, at - yaml);
    yaml_emitter_set_output_string(&emitter, output, 2 * room, &written);
    while (!done) {
        if (!yaml_parser_parse(&parser, &event))
            return 2;
        done = event.type == YAML_STREAM_END_EVENT;
        events++;
        if (!yaml_emitter_emit(&emitter, &event))
            return 3;
    }
    yaml_parser_delete(&parser);
    yaml_emitter_delete(&emitter);
    printf("%zu %zu\n", events, written);
    return 0;
}
