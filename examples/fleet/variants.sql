-- Other views `chosen` for merge.sql. The ids of dumps are DAY/HOST-NUMBER.csraw, as `dumps` writes them.
-- Each query keeps the layouts. A weight must be a whole number: profiles have whole counts, and only their ratios matter.

-- Weights: hosts of the canary ring count once, all others ten times.
CREATE OR REPLACE TEMP VIEW chosen AS
SELECT *, CASE WHEN split_part(dump, '/', 2) LIKE 'canary%' THEN 1 ELSE 10 END AS weight
FROM read_parquet('tables/**/*.parquet', hive_partitioning = false);

-- A window: the last seven days.
CREATE OR REPLACE TEMP VIEW chosen AS
SELECT *, 1 AS weight
FROM read_parquet('tables/**/*.parquet', hive_partitioning = false)
WHERE what = 'layout'
    OR try_cast(split_part(dump, '/', 1) AS DATE)
        > (SELECT max(try_cast(split_part(dump, '/', 1) AS DATE)) - 7 FROM read_parquet('tables/**/*.parquet'));

-- Decay: each day counts half as much as the next one, for ten days.
CREATE OR REPLACE TEMP VIEW chosen AS
WITH aged AS (
    SELECT *, max(try_cast(split_part(dump, '/', 1) AS DATE)) OVER ()
        - try_cast(split_part(dump, '/', 1) AS DATE) AS days
    FROM read_parquet('tables/**/*.parquet', hive_partitioning = false)
)
SELECT * EXCLUDE (days), CASE WHEN what = 'layout' THEN 1 ELSE (1024 >> days)::INTEGER END AS weight
FROM aged
WHERE what = 'layout' OR days < 10;

-- Builds: only the two builds with the most dumps.
CREATE OR REPLACE TEMP VIEW chosen AS
WITH kept AS (
    SELECT module FROM read_parquet('tables/**/*.parquet')
    WHERE what = 'runs' GROUP BY module ORDER BY count(DISTINCT dump) DESC, module LIMIT 2
)
SELECT *, 1 AS weight
FROM read_parquet('tables/**/*.parquet', hive_partitioning = false)
WHERE module IN (SELECT module FROM kept) OR what = 'live';

-- Doubled tables: each dump counts once, even if somebody uploaded or converted it twice.
CREATE OR REPLACE TEMP VIEW chosen AS
SELECT DISTINCT *, 1 AS weight FROM read_parquet('tables/**/*.parquet', hive_partitioning = false);
