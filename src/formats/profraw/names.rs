//! Names as compilers store them: plain, or compressed by zlib.
//!
//! | field | contents |
//! |---|---|
//! | size | ULEB128: bytes of the names |
//! | compressed size | ULEB128: bytes that follow, 0 if the names are plain |
//! | names | with byte 1 between them |
//!
//! A section may have several of these, one for each object, with zero bytes between them.

use alloc::vec::Vec;

use hashbrown::HashMap;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::check::{Defect, Finding, Section};
use crate::counters::name_ref;
use crate::formats::leb128;

/// Stands between names.
pub const SEPARATOR: u8 = 1;

/// Compressed names may grow by this factor, and by [`MOST_AT_ONCE`].
const MOST_GROWTH: u64 = 128;
/// See [`MOST_GROWTH`].
const MOST_AT_ONCE: u64 = 16 << 20;

/// The names of a section.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: Vec<u8>,
    /// Start and end in the text, by number.
    places: HashMap<u64, (u32, u32)>,
}

impl Names {
    /// Reads a section. Offsets of findings count from its start.
    pub fn read(section: &[u8]) -> Result<Self, Finding> {
        let mut names = Self::default();
        let mut at = 0;
        while let Some(zeros) = section[at..].iter().position(|&byte| byte != 0) {
            at = names.blob(section, at + zeros)?;
        }
        names.number()?;
        Ok(names)
    }

    /// Reads what one object has; gives its end.
    fn blob(&mut self, section: &[u8], start: usize) -> Result<usize, Finding> {
        let fail = |defect| Finding { offset: start as u64, defect };
        let mut at = start;
        let mut uleb = || {
            let truncated = Defect::Truncated { section: Section::Names, expected: 1, found: 0 };
            uleb128(section, &mut at).ok_or(fail(truncated))
        };
        let (size, compressed) = (uleb()?, uleb()?);
        let stored = if compressed == 0 { size } else { compressed };
        let rest = &section[at..];
        let bytes = usize::try_from(stored).ok().and_then(|stored| rest.get(..stored));
        let Some(bytes) = bytes else {
            let (expected, found) = (stored, rest.len() as u64);
            return Err(fail(Defect::Truncated { section: Section::Names, expected, found }));
        };
        if !self.text.is_empty() {
            self.text.push(SEPARATOR);
        }
        match compressed {
            0 => self.text.extend_from_slice(bytes),
            _ => self.text.append(&mut inflate(bytes, size).map_err(fail)?),
        }
        Ok(at + bytes.len())
    }

    /// Finds the numbers of all names.
    fn number(&mut self) -> Result<(), Finding> {
        if u32::try_from(self.text.len()).is_err() {
            return Err(Finding { offset: 0, defect: Defect::LargeNames(self.text.len() as u64) });
        }
        let mut start = 0;
        for name in self.text.split(|&byte| byte == SEPARATOR) {
            let end = start + name.len();
            if !name.is_empty() {
                self.places.insert(name_ref(name), (start as u32, end as u32));
            }
            start = end + 1;
        }
        Ok(())
    }

    /// The name with this number.
    pub fn get(&self, number: u64) -> Option<&[u8]> {
        let &(start, end) = self.places.get(&number)?;
        self.text.get(start as usize..end as usize)
    }

    /// All names that are not empty, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|&byte| byte == SEPARATOR).filter(|name| !name.is_empty())
    }
}

fn inflate(bytes: &[u8], size: u64) -> Result<Vec<u8>, Defect> {
    if size > bytes.len() as u64 * MOST_GROWTH + MOST_AT_ONCE {
        return Err(Defect::LargeNames(size));
    }
    let text = decompress_to_vec_zlib_with_limit(bytes, size as usize);
    let text = text.map_err(|_| Defect::Compression)?;
    let found = text.len() as u64;
    match found == size {
        true => Ok(text),
        false => Err(Defect::NamesLength { expected: size, found }),
    }
}

/// Reads a ULEB128 number of at most 64 bits.
fn uleb128(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let next = || -> Result<u8, ()> {
        let byte = *bytes.get(*at).ok_or(())?;
        *at += 1;
        Ok(byte)
    };
    leb128::read(next).unwrap_or(None)
}

/// Writes names, which must not be empty or contain [`SEPARATOR`], as one plain blob. No names give no bytes.
pub fn write<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    for name in names {
        if !text.is_empty() {
            text.push(SEPARATOR);
        }
        text.extend_from_slice(name);
    }
    if text.is_empty() {
        return text;
    }
    let mut blob = Vec::with_capacity(text.len() + 11);
    leb128::write(&mut blob, text.len() as u64);
    blob.push(0);
    blob.append(&mut text);
    blob
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_number() {
        let names: [&[u8]; 3] = [b"main", b"a.c:f", b"g"];
        let mut section = write(names.into_iter());
        section.extend([0, 0]);
        section.extend(write([&b"h"[..]].into_iter()));
        let read = Names::read(&section).unwrap();
        assert_eq!(read.get(0xdb95_6436_e78d_d5fa), Some(&b"main"[..]));
        assert_eq!(read.iter().collect::<Vec<_>>(), [&b"main"[..], b"a.c:f", b"g", b"h"]);
        assert_eq!(read.get(1), None);
    }

    #[test]
    fn sizes_are_not_believed() {
        let large = Names::read(&[0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0]).unwrap_err();
        assert_eq!(large.defect, Defect::LargeNames(0xffff_ffff));
        let cut = Names::read(&[0, 5, 0, b'a']).unwrap_err();
        assert!(matches!(cut.defect, Defect::Truncated { expected: 5, found: 1, .. }));
        assert_eq!(Names::read(&[4, 2, b'a', b'b']).unwrap_err().defect, Defect::Compression);
    }
}
