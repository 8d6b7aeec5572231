#!/usr/bin/env python3
"""Merges the dumps of a fleet with Spark.

    spark-submit spark.py DUMPS TABLES MERGED [--tool countersink] [--batch 200]

DUMPS is a folder with *.csraw files below it; TABLES gets a table of counters for each build, MERGED their sum. All
three may be on any file system that Spark reads: a folder that all machines have, or an object store (s3a://...).

Executors convert dumps to rows with the tool, which each of them must have. Spark shuffles by the rows' keys. It repeats a
killed task from the dumps, with the same ids and numbers, and keeps only the output of tasks that ended. So nothing counts
twice. Needs pyspark, pyarrow and pandas.
"""
import argparse
import os
import subprocess
import tempfile

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession, functions as f

KEYS = [
    "version", "function", "object", "build_id", "module", "ordinal", "hash", "kind", "what", "rule", "index", "value",
]
SCHEMA = (
    "version int, function string, object string, build_id string, module string, ordinal int, hash bigint, "
    "kind string, what string, rule string, index int, value bigint, dump string, count decimal(20,0), bits bigint, "
    "rank bigint, content binary"
)


def rows_of_dumps(tool, batch_size):
    """Returns the function that executors run: it gives the rows of some batches of dumps."""

    def convert(batches):
        # A partition has all dumps of its batches, in any order.
        files = {}
        for some in batches:
            for path, number, content in zip(*(some.column(name).to_pylist() for name in ("id", "number", "content"))):
                files.setdefault(number // batch_size, []).append((path, content))
        for batch in sorted(files):
            with tempfile.TemporaryDirectory() as folder:
                for path, content in files.pop(batch):
                    place = os.path.join(folder, "dumps", path)
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    with open(place, "wb") as file:
                        file.write(content)
                table = os.path.join(folder, "table.parquet")
                subprocess.run(
                    [tool, "convert", os.path.join(folder, "dumps"), "--to", "parquet", "--jobs", "1",
                     "--first", str(batch * batch_size), "-o", table],
                    check=True,
                )
                yield from pyarrow.parquet.ParquetFile(table).iter_batches(batch_size=1 << 16)

    return convert


def merged(rows):
    """The sum of all rows, a table of the same form."""
    facts = (
        rows.where("rule <> 'last'").groupBy(KEYS).agg(
            f.expr("case when rule = 'min' then min(count) else sum(count) end").alias("count"),
            f.expr("bit_or(bits)").alias("bits"),
            f.max("rank").alias("rank"),
        ).withColumn("content", f.expr("cast('' as binary)"))
    )
    last = (
        rows.where("rule = 'last'").groupBy(KEYS).agg(
            f.expr("max_by(content, rank)").alias("content"), f.max("rank").alias("rank")
        ).withColumn("count", f.expr("cast(0 as decimal(30,0))")).withColumn("bits", f.expr("bigint(0)"))
    )
    columns = [*KEYS, "dump", "count", "bits", "rank", "content"]
    both = [part.withColumn("dump", f.lit("")).select(columns) for part in (facts, last)]
    return both[0].unionByName(both[1])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("dumps", "tables", "merged"):
        arguments.add_argument(name)
    arguments.add_argument("--tool", default="countersink")
    arguments.add_argument("--batch", type=int, default=200)
    given = arguments.parse_args()
    spark = SparkSession.builder.appName("countersink").getOrCreate()
    files = (
        spark.read.format("binaryFile").option("recursiveFileLookup", "true").option("pathGlobFilter", "*.csraw")
        .load(given.dumps)
    )
    # Numbers the dumps in the order of their paths, in which `countersink merge` reads a folder.
    root = given.dumps.rstrip("/") + "/"
    paths = [row.path for row in files.select("path").collect()]
    below = {path: path.split(root, 1)[1] for path in paths}
    ordered = sorted(paths, key=lambda path: below[path].split("/"))
    numbers = spark.createDataFrame(
        [(path, below[path], number) for number, path in enumerate(ordered)], "path string, id string, number bigint"
    )
    batches = (len(ordered) + given.batch - 1) // given.batch
    dumps = (
        files.select("path", "content").join(f.broadcast(numbers), "path")
        .repartition(batches, f.expr(f"number div {given.batch}"))
    )
    rows = dumps.select("id", "number", "content").mapInArrow(rows_of_dumps(given.tool, given.batch), SCHEMA)
    # One folder per build. The rows of layouts are in their build's folder; rows of live files have no build.
    rows.withColumn("build", f.col("module")).write.mode("overwrite").partitionBy("build").parquet(given.tables)
    stored = spark.read.schema(SCHEMA).parquet(given.tables)
    merged(stored).coalesce(1).write.mode("overwrite").parquet(given.merged)
    spark.stop()


if __name__ == "__main__":
    main()
