/* countersink: what a program may ask of its profile runtime.
 *
 * A program built by gcc with -fprofile-generate, -fprofile-arcs or --coverage
 * and linked with libcountersink_rt.a writes its counts by itself when it ends.
 * These calls are for programs that want more: counts before the end, another
 * file, or processes made by other means than fork() and the calls that gcc
 * rewrites (execl, execlp, execle, execv, execvp, execve).
 *
 * Functions that return int return 0, or the negative of an errno value. They
 * never change errno itself and never allocate with malloc. Any thread may call
 * any of them. "Images" are the executable and the shared objects that were
 * linked with the archive. A call reaches all images that the dynamic linker
 * lets see each other: the executable, the libraries it was linked with, and
 * the plugins it opens if it was linked with the flags that `countersink flags`,
 * pkg-config or CMake give.
 *
 * One flush, reset or fork runs at a time. A call waits for another thread's,
 * for at most about a minute (then -EBUSY). Signals wait meanwhile in its
 * thread. A call from the handler of a fault in one of these calls returns
 * -EBUSY at once. In a child of vfork(), and in one made by other means than
 * fork() without the calls below, the counts are the parent's: all calls return
 * -ECHILD there, and the end of such a child writes nothing but a line that says
 * so.
 *
 * A daemon that writes its counts on SIGUSR1 and goes on:
 *
 *     static void flush(int signal) { countersink_flush(); }
 *
 *     int main(void)
 *     {
 *         signal(SIGUSR1, flush);
 *         for (;;)
 *             pause();
 *     }
 */
#ifndef COUNTERSINK_H
#define COUNTERSINK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds what was counted since the last flush to the file, and goes on counting.
 * The file is replaced in one step. If that fails, the old file stays as it is,
 * the counts stay in memory for the next attempt, and one line on standard error
 * says why. Async-signal-safe.
 *
 * Errors: -EBUSY (see above, or another process holds the file for half a
 * minute: then the counts are in a file beside it, which the line names), -ENOMEM
 * (no memory to remember what was written), else the system's: -ENOSPC, -EACCES,
 * -EROFS, -EISDIR, -ENAMETOOLONG, ... Between __gcov_dump and __gcov_reset nothing
 * is written and 0 returned. With live counters the counts are in a file already
 * and will be added from there. A flush then only marks what countersink_reset
 * goes back to, and countersink_set_file takes all counts along. */
int countersink_flush(void);

/* Forgets what was counted since the last flush, and goes on counting.
 * Async-signal-safe. Errors: -EBUSY. */
int countersink_reset(void);

/* Chooses the file for all later writing, as the environment variable
 * COUNTERSINK_FILE does for the whole run. The runtime copies the pattern. %e
 * becomes the program's name, %p the process id, %h the machine's name, %m the
 * signature of the image and %% a single %. Any other % is kept. A relative path
 * starts from the directory in which the program started. NULL or "" choose the
 * file that the program was linked with (`countersink flags --file`), else
 * "%e.csraw". "/dev/null" keeps nothing. Missing directories are made when the
 * file is written. Async-signal-safe.
 *
 * Errors, after which the file is what it was: -ENAMETOOLONG, -EBUSY, and
 * -EPERM in a program with more rights than its starter (set-user-ID and the
 * like), which writes only to an absolute name that it was linked with. */
int countersink_set_file(const char *pattern);

/* Version of the runtime, such as "0.1.0". A static string.
 *
 * None of the declarations in this file is weak. A program that must also link
 * without the archive declares what it uses as weak itself:
 *
 *     #pragma weak countersink_version
 *     if (countersink_version != NULL)
 *         puts(countersink_version());
 */
const char *countersink_version(void);

/* For processes made by clone() or a raw system call (the runtime sees every
 * fork() by itself, and with `countersink flags --wrap-exit` also clone() and
 * syscall()). Call countersink_before_fork before it. Afterwards call
 * countersink_after_fork_parent in the parent, also if it failed, and
 * countersink_after_fork_child in the child.
 *
 * Between them no flush runs in any thread, so that none is half done in the
 * child. The child's counts start at zero: the parent writes what was counted
 * before the fork. If a signal handler that interrupted a flush forks, nothing
 * is held, and the child must not return from the handler.
 *
 * Calling them around a fork() does no harm. Do not call them around vfork: its
 * child shares the parent's counts. Async-signal-safe. */
void countersink_before_fork(void);
void countersink_after_fork_parent(void);
void countersink_after_fork_child(void);

/* For an exec that gcc did not rewrite, such as fexecve, execvpe, a raw system
 * call or one in a library. Call countersink_before_exec before it: it writes
 * what was counted, as nothing runs afterwards. Call countersink_exec_failed if
 * the exec returns: counting then goes on, nothing is lost or counted twice.
 *
 * In a child of vfork before_exec writes nothing and returns 0: the counts
 * belong to the parent, which goes on. The same holds in a child that was made
 * without the calls above. Async-signal-safe. Errors as for countersink_flush. */
