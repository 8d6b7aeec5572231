/* Queries of many kinds against SQLite, in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

static int rows;

static int row(void *sum, int columns, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < columns; i++)
        *(unsigned *)sum = *(unsigned *)sum * 31 + (values[i] ? (unsigned)strlen(values[i]) : 7);
    rows++;
    return 0;
}

static void run(sqlite3 *db, const char *sql, unsigned *sum)
{
    char *error = NULL;
    if (sqlite3_exec(db, sql, row, sum, &error) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, error);
        exit(1);
    }
}

static void twice(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    sqlite3_result_int64(context, 2 * sqlite3_value_int64(argv[0]));
}

static int by_length(void *data, int an, const void *a, int bn, const void *b)
{
    (void)data;
    return an != bn ? an - bn : memcmp(a, b, an);
}

int main(int argc, char **argv)
{
    int size = argc > 1 ? atoi(argv[1]) : 2000;
    unsigned sum = 0;
    sqlite3 *db;
    char sql[256];
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL);
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    sqlite3_create_function(db, "twice", 1, SQLITE_UTF8, NULL, twice, NULL, NULL);
    sqlite3_create_collation(db, "length", SQLITE_UTF8, NULL, by_length);
    run(db, "create table t(id integer primary key, k int, name text collate length, x real)", &sum);
    run(db, "create table u(k int, note text); create index tk on t(k); begin", &sum);
    for (int i = 0; i < size; i++) {
        snprintf(sql, sizeof sql, "insert into t values(%d, %d, 'name %d %.*s', %d.%d)", i,
                 i * 7919 % 97, i, i % 50, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", i, i % 10);
        run(db, sql, &sum);
        if (i % 3 == 0) {
            snprintf(sql, sizeof sql, "insert into u values(%d, 'note %d')", i % 101, i);
            run(db, sql, &sum);
        }
    }
    run(db, "commit", &sum);
    run(db, "select count(*), sum(x), avg(k), group_concat(twice(k)) from t where id % 5 = 1", &sum);
    run(db, "select k, count(*), max(name) from t group by k having count(*) > 3 order by 2 desc, 1", &sum);
    run(db, "select t.id, u.note from t join u on t.k = u.k where t.id between 100 and 300", &sum);
    run(db, "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) "
            "select sum(i * i), hex(randomblob(0)) from n", &sum);
    run(db, "select id, rank() over (partition by k order by x desc) from t where name like '%a 1%'", &sum);
    run(db, "update t set x = x * 2, name = upper(name) where k in (select k from u where note glob '*7')", &sum);
    run(db, "delete from t where id % 13 = 0; vacuum; analyze; pragma integrity_check", &sum);
    run(db, "select json_group_array(json_object('k', k, 'n', name)) from t where id < 50", &sum);
    run(db, "select printf('%08.3f|%x|%s', x, k, substr(name, 2, 5)) from t order by name limit 200", &sum);
    sqlite3_close(db);
    printf("%d rows, %u\n", rows, sum);
    return 0;
}
