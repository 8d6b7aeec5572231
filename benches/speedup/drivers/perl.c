/* Runs a script with perl. Its hashes have the same order in each run. */
#include <stdlib.h>
#include <EXTERN.h>
#include <perl.h>

int main(int argc, char **argv, char **environment)
{
    setenv("PERL_HASH_SEED", "0", 1);
    setenv("PERL_PERTURB_KEYS", "0", 1);
    PERL_SYS_INIT3(&argc, &argv, &environment);
    PerlInterpreter *perl = perl_alloc();
    perl_construct(perl);
    PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    int status = perl_parse(perl, NULL, argc, argv, NULL);
    if (!status)
        status = perl_run(perl);
    perl_destruct(perl);
    perl_free(perl);
    PERL_SYS_TERM();
    return status;
}
