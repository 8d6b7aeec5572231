/* What clang's and rustc's drivers ask for with `-u __llvm_profile_runtime`.
 *
 * A member of its own: a program that defines the symbol itself opts out of
 * everything that happens at start and end, and calls what it wants. The symbol
 * is weak and its address is compared, because the archive may stand in front of
 * the program's own definition. */
#define HIDDEN __attribute__((visibility("hidden")))

static int own;
HIDDEN extern int __llvm_profile_runtime __attribute__((weak, alias("own")));

HIDDEN void countersink_llvm_start(void);

static void begin(void)
{
    int *volatile chosen = &__llvm_profile_runtime;
    if (chosen == &own)
        countersink_llvm_start();
}

/* Before the constructors of any object, gcc's instrumented ones included. */
__attribute__((section(".init_array.00099"), used))
static void (*const at_start)(void) = begin;

/* A symbol of each other member of LLVM's interface. So nothing is left for LLVM's
 * own archive, wherever ours stands on the link line: the program's calls would
 * bring in a member of LLVM's with functions that this archive has, too. */
__asm__(".globl __llvm_profile_get_magic\n"
        ".globl __llvm_profile_get_filename\n"
        ".globl __llvm_profile_recursive_mkdir");
