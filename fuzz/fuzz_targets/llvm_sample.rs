//! Whatever is read of LLVM's sample profiles can be written again, in every form and layout.
#![no_main]

use countersink::formats::llvm_sample::encode::{Options, encode};
use countersink::formats::{llvm_sample, llvm_sample_text};
use countersink::samples::Samples;
use countersink::samples::layout::Layout;
use libfuzzer_sys::fuzz_target;

fn check(samples: &Samples) {
    for options in [
        Options::EXTENSIBLE,
        Options { md5: true, split: true, ..Options::EXTENSIBLE },
        Options { compressed: true, ..Options::EXTENSIBLE },
        Options::BINARY,
    ] {
        let Ok(file) = encode(samples, options) else { continue };
        let again = llvm_sample::decode::decode(&file).expect("it is sound");
        assert!(again.findings.is_empty() || options.md5, "{:?}", again.findings);
        if !options.md5 {
            assert_eq!(encode(&again.samples, options).as_ref(), Ok(&file));
        }
    }
    if let Ok(text) = llvm_sample_text::encode::encode(samples) {
        let again = llvm_sample_text::decode::decode(&text).expect("it is sound");
        assert!(again.findings.is_empty(), "{:?}", again.findings);
        assert_eq!(llvm_sample_text::encode::encode(&again.samples), Ok(text));
    }
}

fuzz_target!(|bytes: &[u8]| {
    let _ = llvm_sample::lookup::function(bytes, b"main");
    let binary = llvm_sample::decode::decode(bytes).map(|decoded| decoded.samples);
    let text = || llvm_sample_text::decode::decode(bytes).map(|decoded| decoded.samples).ok();
    let Some(samples) = binary.ok().or_else(text) else { return };
    check(&samples);
    for layout in [Layout::Split, Layout::Nested, Layout::Flat] {
        let mut other = samples.clone();
        if other.lay_out(layout).is_ok() {
            check(&other);
        }
    }
});
