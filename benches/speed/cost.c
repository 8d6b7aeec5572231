/* cost ONE_CORE COMMAND ARGUMENTS... runs a command, on one core if ONE_CORE is 1. It prints the time
 * taken and the processor time of all threads, both in microseconds, and the peak of memory in
 * kilobytes.
 *
 * A small program of its own, because the system's figure for a process's peak begins with the peak of
 * its starter. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

static long microseconds(struct timeval time)
{
    return time.tv_sec * 1000000L + time.tv_usec;
}

static void keep_to_one_core(void)
{
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    int core = 0;
    while (!CPU_ISSET(core, &cores))
        core++;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (*argv[1] == '1')
        keep_to_one_core();
    long start = now();
    int child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    long end = now();
    printf("%ld %ld %ld\n", end - start,
           microseconds(usage.ru_utime) + microseconds(usage.ru_stime), usage.ru_maxrss);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}
