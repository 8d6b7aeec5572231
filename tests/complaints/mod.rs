//! A small program that has run, and the messages of program and tool when something is wrong.
#![allow(dead_code, reason = "every test uses some of it")]

use std::process::Output;

use crate::harness::Workshop;

/// A program that has run once. Its dump is ours.csraw.
pub fn ran() -> Workshop {
    let shop = Workshop::new();
    shop.program("hello.c");
    let object = shop.compile("hello.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    shop
}

pub fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The tool fails with one line that contains all of `words`.
#[track_caller]
pub fn tool_fails(shop: &Workshop, arguments: &[&str], words: &[&str]) {
    let output = shop.tool(arguments);
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    let last = errors.lines().last().unwrap();
    assert!(last.starts_with("countersink: "), "{errors}");
    for word in words {
        assert!(last.contains(word), "{word} not in: {errors}");
    }
}

/// The program ends as always; its one line on standard error contains all of `words`.
#[track_caller]
pub fn program_complains(output: &Output, words: &[&str]) {
    let errors = errors(output);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"60\n".as_slice()));
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("countersink: /"), "{errors}");
    for word in words {
        assert!(errors.contains(word), "{word} not in: {errors}");
    }
}
