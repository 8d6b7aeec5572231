//! Whatever is read of tables can be written again, and comes back.
#![no_main]

use countersink::formats::parquet::{Content, counters, decode_bytes, positions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(content) = decode_bytes(bytes.to_vec()) else { return };
    let mut again = Vec::new();
    match content {
        Content::Dump(dump) => {
            let expected = dump.to_bytes();
            let mut table = counters::encode::Encoder::new(&mut again).expect("memory");
            table.add(b"dump", 0, dump).expect("memory");
            table.finish().expect("memory");
            let Ok(Content::Dump(back)) = decode_bytes(again) else { panic!("no dump") };
            assert_eq!(back.to_bytes(), expected);
        }
        Content::Profile(profile) => {
            let mut table = positions::encode::Encoder::new(&mut again).expect("memory");
            table.add(b"profile", &profile).expect("memory");
            table.finish().expect("memory");
            let Ok(Content::Profile(back)) = decode_bytes(again) else { panic!("no profile") };
            assert_eq!(back.functions.len(), profile.functions.len());
        }
    }
});
