/* Runs a program and everything that it starts under ptrace, and lets faults strike where the processes ask for
 * them (faults.h): the Nth system call of a process kills it, or fails. So a fault strikes the same place each time.
 *
 *     launcher REPORT N PROGRAM ARGUMENTS
 *
 * N kills the program at its Nth system call, unless it is 0. REPORT gets a line for each process that was killed.
 * With - for REPORT there are no faults, and no ptrace.
 *
 * Ends as the program does, after the last process: also after those whose parents are gone. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"

#define MOST_THREADS 512

struct thread {
    pid_t id;
    enum faults armed;
    enum kind kind;
    long countdown;
    long error;
    long struck;
    /* What the call gives that is under way, if it does not run. */
    int is_replaced;
    long result;
};

static struct thread threads[MOST_THREADS];
static const char *report;
/* The system call that kills the first program, until that has begun; else 0. */
static long doom;

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(120);
}

/* The thread with this id; a new one at first. */
static struct thread *thread(pid_t id)
{
    struct thread *free = NULL;
    for (struct thread *thread = threads; thread < threads + MOST_THREADS; thread++) {
        if (thread->id == id)
            return thread;
        if (thread->id == 0 && free == NULL)
            free = thread;
    }
    if (free == NULL)
        fail("threads");
    *free = (struct thread){.id = id};
    return free;
}

/* Calls that the runtime makes for files and memory. */
static int is_of(enum kind kind, long call)
{
    switch (call) {
    case SYS_openat:
        return kind == ANY || kind == OPEN;
    case SYS_read: case SYS_pread64: case SYS_getdents64:
        return kind == ANY || kind == READ;
    case SYS_write: case SYS_pwrite64: case SYS_ftruncate: case SYS_fallocate:
        return kind == ANY || kind == WRITE || kind == FULL;
    case SYS_fstat: case SYS_newfstatat: case SYS_statx:
        return kind == ANY || kind == STAT;
    case SYS_flock:
        return kind == ANY || kind == LOCK;
    case SYS_rename: case SYS_renameat: case SYS_renameat2:
        return kind == ANY || kind == RENAME;
    case SYS_unlink: case SYS_unlinkat:
        return kind == ANY || kind == REMOVE;
    case SYS_fchmod: case SYS_fchown: case SYS_fchownat:
        return kind == ANY || kind == RIGHTS;
    case SYS_mmap:
        return kind == ANY || kind == MEMORY;
    case SYS_lseek:
        return kind == ANY || kind == SEEK;
    default:
        return 0;
    }
}

static void replace(struct thread *thread, long result)
{
    thread->is_replaced = 1;
    thread->result = result;
    ptrace(PTRACE_POKEUSER, thread->id, offsetof(struct user_regs_struct, orig_rax), -1L);
}

static void kill_now(struct thread *thread)
{
    FILE *lines = fopen(report, "a");
    if (lines == NULL)
        fail(report);
    fprintf(lines, "%d\n", thread->id);
    fclose(lines);
    kill(thread->id, SIGKILL);
}

static void obey(struct thread *thread, const uint64_t *arguments)
{
    replace(thread, thread->struck);
    thread->armed = (enum faults)arguments[0];
    thread->kind = (enum kind)arguments[1];
    thread->countdown = (long)arguments[2];
    thread->error = (long)arguments[3];
    thread->struck = 0;
}

static void enter(struct thread *thread, const struct __ptrace_syscall_info *info)
{
    long call = (long)info->entry.nr;
    if (call == FAULTS) {
        obey(thread, info->entry.args);
    } else if (thread->armed == ARM_KILL && --thread->countdown <= 0) {
        kill_now(thread);
    } else if (call == SYS_write && info->entry.args[0] <= STDERR_FILENO) {
        /* A message. */
    } else if (thread->armed == ARM_FAIL && is_of(thread->kind, call) && --thread->countdown <= 0) {
        thread->struck++;
        replace(thread, -thread->error);
        /* A disk that is full stays so. */
        if (thread->kind != FULL)
            thread->armed = DISARM;
    }
}

static void leave(struct thread *thread)
{
    if (thread->is_replaced) {
        thread->is_replaced = 0;
        ptrace(PTRACE_POKEUSER, thread->id, offsetof(struct user_regs_struct, rax), thread->result);
    }
}

/* Looks at a stop. Gives the signal to go on with. */
static int stopped(struct thread *thread, int status)
{
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
        struct __ptrace_syscall_info info;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->id, sizeof info, &info) <= 0)
            return 0;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
            enter(thread, &info);
        else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
            leave(thread);
        return 0;
    }
    if (status >> 16 == PTRACE_EVENT_EXEC && doom > 0) {
        thread->armed = ARM_KILL;
        thread->countdown = doom;
        doom = 0;
    }
    return status >> 16 != 0 ? 0 : signal;
}

static pid_t start(char **arguments, int gate)
{
    char go;
    pid_t child = fork();
    if (child == 0) {
        if (read(gate, &go, 1) != 1)
            _exit(121);
        close(gate);
        execv(arguments[0], arguments);
        _exit(122);
    }
    return child;
}

static void trace(pid_t program)
{
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK
        | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (program < 0 || ptrace(PTRACE_SEIZE, program, 0, options) != 0)
        fail("ptrace");
    ptrace(PTRACE_INTERRUPT, program, 0, 0);
}

int main(int argc, char **argv)
{
    int gate[2];
    if (argc < 4 || pipe2(gate, 02000000 /* O_CLOEXEC */) != 0)
        return 123;
    report = argv[1];
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    pid_t program = start(argv + 3, gate[0]);
    if (strcmp(report, "-") != 0)
        trace(program);
    doom = atol(argv[2]);
    if (write(gate[1], "g", 1) != 1)
        fail("pipe");
    close(gate[0]);
    int status, last = 0;
    for (pid_t id; (id = waitpid(-1, &status, __WALL)) > 0;) {
        if (WIFSTOPPED(status)) {
            ptrace(PTRACE_SYSCALL, id, 0, stopped(thread(id), status));
            continue;
        }
        thread(id)->id = 0;
        if (id == program)
            last = status;
    }
    if (WIFSIGNALED(last)) {
        signal(WTERMSIG(last), SIG_DFL);
        kill(getpid(), WTERMSIG(last));
    }
    return WEXITSTATUS(last);
}
