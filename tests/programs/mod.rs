//! Real programs for tests, from the sources inside crates.
#![allow(dead_code, reason = "every test uses some of it")]

pub mod objects;

use std::fs;
use std::path::PathBuf;

use self::objects::{compile_all, compile_once};
use crate::harness::{PROFILE, Workshop, corpus, corpus_of, succeed};

/// The places where the linker puts a program's data. They are the same with any runtime.
pub const FIXED_ADDRESSES: [&str; 4] = [
    "-no-pie",
    "-Wl,--section-start=.rodata=0x10000000",
    "-Wl,-Tdata=0x20000000",
    "-Wl,-Tbss=0x30000000",
];

/// A compiled program.
pub struct Built {
    /// Its instrumented objects.
    pub objects: Vec<String>,
    /// Arguments of a typical run, the last one a size.
    pub arguments: Vec<&'static str>,
}

impl Built {
    pub fn arguments(&self) -> Vec<&str> {
        self.arguments.clone()
    }

    /// Links [`lua`] or [`sqlite`] with the archive, as `ours`.
    pub fn link(&self, shop: &Workshop) {
        let (objects, flags) = self.for_link(shop);
        shop.link(&objects, "ours", &flags);
    }

    /// Links [`lua`] or [`sqlite`] twice, with libgcov as `stock`, and as `ours`.
    pub fn link_both(&self, shop: &Workshop) {
        let (objects, flags) = self.for_link(shop);
        shop.link_stock(&objects, "stock", &flags);
        shop.link(&objects, "ours", &flags);
    }

    /// All objects, with the `main` that has its memory at fixed addresses, and flags.
    fn for_link(&self, shop: &Workshop) -> (Vec<&str>, Vec<&'static str>) {
        shop.program("fixed_memory.c");
        shop.gcc(&["-O2", "-fno-builtin", "-c", "fixed_memory.c"]);
        let objects = self.objects.iter().map(String::as_str).chain(["fixed_memory.o"]).collect();
        (objects, [&FIXED_ADDRESSES[..], &["-lm"]].concat())
    }
}

/// Makes gcc print the statements of each function when it inserts counters, with file and line.
pub const TELL: &str = "-fdump-ipa-profile-lineno-details";

/// Flags of all compilations of Lua.
pub const LUA: [&str; 2] = ["-std=gnu99", "-DLUA_USE_POSIX"];
/// Flags of all compilations of SQLite.
pub const SQLITE: [&str; 3] =
    ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_ENABLE_MATH_FUNCTIONS"];

/// Flags that make a program do the same in every run, with its `main` under another name. String constants
/// are not merged with the runtime's, because Lua hashes their addresses.
pub const REPEATABLE: [&str; 4] =
    ["-fno-pie", "-fno-merge-constants", "-Dmain=program_main", "-Dluai_makeseed(L)=0"];

/// Lua, a program that runs a script, and the script. All tests share the objects.
pub fn lua(shop: &Workshop) -> Option<Built> {
    let sources = lua_sources(shop)?;
    let objects = compile_once(shop, &sources, &[&PROFILE, &LUA[..], &REPEATABLE].concat());
    Some(Built { objects, arguments: vec!["benchmark.lua", "1"] })
}

/// SQLite, and a program that asks it many kinds of queries. All tests share the objects. What [`TELL`] prints is
/// there, too.
pub fn sqlite(shop: &Workshop) -> Option<Built> {
    let sources = sqlite_sources(shop)?;
    let flags = [&PROFILE, &SQLITE[..], &REPEATABLE, &[TELL]].concat();
    let objects = compile_once(shop, &sources, &flags);
    Some(Built { objects, arguments: vec!["700"] })
}

/// Programs with virtual calls: a header and two sources.
pub const SHAPES: [&str; 3] = ["shapes.h", "classes.cc", "shapes.cc"];
pub const CLOCK: [&str; 3] = ["clock.h", "clock_first.cc", "clock_second.cc"];
pub const WRAPPER: [&str; 3] = ["wrapper.h", "wrapper.cc", "wrapped.cc"];

/// Compiles one of these, and runs it as `ours`.
pub fn run_classes(shop: &Workshop, program: &[&str; 3], flags: &[&str]) {
    program.iter().for_each(|name| _ = shop.program(name));
    let objects = [program[1], program[2]].map(|source| shop.compile(source, flags));
    shop.link(&[&objects[0], &objects[1]], "ours", &["-lstdc++"]);
    shop.run("ours", &[]);
}

