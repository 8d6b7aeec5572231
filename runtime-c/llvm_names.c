/* The calls of LLVM's interface that take memory from the C library. A member of
 * its own, for programs that call them. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))
enum { LONGEST = 4096 };

HIDDEN size_t countersink_llvm_target(char *room, size_t size);
HIDDEN void __llvm_profile_set_filename(const char *name);
HIDDEN const char *__llvm_profile_get_filename(void);
HIDDEN const char *__llvm_profile_get_path_prefix(void);
HIDDEN int __llvm_profile_set_file_object(FILE *file, int merge);

/* The caller frees it. */
const char *__llvm_profile_get_filename(void)
{
    char path[LONGEST] = "";
    countersink_llvm_target(path, sizeof path);
    return strdup(path);
}

/* The directory with its slash. The caller frees it. */
const char *__llvm_profile_get_path_prefix(void)
{
    char path[LONGEST] = "";
    char *slash;
    countersink_llvm_target(path, sizeof path);
    slash = strrchr(path, '/');
    if (slash)
        slash[1] = 0;
    else
        path[0] = 0;
    return strdup(path);
}

/* Writes to the path of the file; nothing is written through the stream, and
 * counts are merged whatever `merge` says. */
int __llvm_profile_set_file_object(FILE *file, int merge)
{
    char link[64], path[LONGEST], name[2 * LONGEST];
    size_t used = 0;
    ssize_t length, place;
    (void)merge;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(file));
    length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/')
        return 1;
    for (place = 0; place < length; place++) {
        name[used++] = path[place];
        if (path[place] == '%')
            name[used++] = '%';
    }
    name[used] = 0;
    __llvm_profile_set_filename(name);
    return 0;
}
