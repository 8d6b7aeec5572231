/* countersink: what a program may ask of its profile runtime.
 *
 * A program built by gcc with -fprofile-generate, -fprofile-arcs or --coverage
 * and linked with libcountersink_rt.a writes its counts by itself when it ends.
 * These calls are for programs that want more: counts before the end, another
 * file, or processes made by other means than fork() and the calls that gcc
 * rewrites (execl, execlp, execle, execv, execvp, execve).
 *
 * Functions that return int return 0, or the negative of an errno value; errno
 * itself is never changed, and nothing is ever allocated with malloc. All of
 * them may be called from any thread. "Images" are the executable and the shared
 * objects that were linked with the archive; a call reaches all images that the
 * dynamic linker lets see each other: the executable and the libraries it was
 * linked with, and the plugins it opens if it was linked with the flags that
 * `countersink flags`, pkg-config or CMake give.
 *
 * One flush, reset or fork runs at a time. A call that finds another thread at
 * it waits, for at most about a minute (then -EBUSY). Signals wait meanwhile in
 * its thread; a call from the handler of a fault in one of these calls returns
 * -EBUSY at once. In a child of vfork(), and in one made by other means than
 * fork() without the calls below, the counts are the parent's: all calls return
 * -ECHILD there, and the end of such a child writes nothing. */
#ifndef COUNTERSINK_H
#define COUNTERSINK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes what was counted since the last flush into the file, where it is added
 * to what is there, and goes on counting. The file is replaced in one step. If
 * that fails the old file stays as it is, the counts stay in memory for the next
 * attempt, and one line on standard error says why. Async-signal-safe.
 *
 * Errors: -EBUSY see above or another process holds the file for half a minute,
 * -ENOMEM no memory to remember what was written, else what the system said:
 * -ENOSPC, -EACCES, -EROFS, -EISDIR, -ENAMETOOLONG, ... After __gcov_dump, and
 * until __gcov_reset, nothing is written and 0 returned. With live counters the
 * counts are in a file already, and will be added from there; a flush is then only
 * what countersink_reset goes back to, and countersink_set_file takes all of them
 * along. */
int countersink_flush(void);

/* Forgets what was counted since the last flush, and goes on counting.
 * Async-signal-safe. Errors: -EBUSY. */
int countersink_reset(void);

/* Chooses the file for all later writing, as the environment variable
 * COUNTERSINK_FILE does for the whole run. The pattern is copied. In it stand %e
 * for the program's name, %p for the process id, %h for the machine's name, %m
 * for the signature of the image and %% for %; any other % stays. A relative path is taken from the
 * directory in which the program started. NULL or "" choose the file that the
 * program was linked with (`countersink flags --file`), else "%e.csraw", and
 * "/dev/null" keeps nothing. Missing directories are made when the file is
 * written. Async-signal-safe.
 *
 * Errors, after which the file is what it was: -ENAMETOOLONG, -EBUSY. */
int countersink_set_file(const char *pattern);

/* Version of the runtime, such as "0.1.0". A static string. Declared weak, its
 * address is NULL where the archive was not linked. */
const char *countersink_version(void);

/* For processes made by clone() or a raw system call (every fork() is known by
 * itself): call countersink_before_fork before it, and after it countersink_after_fork_parent
 * in the parent, also if it failed, or countersink_after_fork_child in the child.
 *
 * Between them no flush runs in any thread, so that none is half done in the
 * child. The child's counts start at zero: what was counted before the fork is
 * the parent's to write. If a signal handler that interrupted a flush forks,
 * nothing is held, and the child must not return from the handler.
 *
 * Calling them around a fork() does no harm. Not for vfork,
 * whose child shares the parent's counts. Async-signal-safe. */
void countersink_before_fork(void);
void countersink_after_fork_parent(void);
void countersink_after_fork_child(void);

/* For an exec that gcc did not rewrite, such as fexecve, execvpe, a raw system
 * call or one in a library: call countersink_before_exec before it, which writes
 * what was counted, as nothing runs afterwards; and countersink_exec_failed if
 * the exec returns. Counting then goes on, nothing is lost or counted twice.
 *
 * In a child of vfork before_exec writes nothing and returns 0: the counts are
 * the parent's, who goes on. The same holds in a child that was made without
 * the calls above. Async-signal-safe. Errors as for countersink_flush. */
int countersink_before_exec(void);
void countersink_exec_failed(void);

/* For programs without an operating system, linked with libcountersink_rt_bare.a.
 * That archive has these functions, countersink_reset and countersink_version,
 * and none of the others above. It calls nothing but the program's own sink.
 *
 * A dump holds what was counted since the start or the last countersink_reset.
 * Where objects have thread-local variables, as those compiled with
 * -fprofile-generate do and those with -fprofile-arcs do not, the program must
 * have set up its thread pointer before its first indirect call. */

/* Takes the next bytes of a dump. The return value 0 goes on, any other ends the
 * dump and is what the caller gets. */
typedef int countersink_sink(void *context, const void *bytes, size_t length);

/* Writes a dump through a sink, in pieces of at most 256 bytes. Uses at most 512
 * bytes of stack, the sink's own not counted. Interrupts may go on counting.
 * Returns 0, what the sink returned, or -16 (-EBUSY on Linux) while another dump
 * is being written, as in an interrupt on top of it. */
int countersink_write(countersink_sink *sink, void *context);

/* The same as lines of text, each with a checksum and in one call of the sink,
 * for a serial line or a log that others write to, too. The tool finds it there:
 * countersink extract LOG. */
int countersink_write_text(countersink_sink *sink, void *context);

/* How many bytes these two would write now. Between here and there indirect calls
 * and the like may meet values that are new. */
size_t countersink_size(void);
size_t countersink_text_size(void);

/* Registers objects compiled with -fprofile-info-section=NAME, which have no
 * constructors: the bounds of the section, __start_NAME and __stop_NAME from the
 * linker if NAME is a C identifier, or symbols of a linker script. What is
 * registered already stays so. */
void countersink_register(const void *const *begin, const void *const *end);

#ifdef __cplusplus
}
#endif

#endif
