//! `countersink profdata` against `llvm-profdata`: the same output, the same files, the same exit status.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use countersink::counters::merge::Sum;
use countersink::counters::{Function, Profile, Site, Value, ValueKind, Variant, name_ref};
use countersink::formats::profdata::version_for_llvm;
use countersink::formats::profraw::encode::encode;
use countersink::formats::{profdata, profraw};

use crate::harness::{Workshop, skip, succeed};
use crate::llvm::Llvm;

const TOOL: &str = env!("CARGO_BIN_EXE_countersink");

/// The release whose output ours is.
fn reference() -> Option<Llvm> {
    let found = crate::llvm::all().into_iter().find(|llvm| llvm.major == 22);
    if found.is_none() {
        skip("llvm-profdata-22 is not installed");
    }
    found
}

/// Our stand-in, for a release of LLVM.
fn stand_in(shop: &Workshop, major: u32) -> Command {
    let mut command = shop.command(TOOL);
    command.arg("profdata").env("COUNTERSINK_LLVM", major.to_string());
    command
}

/// Runs both; the output and the exit status are the same.
#[track_caller]
fn same(shop: &Workshop, llvm: Llvm, words: &[&str]) -> Output {
    let theirs = llvm.profdata(shop, words);
    let ours = stand_in(shop, llvm.major).args(words).output().unwrap();
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text(&ours), text(&theirs), "{words:?}: {ours:?}");
    assert_eq!(ours.status.code(), theirs.status.code(), "{words:?}: {ours:?}, {theirs:?}");
    ours
}

/// Runs both with `-o`; the files are the same.
#[track_caller]
fn same_file(shop: &Workshop, llvm: Llvm, words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let theirs = llvm.profdata(shop, &[&["merge", "-o", "theirs"], &words[..]].concat());
    let ours = stand_in(shop, llvm.major).args(["merge", "-o", "ours"]).args(&words).output();
    let ours = ours.unwrap();
    assert!(theirs.status.success() && ours.status.success(), "{words:?}: {ours:?}, {theirs:?}");
    let major = llvm.major;
    if shop.read("ours") != shop.read("theirs") {
        let show = |file| llvm.text(shop, &shop.read(file)).unwrap();
        assert_eq!(show("ours"), show("theirs"), "{words:?}: not what LLVM {major} writes");
        // The functions that --sparse leaves out have a say in the order of the others up to LLVM 18.
        let order = major < 19 && words.contains(&"--sparse");
        assert!(order, "{words:?}: not the bytes of LLVM {major}");
    }
}

/// GNU make leaves a pipe in folders for temporary files, for instance. Only regular files count, also behind links.
#[test]
fn folders_with_what_is_no_file() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    shop.write("all/a", ":ir\nfoo\n1\n1\n5\n\n");
    shop.write("elsewhere/b", ":ir\nbar\n1\n1\n7\n\n");
    fs::create_dir_all(shop.path("none/below")).unwrap();
    crate::harness::succeed(shop.command("mkfifo").args(["all/pipe", "none/pipe"]));
    let _socket = std::os::unix::net::UnixListener::bind(shop.path("all/socket")).unwrap();
    for (target, link) in [
        ("nowhere", "all/broken"),
        ("/dev/zero", "all/endless"),
        ("../elsewhere", "all/folder"),
        ("../elsewhere/b", "all/link"),
    ] {
        symlink(target, shop.path(link)).unwrap();
    }
    same_file(&shop, llvm, "all");
    for words in
        [&["merge", "none", "-o", "x"][..], &["merge", "-failure-mode=all", "none", "-o", "x"]]
    {
        let told = same(&shop, llvm, words).stderr;
        assert!(String::from_utf8(told).unwrap().contains("no input files specified"));
    }
}

