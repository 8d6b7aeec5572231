/* What clang's and rustc's drivers ask for with `-u __llvm_profile_runtime`.
 *
 * A member of its own: a program that defines the symbol itself opts out of
 * everything that happens at start and end, and calls what it wants. */
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int __llvm_profile_runtime;

HIDDEN void countersink_llvm_begin(void);

/* Before the constructors of any object, gcc's instrumented ones included. */
__attribute__((section(".init_array.00099"), used))
static void (*const begin)(void) = countersink_llvm_begin;
