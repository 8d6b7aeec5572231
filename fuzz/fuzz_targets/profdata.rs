//! Whatever is read of LLVM's indexed profiles can be written again, looked up, and added to itself.
#![no_main]

use countersink::counters::merge::Sum;
use countersink::counters::overlap::overlap;
use countersink::formats::profdata::decode::decode;
use countersink::formats::profdata::encode::encode;
use countersink::formats::profdata::{Version, lookup};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let opened = lookup::Profile::open(bytes);
    let Ok(decoded) = decode(bytes) else { return };
    let opened = opened.expect("it can be decoded");
    for function in &decoded.profile.functions {
        let _ = opened.function(&function.name);
    }
    let mut sum = Sum::default();
    let _ = sum.add(&decoded.profile, 1);
    let _ = sum.add(&decoded.profile, 3);
    let _ = overlap(&decoded.profile, &sum.finish());
    let Ok(written) = encode(&decoded.profile, Version::NEWEST) else { return };
    let again = decode(&written.bytes).expect("it is sound");
    if decoded.findings.is_empty() {
        assert!(again.findings.is_empty(), "{:?}", again.findings);
    }
});
