//! Folders as inputs, and what the tool says where a dump is expected and something else is.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::Workshop;

/// Runs of one program below `prof`, and notes of all compilers that took part.
fn trained() -> Workshop {
    let shop = Workshop::new();
    shop.write("prog.c", "int main(int argc, char **argv) { return argc > 9; }\n");
    let object = shop.compile("prog.c", &[]);
    shop.link(&[&object], "prog", &[]);
    for dump in ["prof/a/prog.csraw", "prof/b/c/prog.csraw", "prof/b/other.csraw"] {
        fs::create_dir_all(shop.path(dump).parent().unwrap()).unwrap();
        let mut run = shop.command(shop.path("prog"));
        assert!(run.env("COUNTERSINK_FILE", dump).status().unwrap().success());
    }
    shop
}

fn said(shop: &Workshop, status: i32, arguments: &[&str]) -> String {
    let output = shop.tool(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The runs of `main`.
fn runs(shop: &Workshop, profile: &str) -> u64 {
    let shown = shop.tool_output(&["show", profile, "--function", "main", "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
    shown["functions"][0]["head_count"].as_u64().unwrap()
}

#[test]
fn all_dumps_below_a_folder() {
    let shop = trained();
    // None of these is a dump to add.
    fs::copy(shop.path("prof/a/prog.csraw"), shop.path("prof/a/prog.csraw.aside-77")).unwrap();
    fs::copy(shop.path("prof/a/prog.csraw"), shop.path("prof/a/prog.csraw.part")).unwrap();
    shop.write("prof/b/notes.txt", "\"a text\"\n");
    shop.write("prof/b/lines.txt", "main\n1\n1\n5\n\n");
    // A link leads to a dump that is there anyway, and one to a dump elsewhere.
    symlink("prog.csraw", shop.path("prof/a/link.csraw")).unwrap();
    fs::rename(shop.path("prof/b/other.csraw"), shop.path("elsewhere.csraw")).unwrap();
    symlink("../../elsewhere.csraw", shop.path("prof/b/other.csraw")).unwrap();
    symlink("..", shop.path("prof/b/up")).unwrap();

    shop.tool_output(&["convert", "prof", "--to", "v4", "-o", "out/new/prog.gcov"]);
    assert_eq!(runs(&shop, "out/new/prog.gcov"), 3);
    shop.tool_output(&["merge", "prof/b", "prof/a/prog.csraw", "-o", "all.csraw"]);
    shop.tool_output(&["convert", "all.csraw", "--to", "v4", "-o", "all.gcov"]);
    assert_eq!(shop.read("all.gcov"), shop.read("out/new/prog.gcov"));
    assert_eq!(said(&shop, 0, &["check", "prof"]), "");
    shop.write("bad/prof.gcov", &shop.read("all.gcov")[..40]);
    fs::copy(shop.path("all.csraw"), shop.path("bad/all.csraw")).unwrap();
    said(&shop, 1, &["check", "bad"]);
    shop.write("prof/empty.csraw", "");
    assert!(said(&shop, 0, &["check", "prof"]).contains("empty.csraw: is empty; left out"));
    fs::remove_file(shop.path("prof/empty.csraw")).unwrap();
    assert_eq!(said(&shop, 0, &["show", "prof/a"]), "");
    let shown = String::from_utf8(shop.tool_output(&["show", "prof"])).unwrap();
    assert!(shown.contains("runs 3,"), "{shown}");
    let told = said(&shop, 2, &["show", "prof", "all.gcov"]);
    assert!(told.contains("all.gcov: is one of several inputs and no dump"), "{told}");
}

/// A profile below was probably made of the dumps.
#[test]
fn dumps_before_profiles() {
    let shop = trained();
    shop.tool_output(&["convert", "prof", "--to", "v4", "-o", "prof/prog.gcov"]);
    let told = said(&shop, 0, &["convert", "prof", "--to", "v4", "-o", "prof/prog.gcov"]);
    assert!(told.contains("1 profile below it not used: it has dumps, too"), "{told}");
    assert_eq!(runs(&shop, "prof/prog.gcov"), 3);

    shop.tool_output(&["convert", "prof/a", "--to", "v4", "-o", "profiles/a.gcov"]);
    shop.tool_output(&["convert", "prof/b", "--to", "v4", "-o", "profiles/b.gcov"]);
    shop.tool_output(&["merge", "profiles", "-o", "sum.gcov"]);
    assert_eq!(runs(&shop, "sum.gcov"), 3);
}

/// The second time the sum would have its own counts.
#[test]
fn no_sum_among_its_inputs() {
    let shop = trained();
    shop.tool_output(&["merge", "prof", "-o", "prof/all.csraw"]);
    let before = shop.read("prof/all.csraw");
    let told = said(&shop, 2, &["merge", "prof", "-o", "prof/all.csraw"]);
    assert!(told.contains("one of the inputs below prof"), "{told}");
    assert_eq!(shop.read("prof/all.csraw"), before);
}

#[test]
fn where_there_is_no_dump() {
    let shop = Workshop::new();
    fs::create_dir(shop.path("empty")).unwrap();
    let told = said(&shop, 2, &["convert", "empty", "--to=v4"]);
    assert!(told.contains("empty: no dumps or profiles below it"), "{told}");
    let told = said(&shop, 2, &["convert", "prog.csraw", "--to=v4"]);
    assert!(told.ends_with("No such file or directory (os error 2)\n"), "{told}");

    // The program was linked without the flags.
    shop.write("prog.c", "int main(void) { return 0; }\n");
    let object = shop.compile("prog.c", &[]);
    crate::harness::succeed(shop.command("gcc").args(["--coverage", &*object, "-o", "prog"]));
    shop.run("prog", &[]);
    let told = said(&shop, 2, &["convert", "prog.csraw", "--to=v4"]);
    assert!(told.contains("prog.gcda is there: libgcov writes such files"), "{told}");
    let told = said(&shop, 0, &["convert", ".", "--to=v4", "-o", "prog.gcov"]);
    assert!(told.contains("prog.gcda: placed 100.0 %"), "{told}");

    shop.write("llvm/default.profraw", "");
    let told = said(&shop, 2, &["convert", "llvm/prog.csraw", "--to=v4"]);
    assert!(told.contains("default.profraw"), "{told}");
}

/// What `convert` writes unasked is for the gcc on the path.
#[test]
fn the_installed_gcc_reads_it() {
    let shop = trained();
    let told = said(&shop, 0, &["convert", "prof", "-o", "prog.afdo"]);
    let major = crate::harness::gcc_major();
    assert!(told.contains(&format!("for gcc {major}, which is the gcc on the path")), "{told}");
    shop.tool_output(&["convert", "prof", "--for-gcc", "gcc", "-o", "same.afdo"]);
    assert!(shop.read("prog.afdo") == shop.read("same.afdo"));
    shop.gcc(&["-O2", "-c", "-fauto-profile=prog.afdo", "prog.c"]);
    let with_path = |path: &std::path::Path| {
        let mut tool = shop.command(env!("CARGO_BIN_EXE_countersink"));
        let output = tool.args(["convert", "prof", "-o", "x"]).env("PATH", path).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let bin = shop.path("bin");
    fs::create_dir(&bin).unwrap();
    let (status, told) = with_path(&bin);
    assert_eq!(status, Some(2), "{told}");
    let hint = "--for-gcc VERSION or --to says what to write";
    assert!(told.contains(&format!("the installed gcc: no such command; {hint}")), "{told}");
    let old = shop.write("bin/gcc", "#!/bin/sh\necho 'gcc (Old) 9.3.0'\n");
    fs::set_permissions(old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (status, told) = with_path(&bin);
    assert_eq!(status, Some(2), "{told}");
    assert!(told.contains(&format!("not those of gcc 9; {hint}")), "{told}");
}
