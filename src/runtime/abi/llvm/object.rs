//! An object: functions behind each other whose records have one layout.

use super::Functions;
use super::record::{Record, layout};
use super::sections::Sections;
use crate::raw::llvm::Version;
use crate::runtime::abi::Shift;

/// Functions whose records have one layout.
#[derive(Clone, Debug)]
pub struct Object {
    /// Address of the first record.
    pub start: usize,
    /// Number of records.
    pub number: usize,
    /// The version of their layout.
    pub version: Version,
}

/// The layouts in the order in which they are tried. Version 10 stands before 9: they differ only in records with
/// bitmaps or virtual tables, which tell them apart.
const ORDER: [Version; 5] = [Version::V10, Version::V8, Version::V11, Version::V9, Version::V7];

impl Object {
    /// The longest object that begins at `start`; `None` if no layout fits the record there.
    pub fn at(start: usize, sections: &Sections) -> Option<Self> {
        let announced = Version::from_number(sections.version as u32);
        let announced = announced.filter(|version| ORDER.contains(version));
        let mut longest = Self { start, number: 0, version: Version::V10 };
        for version in announced.into_iter().chain(ORDER) {
            let object = Self { start, number: fitting(start, version, sections), version };
            if object.length() > longest.length() {
                longest = object;
            }
            if announced == Some(version) && longest.end() >= sections.data.end {
                break;
            }
        }
        (longest.number > 0).then_some(longest)
    }

    /// Bytes of the records.
    fn length(&self) -> usize {
        self.number.wrapping_mul(layout(self.version).stride)
    }

    /// Address behind the last record.
    pub fn end(&self) -> usize {
        self.start.wrapping_add(self.length())
    }

    /// The functions, with counters at a distance of `shift`.
    pub fn functions(&self, sections: &'static Sections, shift: Shift) -> Functions {
        Functions::new(self, sections, shift)
    }
}

/// Number of records from `start` on that fit a layout.
fn fitting(start: usize, version: Version, sections: &Sections) -> usize {
    // The last record of a section may lack its padding.
    let end = sections.data.end.wrapping_add(4);
    let (mut at, mut number) = (start, 0usize);
    loop {
        let next = at.wrapping_add(layout(version).stride);
        if next > end || !fits(at, version, sections) {
            return number;
        }
        (at, number) = (next, number.wrapping_add(1));
    }
}

#[allow(unsafe_code)]
fn fits(address: usize, version: Version, sections: &Sections) -> bool {
    // SAFETY: the record, its padding perhaps left out, lies in the section of records.
    unsafe { Record::new(address, version) }.fits(sections)
}
