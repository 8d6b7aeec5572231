//! LLVM's coverage mapping. The first two bytes say how long the first section is; the other one follows. What is read
//! is counted with a profile that knows some of its functions, and written.
#![no_main]

use countersink::convert::llvm::coverage::{coverage, positions};
use countersink::counters::{Function, Profile};
use countersink::formats::coverage_mapping::{Mapping, Sections};
use countersink::formats::profraw::names::{self, Names};
use countersink::formats::{cobertura, lcov};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((length, bytes)) = bytes.split_first_chunk() else { return };
    let length = usize::from(u16::from_le_bytes(*length));
    let Some((file_names, functions)) = bytes.split_at_checked(length) else { return };
    let sections = Sections { names: &[file_names], functions: &[functions], big_endian: false };
    let Ok(mapping) = Mapping::decode(&sections) else { return };
    let name = |number: usize| format!("f{number}").into_bytes();
    let all: Vec<Vec<u8>> = (0..mapping.functions.len()).map(name).collect();
    let names = Names::read(&names::write(all.iter().map(Vec::as_slice))).expect("it is sound");
    // The mapping's numbers are not those of names, so they are replaced.
    let mut mapping = mapping;
    let mut profile = Profile::default();
    for (function, name) in mapping.functions.iter_mut().zip(&all) {
        function.name_ref = countersink::counters::name_ref(name);
        let counters = (0..64).collect();
        let (name, hash, bitmap) = (name.clone(), function.hash, vec![0xb7; 64]);
        let known = Function { name, hash, counters, bitmap, ..Function::default() };
        profile.functions.push(known);
    }
    let names = [names];
    if let Ok(converted) = coverage(&mapping, &names, &profile) {
        let _ = lcov::encode::encode(&converted.coverage);
        let _ = cobertura::encode::encode(&converted.coverage, b"/home", 0);
    }
    let _ = positions(&mapping, &names, &profile, <[u8]>::to_vec, |_, _, _| None);
});
