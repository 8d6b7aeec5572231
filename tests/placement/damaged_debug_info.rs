//! Debug information that is damaged, missing, or of an unusual kind: a conversion never panics, and always
//! has what dump and notes alone tell.

use std::fs;

use countersink::formats::afdo_v4::decode::decode;
use countersink::placement::reader::Reader;
use countersink::profile::Profile;
use object::{Object as _, ObjectSection as _};

use crate::conversion::Counts;
use crate::harness::{Workshop, have, succeed};

const PROGRAM: &str = "\
volatile int sink;
static int twice(int x) { return 2 * x; }
static int same(int x) { return x; }
int (*table[])(int) = {twice, same};
static inline int keep(int n)
{
    if (n & 1)
        sink = n;
    return n;
}
__attribute__((noinline)) int drive(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i % 2](keep(i));
    return sum;
}
int main(void) { return drive(10) != 65; }
";

/// Compiles and runs the program, as `ours`.
fn run(shop: &Workshop, compile: &[&str], link: &[&str]) {
    shop.write("prog.c", PROGRAM);
    let object = shop.compile("prog.c", compile);
    shop.link(&[&object], "ours", link);
    let _ = fs::remove_file(shop.path("ours.csraw"));
    shop.run("ours", &[]);
    // Its object must not tell what the program does not.
    fs::remove_file(shop.path(object)).unwrap();
}

/// What dump and notes tell without machine code: entries, and the lines in the function itself.
#[track_caller]
fn has_the_least(profile: &Profile, what: &str) {
    let mut all = profile.functions.iter();
    let drive = all.find(|(symbol, _)| profile.symbols.name(**symbol) == b"drive");
    let (_, drive) = drive.unwrap_or_else(|| panic!("{what}: no drive"));
    assert_eq!(drive.head_count, 1, "{what}");
    let counts = |line| {
        let of_line = drive.body.positions.iter().filter(|(at, _)| at.line == line);
        of_line.filter_map(|(_, record)| record.count).collect::<Vec<u64>>()
    };
    assert_eq!(counts(5), [1], "{what}: {:?}", drive.body);
    assert!(counts(4).contains(&10), "{what}: {:?}", drive.body);
}

/// The sections of debug information of a program: name, offset in the file, length.
fn sections(program: &[u8]) -> Vec<(String, usize, usize)> {
    let file = object::File::parse(program).unwrap();
    let debug = file.sections().filter(|section| section.name().unwrap().starts_with(".debug_"));
    let place = |section: object::Section<'_, '_>| {
        let (offset, length) = section.file_range().unwrap();
        (section.name().unwrap().to_owned(), offset as usize, length as usize)
    };
    debug.map(place).filter(|(_, _, length)| *length > 0).collect()
}

/// The random numbers of Knuth's MMIX.
fn next(random: &mut u64) -> usize {
    *random =
        random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) as usize
}

/// Changed bytes, and sections filled or cut off in the middle, for all kinds of sections.
#[test]
#[ignore = "slow"]
fn flipped_and_cut_sections() {
    for format in ["-gdwarf-5", "-gdwarf-4"] {
        let shop = Workshop::new();
        run(&shop, &[format], &[]);
        let program = shop.read("ours");
        let counts = Counts::read(&shop, "ours.csraw");
        let sections = sections(&program);
        let known: Vec<&str> = sections.iter().map(|(name, ..)| name.as_str()).collect();
        for name in [".debug_info", ".debug_line", ".debug_abbrev", ".debug_str"] {
            assert!(known.contains(&name), "{format}: {known:?}");
        }
        let look = |program: &[u8], what: &str| {
            let (profile, _) = counts.profile(program, Reader::EXACT);
            let mut all = profile.functions.iter();
            let drive = all.find(|(symbol, _)| profile.symbols.name(**symbol) == b"drive");
            assert_eq!(drive.unwrap().1.head_count, 1, "{what}");
        };
        look(&program, "whole");
        let mut random = 1;
        for (name, offset, length) in &sections {
            for round in 0..40 {
                let mut damaged = program.clone();
                let section = &mut damaged[*offset..][..*length];
                for _ in 0..=round % 4 {
                    section[next(&mut random) % length] = next(&mut random) as u8;
                }
                look(&damaged, &format!("{format} {name} {round}"));
            }
            for filler in [0, 0x7f, 0x80, 0xff] {
                for from in [0, 4, length / 2, length - 1] {
                    let mut damaged = program.clone();
                    damaged[*offset..][from.min(*length)..*length].fill(filler);
                    look(&damaged, &format!("{format} {name} filled from {from}"));
                }
            }
        }
    }
}

