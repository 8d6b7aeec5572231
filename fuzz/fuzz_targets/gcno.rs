//! Notes of objects.
#![no_main]

use countersink::formats::gcno::Notes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Notes::decode(bytes);
});
