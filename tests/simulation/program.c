/* Interprets a script of operations: the body of every simulated process.
 *
 *     program BUILDS SCRIPT LEDGER ID
 *
 * SCRIPT has a line for each process: its number ID, its build, a colon, and operations separated by semicolons. What the
 * process has done is in its slot of LEDGER, a file in shared memory, at any moment: a kill does not take it away.
 *
 * No function here counts. Where gcc compiles this file it still has the flags of an instrumented one, so that gcc
 * rewrites calls of fork and exec. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "countersink.h"
#include "faults.h"

#define NOT_COUNTED __attribute__((no_profile_instrument_function))
#define MOST_PROCESSES 64
#define MOST_OPERATIONS 120
#define MOST_THREADS 8
#define NOBODY 65534

extern char **environ;

/* A slot of the ledger, as tests/simulation/ledger.rs reads it. */
struct slot {
    uint32_t started;
    uint32_t done;
    uint32_t process;
    uint32_t has_status;
    int32_t status;
    /* Of each operation: whether a fault struck, and whether it failed. */
    uint8_t results[MOST_OPERATIONS];
};

enum { STRUCK = 1, FAILED = 2 };

typedef void entry(int function, int path);

void program_entry(int function, int path);
#ifdef WITH_IMAGES
void library_entry(int function, int path);
#endif

#ifdef __clang__
int __llvm_profile_write_file(void);
int __llvm_profile_dump(void);
void __llvm_profile_reset_counters(void);
#define FLUSH() (__llvm_profile_write_file() != 0)
#define DUMP() (void)__llvm_profile_dump()
#define RESET() __llvm_profile_reset_counters()
#else
void __gcov_dump(void);
void __gcov_reset(void);
#define FLUSH() (countersink_flush() != 0)
#define DUMP() __gcov_dump()
#define RESET() __gcov_reset()
#endif

static const char *builds, *script_name, *ledger_name;
static char script[1 << 16];
static struct slot *slots;
static void *plugin;
static entry *plugin_entry;

static struct crew {
    entry *entry;
    int function, path, times;
} crew;
static pthread_t threads[MOST_THREADS];
static int running;

/* Ends a process that finds the script or its surroundings wrong: no ending of a script has this status. */
NOT_COUNTED static _Noreturn void wrong(const char *what)
{
    fprintf(stderr, "simulation: %s: %s\n", what, strerror(errno));
    fflush(stderr);
    kill(getpid(), SIGXCPU);
    for (;;)
        pause();
}

NOT_COUNTED static char *path_of(char *room, const char *build, const char *name)
{
    sprintf(room, "%s/%s/%s", builds, build, name);
    return room;
}

NOT_COUNTED static entry *entry_of(const char *image)
{
    if (!strcmp(image, "program"))
        return program_entry;
#ifdef WITH_IMAGES
    if (!strcmp(image, "library"))
        return library_entry;
#endif
    if (plugin_entry == NULL)
        wrong("no plugin is open");
    return plugin_entry;
}

NOT_COUNTED static void *work(void *unused)
{
    for (int i = 0; i < crew.times; i++)
        crew.entry(crew.function, crew.path);
    return unused;
}

NOT_COUNTED static void begin(int number)
{
    for (running = 0; running < number; running++)
        if (pthread_create(&threads[running], NULL, work, NULL) != 0)
            wrong("pthread_create");
}

NOT_COUNTED static void join(void)
{
    while (running > 0)
        pthread_join(threads[--running], NULL);
}

NOT_COUNTED static void run(int id) __attribute__((noreturn));

NOT_COUNTED static int child_of_clone(void *id)
{
    run(*(int *)id);
}

NOT_COUNTED static long start_child(const char *how, int *id)
{
    /* A child may itself make one, and goes on with its stack meanwhile. */
    static char stacks[4][1 << 16] __attribute__((aligned(16)));
    static int depth;
    if (!strcmp(how, "fork"))
        return fork();
    if (!strcmp(how, "_Fork")) {
        pid_t (*volatile pointer)(void) = fork;
        return pointer();
    }
    if (!strcmp(how, "hooks")) {
        countersink_before_fork();
        long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0)
            countersink_after_fork_child();
        else
            countersink_after_fork_parent();
        return child;
    }
#ifdef SYS_fork
    if (!strcmp(how, "SYS_fork"))
        return syscall(SYS_fork);
