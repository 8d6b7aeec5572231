//! The runtime never calls malloc, whoever enters it from wherever.

use crate::harness::Workshop;

fn never_calls_malloc(flags: &[&str], link: &[&str]) {
    let shop = Workshop::new();
    shop.program("counted_malloc.c");
    let flags = [&["-fno-builtin", "-Wno-unused-result"], flags].concat();
    let object = shop.compile("counted_malloc.c", &flags);
    shop.link(&[&object], "ours", link);
    shop.run("ours", &[]);
    // Merging also reads the older file.
    shop.run("ours", &[]);
    assert_eq!(shop.files("csraw").len(), 2, "{:?}", shop.files("csraw"));
}

#[test]
fn plain() {
    never_calls_malloc(&[], &[]);
}

#[test]
fn atomic() {
    never_calls_malloc(&["-fprofile-update=atomic"], &["-pthread"]);
}

#[test]
fn statically_linked() {
    never_calls_malloc(&[], &["-static"]);
}