/// A counter above 2^56 is damage since LLVM 18, but its file is added.
#[test]
fn very_large_counters() {
    for llvm in crate::llvm::all() {
        let shop = Workshop::new();
        for (name, count) in [("largest", 1 << 56), ("larger", (1 << 56) + 1), ("small", 1)] {
            let counters = vec![count, 1];
            let function = Function { name: b"f".into(), hash: 1, counters, ..Function::default() };
            let functions = vec![function];
            let profile = Profile { variant: Variant::IR, functions, ..Profile::default() };
            shop.write(name, encode(&profile, llvm.raw_version()).unwrap());
        }
        for words in ["merge larger", "merge -failure-mode=all larger", "merge larger small"] {
            let words: Vec<&str> = words.split(' ').chain(["-o", "x"]).collect();
            same(&shop, llvm, &words);
        }
        same_file(&shop, llvm, "largest");
        same_file(&shop, llvm, "-failure-mode=all larger small");
        // What `show` prints is always LLVM 22's.
        if llvm.major == 22 {
            same(&shop, llvm, &["show", "larger"]);
        }
    }
}

/// If nobody chooses, as many compilers as possible read the output.
#[test]
fn the_oldest_version_that_holds_all() {
    let shop = Workshop::new();
    let function = "f\n1\n2\n5\n6\n";
    for (content, version) in [
        (format!(":ir\n{function}"), 7),
        (function.to_owned(), 7),
        (format!(":csir\n:entry_first\n{function}"), 7),
        (format!(":ir\n:single_byte_coverage\n{function}"), 8),
        (format!(":ir\n:temporal_prof_traces\n1\n1\n1\nf\n{function}"), 10),
        (format!("{function}$1\n0x7\n"), 11),
        (format!(":ir\n:instrument_loop_entries\n{function}"), 12),
        (format!(":ir\n{function}1\n2\n1\n1\ntable:3\n"), 12),
        (format!("{function}\ng\n0x800000000000001\n1\n1\nh\n0xe00000000000001\n1\n1\n"), 13),
    ] {
        shop.write("profile", &content);
        for words in [
            &["profdata", "merge", "profile", "-o", "out"][..],
            &["merge", "profile", "-o", "out", "--to", "profdata"],
        ] {
            let output = shop.command(TOOL).args(words).env_remove("COUNTERSINK_LLVM").output();
            assert!(output.as_ref().unwrap().status.success(), "{output:?}");
            assert_eq!(shop.read("out")[8], version, "{words:?}: {content}");
        }
    }
}

/// Profiles of a program in every way, raw, indexed and as text; gives the names of the files.
fn files(shop: &Workshop, llvm: Llvm) -> Vec<String> {
    let mut files = Vec::new();
    for (number, (_, raw)) in crate::llvm::profiles(llvm, shop).into_iter().enumerate() {
        let [raw_file, indexed, text] =
            ["profraw", "profdata", "proftext"].map(|kind| format!("{number}.{kind}"));
        shop.write(&raw_file, raw);
        for words in [
            &["merge", "-o", &*indexed, &*raw_file][..],
            &["merge", "-text", "-o", &text, &raw_file],
        ] {
            assert!(llvm.profdata(shop, words).status.success());
        }
        files.extend([raw_file, indexed, text]);
    }
    files
}

const SHOWN: [&str; 22] = [
    "",
    "--all-functions",
    "-all-functions -counts -ic-targets -memop-sizes -show-vtables",
    "--function=a --counts",
    "--function main --memop-sizes",
    "--function=nonesuch",
    "--counts",
    "--topn=3",
    "-topn 100 -all-functions",
    "--hot-func-list -topn=2",
    "--detailed-summary",
    "--detailed-summary --detailed-summary-cutoffs=500000,1,999999,333333",
    "--value-cutoff=20 --all-functions",
    "--value-cutoff=20 --list-below-cutoff",
    "--list-below-cutoff",
    "--showcs --all-functions --counts",
    "--covered",
    "--all-functions=true --covered=0",
    "--binary-ids --profile-version",
    "--temporal-profile-traces",
    "--text --all-functions",
    "--text --function=a",
];

#[test]
#[ignore = "slow"]
fn show_prints_what_llvm_prints() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    for (number, file) in files(&shop, llvm).iter().enumerate() {
        // In a text LLVM gives functions without bitmaps those of the functions before them.
        let is_text = file.ends_with("text");
        for (place, options) in SHOWN.into_iter().enumerate() {
            let is_apart = is_text && options.contains("-text");
            // All combinations would take minutes.
            if is_apart || (place + number) % 4 > 0 {
                continue;
            }
            let words: Vec<&str> =
                ["show", file].into_iter().chain(options.split_whitespace()).collect();
            same(&shop, llvm, &words);
        }
    }
}

