/* The calls of LLVM's interface that make directories. A member of its own, for
 * programs that call them. Weak: LLVM's runtime for clang's --coverage calls
 * them, too, and brings its own along. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define WEAK __attribute__((weak, visibility("hidden")))

WEAK void __llvm_profile_set_dir_mode(unsigned mode);
WEAK unsigned __llvm_profile_get_dir_mode(void);
WEAK void __llvm_profile_recursive_mkdir(char *path);

static unsigned directory_mode = 0755;

void __llvm_profile_set_dir_mode(unsigned mode)
{
    directory_mode = mode;
}

unsigned __llvm_profile_get_dir_mode(void)
{
    return directory_mode;
}

/* Makes every directory that a slash in the path ends. */
void __llvm_profile_recursive_mkdir(char *path)
{
    int before = errno;
    char *slash;
    for (slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(path, directory_mode);
        *slash = '/';
    }
    errno = before;
}