#endif
    if (!strcmp(how, "SYS_clone"))
        return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!strcmp(how, "SYS_clone3")) {
        struct clone_args arguments = {.exit_signal = SIGCHLD};
        return syscall(SYS_clone3, &arguments, sizeof arguments);
    }
    if (!strcmp(how, "clone"))
        return clone(child_of_clone, stacks[++depth % 4] + sizeof *stacks, SIGCHLD, id);
    wrong(how);
}

NOT_COUNTED static void fork_as(const char *how, int id)
{
    long child = start_child(how, &id);
    if (child < 0)
        wrong(how);
    if (child == 0)
        run(id);
}

/* The arguments of another process's program. */
NOT_COUNTED static char **arguments_of(const char *build, int id)
{
    static char path[4096], number[16];
    static char *arguments[6];
    path_of(path, build, "program");
    sprintf(number, "%d", id);
    arguments[0] = path;
    arguments[1] = (char *)builds;
    arguments[2] = (char *)script_name;
    arguments[3] = (char *)ledger_name;
    arguments[4] = number;
    return arguments;
}

/* Returns only if it fails. */
NOT_COUNTED static void exec_as(const char *how, const char *build, int id)
{
    char **a = arguments_of(build, id);
    if (!strcmp(how, "execv"))
        execv(a[0], a);
    else if (!strcmp(how, "execve"))
        execve(a[0], a, environ);
    else if (!strcmp(how, "execvp"))
        execvp(a[0], a);
    else if (!strcmp(how, "execl"))
        execl(a[0], a[0], a[1], a[2], a[3], a[4], (char *)NULL);
    else if (!strcmp(how, "execle"))
        execle(a[0], a[0], a[1], a[2], a[3], a[4], (char *)NULL, environ);
    else if (!strcmp(how, "execvpe"))
        execvpe(a[0], a, environ);
    else if (!strcmp(how, "fexecve"))
        fexecve(open(a[0], O_RDONLY | O_CLOEXEC), a, environ);
    else if (!strcmp(how, "hooks")) {
        countersink_before_exec();
        syscall(SYS_execve, a[0], a, environ);
        countersink_exec_failed();
    } else if (!strcmp(how, "SYS_execve"))
        syscall(SYS_execve, a[0], a, environ);
    else
        wrong(how);
}

NOT_COUNTED static void spawn_as(const char *how, const char *build, int id)
{
    char **a = arguments_of(build, id);
    pid_t child;
    if (!strcmp(how, "vfork")) {
        child = vfork();
        if (child == 0) {
            execv(a[0], a);
            _exit(99);
        }
        if (child < 0)
            wrong("vfork");
    } else if ((errno = posix_spawn(&child, a[0], NULL, NULL, a, environ)) != 0)
        wrong("posix_spawn");
}

/* Waits for all children, and notes how they ended. */
NOT_COUNTED static void wait_for_children(void)
{
    int status;
    for (pid_t child; (child = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;)
        for (int id = 0; child > 0 && id < MOST_PROCESSES; id++)
            if (slots[id].started && slots[id].process == (uint32_t)child) {
                slots[id].status = status;
                slots[id].has_status = 1;
            }
}

NOT_COUNTED static void open_plugin(const char *build)
{
    char path[4096];
    plugin = dlopen(path_of(path, build, "plugin.so"), RTLD_NOW);
    if (plugin == NULL)
        wrong(dlerror());
    plugin_entry = (entry *)dlsym(plugin, "plugin_entry");
}

/* A folder beside the script becomes the root. */
NOT_COUNTED static int imprison(const char *folder)
{
    char path[4096];
    strcpy(path, script_name);
    strcpy(strrchr(path, '/') + 1, folder);
    return chroot(path) != 0 || chdir("/") != 0;
}

NOT_COUNTED static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        wrong("setrlimit");
}

NOT_COUNTED static int number_of_signal(const char *name)
{
    return !strcmp(name, "TERM") ? SIGTERM
        : !strcmp(name, "SEGV") ? SIGSEGV
        : !strcmp(name, "WINCH") ? SIGWINCH
        : !strcmp(name, "KILL") ? SIGKILL : SIGXCPU;
}