#[test]
#[ignore = "slow"]
fn show_prints_profiles_that_no_compiler_made() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let ties = [3, 5, 7, 1, 9, 5, 7, 5, 9, 2, 9, 7].into_iter().enumerate();
    let ties: String = ties.map(|(name, count)| format!("f{name}\n1\n2\n{count}\n0\n\n")).collect();
    shop.write("ties", ties);
    shop.write("zeros", "z\n1\n1\n0\n\ny\n1\n1\n0\n\n");
    shop.write("none", ":ir\n");
    shop.write("sites", ":ir\nfoo\n1\n1\n5\n1\n1\n2\n0\n1\n7:0\n\n");
    let pseudo = "foo\n10\n2\n18446744073709551615\n18446744073709551615\n\nbar\n10\n2\n18446744073709551614\n3\n\n";
    shop.write("pseudo", pseudo);
    for file in ["ties", "zeros", "none", "sites", "pseudo"] {
        for options in SHOWN {
            let words: Vec<&str> =
                ["show", file].into_iter().chain(options.split_whitespace()).collect();
            same(&shop, llvm, &words);
        }
    }
}

#[test]
#[ignore = "slow"]
fn overlap_prints_what_llvm_prints() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let files = files(&shop, llvm);
    shop.write("one", "foo\n1\n1\n0\n\nbar\n1\n1\n7\n\n");
    shop.write("two", "foo\n1\n1\n4\n\nbar\n2\n1\n7\n\nnew\n1\n1\n2\n\n");
    shop.write("three", "foo\n1\n2\n4\n0\n\nbar\n1\n1\n7\n\n");
    let files = files.iter().map(String::as_str).filter(|file| !file.ends_with("text"));
    let files: Vec<&str> = ["one", "two", "three"].into_iter().chain(files).collect();
    for (number, first) in files.iter().enumerate() {
        let others = [first, files[(number + 5) % files.len()]];
        for second in others {
            for options in
                ["", "--cs", "--function=a", "-value-cutoff=5", "--value-cutoff=0 --function=o"]
            {
                let words = ["overlap", first, second].into_iter();
                let words: Vec<&str> = words.chain(options.split_whitespace()).collect();
                same(&shop, llvm, &words);
            }
        }
    }
}

#[test]
#[ignore = "slow"]
fn merge_writes_the_bytes_of_each_llvm() {
    for llvm in crate::llvm::all() {
        let shop = Workshop::new();
        let files = files(&shop, llvm);
        fs::create_dir_all(shop.path("all/below")).unwrap();
        fs::copy(shop.path("0.profraw"), shop.path("all/first")).unwrap();
        fs::copy(shop.path("1.profraw"), shop.path("all/below/second")).unwrap();
        shop.write("list", "# all of them\n 3,0.profraw \n\n0.profdata\n");
        shop.write("response", "'0.profraw' -weighted-input\n\"2,0.profraw\"");
        shop.write("empty", "");
        for file in &files {
            same_file(&shop, llvm, file);
            same_file(&shop, llvm, &format!("--text {file}"));
            same_file(&shop, llvm, &format!("--sparse -num-threads=1 {file} {file}"));
        }
        for words in [
            "0.profraw 1.profdata",
            "1.profraw 0.profraw -binary",
            "-weighted-input=3,0.profraw",
            "--weighted-input 3,0.profraw 0.profraw",
            "-f list",
            "-f=list -j 2",
            "--input-files list --failure-mode=all",
            "@response",
            "all",
            "empty 0.profraw",
            "empty",
            "-failure-mode=all empty list 0.profraw",
        ] {
            same_file(&shop, llvm, words);
        }
        if llvm.major >= 19 {
            same_file(&shop, llvm, "-failure-mode=warn list 0.profraw");
            same_file(&shop, llvm, "--write-prev-version 0.profraw 1.profraw");
            same_file(&shop, llvm, "-suppl-min-size-threshold=1 -profile-isfs 0.profraw");
            same_file(&shop, llvm, "-instr-prof-cold-threshold=1 0.profraw");
        }
        // Counters of the front end beside those of the optimiser; LLVM 13 refuses that.
        if llvm.major > 13 {
            same_file(&shop, llvm, "0.profraw 2.profraw");
            same_file(&shop, llvm, "2.profraw 0.profraw");
        }
    }
}

