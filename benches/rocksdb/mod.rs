//! A part of RocksDB, compiled from the sources in the crate librocksdb-sys: its database, its tables and its
//! cache, about a third of the code. Kept beside other results of the build.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{corpus_of, succeed};

const SOURCES: [&str; 29] = [
    "cache/lru_cache",
    "db/column_family",
    "db/compaction/compaction_iterator",
    "db/compaction/compaction_job",
    "db/compaction/compaction_picker",
    "db/db_impl/db_impl",
    "db/db_impl/db_impl_compaction_flush",
    "db/db_impl/db_impl_open",
    "db/db_impl/db_impl_write",
    "db/db_iter",
    "db/internal_stats",
    "db/log_reader",
    "db/memtable",
    "db/memtable_list",
    "db/table_cache",
    "db/version_builder",
    "db/version_set",
    "db/write_batch",
    "db/write_thread",
    "memtable/skiplistrep",
    "options/cf_options",
    "options/options_helper",
    "table/block_based/block",
    "table/block_based/block_based_table_builder",
    "table/block_based/block_based_table_reader",
    "table/block_based/filter_policy",
    "table/merging_iterator",
    "util/crc32c",
    "util/xxhash",
];

/// A shared library with debug information. Nothing is ever linked with it.
pub fn library() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rocksdb");
    let library = directory.join("librocksdb-part.so");
    if library.exists() {
        return Some(library);
    }
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/corpus/Cargo.toml");
    let sources = corpus_of(manifest, "librocksdb-sys")?.join("rocksdb");
    std::fs::create_dir_all(&directory).unwrap();
    let object = |source: &&str| {
        let object = directory.join(source.replace('/', "_") + ".o");
        // One at a time and gently: this is not the thing measured.
        let mut compiler = Command::new("nice");
        compiler.args(["g++", "-std=gnu++17", "-O2", "-g", "-fPIC", "-w", "-include", "cstdint"]);
        compiler.args([
            "-DNDEBUG",
            "-DOS_LINUX",
            "-DROCKSDB_PLATFORM_POSIX",
            "-DROCKSDB_LIB_IO_POSIX",
        ]);
        compiler.args(["-I.", "-Iinclude", "-c", &format!("{source}.cc"), "-o"]).arg(&object);
        succeed(compiler.current_dir(&sources));
        object
    };
    let objects: Vec<PathBuf> = SOURCES.iter().map(object).collect();
    let mut linker = Command::new("g++");
    linker.args(["-shared", "-Wl,--unresolved-symbols=ignore-all", "-o"]).arg(&library);
    succeed(linker.args(objects));
    Some(library)
}
