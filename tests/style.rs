//! Rules of style that a machine can check: what is at the top of the repository, heads, the width of comments, names
//! of files, where unsafe code may stand, and which rooms of the tool may use which. The tests' own files count, too.

mod harness;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::say_skipped;

/// Folders with Rust files.
const FOLDERS: [&str; 5] = ["src", "tests", "benches", "examples", "fuzz/fuzz_targets"];
/// What stands at the top of the repository.
const TOP: &str = ".ci .config .gitignore CHANGELOG.md CONTRIBUTING.md Cargo.lock Cargo.toml LICENSE-APACHE LICENSE-MIT \
    README.md SECURITY.md THIRD-PARTY.md about.hbs about.toml benches build.rs clippy.toml docs examples fuzz packages \
    runtime-c rustfmt.toml src tests";
/// Letters of a line of a comment. Tables and links may be longer.
const WIDEST_COMMENT: usize = 120;
/// Names of drawers: they say nothing of what is inside.
const DRAWERS: [&str; 6] = ["util", "utils", "helper", "helpers", "common", "misc"];
/// Folders that may allow unsafe code, file by file.
const UNSAFE: [&str; 3] = ["src/runtime/", "src/archive/", "src/bare/"];
/// The rooms of the tool, from the lowest one. A room uses only those before it, and itself.
const ROOMS: [&str; 6] = ["terminal", "compilers", "inputs", "outputs", "archives", "commands"];

/// All files, by their paths from the top of the repository.
fn files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "{}", files.len());
    files.iter_mut().for_each(|(path, _)| *path = path.strip_prefix(root).unwrap().to_owned());
    files
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Examples that are packages have one.
        let is_build = path.ends_with("target");
        if path.is_dir() && !is_build {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
}

#[track_caller]
fn assert_none(found: Vec<String>, what: &str) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

/// Commits take what lies in the folder, such as the output of a trial.
#[test]
fn nothing_else_is_at_the_top() {
    let root = env!("CARGO_MANIFEST_DIR");
    let listed = Command::new("git").args(["-C", root, "ls-tree", "--name-only", "HEAD"]).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else {
        return say_skipped("not in a clone of the repository");
    };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let others = listed.lines().filter(|name| TOP.split_whitespace().all(|known| known != *name));
    assert_none(others.map(str::to_owned).collect(), "files at the top");
}

#[test]
fn each_file_says_what_it_is_for() {
    let without = files().into_iter().filter(|(_, text)| !text.starts_with("//! "));
    assert_none(
        without.map(|(path, _)| path.display().to_string()).collect(),
        "files without a head",
    );
}

#[test]
fn comments_fit_into_the_page() {
    let mut wide = Vec::new();
    for (path, text) in files() {
        for (number, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            let is_prose =
                comment.starts_with("//") && !comment.contains('|') && !comment.contains("://");
            if is_prose && line.chars().count() > WIDEST_COMMENT {
                wide.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert_none(wide, "comments of more than 120 letters");
}

#[test]
fn no_file_is_a_drawer() {
    let is_drawer = |path: &PathBuf| {
        path.iter().any(|part| {
            let name = Path::new(part).file_stem().unwrap().to_str().unwrap();
            DRAWERS.contains(&name)
        })
    };
    let drawers = files().into_iter().map(|(path, _)| path).filter(is_drawer);
    assert_none(
        drawers.map(|path| path.display().to_string()).collect(),
        "files whose names say nothing",
    );
}

/// A file that its test program does not name is not compiled, and its tests never run.
#[test]
fn each_file_of_a_test_program_is_its_module() {
    let files = files();
    let is_main = |path: &Path| path.starts_with("tests") && path.ends_with("main.rs");
    let mut unnamed = Vec::new();
    for (main, text) in files.iter().filter(|(path, _)| is_main(path)) {
        let others = files.iter().map(|(path, _)| path).filter(|path| *path != main);
        for path in others.filter(|path| path.parent() == main.parent()) {
            let module = format!("mod {};", path.file_stem().unwrap().to_str().unwrap());
            if !text.lines().any(|line| line == module) {
                unnamed.push(path.display().to_string());
            }
        }
    }
    assert_none(unnamed, "files that no test program names");
}

#[test]
fn unsafe_code_has_its_places() {
    let allows = |(path, text): &(PathBuf, String)| {
        let path = path.to_str().unwrap();
        path.starts_with("src/")
            && !UNSAFE.iter().any(|folder| path.starts_with(folder))
            && text.contains("allow(unsafe_code")
    };
    let found = files().into_iter().filter(allows);
    assert_none(
        found.map(|(path, _)| path.display().to_string()).collect(),
        "unsafe code elsewhere",
    );
}

#[test]
fn the_tool_s_rooms_use_those_below_them() {
    let mut upwards = Vec::new();
    for (path, text) in files() {
        let Ok(below) = path.strip_prefix("src/cli") else { continue };
        let room = below.iter().next().unwrap().to_str().unwrap();
        let Some(floor) = ROOMS.iter().position(|known| *known == room) else { continue };
        for higher in &ROOMS[floor + 1..] {
            if text.contains(&format!("crate::cli::{higher}")) {
                upwards.push(format!("{} uses {higher}", path.display()));
            }
        }
    }
    assert_none(upwards, "rooms that use a higher one");
}
