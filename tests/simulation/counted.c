/* The functions whose counts the simulator knows: every path through them counts the same each time. All images of
 * all builds have them. SUFFIX tells their names apart, ENTRY is how the interpreter calls them, and VARIANT is a
 * change of the source between two builds. Also compiled as C++. */
#if defined __cplusplus && defined __clang__
#include <string>
#endif

#define JOIN_(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_(name, suffix)
#define NAME(name) JOIN(name, SUFFIX)
#define COUNTED static __attribute__((noinline))
#define NOT_COUNTED __attribute__((no_profile_instrument_function))

static volatile int sink;

COUNTED void NAME(branches)(int path)
{
#ifdef VARIANT
    if (path > 100)
        sink = 4;
#endif
    if (path == 0)
        sink = 1;
    else if (path == 1)
        sink = 2;
    else
        sink = 3;
}

COUNTED void NAME(loops)(int path)
{
    for (int i = 0; i < 10 * (path + 1); i++)
        sink += i;
}

COUNTED void NAME(first)(void) { sink = 5; }
COUNTED void NAME(second)(void) { sink = 6; }
COUNTED void NAME(third)(void) { sink = 7; }

static void (*const volatile targets[])(void) = {NAME(first), NAME(second), NAME(third)};

COUNTED void NAME(calls)(int path)
{
    targets[path]();
}

#if defined __cplusplus && defined __clang__
/* Inline functions of the standard library whose addresses are taken, so that their records hold these. The library
 * exports functions of the same names: the addresses may lie in another image, elsewhere in every run. */
static std::string &(std::string::*const volatile NAME(push))(const char *) = &std::string::append;

COUNTED void NAME(strings)(int path)
{
    std::string text("text");
    for (int i = 0; i <= path; i++)
        text += char('a' + i);
    (text.*NAME(push))("behind");
    sink += (int)text.size();
}
#else
COUNTED void NAME(strings)(int path)
{
    switch (path) {
    case 0: sink = 8; break;
    case 1: sink = 9; break;
    default: sink = 10;
    }
}
#endif

#ifdef __cplusplus
extern "C"
#endif
NOT_COUNTED void ENTRY(int function, int path);

NOT_COUNTED void ENTRY(int function, int path)
{
    switch (function) {
    case 0: NAME(branches)(path); break;
    case 1: NAME(loops)(path); break;
    case 2: NAME(calls)(path); break;
    default: NAME(strings)(path);
    }
}