/// Raw profiles are read several at a time, alone in their files or not, damaged or not.
#[test]
#[ignore = "slow"]
fn cores_change_nothing() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let files = files(&shop, llvm);
    let raw = shop.read("0.profraw");
    shop.write("two.profraw", [&raw[..], &raw].concat());
    shop.write("cut.profraw", &raw[..raw.len() / 2]);
    same_file(&shop, llvm, &format!("-num-threads=1{} two.profraw", " 0.profraw".repeat(70)));
    let mut all: Vec<&str> = files.iter().map(String::as_str).cycle().take(200).collect();
    all.insert(100, "two.profraw");
    all.insert(70, "cut.profraw");
    let [one, many] = ["-num-threads=1", "-num-threads=3"].map(|cores| {
        let mut command = stand_in(&shop, llvm.major);
        command.args(["merge", "-failure-mode=all", cores, "-o", "ours"]).args(&all);
        let Output { status, stderr, .. } = command.output().unwrap();
        assert!(status.success(), "{cores}");
        (shop.read("ours"), String::from_utf8(stderr).unwrap())
    });
    assert!(one.0 == many.0, "other bytes");
    assert_eq!(one.1, many.1);
}

/// What a run of a program with calls through pointers has counted.
fn run_of(program: &str, run: u64) -> Profile {
    let name = |number: u64| format!("{program}_{number}").into_bytes();
    let function = |number: u64| {
        let target = Value { value: name_ref(&name(run % 9)), count: run };
        let mut values: [Vec<Site>; 3] = Default::default();
        values[ValueKind::IndirectCall as usize] = match number % 3 {
            0 => vec![Site { values: vec![target] }, Site::default()],
            _ => vec![],
        };
        let counters = vec![number * run, run, number];
        Function { name: name(number), hash: number, counters, values, ..Function::default() }
    };
    let functions = (0..9).map(function).collect();
    Profile { variant: Variant::IR, functions, ..Profile::default() }
}

/// Most files are of one program; one is damaged, and the functions of one have fewer counters. The number of cores
/// makes no difference to ours. LLVM ignores the weight of a value that is new to a core.
#[test]
fn many_small_files() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let mut list = Vec::new();
    for run in 0..200 {
        let mut profile = run_of(if run % 50 == 20 { "other" } else { "program" }, run);
        if run == 100 {
            profile.functions[3].counters.pop();
        }
        let mut raw = encode(&profile, llvm.raw_version()).unwrap();
        if run == 150 {
            raw.truncate(raw.len() / 2);
        }
        let name = format!("{run}.profraw");
        shop.write(&name, raw);
        list.push(if run % 7 == 3 { format!("3,{name}") } else { name });
    }
    shop.write("list", list.join("\n"));
    same_file(&shop, llvm, "-num-threads=1 -failure-mode=all -f list");
    for cores in ["1", "2", "3"] {
        let threads = format!("-num-threads={cores}");
        let words = ["merge", "-o", "again", &threads, "-failure-mode=all", "-f", "list"];
        assert!(stand_in(&shop, llvm.major).args(words).output().unwrap().status.success());
        assert!(shop.read("again") == shop.read("ours"), "{cores}");
        let mut ours = stand_in(&shop, llvm.major);
        let failed = ours.args(["merge", "-j", cores, "-f", "list", "-o", "none"]).output();
        let failed = failed.unwrap();
        let said = String::from_utf8(failed.stderr).unwrap();
        assert_eq!(failed.status.code(), Some(1), "{said}");
        assert!(said.contains("150.profraw: 0x"), "{said}");
        assert!(said.contains("100.profraw: program_3: function basic block count"), "{said}");
    }
}

