//! What is published: which files, and whether the archives are the same wherever and however the tool is
//! built.

mod harness;

use std::path::{Path, PathBuf};
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

/// The files of a package, without those of cargo.
fn packaged() -> Vec<String> {
    let list = succeed(cargo().args(["package", "--list", "--allow-dirty", "--offline"]));
    let list = String::from_utf8(list).unwrap();
    list.lines().filter(|file| !OF_CARGO.contains(file)).map(str::to_owned).collect()
}

#[test]
fn a_package_holds_what_it_should() {
    let files = packaged();
    let known = |file: &str| PUBLISHED.iter().any(|prefix| file.starts_with(prefix));
    let stray: Vec<_> = files.iter().filter(|file| !known(file)).collect();
    assert!(stray.is_empty(), "{stray:?}");
    for prefix in PUBLISHED {
        assert!(files.iter().any(|file| file.starts_with(prefix)), "{prefix}");
    }
}

/// The whole tree is compiled by all other tests, so a package lacks nothing if it has what its sources include.
#[test]
fn a_package_holds_what_its_sources_include() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = packaged();
    let mut included = 0;
    for source in files.iter().filter(|file| file.ends_with(".rs")) {
        let text = std::fs::read_to_string(root.join(source)).unwrap();
        let folder = root.join(source).parent().unwrap().to_owned();
        for after in text.split("include_str!(\"").skip(1) {
            let path = folder.join(after.split('"').next().unwrap()).canonicalize().unwrap();
            let path = path.strip_prefix(root.canonicalize().unwrap()).unwrap();
            assert!(files.iter().any(|file| path == Path::new(file)), "{source}: {path:?}");
            included += 1;
        }
    }
    assert!(included > 10, "{included}");
}

/// From the published files in another folder, and with flags for other programs in the environment:
/// `cargo test --test package -- --ignored`
#[test]
#[ignore = "compiles the runtime for minutes, and concerns releases"]
fn the_package_makes_the_same_archives_by_hand() {
    let shop = Workshop::new();
    let package = ["package", "--no-verify", "--allow-dirty", "--offline", "--target-dir"];
    succeed(cargo().args(package).arg(shop.path("packed")));
    let package = concat!(env!("CARGO_PKG_NAME"), "-", env!("CARGO_PKG_VERSION"));
    succeed(shop.command("tar").args(["-xf", &format!("packed/package/{package}.crate")]));
    let mut check = cargo();
    check
        .current_dir(shop.path(package))
        .args(["check", "--lib", "--no-default-features", "--features", "archives"])
        .args(["--locked", "--offline", "--target-dir"])
        .arg(shop.path("elsewhere"))
        .env("CFLAGS", "-O3 -g -fstack-protector-all")
        .env("RUSTFLAGS", "-Cdebuginfo=2 -Ctarget-cpu=native")
        .env("CARGO_PROFILE_ARCHIVE_OPT_LEVEL", "3")
        .env("COUNTERSINK_TARGETS", "x86_64-unknown-linux-gnu")
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
