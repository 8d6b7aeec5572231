/* LLVM's calls for programs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void __llvm_profile_set_filename(const char *name);
int __llvm_profile_write_file(void);
void __llvm_profile_reset_counters(void);
char *__llvm_profile_begin_data(void);
uint64_t __llvm_profile_get_version(void);
void __llvm_profile_instrument_target_value(uint64_t value, void *record, uint32_t site, uint64_t times);

static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int (*volatile table[2])(int) = {one, two};

/* The first function with a record, and the only one with a site. */
__attribute__((noinline)) int work(int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += table[i % 2](i);
    return sum;
}

/* The record of the function with a site. */
static char *record(void)
{
    uint32_t version = (uint32_t)__llvm_profile_get_version();
    size_t stride = version < 9 ? 48 : version < 11 ? 64 : 72;
    size_t sites = version < 9 ? 44 : version < 11 ? 52 : 60;
    char *record = __llvm_profile_begin_data();
    while (*(uint16_t *)(record + sites) == 0)
        record += stride;
    return record;
}

int main(int argc, char **argv)
{
    work(10);
    if (argc == 1)
        return 0;
    if (!strcmp(argv[1], "times")) {
        uint64_t value = (uint64_t)(uintptr_t)table[0], other = (uint64_t)(uintptr_t)table[1];
        __llvm_profile_instrument_target_value(value, record(), 0, UINT64_C(1) << 50);
        __llvm_profile_instrument_target_value(other, record(), 0, 0);
        __llvm_profile_instrument_target_value(other, record(), 0, 7);
        __llvm_profile_instrument_target_value(other, 0, 0, 7);
        return 0;
    }
    /* Each name in turn; "-" stands for none. */
    for (int i = 1; i < argc; i++)
        __llvm_profile_set_filename(strcmp(argv[i], "-") ? argv[i] : 0);
    return 0;
}