/// Small files are read when they are opened, large ones when their turn comes, and directories give way to their
/// files.
#[test]
fn files_of_all_sizes_and_directories() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let write = |name: &str, program: &str, run, copies| {
        let raw = encode(&run_of(program, run), llvm.raw_version()).unwrap();
        shop.write(name, raw.repeat(copies));
        (raw.len() * copies) as u64
    };
    for folder in ["some/below", "some/empty", "many"] {
        fs::create_dir_all(shop.path(folder)).unwrap();
    }
    for run in 0..150 {
        write(&format!("many/{run}"), ["one", "two"][run as usize % 2], run, 1);
    }
    write("small", "one", 1000, 1);
    write("some/small", "three", 1001, 1);
    assert!(write("some/below/large", "four", 1002, 60) > 1 << 16);
    assert!(write("some/too_large", "five", 1003, 5000) > 4 << 20);
    let given = "-num-threads=1 some/too_large many small some -weighted-input=3,many small";
    same_file(&shop, llvm, given);
    let files: Vec<&str> = given.split(' ').skip(1).collect();
    let mut sum = vec!["merge", "-j", "3", "-o", "again"];
    sum.extend(&files);
    assert!(stand_in(&shop, llvm.major).args(sum).output().unwrap().status.success());
    assert!(shop.read("again") == shop.read("ours"));
    let mut list = vec!["merge", "--dump-input-file-list"];
    list.extend(&files);
    let Output { stdout, .. } = stand_in(&shop, llvm.major).args(list).output().unwrap();
    assert_eq!(String::from_utf8(stdout).unwrap().lines().count(), 150 + 3 + 150 + 3);
    // What is missing is an error whatever the failure mode is.
    let mut missing = stand_in(&shop, llvm.major);
    missing.args(["merge", "-failure-mode=all", "-o", "none", "small", "nowhere", "many"]);
    let Output { status, stderr, .. } = missing.output().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(String::from_utf8(stderr).unwrap().contains("nowhere: No such file"));
    assert!(!shop.path("none").exists());
}

/// One writer fills one pipe after the other. More than a pipe holds must be read from the first one before the writer
/// opens the second one.
#[test]
fn pipes_of_one_writer() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let raw = encode(&run_of("program", 1), llvm.raw_version()).unwrap();
    shop.write("large", raw.repeat(200));
    assert!(shop.read("large").len() > 1 << 17);
    // The limits end the writer, too, when nobody reads.
    let script = "mkfifo first second; timeout 60 sh -c 'cat large >first; cat large >second' & \
                  timeout 60 \"$0\" profdata merge first second -o piped && \
                  \"$0\" profdata merge large large -o expected";
    let words = ["-c", script, TOOL];
    let output = shop.command("sh").args(words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(shop.read("piped") == shop.read("expected"));
}

/// `merge` takes files of all versions, and adds what a run of each counted.
#[test]
fn many_files_of_several_versions() {
    let shop = Workshop::new();
    let (mut words, mut sum) = (vec!["merge".to_owned()], Sum::default());
    for run in 0..150 {
        let profile = run_of("program", run);
        let version = [profraw::Version::V8, profraw::Version::V10][run as usize / 3 % 2];
        shop.write(&format!("{run}.profraw"), encode(&profile, version).unwrap());
        words.push(format!("{run}.profraw"));
        assert_eq!(sum.add(&profile, 1), Ok(vec![]));
    }
    words.extend(["--for-llvm", "22", "-o", "out"].map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    shop.tool_output(&words);
    let version = version_for_llvm(22, &Profile { variant: Variant::IR, ..Profile::default() });
    let expected = profdata::encode::encode(&sum.finish(), version).unwrap();
    assert!(shop.read("out") == expected.bytes);
}

#[test]
#[ignore = "slow"]
fn merge_keeps_the_functions_that_match() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let files = files(&shop, llvm);
    for words in ["--function=a", "--function=^m --no-function=x", "--no-function=[ab]$"] {
        same_file(&shop, llvm, &format!("{words} {}", files[0]));
    }
    for words in [
        "--temporal-profile-max-trace-length=2",
        "--temporal-profile-trace-reservoir-size=1",
        "--temporal-profile-trace-reservoir-size=0",
    ] {
        for file in &files {
            same_file(&shop, llvm, &format!("{words} {file}"));
        }
    }
    same(
        &shop,
        llvm,
        &["merge", "--dump-input-file-list", "0.profraw", "--weighted-input=4,1.profdata"],
    );
}

