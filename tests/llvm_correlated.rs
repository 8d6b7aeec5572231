//! Programs that keep their function records out of memory (`-profile-correlate`): our runtime and our tool say that
//! they do not serve them, and nothing takes them for programs without counts.

mod harness;
mod llvm;

use harness::Workshop;
use llvm::both::OURS;
use llvm::{Llvm, all};

/// Ways to do so, the releases of LLVM that have them, and what our tool calls them.
const WAYS: [(std::ops::RangeInclusive<u32>, &[&str], &str); 4] = [
    (
        14..=19,
        &["-g", "-fprofile-generate", "-mllvm", "-debug-info-correlate", "-mllvm", "-disable-vp"],
        "debug-info",
    ),
    (
        19..=23,
        &[
            "-g",
            "-fprofile-generate",
            "-mllvm",
            "-profile-correlate=debug-info",
            "-mllvm",
            "-disable-vp",
        ],
        "debug-info",
    ),
    (
        19..=23,
        &["-fprofile-generate", "-mllvm", "-profile-correlate=binary", "-mllvm", "-disable-vp"],
        "binary",
    ),
    (
        19..=23,
        &["-fprofile-instr-generate", "-fcoverage-mapping", "-mllvm", "-profile-correlate=binary"],
        "binary",
    ),
];

/// A program of the folder with our runtime writes no dump, and says so in one line. It ends as ever.
fn counts_nothing(llvm: Llvm, shop: &Workshop, object: &str, mode: &str) {
    llvm.clang(shop, &[&[mode, object, "-o", "ours"], &OURS[..]].concat());
    let mut command = shop.command(shop.path("ours"));
    let output = command.env("COUNTERSINK_FILE", "ours.csraw").output().unwrap();
    let what = "no function records, as with -profile-correlate; they are not kept";
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!("countersink: LLVM's counters: {what}\n"),
        "LLVM {}, {mode}",
        llvm.major
    );
    assert_eq!(shop.files("csraw"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn refused_in_one_line() {
    for llvm in all() {
        for (releases, flags, kind) in WAYS {
            if !releases.contains(&llvm.major) {
                continue;
            }
            let shop = Workshop::new();
            shop.program("values.cc");
            let object = llvm.object(&shop, "values.cc", flags);
            let mode = flags.iter().find(|flag| flag.starts_with("-fprofile")).unwrap();
            counts_nothing(llvm, &shop, &object, mode);

            llvm.clang(&shop, &[mode, &object, "-o", "stock"]);
            llvm.run(&shop, "stock", "stock.profraw");
            let why = format!("stock.profraw: 0x0: the program was built for {kind} correlation");
            for words in [
                &["profdata", "merge", "stock.profraw", "-o", "merged"][..],
                &["convert", "stock.profraw", "--to", "profdata", "--for-llvm", "22"],
                &["show", "stock.profraw"],
            ] {
                let output = shop.tool(words);
                let told = String::from_utf8_lossy(&output.stderr);
                assert!(!output.status.success() && told.contains(&why), "{words:?}: {told}");
            }
            for option in ["--debug-info=stock", "--binary-file=stock"] {
                let words = ["profdata", "merge", option, "stock.profraw", "-o", "merged"];
                let output = shop.tool(&words);
                let told = String::from_utf8_lossy(&output.stderr);
                let why = "profiles without the functions' names";
                assert!(!output.status.success() && told.contains(why), "{words:?}: {told}");
                assert_eq!(told.lines().count(), 1, "{told}");
            }
        }
    }
}
