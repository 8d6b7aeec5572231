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

extern const char __ehdr_start[] WEAK;
extern const uint64_t __llvm_profile_raw_version WEAK;
extern const char __llvm_profile_filename[] WEAK;

HIDDEN const char *countersink_llvm_bound(int section, int end);
HIDDEN uint64_t countersink_llvm_version(void);
HIDDEN const char *countersink_llvm_file(void);

/* In tables, and read anew: in code gold takes the start of the image for the
 * place of a missing symbol. In shared libraries it does so in tables, too. */
#define BOUNDS(name) { __start_##name, __stop_##name }

static const char *const volatile bounds[][2] = {
    BOUNDS(__llvm_prf_data),
    BOUNDS(__llvm_prf_cnts),
    BOUNDS(__llvm_prf_bits),
    BOUNDS(__llvm_prf_names),
    BOUNDS(__llvm_prf_vals),
    BOUNDS(__llvm_prf_vnds),
    BOUNDS(__llvm_prf_vtab),
    BOUNDS(__llvm_prf_vns),
};
static const uint64_t *const volatile version = &__llvm_profile_raw_version;
static const char *const volatile file = __llvm_profile_filename;

static int is_missing(const void *place)
{
    return !place || place == __ehdr_start;
}

const char *countersink_llvm_bound(int section, int end)
{
    return bounds[section][end];
}

uint64_t countersink_llvm_version(void)
{
    const uint64_t *word = version;
    return is_missing(word) ? 0 : *word;
}

const char *countersink_llvm_file(void)
{
    const char *name = file;
    return is_missing(name) ? 0 : name;
}