#[test]
#[ignore = "slow"]
fn bad_input_ends_as_in_llvm() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let file = &files(&shop, llvm)[1];
    let raw = shop.read("0.profraw");
    shop.write("cut.profraw", &raw[..300]);
    shop.write("cut.profdata", &shop.read(file)[..100]);
    shop.write("text", "neither this nor that\n");
    shop.write("noise", b"\x7fELF\x00\x01\x02");
    for bad in ["cut.profraw", "cut.profdata", "text", "noise", "missing"] {
        // LLVM says nothing at all.
        let compared = |words: &&[&str]| bad != "text" || words[0] != "overlap";
        for words in [
            &["show", bad][..],
            &["overlap", bad, file],
            &["overlap", file, bad],
            &["merge", bad, "-o", "out"],
            &["merge", bad, file, "-o", "out"],
            &["merge", "-failure-mode=all", bad, file, "-o", "out"],
            &["merge", "-failure-mode=all", bad, "-o", "out"],
        ]
        .into_iter()
        .filter(compared)
        {
            let output = same(&shop, llvm, words);
            let complaint = String::from_utf8(output.stderr).unwrap();
            assert!(complaint.contains(bad), "{words:?}: {complaint}");
        }
    }
    for words in [
        &["merge"][..],
        &["merge", "-o", "out"],
        &["merge", "--input-files", "missing", "-o", "out"],
        &["merge", "--input-files", "text", "-o", "out"],
        &["merge", "--weighted-input=0,0.profraw", "-o", "out"],
        &["merge", "--weighted-input=0.profraw", "-o", "out"],
        &["merge", "--new-option", "0.profraw", "-o", "out"],
        &["merge", "--sparse=perhaps", "0.profraw", "-o", "out"],
        &["merge", "--num-threads=x", "0.profraw", "-o", "out"],
        &["merge", "--failure-mode=x", "0.profraw", "-o", "out"],
        &["merge", "--function=(", "0.profraw", "-o", "out"],
        &["merge", "0.profraw", "-o", "/dev/null/file"],
        &["merge", "--gcc", "0.profraw", "-o", "out"],
        &["merge", "--sample", "0.profraw", "-o", "out"],
        &["show"],
        &["show", "0.profraw", "0.profraw"],
        &["show", "--json", "0.profraw"],
        &["show", "--sample", "0.profraw"],
        &["show", "--topn=-1", "0.profraw"],
        &["overlap", "0.profraw"],
        &["overlap", "--sample", "0.profraw", "0.profraw"],
        &["nothing"],
        &[],
    ] {
        let output = same(&shop, llvm, words);
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
}

/// Of two files in one, LLVM's tool takes the first without a word.
#[test]
#[ignore = "slow"]
fn what_is_left_out_is_told() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    let file = &files(&shop, llvm)[1];
    let indexed = shop.read(file);
    shop.write("two.profdata", [&indexed[..], &indexed[..]].concat());
    let length = indexed.len();
    let told =
        format!("warning: two.profdata: {length:#x}: {length} bytes that belong to nothing\n");
    for words in [
        &["merge", "two.profdata", "-o", "out"][..],
        &["show", "two.profdata"],
        &["overlap", "two.profdata", file],
    ] {
        let output = same(&shop, llvm, words);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), told, "{words:?}");
    }
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let shop = Workshop::new();
    shop.write("profile", ":ir\nfoo\n1\n1\n5\n\n");
    for (words, why) in [
        (&["merge", "--sample", "profile"][..], "--sample: sampled profiles are not read"),
        (
            &["merge", "--debug-info=x", "-binary-file", "x", "profile"],
            "Expected only one of -debug-info and -binary-file",
        ),
        (
            &["merge", "-supplement-instr-with-sample=x", "-suppl-min-size-threshold=0", "profile"],
            "--supplement-instr-with-sample: sampled profiles are not read",
        ),
        (&["merge", "--memprof-version=2", "profile"], "--memprof-version: memory profiles"),
        (&["show", "--memory", "profile"], "--memory: memory profiles are not read"),
        (&["order", "profile"], "no traces of first calls"),
        (&["order", "--num-test-traces=1", "profile"], "--num-test-traces: orders are not rated"),
    ] {
        let output = stand_in(&shop, 22).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.starts_with("error: ") && complaint.contains(why), "{complaint}");
    }
}

