//! `llvm-cov` prints the same for a program with our runtime as for one with LLVM's own.

use crate::harness::{Workshop, have, succeed};
use crate::llvm::{Llvm, all, of_rustc};

const FRONT_END: &str = "-fprofile-instr-generate";
const COVERAGE: &str = "-fcoverage-mapping";

/// Ways to compile for coverage: the first LLVM that has it, its flags, and what the listing shows of it.
const WAYS: [(u32, &[&str], &[&str]); 4] = [
    (13, &["-O0"], &["--show-expansions"]),
    (13, &["-O2"], &["--show-instantiations=false"]),
    (19, &["-O1", "-fcoverage-mcdc"], &["--show-mcdc", "--show-mcdc-summary"]),
    (19, &["-O1", "-mllvm", "-enable-single-byte-coverage=true"], &[]),
];

impl Llvm {
    /// The output of `llvm-cov` for a program and its profile.
    fn cov(self, shop: &Workshop, program: &str, words: &[&str]) -> String {
        let mut cov = shop.command(format!("llvm-cov-{}", self.major));
        let profile = format!("-instr-profile={program}.profdata");
        let output =
            cov.arg(words[0]).args([program, &profile]).args(&words[1..]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs `stock` and `ours`, makes `stock.profdata` with `llvm-profdata` and `ours.profdata` from the dump, and
    /// compares all outputs of `llvm-cov`. `source` is a source file of the program.
    #[track_caller]
    fn assert_same_coverage(self, shop: &Workshop, source: &str, shown: &[&str], about: &str) {
        let _ = std::fs::remove_file(shop.path("ours.csraw"));
        succeed(shop.command(shop.path("stock")).env("LLVM_PROFILE_FILE", "stock.profraw"));
        succeed(shop.command(shop.path("ours")).env("COUNTERSINK_FILE", "ours.csraw"));
        let merge = ["merge", "-sparse", "-o", "stock.profdata", "stock.profraw"];
        let merged = self.profdata(shop, &merge);
        assert!(merged.status.success(), "{about}: {merged:?}");
        let clang = format!("clang-{}", self.major);
        let convert = ["convert", "ours.csraw", "--to", "profdata", "--for-llvm", &clang];
        shop.tool_output(&[&convert[..], &["-o", "ours.profdata"]].concat());
        let show = ["show", "--show-branches=count", "--show-line-counts-or-regions"];
        let functions = ["report", "--show-functions", source];
        for words in [
            &[&show[..], shown].concat(),
            &["report"][..],
            &functions,
            &["export"],
            &["export", "--format=lcov"],
        ] {
            let [stock, ours] = ["stock", "ours"].map(|program| self.cov(shop, program, words));
            let about = format!("LLVM {}, {about}, {words:?}", self.major);
            assert!(stock.len() > 500, "{about}: {stock}");
            assert_eq!(ours, stock, "{about}");
        }
    }
}

/// The LLVMs among these that have `llvm-cov`.
fn with_cov(found: impl IntoIterator<Item = Llvm>) -> impl Iterator<Item = Llvm> {
    found.into_iter().filter(|llvm| have(&format!("llvm-cov-{}", llvm.major)))
}

#[test]
#[ignore = "slow"]
fn programs_of_clang() {
    for llvm in with_cov(all()) {
        let shop = Workshop::new();
        for name in ["kinds.h", "kinds_first.cc", "kinds_second.cc"] {
            shop.program(name);
        }
        for (since, flags, shown) in WAYS {
            if llvm.major < since {
                continue;
            }
            let flags = [&[FRONT_END, COVERAGE], flags].concat();
            let objects = ["kinds_first.cc", "kinds_second.cc"]
                .map(|source| llvm.object(&shop, source, &flags));
            llvm.link_both(&shop, &objects, &[FRONT_END]);
            llvm.assert_same_coverage(&shop, "kinds_first.cc", shown, &format!("{flags:?}"));
        }
    }
}

#[test]
fn programs_of_rustc() {
    for llvm in with_cov(of_rustc()) {
        let shop = Workshop::new();
        let source = shop.program("generic.rs");
        let flags = String::from_utf8(shop.tool_output(&["flags", "--rustc"])).unwrap();
        let flags: Vec<&str> = flags.split_whitespace().collect();
        for level in ["-Copt-level=0", "-Copt-level=3"] {
            for (program, flags) in [("stock", &[][..]), ("ours", &flags)] {
                let mut rustc = shop.command("rustc");
                rustc.args(["--edition=2024", "-Cinstrument-coverage", level, "generic.rs"]);
                succeed(rustc.args(["-o", program]).args(flags));
            }
            llvm.assert_same_coverage(&shop, source.to_str().unwrap(), &[], level);
        }
    }
}
