/* Runs random SQL on SQLite in memory. The seed chooses the queries and their number. */
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static unsigned state;

static unsigned below(unsigned limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static int row(void *sum, int columns, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < columns; i++)
        *(unsigned *)sum = *(unsigned *)sum * 31 + (values[i] ? (unsigned char)values[i][0] : 7);
    return 0;
}

static unsigned sum;
static sqlite3 *db;

static void run(const char *sql)
{
    char *error = NULL;
    if (sqlite3_exec(db, sql, row, &sum, &error) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, error);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static const char *queries[] = {
        "select count(*), avg(x) from t where k < %u",
        "select k, sum(x) from t group by k having sum(x) > %u order by 2 desc",
        "select t.id, u.note from t join u on t.k = u.k where t.id < %u",
        "select upper(name), length(name) from t where name like '%%%u%%'",
        "with recursive c(n) as (values(1) union all select n + 1 from c where n < %u) select sum(n) from c",
        "update t set x = x * 2 where k = %u",
        "delete from u where k = %u",
        "select group_concat(substr(name, 2, 3)) from (select name from t order by name limit %u)",
        "select row_number() over (order by x), name from t where k > %u",
        "select distinct k from t except select k from u where k < %u",
        "insert into u select k, name || '%u' from t where id % 9 = 0",
        "create index if not exists i%u on t(name, k)",
    };
    char sql[512];
    state = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    run("create table t(id integer primary key, k int, name text, x real); create table u(k int, note text); begin");
    for (unsigned i = 10 + below(90); i > 0; i--) {
        snprintf(sql, sizeof sql, "insert into t values(null, %u, 'name %u %.*s', %u.5)", below(50), i, (int)below(60),
                 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh", below(1000));
        run(sql);
        snprintf(sql, sizeof sql, "insert into u values(%u, 'note %u')", below(50), i);
        run(sql);
    }
    run("commit");
    for (unsigned i = 1 + below(20); i > 0; i--) {
        snprintf(sql, sizeof sql, queries[below(sizeof queries / sizeof *queries)], below(80));
        run(sql);
    }
    printf("%u\n", sum);
    sqlite3_close(db);
    return 0;
}
