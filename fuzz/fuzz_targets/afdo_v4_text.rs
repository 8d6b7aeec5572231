//! Whatever is read of a text can be written again.
#![no_main]

use countersink::formats::afdo_v4_text::decode::decode;
use countersink::formats::afdo_v4_text::encode::encode;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(decoded) = decode(bytes) else { return };
    let written = encode(&decoded.profile).expect("no name has a quotation mark");
    let again = decode(&written).expect("it is sound");
    assert_eq!(again.summary, Some(again.profile.summary()));
    assert_eq!(encode(&again.profile), Ok(written));
});