/// Raw profiles of all versions are read at once, by no release of LLVM but by ours.
#[test]
fn merge_mixes_versions() {
    let all = crate::llvm::all();
    let (Some(oldest), Some(newest)) = (all.first(), all.last()) else { return };
    let shop = Workshop::new();
    shop.program("values.cc");
    let mut names = Vec::new();
    for llvm in &all {
        let name = format!("{}.profraw", llvm.major);
        shop.write(&name, llvm.profile(&shop, "values.cc", &["-fprofile-generate"]));
        names.push(name);
    }
    for llvm in [oldest, newest] {
        let merged = stand_in(&shop, llvm.major).args(["merge", "-o", "all"]).args(&names).output();
        assert!(merged.unwrap().status.success());
        let text = llvm.text(&shop, &shop.read("all")).unwrap();
        let entries = text.lines().skip_while(|&line| line != "main").nth(6);
        assert!(entries.is_some(), "{text}");
    }
}

/// Dumps are read as the raw profiles that LLVM's own runtime writes.
#[test]
fn dumps_of_clang_are_profiles_of_llvm() {
    let Some(llvm) = reference() else { return };
    let shop = Workshop::new();
    shop.program("values.cc");
    shop.write("stock", llvm.profile(&shop, "values.cc", &["-fprofile-generate"]));
    let flags = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    let flags: Vec<&str> =
        ["-fprofile-generate"].into_iter().chain(flags.split_whitespace()).collect();
    llvm.compile(&shop, "values.cc", "ours", &flags);
    crate::harness::succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
    let text = |file: &str| {
        let mut merge = stand_in(&shop, 22);
        String::from_utf8(crate::harness::succeed(merge.args(["merge", "--text", file]))).unwrap()
    };
    assert_eq!(text("ours.csraw"), text("stock"));
    let output = |words: &[&str]| String::from_utf8(shop.tool_output(words)).unwrap();
    assert!(output(&["show", "ours.csraw", "--function", "main"]).starts_with("main  entry "));
    assert!(output(&["diff", "ours.csraw", "stock"]).starts_with("overlap 100.00 %"));
    assert_eq!(
        shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "ours.gcov"]).status.code(),
        Some(2)
    );
}

#[test]
fn the_name_of_the_tool_says_what_it_is() {
    let shop = Workshop::new();
    shop.write("profile", ":ir\nfoo\n1\n1\n5\n\n");
    for name in ["llvm-profdata", "llvm-profdata-16"] {
        symlink(TOOL, shop.path(name)).unwrap();
    }
    let run = |name: &str, words: &[&str], major: &str| {
        let mut command = shop.command(shop.path(name));
        command.args(words).env("COUNTERSINK_LLVM", major).output().unwrap()
    };
    let merge = ["merge", "-o", "merged", "profile"];
    for (name, major, version) in
        [("llvm-profdata-16", "", 9), ("llvm-profdata", "14", 7), ("llvm-profdata-16", "22.1", 13)]
    {
        assert_eq!(run(name, &merge, major).status.code(), Some(0));
        assert_eq!(shop.read("merged")[8], version, "{name} {major}");
    }
    let version = String::from_utf8(run("llvm-profdata-16", &["--version"], "").stdout).unwrap();
    assert!(version.contains("\n  LLVM version 16.0.0\n"), "{version}");
    let version = String::from_utf8(run("llvm-profdata", &["-version"], "22.1.2").stdout).unwrap();
    assert!(version.contains("\n  LLVM version 22.1.2\n"), "{version}");
    let help = run("llvm-profdata", &["merge", "--help"], "");
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8(help.stdout).unwrap().contains("--weighted-input"));
    let wrong = run("llvm-profdata", &merge, "9");
    assert_eq!(wrong.status.code(), Some(1));
    let complaint = String::from_utf8(wrong.stderr).unwrap();
    assert!(complaint.contains("COUNTERSINK_LLVM: the profiles of LLVM"), "{complaint}");
}

