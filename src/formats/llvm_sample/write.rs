//! Puts the sections of an extensible binary together: table, offsets, compression. `encode` writes their contents.

use alloc::vec;
use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::check::Part;
use super::table::{COMPRESSED, kind};
use super::{Form, VERSION, magic};
use crate::formats::leb128;

/// The level of compression: the best, as LLVM's.
const LEVEL: u8 = 9;

/// Sections in the order of their bytes, with their places in the table.
pub struct Sections {
    is_compressed: bool,
    /// Place in the table, kind, flags, contents.
    sections: Vec<(usize, u64, u64, Vec<u8>)>,
}

impl Sections {
    /// No sections yet.
    pub const fn new(is_compressed: bool) -> Self {
        Self { is_compressed, sections: Vec::new() }
    }

    /// Adds a section behind the bytes of the others, at this place of the table.
    pub fn add(&mut self, place: usize, part: Part, flags: u64, contents: Vec<u8>) {
        let flags = flags | if self.is_compressed { COMPRESSED } else { 0 };
        let contents = match self.is_compressed && !contents.is_empty() {
            true => compress(&contents),
            false => contents,
        };
        self.sections.push((place, kind(part), flags, contents));
    }

    /// The file.
    pub fn bytes(self) -> Vec<u8> {
        let mut bytes = magic(Form::Extensible).to_vec();
        leb128::write(&mut bytes, VERSION);
        bytes.extend((self.sections.len() as u64).to_le_bytes());
        let mut offset = bytes.len() + 32 * self.sections.len();
        let mut table = vec![[0; 4]; self.sections.len()];
        for (place, kind, flags, contents) in &self.sections {
            table[*place] = [*kind, *flags, offset as u64, contents.len() as u64];
            offset += contents.len();
        }
        bytes.extend(table.into_iter().flatten().flat_map(u64::to_le_bytes));
        self.sections.into_iter().for_each(|(.., contents)| bytes.extend(contents));
        bytes
    }
}

fn compress(contents: &[u8]) -> Vec<u8> {
    let compressed = compress_to_vec_zlib(contents, LEVEL);
    let mut bytes = Vec::with_capacity(compressed.len() + 20);
    leb128::write(&mut bytes, contents.len() as u64);
    leb128::write(&mut bytes, compressed.len() as u64);
    bytes.extend(compressed);
    bytes
}
