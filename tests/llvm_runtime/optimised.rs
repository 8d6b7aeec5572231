//! Compilers make of a profile from our dump what they make of the profile from their own runtime, and have nothing
//! to say about it.

use std::fs;
use std::process::Output;

use countersink::formats::profraw::Version;

use crate::harness::{Workshop, gcc_for_version_2, succeed};
use crate::llvm::both::of_stock;
use crate::llvm::{Llvm, all, of_rustc};

const GENERATE: &str = "-fprofile-generate";
/// A program with parts of gcc, clang and rustc.
const PARTS: [&str; 3] = ["mixed.c", "mixed_part.c", "mixed_part.rs"];
/// What the part of clang is compiled as.
const NAMES: [&str; 2] = ["oldest", "newest"];
/// How gcc and rustc compile their parts.
const GCC: [&str; 3] = ["-O2", "-g", "-c"];
const RUSTC: [&str; 3] = ["-O", "-Cpanic=abort", "--edition=2024"];

/// A compiler that succeeds and is silent.
#[track_caller]
fn silent(output: &Output, about: &str) {
    let silent = output.stderr.is_empty() && output.stdout.is_empty();
    assert!(output.status.success() && silent, "{about}: {output:?}");
}

/// Compiles the parts with instrumentation; `rust` is that of rustc. Links them with the compilers' own runtimes as
/// `stock`, and with the flags of `countersink flags` as `ours`.
fn build(llvm: Llvm, shop: &Workshop, rust: &[&str]) {
    PARTS.iter().for_each(|name| _ = shop.program(name));
    let mut objects = vec![shop.compile("mixed.c", &[])];
    for name in NAMES {
        let defined = format!("-DNAME={name}");
        let object = llvm.object(shop, "mixed_part.c", &["-O2", GENERATE, "-fPIE", &defined]);
        let named = format!("{name}.o");
        fs::rename(shop.path(object), shop.path(&named)).unwrap();
        objects.push(named);
    }
    let mut rustc = shop.command("rustc");
    succeed(rustc.args(RUSTC).args(rust).args(["mixed_part.rs", "-o", "libpart.a"]));
    let flags = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    for (program, flags) in [("stock", &["-lgcov"][..]), ("ours", &flags)] {
        let mut linker = shop.command(format!("clang-{}", llvm.major));
        linker.arg(GENERATE).args(&objects).args(flags);
        succeed(linker.args(["libpart.a", "-lpthread", "-ldl", "-lm", "-o", program]));
    }
    assert_eq!(of_stock(shop, "ours"), Vec::<String>::new());
}

/// Runs both programs. One dump becomes the files that gcc's runtime and LLVM's write: `mixed.gcda`, which is
/// `stock.gcda` and `ours.gcda` afterwards, and the profiles `stock.profdata` and `ours.profdata`.
fn run_both(llvm: Llvm, shop: &Workshop) {
    let mut stock = shop.command(shop.path("stock"));
    let printed = succeed(stock.env("LLVM_PROFILE_FILE", "stock.profraw"));
    fs::rename(shop.path("mixed.gcda"), shop.path("stock.gcda")).unwrap();
    let merged = llvm.profdata(shop, &["merge", "-o", "stock.profdata", "stock.profraw"]);
    assert!(merged.status.success(), "{merged:?}");

    let mut ours = shop.command(shop.path("ours"));
    assert_eq!(succeed(ours.env("COUNTERSINK_FILE", "ours.csraw")), printed);
    assert_eq!(shop.files("csraw").len(), 1);
    assert_eq!(shop.files("profraw").len(), 1);
    shop.tool_output(&["convert", "--to", "gcda", "ours.csraw"]);
    fs::rename(shop.path("mixed.gcda"), shop.path("ours.gcda")).unwrap();
    let clang = format!("clang-{}", llvm.major);
    let convert = ["convert", "ours.csraw", "--to", "profdata", "--for-llvm", &clang];
    shop.tool_output(&[&convert[..], &["-o", "ours.profdata"]].concat());
}

/// gcc's part: the object without a profile, and with each of the two.
fn by_gcc(shop: &Workshop) -> [Vec<u8>; 3] {
    let profiles = [None, Some("stock.gcda"), Some("ours.gcda")];
    profiles.map(|profile| {
        let mut gcc = shop.command("gcc");
        gcc.args(GCC).args(["mixed.c", "-o", "mixed.o"]);
        if let Some(profile) = profile {
            // gcc looks for the object's name.
            fs::copy(shop.path(profile), shop.path("mixed.gcda")).unwrap();
            gcc.args(["-fprofile-use", "-Werror", "-Wmissing-profile", "-Wcoverage-mismatch"]);
        }
        silent(&gcc.output().unwrap(), &format!("gcc, {profile:?}"));
        shop.read("mixed.o")
    })
}

/// gcc's part with a profile for `-fauto-profile`.
fn by_gcc_from_afdo(shop: &Workshop) -> Vec<u8> {
    shop.tool_output(&["convert", "ours.csraw", "--for-gcc", "gcc", "-o", "ours.afdo"]);
    let mut gcc = shop.command("gcc");
    gcc.args(GCC).args(["mixed.c", "-o", "optimised.o"]);
    gcc.args(["-fauto-profile=ours.afdo", "-Werror", "-Wall"]);
    silent(&gcc.output().unwrap(), "gcc -fauto-profile");
    shop.read("optimised.o")
}

/// rustc's part, likewise.
fn by_rustc(shop: &Workshop) -> [Vec<u8>; 3] {
    let profiles = [None, Some("stock.profdata"), Some("ours.profdata")];
    profiles.map(|profile| {
        let mut rustc = shop.command("rustc");
        rustc.args(RUSTC).args(["mixed_part.rs", "--emit=obj", "-o", "optimised.o"]);
        rustc.args(profile.map(|profile| format!("-Cprofile-use={profile}")));
        silent(&rustc.output().unwrap(), &format!("rustc, {profile:?}"));
        shop.read("optimised.o")
    })
}

/// Both profiles give the same object, and it is another one than without a profile.
#[track_caller]
fn assert_optimised([plain, stock, ours]: &[Vec<u8>; 3], about: &str) {
    assert!(ours == stock, "{about}: another object than from the stock profile");
    assert!(ours != plain, "{about}: the profile changes nothing");
}

/// From one dump of a program of gcc, clang and rustc each compiler optimises its part. All clangs are in the test,
/// those whose runtime does not read rustc's records with a part of rustc that is not instrumented.
#[test]
fn each_part_of_a_program() {
    let rust: Option<Version> = of_rustc().map(Llvm::raw_version);
    for llvm in all() {
        let shop = Workshop::new();
        let with_rust = rust == Some(llvm.raw_version());
        build(llvm, &shop, if with_rust { &["-Cprofile-generate"] } else { &[] });
        run_both(llvm, &shop);

        let text = |profile: &str| llvm.text(&shop, &shop.read(profile)).unwrap();
        assert_eq!(text("ours.profdata"), text("stock.profdata"), "LLVM {}", llvm.major);
        let of_gcc = by_gcc(&shop);
        assert_optimised(&of_gcc, "gcc");
        if gcc_for_version_2().is_some() {
            assert!(by_gcc_from_afdo(&shop) != of_gcc[0], "-fauto-profile changes nothing");
        }
        for name in NAMES {
            let defined = format!("-DNAME={name}");
            llvm.assert_same_object(&shop, "mixed_part.c", &["-O2", &defined]);
        }
        if with_rust {
            assert_optimised(&by_rustc(&shop), &format!("rustc with clang {}", llvm.major));
        }
    }
}
