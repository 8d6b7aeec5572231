//! LLVM's calls for programs, and its names of files: as with LLVM's own runtime.

mod harness;
mod llvm;

use harness::Workshop;
use llvm::{Llvm, all};

const GENERATE: &str = "-fprofile-generate";

/// A folder with the program as `stock` and `ours`.
fn programs(llvm: Llvm, compile: &[&str], link: &[&str]) -> Workshop {
    let shop = Workshop::new();
    shop.program("calls.c");
    let object = llvm.object(&shop, "calls.c", &[&["-O1"], compile].concat());
    llvm.link_both(&shop, &[object], &[compile, link].concat());
    shop
}

/// Many events at once.
#[test]
fn counts_of_a_value() {
    for llvm in all() {
        let shop = programs(llvm, &[GENERATE], &[]);
        llvm.assert_same_counts(&shop, &["times"], "times");
    }
}