/// Sections that are shorter than before, or gone, or those of another program. The tool says in at most one
/// line what it does not use.
#[test]
fn replaced_sections() {
    if !have("objcopy") {
        return;
    }
    let shop = Workshop::new();
    run(&shop, &[], &[]);
    fs::rename(shop.path("ours"), shop.path("whole")).unwrap();
    let program = shop.read("whole");
    for (name, offset, length) in sections(&program) {
        let section = &program[offset..][..length];
        for kept in [0, 1, length / 2, length - 1] {
            shop.write("section", &section[..kept]);
            let update = format!("--update-section={name}=section");
            succeed(shop.command("objcopy").args([&update, "whole", "ours"]));
            converts(&shop, &format!("{name} cut to {kept}"));
        }
        let remove = format!("--remove-section={name}");
        succeed(shop.command("objcopy").args([&remove, "whole", "ours"]));
        converts(&shop, &format!("without {name}"));
    }
}

/// The conversion succeeds; gives its messages.
#[track_caller]
fn converts(shop: &Workshop, what: &str) -> String {
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{what}: {told}");
    assert!(!told.contains("panicked") && told.lines().count() <= 2, "{what}: {told}");
    has_the_least(&decode(&output.stdout).unwrap().profile, what);
    told
}

/// Kinds of builds. Those with debug information in the program tell the place of each call and what was
/// inlined; the others tell what is certain without it.
#[test]
fn kinds_of_debug_information() {
    let whole: [(&[&str], &[&str]); 8] = [
        (&[], &[]),
        (&["-gdwarf-4"], &[]),
        (&["-gdwarf-5", "-gz"], &["-Wl,--compress-debug-sections=zlib"]),
        (&["-gdwarf-4", "-fno-pie"], &["-no-pie"]),
        (&["-fpie"], &["-static-pie"]),
        (&[], &["-static"]),
        (&["-flto"], &["-O2", "-flto"]),
        (&["-g3"], &[]),
    ];
    for (compile, link) in whole {
        let shop = Workshop::new();
        run(&shop, compile, link);
        let told = converts(&shop, &format!("{compile:?} {link:?}"));
        assert!(told.contains(", 1 indirect-call site"), "{compile:?} {link:?}: {told}");
        let text = String::from_utf8(shop.tool_output(&["convert", "ours.csraw", "--to=v4-text"]));
        let text = text.unwrap();
        assert!(text.contains("4 = \"keep\""), "{compile:?} {link:?}: {text}");
    }
    let partial: [&[&str]; 3] = [&["-g1"], &["-g0"], &["-gsplit-dwarf"]];
    for compile in partial {
        let shop = Workshop::new();
        run(&shop, compile, &[]);
        let told = converts(&shop, &format!("{compile:?}"));
        let is_split = compile == ["-gsplit-dwarf"];
        assert_eq!(told.contains("; compile without -gsplit-dwarf"), is_split, "{told}");
    }
}

#[test]
fn stripped_programs() {
    let shop = Workshop::new();
    run(&shop, &[], &[]);
    fs::rename(shop.path("ours"), shop.path("whole")).unwrap();
    for how in ["--strip-debug", "--strip-unneeded", "--strip-all"] {
        succeed(shop.command("strip").args([how, "whole", "-o", "ours"]));
        converts(&shop, how);
    }
}

/// Debug information that programs share.
#[test]
fn programs_after_dwz() {
    if !have("dwz") {
        return;
    }
    for format in ["-gdwarf-4", "-gdwarf-5"] {
        let shop = Workshop::new();
        run(&shop, &[format], &[]);
        let whole = shop.tool_output(&["convert", "ours.csraw", "--to=v4"]);
        succeed(shop.command("dwz").arg("ours"));
        assert!(shop.tool_output(&["convert", "ours.csraw", "--to=v4"]) == whole, "{format}");
    }
}
