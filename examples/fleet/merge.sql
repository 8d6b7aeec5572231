-- Merges all tables of counters in the folder `tables` into `merged.parquet`, with DuckDB:
--   python3 -c "import duckdb; duckdb.execute(open('merge.sql').read())"
--   countersink convert merged.parquet --for-gcc gcc -o prog.afdo
-- The book's page "Fleets" lists the keys and the sums. Keep the rows where what = 'layout' in every
-- query: the other rows need them, and they belong to no dump.

-- A separate statement, so that queries with weights or windows replace only this one: see variants.sql.
CREATE OR REPLACE TEMP VIEW chosen AS
SELECT *, 1 AS weight FROM read_parquet('tables/**/*.parquet', hive_partitioning = false);

COPY (
    -- Counts, bits and sums.
    SELECT version, "function", object, build_id, module, ordinal, hash, kind, what, rule, "index", value, '' AS dump,
        CASE rule WHEN 'min' THEN min(count) ELSE sum(count * weight) END AS count,
        bit_or(bits) AS bits, max(rank) AS rank, ''::BLOB AS content
    FROM chosen
    WHERE rule <> 'last'
    GROUP BY version, "function", object, build_id, module, ordinal, hash, kind, what, rule, "index", value
    UNION ALL
    -- The few facts of the last dump.
    SELECT version, "function", object, build_id, module, ordinal, hash, kind, what, rule, "index", value, '' AS dump,
        0::DECIMAL(20, 0) AS count, 0::BIGINT AS bits, max(rank) AS rank, arg_max(content, rank) AS content
    FROM chosen
    WHERE rule = 'last'
    GROUP BY version, "function", object, build_id, module, ordinal, hash, kind, what, rule, "index", value
    ORDER BY "function", object, module, ordinal, kind, what, "index", value
) TO 'merged.parquet' (FORMAT parquet, COMPRESSION snappy);
