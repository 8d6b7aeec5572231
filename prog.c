/* Sorts records in an order chosen by name: one comparison, called through a
 * pointer, does nearly all the work, and only a profile knows which.
 *
 *   quickstart ORDER ROUNDS [WORKERS]     ORDER is key, name or age */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDS 20000

struct record {
    unsigned key;
    int age;
    char name[8];
};

typedef int order(const struct record *, const struct record *);

static int by_key(const struct record *a, const struct record *b) { return a->key < b->key; }

static int by_age(const struct record *a, const struct record *b)
{
    if (a->age != b->age)
        return a->age < b->age;
    return by_key(a, b);
}

static int by_name(const struct record *a, const struct record *b)
{
    int difference = memcmp(a->name, b->name, sizeof a->name);
    return difference != 0 ? difference < 0 : by_age(a, b);
}

static const struct { const char *name; order *less; } orders[] = {
    {"key", by_key}, {"age", by_age}, {"name", by_name},
};

static order *find_order(const char *name)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, name) == 0)
            return orders[i].less;
    fprintf(stderr, "no such order: %s\n", name);
    exit(1);
}

static void generate(struct record *records, unsigned seed)
{
    for (int i = 0; i < RECORDS; i++) {
        seed = seed * 1664525 + 1013904223;
        records[i].key = seed >> 7;
        records[i].age = seed >> 24;
        for (size_t c = 0; c < sizeof records[i].name; c++)
            records[i].name[c] = 'a' + (seed >> (3 * c + 8)) % 16;
    }
}

/* A heap of the records before `end`; the one at `root` may be too small. */
static void sift(struct record *records, int root, int end, order *less)
{
    struct record moved = records[root];
    for (int child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end)
            child += less(&records[child], &records[child + 1]);
        if (!less(&moved, &records[child]))
            break;
        records[root] = records[child];
    }
    records[root] = moved;
}

static void sort(struct record *records, order *less)
{
    for (int root = RECORDS / 2; root-- > 0;)
        sift(records, root, RECORDS, less);
    for (int end = RECORDS; --end > 0;) {
        struct record largest = records[0];
        records[0] = records[end];
        records[end] = largest;
        sift(records, 0, end, less);
    }
}

static unsigned work(const char *name, int rounds)
{
    static struct record records[RECORDS];
    order *less = find_order(name);
    unsigned sum = 0;
    for (int round = 0; round < rounds; round++) {
        generate(records, round);
        sort(records, less);
        sum = sum * 31 + records[RECORDS / 3].key;
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s ORDER ROUNDS [WORKERS]\n", argv[0]);
        return 1;
    }
    int workers = argc > 3 ? atoi(argv[3]) : 0;
    for (int worker = 0; worker < workers; worker++)
        if (fork() == 0)
            return work("age", 1) == 0;
    printf("%u\n", work(argv[1], atoi(argv[2])));
    while (wait(NULL) > 0)
        ;
    return 0;
}
