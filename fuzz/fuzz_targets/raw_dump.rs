//! Raw dumps; what is read can be merged with itself.
#![no_main]

use countersink::raw::dump::{Dump, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(bytes, &mut |_| {});
    let (Ok(mut dump), Ok(other)) = (Dump::parse(bytes), Dump::parse(bytes)) else { return };
    dump.merge(other);
});
