/* A program whose system calls fail: `refused CALL ERROR WHEN`, the first two as numbers. From the start ("start"), before
 * the runtime begins, or at the end ("end") the kernel answers the call with the error, or with 0 and does nothing. Ends
 * with status 7. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile int sink;

__attribute__((noinline)) void work(int rounds)
{
    for (int i = 0; i < rounds; i++)
        sink += i;
}

/* From here on the kernel answers a call with an error; 0 means that the call does nothing and gives 0. */
static int refuse(int call, int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Before the constructors of the runtime, if the third argument says so. */
static void begin(int argc, char **argv)
{
    if (argc > 3 && argv[3][0] == 's' && refuse(atoi(argv[1]), atoi(argv[2])))
        _exit(98);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **) = begin;

int main(int argc, char **argv)
{
    work(100);
    if (argc < 4)
        return 7;
    /* What is printed must arrive, also where `write` is refused. */
    puts("done");
    fflush(stdout);
    if (argv[3][0] == 'e' && refuse(atoi(argv[1]), atoi(argv[2])))
        return 98;
    return 7;
}
