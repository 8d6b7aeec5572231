/* Whether the program has objects of clang or rustc, without an operating system.
 *
 * In C because stable Rust cannot refer to a symbol weakly. Such objects ask for
 * __llvm_profile_runtime, and with it for the member that has the family. A
 * program of gcc's objects alone does not carry that member. */
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN const void *countersink_llvm_family(void) __attribute__((weak));
HIDDEN const void *countersink_llvm_resettable(void) __attribute__((weak));
HIDDEN const void *countersink_family_of_llvm(void);
HIDDEN const void *countersink_resettable_of_llvm(void);

const void *countersink_family_of_llvm(void)
{
    return countersink_llvm_family ? countersink_llvm_family() : 0;
}

/* Apart, so that a program that only writes dumps does not carry the rest. */
const void *countersink_resettable_of_llvm(void)
{
    return countersink_llvm_resettable ? countersink_llvm_resettable() : 0;
}
