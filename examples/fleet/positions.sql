-- Merges all tables of positions in the folder `positions` into `merged-positions.parquet`, across builds, with DuckDB.

COPY (
    SELECT version, symbol, file, path, line, discriminator, what, rule, target, target_file, '' AS profile,
        CASE rule WHEN 'min' THEN min(count) ELSE sum(count) END AS count
    FROM read_parquet('positions/**/*.parquet', hive_partitioning = false)
    GROUP BY version, symbol, file, path, line, discriminator, what, rule, target, target_file
    ORDER BY symbol, file, path, line, discriminator, what, target, target_file
) TO 'merged-positions.parquet' (FORMAT parquet, COMPRESSION snappy);
