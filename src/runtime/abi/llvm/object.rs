//! An object: functions behind each other whose records have one layout.

use super::Functions;
use super::record::{Record, stride};
use super::sections::Sections;
use crate::raw::llvm::Layout;
use crate::runtime::abi::Shift;

/// Functions whose records have one layout.
#[derive(Clone, Debug)]
pub struct Object {
    /// Address of the first record.
    pub start: usize,
    /// Number of records.
    pub number: usize,
    /// Their layout.
    pub layout: Layout,
}

/// The layouts in the order in which they are tried. Version 10 stands before 9: they differ only in records with
/// bitmaps or virtual tables.
const ORDER: [Layout; 5] = [Layout::V10, Layout::V8, Layout::V11, Layout::V9, Layout::V7];

impl Object {
    /// The longest object that begins at `start`; `None` if no layout fits the record there.
    pub fn at(start: usize, sections: &Sections) -> Option<Self> {
        let announced = Layout::from_number(sections.version as u32);
        let objects = announced.into_iter().chain(ORDER).map(|layout| {
            let number = fitting(start, layout, sections);
            Self { start, number, layout }
        });
        let longest = objects.reduce(
            |best, other| {
                if other.length() > best.length() { other } else { best }
            },
        )?;
        (longest.number > 0).then_some(longest)
    }

    /// Bytes of the records.
    fn length(&self) -> usize {
        self.number.wrapping_mul(stride(self.layout))
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
fn fitting(start: usize, layout: Layout, sections: &Sections) -> usize {
    // The last record of a section may lack its padding.
    let end = sections.data.end.wrapping_add(4);
    let (mut at, mut number) = (start, 0usize);
    loop {
        let next = at.wrapping_add(stride(layout));
        if next > end || !fits(at, layout, sections) {
            return number;
        }
        (at, number) = (next, number.wrapping_add(1));
    }
}

#[allow(unsafe_code)]
fn fits(address: usize, layout: Layout, sections: &Sections) -> bool {
    // SAFETY: the record, its padding perhaps left out, lies in the section of records.
    unsafe { Record::new(address, layout) }.fits(sections)
}
