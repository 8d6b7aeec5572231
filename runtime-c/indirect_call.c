/* The thread-local pair that connects a call with its callee, and the profiler
 * that looks at it.
 *
 * In C because stable Rust without std has no thread-local variables, and every
 * instrumented object names this one. A call site stores the address it is about
 * to call and its own counters. An instrumented function that finds the pair set
 * calls the profiler with its ident and its own address. If the addresses are
 * equal, the site counts the ident. In every case the pair is then empty, so
 * that a callee without instrumentation is never blamed on the next callee that
 * has it. */
#include <stddef.h>
#include <stdint.h>

#if defined(__arm__) && defined(__ELF__)
/* GCC calls it for the thread pointer. Only programs with indirect-call counting
 * reach it, and they need it themselves; coverage links without it. */
__asm__(".weak __aeabi_read_tp");
#endif

struct indirect_call {
    void *callee;
    int64_t *counters;
};

__attribute__((visibility("default")))
__thread struct indirect_call __gcov_indirect_call;

__attribute__((visibility("hidden")))
void countersink_topn(int64_t *counters, int64_t value);
__attribute__((visibility("hidden")))
void countersink_topn_atomic(int64_t *counters, int64_t value);

#define PROFILER(name, count)                                   \
    __attribute__((visibility("default")))                      \
    void name(int64_t ident, void *self);                       \
    void name(int64_t ident, void *self)                        \
    {                                                           \
        struct indirect_call *call = &__gcov_indirect_call;     \
        void *callee = call->callee;                            \
        call->callee = NULL;                                    \
        if (callee == self)                                     \
            count(call->counters, ident);                       \
    }

PROFILER(__gcov_indirect_call_profiler_v4, countersink_topn)
PROFILER(__gcov_indirect_call_profiler_v4_atomic, countersink_topn_atomic)
