//! A dump and the notes of its objects: whatever they say, the counts obey what must hold of any placement.
//!
//! An input starts with the length of the dump in four bytes, little-endian. The notes follow the dump.
#![no_main]

use countersink::convert::gcov::program_reader::ProgramReader;
use countersink::convert::gcov;
use countersink::placement::reader::{Inline, OfBlock, OfSeveral, Reader, Zeros};
use countersink::formats::gcno::Notes;
use countersink::raw::dump::Dump;
use countersink::workers::Alone;
use libfuzzer_sys::fuzz_target;

/// Dump and notes alone.
struct Nothing;

impl ProgramReader for Nothing {
    fn wants_check(&self) -> bool {
        true
    }

    fn function(&self, _: u32) -> Option<Vec<u8>> {
        None
    }
}

/// Those of gcc 10 to 12, 13 to 15, and 16 and 17.
const COMPILERS: [Reader; 3] = [
    Reader {
        discriminators: false,
        of_several: OfSeveral::LeastOfSimilar,
        zeros: Zeros::OnesInLoops,
        ..Reader::EXACT
    },
    Reader { of_several: OfSeveral::Least, zeros: Zeros::OnesInLoops, ..Reader::EXACT },
    Reader {
        of_several: OfSeveral::Least,
        of_block: OfBlock::BranchOnly,
        zeros: Zeros::Ones,
        ..Reader::EXACT
    },
];

fuzz_target!(|bytes: &[u8]| {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return };
    let Some((dump, notes)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize) else {
        return;
    };
    let (Ok(dump), Ok(notes)) = (Dump::parse(dump), Notes::decode(notes)) else { return };
    let chosen: Vec<Vec<Option<usize>>> =
        dump.modules.iter().map(|module| vec![Some(0); module.objects.len()]).collect();
    let flat = Reader { inline: Inline::Flat, ..Reader::EXACT };
    for reader in COMPILERS.into_iter().chain([Reader::EXACT, flat]) {
        let notes = core::slice::from_ref(&notes);
        let (_, statistics) = gcov::profile(&dump, notes, &chosen, &Nothing, &Alone, reader);
        assert!(statistics.faults.is_empty(), "{:#?}", statistics.faults);
    }
});
