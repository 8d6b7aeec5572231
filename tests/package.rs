//! What is published: which files, and whether the archives are the same wherever and however the tool is
//! built.

mod harness;

use std::path::PathBuf;
use std::process::Command;

use countersink::cli::archives::archive;
use harness::{Workshop, succeed};

/// The content of a package besides the files that cargo adds.
const PUBLISHED: [&str; 11] = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "THIRD-PARTY.md",
    "README.md",
    "build.rs",
    "docs/src/library.md",
    "docs/src/speedup.svg",
    "examples/",
    "runtime-c/",
    "src/",
];

/// Files that cargo adds or rewrites.
const OF_CARGO: [&str; 4] = ["Cargo.lock", "Cargo.toml", "Cargo.toml.orig", ".cargo_vcs_info.json"];

fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo
}

#[test]
fn a_package_holds_what_it_should() {
    let list = ["package", "--list", "--allow-dirty", "--offline"];
    let list = String::from_utf8(succeed(cargo().args(list))).unwrap();
    let files: Vec<&str> = list.lines().filter(|file| !OF_CARGO.contains(file)).collect();
    let known = |file: &str| PUBLISHED.iter().any(|prefix| file.starts_with(prefix));
    let stray: Vec<_> = files.iter().filter(|file| !known(file)).collect();
    assert!(stray.is_empty(), "{stray:?}");
    for prefix in PUBLISHED {
        assert!(files.iter().any(|file| file.starts_with(prefix)), "{prefix}");
    }
}

/// From the published files in another folder, and with flags for other programs in the environment. `cargo check` runs
/// the build script, which makes the archives, and compiles all sources, but makes no machine code of the tool.
#[test]
fn the_package_builds_and_makes_the_same_archive() {
    let shop = Workshop::new();
    let package = ["package", "--no-verify", "--allow-dirty", "--offline", "--target-dir"];
    succeed(cargo().args(package).arg(shop.path("packed")));
    let package = concat!(env!("CARGO_PKG_NAME"), "-", env!("CARGO_PKG_VERSION"));
    succeed(shop.command("tar").args(["-xf", &format!("packed/package/{package}.crate")]));
    let mut check = cargo();
    check
        .current_dir(shop.path(package))
        .args(["check", "--locked", "--offline", "--target-dir"])
        .arg(shop.path("elsewhere"))
        .env("CFLAGS", "-O3 -g -fstack-protector-all")
        .env("RUSTFLAGS", "-Cdebuginfo=2 -Ctarget-cpu=native")
        .env("CARGO_PROFILE_ARCHIVE_OPT_LEVEL", "3")
        .env_remove("COUNTERSINK_ARCHIVES");
    succeed(&mut check);
    for archive in archive::ALL {
        let is_archive =
            |path: &PathBuf| path.ends_with(archive.file_name()) && path.starts_with("elsewhere");
        let made: Vec<PathBuf> = shop.files("a").into_iter().filter(is_archive).collect();
        let [made] = &made[..] else { panic!("not one {}: {made:?}", archive.name) };
        assert!(shop.read(made) == archive.bytes, "{} differs", archive.name);
    }
}

/// Whoever gives an instrumented program away gives these packages away, too.
#[test]
fn licences_of_all_that_the_archives_hold() {
    let features = ["--no-default-features", "--features", "runtime,live"];
    lists(include_str!("../THIRD-PARTY.md"), &features);
}

/// The wheel, the Debian package and the image hold them.
#[test]
fn licences_of_all_that_the_tool_holds() {
    lists(include_str!("../packages/THIRD-PARTY-TOOL.md"), &[]);
}

/// Checks that the notices list every package that a build with these features links.
fn lists(notices: &str, features: &[&str]) {
    let tree = ["tree", "--offline", "--target", "x86_64-unknown-linux-gnu"];
    let format = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
    let packages = succeed(cargo().args(tree).args(features).args(format));
    let packages = String::from_utf8(packages).unwrap();
    for package in packages.lines().filter(|package| !package.starts_with("countersink ")) {
        let mut words = package.split(' ');
        let (name, version) = (words.next().unwrap(), words.next().unwrap());
        let notice = format!("\n* {name} {}", version.trim_start_matches('v'));
        assert!(notices.contains(&notice), "about.toml says how to list this anew: {package}");
    }
}
