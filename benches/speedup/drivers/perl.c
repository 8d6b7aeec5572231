/* Joins perl's own main. The order of its hashes is the same in each run. */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>

__attribute__((constructor)) static void fixed_hashes(void)
{
    setenv("PERL_HASH_SEED", "0", 1);
    setenv("PERL_PERTURB_KEYS", "0", 1);
}