int countersink_before_exec(void);
void countersink_exec_failed(void);

/* For programs without an operating system, linked with libcountersink_rt_bare.a.
 * That archive has these functions, countersink_reset and countersink_version,
 * and none of the others above. It calls nothing but the program's own sink.
 *
 * A dump holds what was counted since the start or the last countersink_reset.
 * Objects compiled with -fprofile-generate have thread-local variables, those
 * compiled with -fprofile-arcs have none. With the former the program must set
 * up its thread pointer before its first indirect call. */

/* Takes the next bytes of a dump. 0 goes on; any other value ends the dump, and
 * the caller gets it. */
typedef int countersink_sink(void *context, const void *bytes, size_t length);

/* Writes a dump through a sink, in pieces of at most 256 bytes. Uses at most 528
 * bytes of stack for gcc's objects and 1 KiB for clang's, the sink's own not
 * counted. Interrupts may go on counting. Returns 0, what the sink returned, or
 * -16 (-EBUSY on Linux) while another dump is being written, as in an interrupt
 * during that dump. */
int countersink_write(countersink_sink *sink, void *context);

/* The same as lines of text, for a serial line or a log that others write to,
 * too. Each line has a checksum and is one call of the sink. The tool finds them
 * there: countersink extract LOG. */
int countersink_write_text(countersink_sink *sink, void *context);

/* How many bytes these two would write now. Until they do, indirect calls and the
 * like may meet new values. */
size_t countersink_size(void);
size_t countersink_text_size(void);

/* Memory for what values were seen, at indirect calls for instance. Programs
 * compiled with -fprofile-arcs have none: they need no memory, and no linker that
 * drops unused sections (-Wl,--gc-sections) leaves them any. Programs compiled
 * with -fprofile-generate get 40 KiB of .bss, unless they say otherwise:
 *
 * * COUNTERSINK_NODES(bytes), once, at file scope, in place of these 40 KiB. 0
 *   leaves them out. A value takes 24 bytes. Of 5136 bytes the runtime uses 524 or
 *   528 to find values of a site with more than 8 sooner.
 * * countersink_nodes(memory, bytes), at the start, before anything counts, where
 *   the memory is known only then, or lies elsewhere. The memory must be all zero.
 *   Returns 0, or -16 (-EBUSY on Linux) if values are in other memory already.
 *
 * Where no memory is left for a value, its events still count in the total of
 * their place, and the dump says how many there were. */
int countersink_nodes(void *memory, size_t bytes);

#ifdef __cplusplus
#define COUNTERSINK_CONSTANT extern "C" const
#define COUNTERSINK_MEMORY extern "C"
#else
#define COUNTERSINK_CONSTANT const
#define COUNTERSINK_MEMORY extern
#endif
#define COUNTERSINK_NODES(bytes)                                              \
    COUNTERSINK_MEMORY unsigned long long countersink_region[];               \
    __attribute__((section(".bss.countersink_region")))                       \
    unsigned long long countersink_region[(bytes) / 8 + ((bytes) < 8)];       \
    COUNTERSINK_MEMORY const size_t countersink_region_size;                  \
    COUNTERSINK_CONSTANT size_t countersink_region_size = (bytes) / 8 * 8

/* Takes over counters that a warm reset has left in memory: by a watchdog, a
 * fault, or the program itself. start and end are bounds of memory that the
 * program's start neither sets nor clears. A linker script puts these there:
 *
 *     retained = .;
 *     *(.bss.countersink_retained .bss.countersink_region .bss.__gcov*)
 *     retained_end = .;
 *
 * The last are gcc's counters, compiled with -fdata-sections. Call it once, at the
 * start, behind countersink_register or the constructors that register objects,
 * and before anything counts. Later dumps then hold the counts of all starts,
 * each as one run.
 *
 * Returns 1 if the counters in memory are those of this very build, and sound.
 * Otherwise sets all this memory to zero and returns 0. Memory that was without power
 * for a moment may hold a good mark and wrong counts: a program that knows of a
 * reset by the power clears the memory itself before the call. Returns -22 (-EINVAL
 * on Linux) and does nothing if some counters lie elsewhere.
 *
 * countersink_reset begins anew with zeros. Programs that count no values say
 * COUNTERSINK_NODES(0), or their memory is retained, too. */
int countersink_retain(void *start, void *end);

/* Registers objects compiled with -fprofile-info-section=NAME, which have no
 * constructors. Takes the bounds of the section: __start_NAME and __stop_NAME
 * from the linker if NAME is a C identifier, else symbols of a linker script.
 * An object that is registered already is skipped. */
void countersink_register(const void *const *begin, const void *const *end);

#ifdef __cplusplus
}
#endif

#endif