/* Does one operation. Gives whether it failed. */
NOT_COUNTED static int operate(char **words)
{
    const char *what = words[0];
#define IS(name) !strcmp(what, name)
    if (IS("count") || IS("threads") || IS("begin")) {
        crew.entry = entry_of(words[1]);
        crew.function = atoi(words[2]), crew.path = atoi(words[3]), crew.times = atoi(words[4]);
        if (IS("count"))
            work(NULL);
        else
            begin(atoi(words[5]));
        if (IS("threads"))
            join();
    } else if (IS("join"))
        join();
    else if (IS("fork"))
        fork_as(words[1], atoi(words[2]));
    else if (IS("spawn"))
        spawn_as(words[1], words[2], atoi(words[3]));
    else if (IS("wait"))
        wait_for_children();
    else if (IS("open"))
        open_plugin(words[1]);
    else if (IS("close")) {
        plugin_entry = NULL;
        return dlclose(plugin) != 0;
    } else if (IS("flush"))
        return FLUSH();
    else if (IS("dump"))
        DUMP();
    else if (IS("reset"))
        RESET();
    else if (IS("discard"))
        return countersink_reset() != 0;
    else if (IS("file"))
        return countersink_set_file(words[1]) != 0;
    else if (IS("chdir"))
        return chdir(words[1]) != 0;
    else if (IS("umask"))
        umask((mode_t)strtol(words[1], NULL, 8));
    else if (IS("chroot"))
        return imprison(words[1]) != 0;
    else if (IS("nobody"))
        return setgid(NOBODY) != 0 || setuid(NOBODY) != 0;
    else if (IS("limit"))
        limit_files((rlim_t)atoi(words[1]));
    else if (IS("unlimit"))
        limit_files(RLIM_INFINITY);
    else if (IS("signal"))
        raise(number_of_signal(words[1]));
    else if (IS("failing-exec")) {
        execl("/nowhere/program", "program", (char *)NULL);
    } else if (IS("kill"))
        syscall(FAULTS, ARM_KILL, 0, atoi(words[1]), 0);
    else
        wrong(what);
    return 0;
}

NOT_COUNTED static void end(char **words)
{
    const char *what = words[0];
    int status = words[1] != NULL ? atoi(words[1]) : 0;
    if (IS("exit"))
        exit(status);
    if (IS("quick_exit"))
        quick_exit(status);
    if (IS("_exit"))
        _exit(status);
    if (IS("_Exit"))
        _Exit(status);
    if (IS("abort"))
        abort();
    if (IS("raise"))
        raise(number_of_signal(words[1]));
    if (IS("exec")) {
        exec_as(words[1], words[2], atoi(words[3]));
        wrong("exec");
    }
    wrong(what);
}

/* Takes the next operation of a line apart. */
NOT_COUNTED static int next(char **line, char **words)
{
    char *operation = strsep(line, ";");
    int number = 0;
    for (char *word; number < 7 && (word = strsep(&operation, " ")) != NULL;)
        if (*word != 0)
            words[number++] = word;
    words[number] = NULL;
    return number > 0;
}

/* Arms a fault for the operation behind it: fail KIND N ERROR OPERATION ... */
NOT_COUNTED static char **arm(char **words)
{
    if (strcmp(words[0], "fail") != 0)
        return words;
    syscall(FAULTS, ARM_FAIL, atoi(words[1]), atoi(words[2]), atoi(words[3]));
    return words + 4;
}

NOT_COUNTED static void run(int id)
{
    struct slot *slot = &slots[id];
    slot->process = (uint32_t)syscall(SYS_getpid);
    slot->started = 1;
    char name[16];
    sprintf(name, "%d ", id);
    char *line = script;
    while (line != NULL && strncmp(line, name, strlen(name)) != 0)
        line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL;
    if (line == NULL)
        wrong("no such process");
    /* The child of a fork has its own line, and the rest of the script must stay. */
    static char room[1 << 13];
    line = strchr(line, ':') + 1;
    size_t length = strcspn(line, "\n");
    memcpy(room, line, length);
    room[length] = 0;
    line = room;
    char *words[8];
    while (next(&line, words)) {
        char **operation = arm(words);
        int is_armed = operation != words;
        if (line == NULL)
            end(operation);
        int failed = operate(operation);
        int struck = is_armed && syscall(FAULTS, DISARM, 0, 0, 0) > 0;
        slot->results[slot->done] = (uint8_t)((struck ? STRUCK : 0) | (failed ? FAILED : 0));
        slot->done++;
    }
    wrong("no end");
}

NOT_COUNTED int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    builds = argv[1], script_name = argv[2], ledger_name = argv[3];
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    int file = open(ledger_name, O_RDWR | O_CLOEXEC);
    if (file < 0)
        wrong(ledger_name);
    slots = (struct slot *)mmap(NULL, MOST_PROCESSES * sizeof *slots, PROT_READ | PROT_WRITE,
        MAP_SHARED, file, 0);
    close(file);
    file = open(script_name, O_RDONLY | O_CLOEXEC);
    if (slots == MAP_FAILED || file < 0 || read(file, script, sizeof script - 1) <= 0)
        wrong(script_name);
    close(file);
    run(atoi(argv[4]));
}
