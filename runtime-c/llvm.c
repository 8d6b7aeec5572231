/* The sections that LLVM's instrumentation leaves in this image, and what its
 * compilers say of all of them.
 *
 * In C because stable Rust cannot refer to a symbol weakly. The linker defines
 * the bounds of sections that are there. Compilers emit the version word in
 * every mode but the front end's, and the name if they know one. Hidden, so
 * that every image finds its own. */
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define WEAK __attribute__((weak, visibility("hidden")))
#define SECTION(name) \
    extern const char __start_##name[] WEAK; \
    extern const char __stop_##name[] WEAK;

SECTION(__llvm_prf_data)
SECTION(__llvm_prf_cnts)
SECTION(__llvm_prf_bits)
SECTION(__llvm_prf_names)
SECTION(__llvm_prf_vals)
SECTION(__llvm_prf_vnds)
SECTION(__llvm_prf_vtab)
SECTION(__llvm_prf_vns)

extern const uint64_t __llvm_profile_raw_version WEAK;
extern const char __llvm_profile_filename[] WEAK;

HIDDEN const char *countersink_llvm_bound(int section, int end);
HIDDEN uint64_t countersink_llvm_version(void);
HIDDEN const char *countersink_llvm_file(void);

#define BOUND(number, name) \
    case number: \
        return end ? __stop_##name : __start_##name;

const char *countersink_llvm_bound(int section, int end)
{
    switch (section) {
    BOUND(0, __llvm_prf_data)
    BOUND(1, __llvm_prf_cnts)
    BOUND(2, __llvm_prf_bits)
    BOUND(3, __llvm_prf_names)
    BOUND(4, __llvm_prf_vals)
    BOUND(5, __llvm_prf_vnds)
    BOUND(6, __llvm_prf_vtab)
    BOUND(7, __llvm_prf_vns)
    default:
        return 0;
    }
}

uint64_t countersink_llvm_version(void)
{
    return &__llvm_profile_raw_version ? __llvm_profile_raw_version : 0;
}

const char *countersink_llvm_file(void)
{
    return __llvm_profile_filename;
}
