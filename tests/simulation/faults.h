/* What a simulated process asks of the launcher, by a system call that Linux does not have. Without the launcher
 * it fails, and nothing happens. */
#define FAULTS 20816L

enum faults {
    /* Kill this thread's process at its Nth system call from now on. */
    ARM_KILL = 1,
    /* Let the Nth call of a kind fail with an error number. */
    ARM_FAIL = 2,
    /* No more faults. Gives how many calls have failed. */
    DISARM = 3
};

/* Kinds of calls, as tests/simulation/scenario.rs numbers them. */
enum kind { ANY, OPEN, READ, WRITE, STAT, LOCK, RENAME, REMOVE, RIGHTS, MEMORY, SEEK, FULL };
