/* Parses C, edits it, parses again and walks the tree. Arguments: number of functions, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "tree_sitter/api.h"

const TSLanguage *tree_sitter_c(void);

static unsigned long walk(TSNode node)
{
    unsigned long sum = ts_node_symbol(node);
    for (uint32_t i = 0; i < ts_node_child_count(node); i++)
        sum = sum * 31 + walk(ts_node_child(node, i));
    return sum;
}

int main(int argc, char **argv)
{
    int functions = atoi(argv[1]);
    char *source = malloc((size_t)functions * 300 + 10), *at = source;
    unsigned long sum = 0;
    free(text_make(100, argc > 2 ? atoi(argv[2]) : 1));
    for (int i = 0; i < functions; i++) {
        int kind = text_random() % 4;
        at += sprintf(at, "/* %d */\nstatic int f%d(struct s *p, unsigned n)\n{\n", i, i);
        at += sprintf(at, kind == 0   ? "    for (int i = 0; i < n; i++)\n        p->a[i] += (i * %d) & 0xff;\n"
                          : kind == 1 ? "    switch (n %% %d) { case 1: return p->x; default: break; }\n"
                          : kind == 2 ? "    if (!p || n > %d) { log(\"no\\n\"); goto out; }\nout:\n"
                                      : "    do { p = p->next ? p->next : 0; } while (p && --n != %d);\n", 3 + i % 50);
        at += sprintf(at, "    return f%d(p, n - 1) + sizeof(int) * 2;\n}\n", i / 2);
    }
    TSParser *parser = ts_parser_new();
    if (!ts_parser_set_language(parser, tree_sitter_c()))
        return 1;
    TSTree *tree = ts_parser_parse_string(parser, NULL, source, at - source);
    for (int i = 0; i < 10; i++) {
        uint32_t place = (at - source) / 11 * (i + 1);
        TSInputEdit edit = { .start_byte = place, .old_end_byte = place + 1, .new_end_byte = place + 1 };
        sum += walk(ts_tree_root_node(tree));
        source[place] = ' ';
        ts_tree_edit(tree, &edit);
        TSTree *next = ts_parser_parse_string(parser, tree, source, at - source);
        ts_tree_delete(tree);
        tree = next;
    }
    printf("%lu\n", sum + ts_node_descendant_count(ts_tree_root_node(tree)));
    ts_tree_delete(tree);
    ts_parser_delete(parser);
    return 0;
}
