//! Whatever is read of a raw profile can be written again, if the version has a place for it.
#![no_main]

use countersink::formats::profraw::Version;
use countersink::formats::profraw::decode::decode;
use countersink::formats::profraw::encode::{encode, encode_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(decoded) = decode(bytes) else { return };
    let _ = encode_for(&decoded.profile, decoded.version, decoded.machine);
    let Ok(written) = encode(&decoded.profile, Version::V11) else { return };
    let again = decode(&written).expect("it is sound");
    assert_eq!(encode(&again.profile, Version::V11), Ok(written));
});
