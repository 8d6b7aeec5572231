//! `.gcda` files, which libgcov wrote, in place of dumps: the same profile, byte for byte, as from a dump of the same
//! run.

use std::fs;

use countersink::convert::gcov::of_gcda;
use countersink::formats::gcda::decode::Data;
use countersink::raw::dump::Dump;

use crate::harness::{Workshop, assert_same_files, succeed};

/// Formats with everything that a conversion knows.
const TARGETS: [&str; 8] = ["v1", "v2", "v3", "v4", "v4-text", "json", "lcov", "cobertura"];

/// Every kind of counter in two objects, and inlined functions that both have.
const SOURCES: [&str; 2] = ["kinds_first.cc", "kinds_second.cc"];

/// A program that ran twice, linked with both runtimes. Their data are `dump.csraw` and `.gcda` files.
fn counted() -> Workshop {
    let shop = Workshop::new();
    shop.program("kinds.h");
    let objects = SOURCES.map(|source| {
        shop.program(source);
        shop.compile(source, &["-g", "-ftest-coverage", "-fno-pie"])
    });
    let objects = objects.each_ref().map(String::as_str);
    shop.link(&objects, "ours", &["-no-pie", "-lstdc++"]);
    shop.link_stock(&objects, "stock", &["-no-pie", "-lstdc++"]);
    for rounds in ["100", "30"] {
        let dump = shop.path("dump.csraw");
        succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", dump).arg(rounds));
        shop.run("stock", &[rounds]);
    }
    shop
}

fn convert(shop: &Workshop, inputs: &[&str], to: &str) -> Vec<u8> {
    let output = shop.path("converted");
    let output = output.to_str().unwrap();
    shop.tool_output(&[&["convert"], inputs, &["--to", to, "-o", output]].concat());
    fs::read(output).unwrap()
}

#[test]
fn the_profile_is_that_of_a_dump() {
    let shop = counted();
    for to in TARGETS {
        let expected = convert(&shop, &["dump.csraw"], to);
        let with_program = ["kinds_first.gcda", "kinds_second.gcda", "--binary", "stock"];
        // Coverage needs no program.
        let with_program =
            if matches!(to, "lcov" | "cobertura") { &with_program[..2] } else { &with_program };
        assert!(convert(&shop, with_program, to) == expected, "{to}");
    }
}

/// Without a program, the objects beside the notes tell the same. They are not linked, so their addresses are equal.
#[test]
fn objects_tell_what_the_program_tells() {
    let shop = counted();
    succeed(shop.command("strip").args(["-g", "stock", "-o", "stripped"]));
    let with_program = ["kinds_first.gcda", "kinds_second.gcda", "--binary", "stock"];
    for to in TARGETS.into_iter().filter(|to| !matches!(*to, "lcov" | "cobertura")) {
        let expected = convert(&shop, &with_program, to);
        assert!(convert(&shop, &with_program[..2], to) == expected, "{to}");
        let without_lines = ["kinds_first.gcda", "kinds_second.gcda", "--binary", "stripped"];
        assert!(convert(&shop, &without_lines, to) == expected, "{to}");
    }
}

#[test]
fn a_folder_stands_for_its_files() {
    let shop = counted();
    fs::create_dir(shop.path("folder")).unwrap();
    // No input: it would count twice.
    fs::copy(shop.path("kinds_first.gcda"), shop.path("folder/kinds_first.gcda.bak")).unwrap();
    for (path, bytes) in shop.take_gcda() {
        shop.write(&format!("folder/{}", path.display()), bytes);
    }
    let expected = convert(&shop, &["dump.csraw"], "lcov");
    assert!(convert(&shop, &["folder", "--notes", "."], "lcov") == expected);
    shop.tool_output(&["merge", "folder", "-o", "merged.csraw"]);
    assert!(convert(&shop, &["merged.csraw", "--notes", "."], "lcov") == expected);
    // Twice the counts are other counts in the same lines.
    shop.tool_output(&["merge", "folder", "merged.csraw", "-o", "twice.csraw"]);
    let v4 = convert(&shop, &["twice.csraw", "--notes", "."], "v4");
    shop.write("twice.gcov", v4);
    for arguments in [
        &["stale", "folder", "--notes", "."][..],
        &["show", "folder", "--summary", "--notes", "."],
        &["diff", "folder", "twice.gcov", "--notes", "."],
        &["report", "folder", "--notes", ".", "-o", "page.html"],
    ] {
        shop.tool_output(arguments);
    }
}

