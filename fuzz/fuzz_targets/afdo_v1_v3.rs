//! Whatever is read of versions 1 to 3 can be written again, by all rules.
#![no_main]

use countersink::formats::afdo_v1_v3::decode::decode;
use countersink::formats::afdo_v1_v3::encode::encode;
use countersink::formats::afdo_v1_v3::rules::Rules;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(decoded) = decode(bytes) else { return };
    let keep = Rules::that_keep_most(decoded.version);
    for rules in (10..=17).filter_map(Rules::for_gcc).chain([keep]) {
        let written = encode(&decoded.profile, rules).expect("names were checked").bytes;
        let again = decode(&written).expect("it is sound");
        assert!(again.findings.is_empty(), "{:?}", again.findings);
        assert_eq!(encode(&again.profile, rules).map(|encoded| encoded.bytes), Ok(written));
    }
});
