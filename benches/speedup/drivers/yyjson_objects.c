/* Makes JSON, reads it, changes it and writes it again. Arguments: number of objects, seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "yyjson.h"

int main(int argc, char **argv)
{
    int objects = atoi(argv[1]);
    size_t size = 1 << 16, length, sum = 0;
    char *words = text_make(size, argc > 2 ? atoi(argv[2]) : 1), *json = malloc((size_t)objects * 260 + 10), *at = json;
    for (size_t i = 0; i < size; i++)
        if (words[i] == '\n')
            words[i] = ' ';
    *at++ = '[';
    for (int i = 0; i < objects; i++) {
        const char *word = words + text_random() % (size - 100);
        at += sprintf(at, "%s{\"id\": %d, \"name\": \"%.*s\", \"x\": %.*f, ", i ? "," : "", i,
                      10 + (int)(text_random() % 40), word, (int)(text_random() % 9), i / 7.0);
        at += sprintf(at, "\"tags\": [true, null, \"caf\xc3\xa9 \\n\\u20ac\", -%u],\n ", text_random());
        at += sprintf(at, "\"deep\": {\"a\": {\"b\": %d.5e%d}}}", i, (int)(text_random() % 40) - 20);
    }
    strcpy(at, "]");
    for (int pretty = 0; pretty < 2; pretty++) {
        yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
        if (!doc)
            return 1;
        yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
        size_t index, max;
        yyjson_mut_val *object;
        yyjson_mut_arr_foreach(yyjson_mut_doc_get_root(copy), index, max, object) {
            yyjson_mut_val *name = yyjson_mut_obj_get(object, "name");
            sum += yyjson_mut_get_len(name);
            yyjson_mut_obj_add_uint(copy, object, "length", yyjson_mut_get_len(name));
        }
        char *text = yyjson_mut_write(copy, pretty ? YYJSON_WRITE_PRETTY | YYJSON_WRITE_ESCAPE_UNICODE : 0, &length);
        sum += length;
        free(text);
        yyjson_mut_doc_free(copy);
        yyjson_doc_free(doc);
    }
    printf("%zu\n", sum);
    return 0;
}
