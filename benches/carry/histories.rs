//! The histories: releases of programs, and the crates that have their sources.

use std::fs;
use std::path::PathBuf;

use crate::builds::succeed;
use crate::harness::corpus_of;
use crate::program::{Package, Program, scratch};
use crate::releases;

/// A release of a program.
pub struct Release {
    /// Its name.
    pub name: &'static str,
    /// When it came out.
    pub date: &'static str,
    /// The crate with its sources.
    package: &'static str,
    /// The crate's version.
    version: &'static str,
}

/// From one release to a later one.
pub struct Step {
    pub program: &'static str,
    pub old: Release,
    pub new: Release,
    /// How a release is compiled and run.
    pub build: fn(&Release) -> Program,
}

const fn lua(name: &'static str, date: &'static str, version: &'static str) -> Release {
    Release { name, date, package: "lua-src", version }
}

const fn sqlite(name: &'static str, date: &'static str, version: &'static str) -> Release {
    Release { name, date, package: "libsqlite3-sys", version }
}

const fn zstd(name: &'static str, date: &'static str, version: &'static str) -> Release {
    Release { name, date, package: "zstd-sys", version }
}

const fn step(
    program: &'static str,
    build: fn(&Release) -> Program,
    [old, new]: [Release; 2],
) -> Step {
    Step { program, old, new, build }
}

const LUA: [[Release; 2]; 5] = [
    [lua("5.4.0", "2020-06", "540.0.1"), lua("5.4.2", "2020-12", "542.0.0")],
    [lua("5.4.0", "2020-06", "540.0.1"), lua("5.4.4", "2022-01", "544.0.1")],
    [lua("5.4.4", "2022-01", "544.0.1"), lua("5.4.6", "2023-05", "546.0.2")],
    [lua("5.4.6", "2023-05", "546.0.2"), lua("5.4.8", "2025-06", "548.1.2")],
    [lua("5.4.0", "2020-06", "540.0.1"), lua("5.4.8", "2025-06", "548.1.2")],
];
const ZSTD: [[Release; 2]; 3] = [
    [zstd("1.5.0", "2021-05", "1.6.1"), zstd("1.5.2", "2022-01", "2.0.6")],
    [zstd("1.5.2", "2022-01", "2.0.6"), zstd("1.5.5", "2023-04", "2.0.9")],
    [zstd("1.5.5", "2023-04", "2.0.9"), zstd("1.5.7", "2025-02", "2.1.2")],
];
const SQLITE: [[Release; 2]; 3] = [
    [sqlite("3.41.2", "2023-03", "0.26.0"), sqlite("3.45.0", "2024-01", "0.28.0")],
    [sqlite("3.45.0", "2024-01", "0.28.0"), sqlite("3.48.0", "2025-01", "0.31.0")],
    [sqlite("3.48.0", "2025-01", "0.31.0"), sqlite("3.50.2", "2025-06", "0.35.0")],
];

/// All steps.
pub static HISTORIES: [Step; 11] = {
    let [a, b, c, d, e] = LUA;
    let [f, g, h] = ZSTD;
    let [i, j, k] = SQLITE;
    let (lua, zstd, sqlite) =
        (build_lua as fn(&Release) -> Program, build_zstd as _, build_sqlite as _);
    [
        step("Lua", lua, a),
        step("Lua", lua, b),
        step("Lua", lua, c),
        step("Lua", lua, d),
        step("Lua", lua, e),
        step("zstd", zstd, f),
        step("zstd", zstd, g),
        step("zstd", zstd, h),
        step("SQLite", sqlite, i),
        step("SQLite", sqlite, j),
        step("SQLite", sqlite, k),
    ]
};

/// Fetches the crate of a release: a package that depends on it and nothing else.
fn package(release: &Release) -> Package {
    let Release { package, version, .. } = release;
    let folder: PathBuf = scratch().join("carry-crates").join(format!("{package}-{version}"));
    let manifest = folder.join("Cargo.toml");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/lib.rs"), "//! Empty.\n").unwrap();
    let text = format!(
        "[package]\nname = \"release\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\n{package} = {{ version = \"={version}\", default-features = false }}\n"
    );
    fs::write(&manifest, text).unwrap();
    let mut cargo = std::process::Command::new(env!("CARGO"));
    succeed(cargo.args(["fetch", "--quiet", "--manifest-path"]).arg(&manifest)).unwrap();
    let sources = corpus_of(manifest.to_str().unwrap(), package);
    Package::at(sources.unwrap_or_else(|| panic!("no sources of {package} {version}")))
}

fn build_lua(release: &Release) -> Program {
    releases::lua(&package(release), &format!("lua-{}", release.name))
}

fn build_sqlite(release: &Release) -> Program {
    releases::sqlite(&package(release))
}

fn build_zstd(release: &Release) -> Program {
    releases::zstd(&package(release))
}
