//! Programs of which several releases are measured: how each is compiled and run, given the crate of a release. Which
//! releases there are, the benchmarks say.

use crate::compilers::Language;
use crate::program::{Package, Program, driver, of_tests, words};

/// Lua, whose sources are in a folder of the crate.
pub fn lua(package: &Package, folder: &str) -> Program {
    let mut sources = package.all_but(folder, "c", &["lua", "luac"]);
    sources.push(of_tests("lua_script.c"));
    let script = of_tests("benchmark.lua").display().to_string();
    // Otherwise the hashes of strings depend on the time, and so does the number of instructions.
    let flags = words("-std=gnu99 -DLUA_USE_POSIX -Dluai_makeseed(L)=0");
    Program {
        language: Language::C,
        sources,
        flags: [flags, vec![package.include(folder)]].concat(),
        libraries: &["-lm"],
        training: vec![script.clone(), "1".into()],
        measured: vec![script, "2".into()],
    }
}

/// SQLite.
pub fn sqlite(package: &Package) -> Program {
    let folder = "sqlite3";
    let options =
        "-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_MATH_FUNCTIONS";
    Program {
        language: Language::C,
        sources: [package.named(folder, "sqlite3"), vec![of_tests("sqlite_queries.c")]].concat(),
        flags: [vec![package.include(folder)], words(options)].concat(),
        libraries: &["-lm"],
        training: words("700"),
        measured: words("2500"),
    }
}

/// zstd.
pub fn zstd(package: &Package) -> Program {
    let sources = [
        package.all_but("zstd/lib/common", "c", &[]),
        package.all_but("zstd/lib/compress", "c", &["zstdmt_compress"]),
        package.all_but("zstd/lib/decompress", "c", &[]),
        vec![driver("zstd.c")],
    ];
    // Older releases include the headers of `common` by their names alone.
    let folders = ["zstd/lib", "zstd/lib/common"].map(|folder| package.include(folder));
    Program {
        language: Language::C,
        sources: sources.concat(),
        flags: [&folders[..], &words("-DZSTD_DISABLE_ASM=1 -DZSTD_LEGACY_SUPPORT=0")].concat(),
        libraries: &[],
        training: words("100 1"),
        measured: words("220 2"),
    }
}
