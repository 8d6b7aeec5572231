/* Writes its counters through the callbacks of __gcov_info_to_gcda, as programs without files do.
 * Compile with -fprofile-info-section=infos, so that there is no constructor. */
#include <stdio.h>
#include <stdlib.h>

struct gcov_info;
extern const struct gcov_info *__start_infos[], *__stop_infos[];

void __gcov_info_to_gcda(const struct gcov_info *, void (*)(const char *, void *),
                         void (*)(const void *, unsigned, void *),
                         void *(*)(unsigned, void *), void *);

static int names;

__attribute__((no_profile_instrument_function)) static void name(const char *path, void *file)
{
    names++;
    fprintf(file, "%s\n", path);
}

__attribute__((no_profile_instrument_function)) static void dump(const void *bytes, unsigned length, void *file)
{
    fwrite(bytes, 1, length, file);
}

__attribute__((no_profile_instrument_function)) static void *allocate(unsigned length, void *file)
{
    (void)file;
    return malloc(length);
}

static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
int (*both[])(int) = {one, two};

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += both[i % 3 == 0](i) % (i % 9 + 1);
    return sum;
}

int main(int argc, char **argv)
{
    int sum = work(100);
    FILE *file = fopen(argc > 1 ? argv[1] : "stream.out", "w");
    for (const struct gcov_info **info = __start_infos; info != __stop_infos; info++)
        __gcov_info_to_gcda(*info, name, dump, allocate, file);
    fclose(file);
    return names != __stop_infos - __start_infos || sum == 0;
}
