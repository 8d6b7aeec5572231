//! The programs that the conversion was tuned to, and those that were measured first.

use std::path::{Path, PathBuf};

use crate::compilers::Language;
use crate::further;
use crate::program::{Entry, Group, Package, Program, driver, header, include, own, words};
use crate::releases;

/// All programs but those held out.
pub const GROUPS: [Group; 3] = [
    (
        "the eight",
        &[
            Entry { name: "lua", title: "Lua", program: lua },
            Entry { name: "sqlite", title: "SQLite", program: sqlite },
            Entry { name: "zlib", title: "zlib", program: zlib },
            Entry { name: "bzip2", title: "bzip2", program: bzip2 },
            Entry { name: "zstd", title: "zstd", program: zstd },
            Entry { name: "oniguruma", title: "Oniguruma", program: oniguruma },
            Entry { name: "quickjs", title: "QuickJS", program: quickjs },
            Entry { name: "leveldb", title: "LevelDB", program: leveldb },
        ],
    ),
    (
        "the two in C++",
        &[
            Entry { name: "clipper", title: "Clipper", program: clipper },
            Entry { name: "ordinary", title: "ordinary C++", program: ordinary },
        ],
    ),
    further::GROUP,
];

pub fn lua() -> Program {
    releases::lua(&Package::of_tests("lua-src"), "lua-5.4.9")
}

pub fn sqlite() -> Program {
    releases::sqlite(&Package::of_tests("libsqlite3-sys"))
}

fn zlib() -> Program {
    let (package, folder) = (Package::of("libz-sys"), "src/zlib");
    let names =
        "adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil";
    Program {
        language: Language::C,
        sources: [package.named(folder, names), vec![driver("zlib.c")]].concat(),
        flags: vec![package.include(folder), "-DHAVE_UNISTD_H".into()],
        libraries: &[],
        training: words("150 1"),
        measured: words("320 2"),
    }
}

fn bzip2() -> Program {
    let (package, folder) = (Package::of("bzip2-sys"), "bzip2-1.0.8");
    let names = "blocksort huffman crctable randtable compress decompress bzlib";
    Program {
        language: Language::C,
        sources: [package.named(folder, names), vec![driver("bzip2.c")]].concat(),
        flags: vec![package.include(folder), "-DBZ_NO_STDIO".into()],
        libraries: &[],
        training: words("400 1"),
        measured: words("800 2"),
    }
}

fn zstd() -> Program {
    releases::zstd(&Package::of("zstd-sys"))
}

fn oniguruma() -> Program {
    let (package, folder) = (Package::of("onig_sys"), "oniguruma/src");
    let names = "regerror regparse regext regcomp regexec regenc regsyntax regtrav regversion st \
        onig_init unicode ascii utf8 iso8859_1 unicode_unfold_key unicode_fold1_key \
        unicode_fold2_key unicode_fold3_key";
    Program {
        language: Language::C,
        sources: [package.named(folder, names), vec![driver("onig.c")]].concat(),
        flags: vec![include(&own("oniguruma")), package.include(folder)],
        libraries: &[],
        training: words("30 1"),
        measured: words("70 2"),
    }
}

fn quickjs() -> Program {
    let (package, folder) = (Package::of("rquickjs-sys"), "quickjs");
    let script = driver("benchmark.js").display().to_string();
    Program {
        language: Language::C,
        sources: [
            package.named(folder, "quickjs libregexp libunicode dtoa"),
            vec![driver("quickjs.c")],
        ]
        .concat(),
        flags: [words("-D_GNU_SOURCE -w -funsigned-char"), vec![package.include(folder)]].concat(),
        libraries: &["-lm"],
        training: vec![script.clone(), "3".into()],
        measured: vec![script, "9".into()],
    }
}

pub fn leveldb() -> Program {
    let package = Package::of("leveldb-sys");
    let (database, snappy) = ("deps/leveldb-1.22", "deps/snappy-1.1.7");
    let unwanted = [
        "test",
        "testutil",
        "testharness",
        "env_windows",
        "db_bench",
        "leveldbutil",
        "dumpfile",
        "env_posix_test_helper",
    ];
    let is_wanted = |path: &PathBuf| {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        !stem.ends_with("_test") && !unwanted.contains(&stem)
    };
    let folders = ["db", "table", "util"];
    let mut sources: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| package.all_but(&format!("{database}/{folder}"), "cc", &[]))
        .filter(is_wanted)
        .collect();
    sources.push(package.path(&format!("{database}/helpers/memenv/memenv.cc")));
    for name in ["snappy", "snappy-sinksource", "snappy-stubs-internal"] {
        sources.push(package.path(&format!("{snappy}/{name}.cc")));
    }
    sources.push(driver("leveldb.cc"));
    let generated = snappy_header(&package.path(&format!("{snappy}/snappy-stubs-public.h.in")));
    let options = "-std=gnu++17 -w -DLEVELDB_PLATFORM_POSIX=1 -DHAVE_BUILTIN_EXPECT=1 \
        -DHAVE_BUILTIN_CTZ=1 -DHAVE_SNAPPY=1 -DLEVELDB_IS_BIG_ENDIAN=0 -DHAVE_FDATASYNC=1";
    let include_database = package.include(&format!("{database}/include"));
    let folders = [include(&generated), package.include(database), include_database];
    Program {
        language: Language::Cxx,
        sources,
        flags: [words(options), folders.to_vec(), vec![package.include(snappy)]].concat(),
        libraries: &["-lpthread"],
        training: words("8 1"),
        measured: words("20 2"),
    }
}

/// Makes the header that snappy's cmake would make for Linux; gives its folder.
fn snappy_header(template: &Path) -> PathBuf {
    let version = [("SNAPPY_MAJOR", "1"), ("SNAPPY_MINOR", "1"), ("SNAPPY_PATCHLEVEL", "7")];
    let found =
        ["HAVE_STDINT_H_01", "HAVE_STDDEF_H_01", "HAVE_SYS_UIO_H_01"].map(|name| (name, "1"));
    header(template, "snappy-1.1.7", &[&version[..], &found].concat())
}

fn clipper() -> Program {
    let package = Package::of("clipper-sys");
    Program {
        language: Language::Cxx,
        sources: vec![package.path("clipper/clipper.cpp"), driver("clipper.cc")],
        flags: vec![package.include("clipper"), "-w".into()],
        libraries: &[],
        training: words("40 1"),
        measured: words("70 2"),
    }
}

/// Ordinary C++: classes, containers, strings, `std::function` and the like.
fn ordinary() -> Program {
    Program {
        language: Language::Cxx,
        sources: vec![driver("ordinary.cc")],
        flags: words("-std=gnu++17 -w"),
        libraries: &[],
        training: words("20 1"),
        measured: words("40 2"),
    }
}