/// Lua with other flags, and `main` under its own name.
pub fn compile_lua(shop: &Workshop, flags: &[&str]) -> Option<Built> {
    let sources = lua_sources(shop)?;
    let objects = compile_all(shop, &sources, &[&PROFILE, &LUA[..], flags].concat());
    Some(Built { objects, arguments: vec!["benchmark.lua", "1"] })
}

/// SQLite with other flags, and `main` under its own name.
pub fn compile_sqlite(shop: &Workshop, flags: &[&str]) -> Option<Built> {
    let sources = sqlite_sources(shop)?;
    let objects = compile_all(shop, &sources, &[&PROFILE, &SQLITE[..], flags].concat());
    Some(Built { objects, arguments: vec!["700"] })
}

/// Copies Lua's sources into the folder; gives their names.
pub fn lua_sources(shop: &Workshop) -> Option<Vec<String>> {
    let directory = corpus("lua-src")?.join("lua-5.4.9");
    shop.program("benchmark.lua");
    let mut sources = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".h") || name.ends_with(".c") {
            fs::copy(&path, shop.path(&name)).unwrap();
        }
        if name.ends_with(".c") {
            sources.push(name);
        }
    }
    shop.program("lua_script.c");
    sources.push("lua_script.c".into());
    sources.sort();
    Some(sources)
}

/// Copies SQLite's sources into the folder; gives their names.
pub fn sqlite_sources(shop: &Workshop) -> Option<Vec<String>> {
    let directory = corpus("libsqlite3-sys")?.join("sqlite3");
    for name in ["sqlite3.c", "sqlite3.h"] {
        fs::copy(directory.join(name), shop.path(name)).unwrap();
    }
    shop.program("sqlite_queries.c");
    Some(vec!["sqlite3.c".into(), "sqlite_queries.c".into()])
}

/// RocksDB, compiled.
pub struct Rocksdb {
    /// The folder that its sources lie in.
    pub sources: PathBuf,
    /// Flags that a compiler needs.
    pub flags: Vec<String>,
    pub objects: Vec<String>,
}

/// Compiles all of RocksDB on two cores, and runs a program that uses it as `ours`.
pub fn run_rocksdb(shop: &Workshop, further: &[&str]) -> Option<Rocksdb> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/corpus/Cargo.toml");
    let package = corpus_of(manifest, "librocksdb-sys")?;
    shop.program("rocksdb.cc");
    let sources = package.join("rocksdb");
    let list = fs::read_to_string(package.join("rocksdb_lib_sources.txt")).unwrap();
    let mut units: Vec<PathBuf> = list.split_whitespace().map(|name| sources.join(name)).collect();
    // RocksDB's build makes that file. The crate has it elsewhere.
    units.retain(|path| !path.ends_with("util/build_version.cc"));
    units.extend([package.join("build_version.cc"), shop.path("rocksdb.cc")]);
    let include = [&sources, &sources.join("include")].map(|path| format!("-I{}", path.display()));
    let defines = ["NDEBUG", "OS_LINUX", "ROCKSDB_PLATFORM_POSIX", "ROCKSDB_LIB_IO_POSIX"];
    let defines = defines.map(|name| format!("-D{name}"));
    let others = ["-std=gnu++17", "-w", "-include", "cstdint", "-DROCKSDB_SUPPORT_THREAD_LOCAL"];
    let flags = [&include[..], &defines, &others.map(str::to_owned)].concat();
    let compile = |(number, source): (usize, &PathBuf)| {
        let mut compiler = shop.command("g++");
        compiler.args(PROFILE).args(&flags).arg("-fprofile-update=prefer-atomic").args(further);
        // Names of files are not unique.
        let object = format!("{number}_{}.o", source.file_stem().unwrap().to_str().unwrap());
        succeed(compiler.arg("-c").arg(source).args(["-o", &object]));
        object
    };
    let objects: Vec<String> = std::thread::scope(|scope| {
        let halves = units.iter().enumerate().partition::<Vec<_>, _>(|(number, _)| number % 2 == 0);
        let other = scope.spawn(|| halves.1.into_iter().map(compile).collect::<Vec<_>>());
        let mut objects: Vec<String> = halves.0.into_iter().map(compile).collect();
        objects.extend(other.join().unwrap());
        objects
    });
    let linked: Vec<&str> = objects.iter().map(String::as_str).collect();
    shop.link(&linked, "ours", &["-lstdc++", "-lm", "-lpthread", "-ldl"]);
    shop.run("ours", &["20000"]);
    Some(Rocksdb { sources, flags, objects })
}