/// COUNTERSINK_LLVM names an `llvm-profdata` of any release. Those up to 16 do not know `--version` as such.
#[test]
fn the_version_of_an_llvm_profdata() {
    let shop = Workshop::new();
    for llvm in crate::llvm::all() {
        let mut command = shop.command(TOOL);
        let named = command.env("COUNTERSINK_LLVM", format!("llvm-profdata-{}", llvm.major));
        let version = crate::harness::succeed(named.args(["profdata", "--version"]));
        let version = String::from_utf8(version).unwrap();
        assert!(version.contains(&format!("\n  LLVM version {}.", llvm.major)), "{version}");
    }
}

#[test]
fn install_links_the_tool() {
    let shop = Workshop::new();
    fs::create_dir_all(shop.path("usr/bin")).unwrap();
    fs::copy(TOOL, shop.path("usr/bin/countersink")).unwrap();
    // Twice: what is there is replaced.
    for _ in 0..2 {
        let mut install = shop.command(shop.path("usr/bin/countersink"));
        crate::harness::succeed(install.args(["install", "--prefix", "usr"]));
    }
    let name = shop.path("usr/libexec/countersink/llvm-profdata");
    assert_eq!(fs::read_link(&name).unwrap().to_str(), Some("../../bin/countersink"));
    fs::rename(shop.path("usr"), shop.path("moved")).unwrap();
    let moved = shop.path("moved/libexec/countersink/llvm-profdata");
    let version = crate::harness::succeed(shop.command(moved).arg("--version"));
    assert!(String::from_utf8(version).unwrap().contains("LLVM version"));
}

/// One run has its own order, which is LLVM's. Of several, both tools have the same functions.
#[test]
fn order_of_traces() {
    const TEMPORAL: [&str; 3] = ["-fprofile-generate", "-mllvm", "-pgo-temporal-instrumentation"];
    for llvm in crate::llvm::all().into_iter().filter(|llvm| llvm.major >= 19) {
        let shop = Workshop::new();
        let functions: String = (0..9)
            .map(|n| {
                format!("__attribute__((noinline)) static int f{n}(int x) {{ return x * {n}; }}\n")
            })
            .collect();
        let calls: String = (0..9).map(|n| format!("case {n}: s += f{n}(i); break;\n")).collect();
        let main = "int main(int c, char **v) { int s = 0; for (int i = 1; i < c; i++) switch (v[i][0] - '0') {\n";
        shop.write("program.c", format!("{functions}{main}{calls}}} return s == 1; }}\n"));
        let clang = format!("clang-{}", llvm.major);
        succeed(shop.command(clang).args(["-O1", "program.c", "-o", "program"]).args(TEMPORAL));
        let runs = [&["8", "7", "6"][..], &["1", "2", "3", "8"], &["8", "7", "1"]];
        let mut files = vec!["merge".to_owned(), "-o=all.profdata".to_owned()];
        for (number, words) in runs.iter().enumerate() {
            files.push(format!("{number}.profraw"));
            let raw = files.last().unwrap();
            succeed(shop.command(shop.path("program")).args(*words).env("LLVM_PROFILE_FILE", raw));
        }
        succeed(stand_in(&shop, llvm.major).args(&files));
        for one in &files[2..] {
            succeed(stand_in(&shop, llvm.major).args(["merge", "-o=one.profdata", one]));
            let expected = llvm.profdata(&shop, &["order", "one.profdata"]).stdout;
            assert_eq!(
                succeed(stand_in(&shop, llvm.major).args(["order", "one.profdata"])),
                expected
            );
        }
        let sorted = |bytes: Vec<u8>| {
            let mut lines: Vec<String> =
                String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let ours = sorted(succeed(stand_in(&shop, llvm.major).args(["order", "all.profdata"])));
        assert_eq!(ours, sorted(llvm.profdata(&shop, &["order", "all.profdata"]).stdout));
    }
}
