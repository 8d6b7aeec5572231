//! Whatever is read of version 4 can be written again, and a part of it is what it is in the whole.
#![no_main]

use countersink::formats::afdo_v4::decode::{decode, decode_all};
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::formats::afdo_v4::part;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = decode_all(bytes);
    let part = part::decode(bytes, |_| true, |_| true);
    let Ok(decoded) = decode(bytes) else { return };
    let Ok(written) = encode(&decoded.profile, Encoding::Compact) else { return };
    let again = decode(&written).expect("it is sound");
    assert!(again.findings.is_empty(), "{:?}", again.findings);
    assert_eq!(encode(&again.profile, Encoding::Compact), Ok(written.clone()));
    if decoded.findings.is_empty()
        && let Ok(part) = part
    {
        assert_eq!(encode(&part.profile, Encoding::Compact), Ok(written));
    }
});
