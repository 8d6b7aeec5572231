//! Whatever is read of LLVM's text form can be written again.
#![no_main]

use countersink::formats::proftext::decode::decode;
use countersink::formats::proftext::encode::encode;
use countersink::formats::proftext::looks_like;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = looks_like(bytes);
    let Ok(decoded) = decode(bytes) else { return };
    let Ok(written) = encode(&decoded.profile) else { return };
    let again = decode(&written).expect("it is sound");
    assert_eq!(encode(&again.profile), Ok(written));
});
