/* A program with the calls of libgcov that LLVM's runtime has for clang's --coverage. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
const char *__llvm_profile_get_filename(void);

__attribute__((noinline)) int work(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += i;
    return sum;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    work(10);
#ifdef FILE_NAME
    free((char *)__llvm_profile_get_filename());
#endif
    if (!strcmp(how, "dump"))
        __gcov_dump();
    if (!strcmp(how, "reset"))
        __gcov_reset();
    if (!strcmp(how, "fork") && fork() == 0) {
        work(100);
        return 0;
    }
    wait(0);
    work(5);
    return 0;
}
