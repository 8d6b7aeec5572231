//! Archives of counters and notes: whatever an archive holds, `convert` unpacks and reads it, and ends without a panic.
#![no_main]

use std::env::temp_dir;
use std::ffi::OsString;
use std::fs;
use std::process;

use countersink::cli::run;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [archive, report] =
        ["tar", "json"].map(|end| temp_dir().join(format!("archive-{}.{end}", process::id())));
    fs::write(&archive, bytes).unwrap();
    let words = ["countersink", "convert", "--to", "coverage-json", "--source-root", "/", "-o"];
    let words = words.into_iter().map(OsString::from);
    run(words.chain([report.into(), archive.into()]));
});