/// A tree of `GCOV_PREFIX` has the paths of the objects in it, so the notes are found without an option.
#[test]
fn trees_of_a_prefix() {
    let shop = counted();
    shop.take_gcda();
    for (tree, rounds) in [("one", "100"), ("two", "30")] {
        let prefix = shop.path(tree);
        succeed(shop.command(shop.path("stock")).env("GCOV_PREFIX", prefix).arg(rounds));
    }
    let expected = convert(&shop, &["dump.csraw"], "v3");
    assert!(convert(&shop, &["one", "two", "--binary", "stock"], "v3") == expected);
    shop.tool_output(&["merge", "one", "two", "-o", "merged.csraw"]);
    shop.tool_output(&["convert", "--to", "gcda", "merged.csraw"]);
    let ours = shop.take_gcda().into_iter().filter(|(path, _)| path.components().count() == 1);
    for rounds in ["100", "30"] {
        shop.run("stock", &[rounds]);
    }
    let stock: Vec<_> =
        shop.take_gcda().into_iter().filter(|(path, _)| path.components().count() == 1).collect();
    assert_same_files(&ours.collect::<Vec<_>>(), &stock);
}

/// Files of several programs may have been written at equal exits. Each program has some of the objects.
#[test]
fn several_programs() {
    let shop = Workshop::new();
    for name in ["a", "b"] {
        let call = "static int twice(int x) { return 2 * x; }\nint (*pointer)(int) = twice;\n";
        let main = format!("{call}int main(void) {{ return pointer({}) == 0; }}\n", name.len());
        shop.write(&format!("{name}.c"), main);
        let object = shop.compile(&format!("{name}.c"), &[]);
        shop.link_stock(&[&object], name, &[]);
        shop.run(name, &[]);
    }
    let inputs = ["convert", "a.gcda", "b.gcda", "--to", "v4-text", "-o", "all.txt"];
    let told = |more: &[&str]| {
        let output = shop.tool(&[&inputs[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        (String::from_utf8(output.stderr).unwrap(), shop.read("all.txt"))
    };
    let (by_objects, expected) = told(&[]);
    assert!(by_objects.contains("2 indirect-call sites") && !by_objects.contains("dropped"));
    for programs in [&["a", "b"][..], &["a"], &["b"]] {
        let options: Vec<&str> =
            programs.iter().flat_map(|program| ["--binary", program]).collect();
        let (said, profile) = told(&options);
        assert!(profile == expected && said == by_objects, "{programs:?}: {said}");
    }
    let (said, profile) = told(&["--binary", "a", "--binary", "/bin/true"]);
    assert_eq!(said.matches("/bin/true: comes from another compilation").count(), 1, "{said}");
    assert!(profile == expected);
}

/// Counts are shown as those of a dump.
#[test]
fn a_file_shows_its_counts() {
    let shop = counted();
    for options in [&["--top", "2"][..], &["--function", "main"], &["--summary"], &["--json"]] {
        shop.tool_output(&[&["show", "kinds_first.gcda"], options].concat());
    }
}

/// What others wrote stays: a dump is no `.gcda` file.
#[test]
fn data_files_are_not_replaced() {
    let shop = counted();
    for arguments in [
        &["convert", "kinds_first.gcda", "--to", "v4", "-o", "kinds_first.gcda"][..],
        &["convert", "kinds_first.gcda", "--to", "lcov", "-o", "kinds_second.gcda"],
        &["convert", "kinds_first.gcda", "--to", "lcov", "-o", "kinds_first.gcno"],
        &["convert", "kinds_first.gcda", "--to", "v4", "--binary", "stock", "-o", "stock"],
        &["merge", "kinds_first.gcda", "kinds_second.gcda", "-o", "kinds_second.gcda"],
    ] {
        let before = shop.read(arguments[arguments.len() - 1]);
        assert_eq!(shop.tool(arguments).status.code(), Some(2), "{arguments:?}");
        assert!(shop.read(arguments[arguments.len() - 1]) == before);
    }
}

#[test]
fn damaged_files_are_named_and_the_rest_is_used() {
    let shop = counted();
    let second = shop.read("kinds_second.gcda");
    let expected = convert(&shop, &["kinds_first.gcda"], "v4");
    for cut in [8, 20, second.len() / 2] {
        shop.write("kinds_second.gcda", &second[..cut]);
        let both = ["convert", "kinds_first.gcda", "kinds_second.gcda", "--to", "v4"];
        let strict = shop.tool(&[&both[..], &["--strict", "-o", "strict.gcov"]].concat());
        assert_eq!(strict.status.code(), Some(1), "{strict:?}");
        let output = shop.tool(&[&both[..], &["-o", "both.gcov"]].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("kinds_second.gcda: 0x") && told.contains("; left out"), "{told}");
        assert!(told.contains("dropped: 1 .gcda file that could not be read"), "{told}");
        assert!(shop.read("both.gcov") == expected);
        let alone = shop.tool(&["convert", "kinds_second.gcda", "-o", "none.gcov"]);
        assert_eq!(alone.status.code(), Some(2));
        assert!(!shop.path("none.gcov").exists());
    }
}

/// Whatever is in a file, its dump can be written and read again.
#[test]
fn damage_gives_sound_dumps() {
    let shop = counted();
    let whole = shop.read("kinds_first.gcda");
    let mut decoded = 0;
    for at in 0..whole.len() {
        for flip in [1 << (at % 8), 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let Ok(data) = Data::decode(&bytes) else { continue };
            if of_gcda::check(&data).is_err() {
                continue;
            }
            decoded += 1;
            let dump = of_gcda::dump([(b"/a.gcda".to_vec(), data)]);
            let again = Dump::parse(&dump.to_bytes()).unwrap();
            assert!(again.left_out.is_empty() && again.modules.len() == 1);
        }
    }
    assert!(decoded > whole.len(), "{decoded} of {}", 3 * whole.len());
}

/// Each gcc writes its own layout.
#[test]
fn each_gcc() {
    for compiler in crate::compilers::all().iter().filter(|compiler| compiler.major() > 10) {
        let shop = Workshop::new();
        shop.program("everything.c");
        let flags = ["-O2", "-g", "-fprofile-generate", "-ftest-coverage"];
        let object = compiler.object(&shop, "everything.c", &flags);
        compiler.link_stock(&shop, &[&object], "stock");
        shop.run("stock", &["500"]);
        fs::create_dir(shop.path("tree")).unwrap();
        fs::rename(shop.path("everything.gcda"), shop.path("tree/everything.gcda")).unwrap();
        let expected = shop.read("tree/everything.gcda");
        shop.tool_output(&["convert", "tree", "--to", "gcda", "--prefix", "again"]);
        let again = shop.files("gcda").into_iter().find(|path| path.starts_with("again")).unwrap();
        assert!(shop.read(again) == expected, "gcc {}", compiler.major());
    }
}

/// The names and contents of an archive's files.
fn tar(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, &**bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

/// A full disk leaves empty files.
#[test]
fn files_that_are_none_are_named() {
    let shop = counted();
    fs::create_dir(shop.path("tree")).unwrap();
    for name in ["kinds_first.gcda", "kinds_first.gcno"] {
        fs::copy(shop.path(name), shop.path("tree").join(name)).unwrap();
    }
    for content in ["", "xxxx", "text of many lines"] {
        shop.write("tree/odd.gcda", content);
        let convert = ["convert", "tree", "--to", "v4", "-o", "a.gcov"];
        let output = shop.tool(&convert);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("tree/odd.gcda: 0x0: ") && told.contains("; left out"), "{told}");
        let strict = shop.tool(&[&convert[..], &["--strict"]].concat());
        assert_eq!(strict.status.code(), Some(1), "{strict:?}");
    }
}

#[test]
fn archives_are_folders() {
    let shop = counted();
    let inputs = ["kinds_first.gcda", "kinds_second.gcda", "--binary", "stock"];
    let expected = convert(&shop, &inputs, "v4");
    let names = ["kinds_first.gcda", "kinds_second.gcda", "kinds_first.gcno", "kinds_second.gcno"];
    let files = names.map(|name| (name, shop.read(name)));
    let whole = tar(&files);
    shop.write("whole.tar", &whole);
    assert!(convert(&shop, &["whole.tar", "--binary", "stock"], "v4") == expected);
    shop.write("dump.tar", tar(&[("runs/dump.csraw", shop.read("dump.csraw"))]));
    assert!(convert(&shop, &["dump.tar"], "v4") == convert(&shop, &["dump.csraw"], "v4"));
    succeed(shop.command("gzip").args(["--keep", "whole.tar"]));
    assert!(convert(&shop, &["whole.tar.gz", "--binary", "stock"], "v4") == expected);
    // As a board sends it, with the notes where the compiler wrote them.
    let recorded = |name: &str| shop.path(name).to_str().unwrap().to_owned();
    let sent = [0, 1].map(|number| (recorded(names[number]), shop.read(names[number])));
    let sent =
        sent.each_ref().map(|(name, bytes)| (name.strip_prefix('/').unwrap(), bytes.clone()));
    shop.write("board.tar", tar(&sent));
    assert!(convert(&shop, &["board.tar", "--binary", "stock"], "v4") == expected);
    // A sum of an archive names no temporary folder, and is the same each time.
    let sum = |output: &str| {
        shop.tool_output(&["merge", "whole.tar", "-o", output]);
        shop.read(output)
    };
    assert!(sum("one.csraw") == sum("two.csraw"));
    assert!(!sum("one.csraw").windows(12).any(|bytes| bytes == b"countersink-"));
    // Nothing stays in the temporary folder.
    fs::create_dir(shop.path("temporary")).unwrap();
    let mut show = shop.command(env!("CARGO_BIN_EXE_countersink"));
    let shown = succeed(show.args(["show", "whole.tar"]).env("TMPDIR", shop.path("temporary")));
    assert!(shown.len() > 100);
    assert_eq!(fs::read_dir(shop.path("temporary")).unwrap().count(), 0);
}

/// Each length, and each byte of the headers changed: a message, no panic, and nothing outside the folder.
#[test]
fn damaged_archives() {
    let shop = counted();
    let files = ["kinds_first.gcda", "kinds_first.gcno"].map(|name| (name, shop.read(name)));
    let whole = tar(&files);
    let check = |bytes: &[u8], about: &str| {
        shop.write("damaged.tar", bytes);
        let output = shop.tool(&["convert", "damaged.tar", "--to", "lcov", "-o", "a.info"]);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{about}: {output:?}");
        assert!(!output.stderr.is_empty(), "{about}");
    };
    for length in (1..whole.len()).step_by(331) {
        check(&whole[..length], &format!("cut at {length}"));
    }
    for place in (0..512).step_by(7) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        check(&bytes, &format!("changed at {place}"));
    }
    for name in ["damaged.tar.gz", "damaged.tar.xz"] {
        let start: &[u8] = if name.ends_with("gz") { b"\x1f\x8b\x08\0" } else { b"\xfd7zXZ\0\0" };
        shop.write(name, start);
        let output = shop.tool(&["convert", name, "--to", "lcov", "-o", "a.info"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

#[test]
fn archives_stay_in_their_folder() {
    let shop = counted();
    let counters = shop.read("kinds_first.gcda");
    let mut archive = tar::Builder::new(Vec::new());
    let mut add = |name: &str, kind, link: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_mode(0o644);
        header.set_cksum();
        archive.append(&header, bytes).unwrap();
    };
    let outside = shop.path("outside");
    fs::create_dir(&outside).unwrap();
    let outside = outside.to_str().unwrap();
    use tar::EntryType;
    add("../../outside/a.gcda", EntryType::Regular, "", &counters);
    add("link.gcno", EntryType::Symlink, outside, &[]);
    add("link.gcno/b.gcda", EntryType::Regular, "", &counters);
    add("hard.gcda", EntryType::Link, "../../kinds_first.gcda", &[]);
    add("pipe.gcda", EntryType::Fifo, "", &[]);
    add("kinds_first.gcda", EntryType::Regular, "", &counters);
    shop.write("evil.tar", archive.into_inner().unwrap());
    let output = shop.tool(&["show", "evil.tar"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
}
