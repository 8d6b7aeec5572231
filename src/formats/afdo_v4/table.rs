//! Header and section table: the part of the format that a later dialect changes.

use alloc::vec::Vec;
use core::ops::Range;

use super::check::{Defect, Finding, Part, Tell};
use super::number::{Encoding, Input, Output};
use super::{HIGH, MAGIC, section};

/// Where a section lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// First byte.
    pub start: u64,
    /// Bytes, the first one included.
    pub size: u64,
    /// The type, if the section lies in the file.
    pub kind: Option<u8>,
    /// Whether its integers are varints.
    pub compact: bool,
}

/// The header, decoded.
#[derive(Clone, Debug)]
pub struct Table {
    /// The summary.
    pub summary: Section,
    /// The file names.
    pub file_names: Section,
    /// The others, in the order of the table.
    pub entries: Vec<Section>,
    /// Whether the table itself is compact.
    pub compact: bool,
}

/// The header before sections of these sizes: summary, file names and the others, one after the other.
pub(super) fn header(sizes: &[usize], encoding: Encoding) -> Vec<u8> {
    // In compact form header length and offsets depend on each other. Longer headers have no shorter offsets,
    // so this ends.
    let mut length = 0;
    loop {
        let header = header_of_length(sizes, length, encoding);
        if header.len() == length {
            return header;
        }
        length = header.len();
    }
}

fn header_of_length(sizes: &[usize], length: usize, encoding: Encoding) -> Vec<u8> {
    let mut output = Output::new(encoding);
    output.bytes.extend_from_slice(&MAGIC);
    output.byte(if encoding == Encoding::Compact { HIGH } else { 0 });
    output.number(sizes.len().saturating_sub(2) as u64, 7);
    let mut offset = length as u64;
    for &size in sizes {
        output.u64(offset);
        output.u64(size as u64);
        offset += size as u64;
    }
    output.bytes
}

/// The decoded header. It only has the places of sections, and these need not be in the file.
pub(super) struct Extents {
    pub summary: Extent,
    pub file_names: Extent,
    pub entries: Vec<Extent>,
    pub compact: bool,
    flags: u8,
    end: u64,
}

impl Extents {
    pub fn decode(bytes: &[u8]) -> Result<Self, Finding> {
        let mut input = Input::new(bytes, Part::Header, 0, bytes.len());
        let start = &bytes[..MAGIC.len().min(bytes.len())];
        if !MAGIC.starts_with(start) {
            return input.error(0, Defect::Magic);
        }
        input.take(MAGIC.len())?;
        let flags = input.byte()?;
        input.set_encoding(encoding(flags));
        let compact = input.is_compact();
        let number = input.count(7, if compact { 2 } else { 16 })?;
        let (summary, file_names) = (extent(&mut input)?, extent(&mut input)?);
        let entries = (0..number).map(|_| extent(&mut input)).collect::<Result<_, _>>()?;
        Ok(Self { summary, file_names, entries, compact, flags, end: input.offset() })
    }
}

/// The place of a section.
pub(super) struct Extent {
    /// Where the header gives this place.
    at: u64,
    start: u64,
    size: u64,
}

impl Extent {
    pub const fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.size)
    }
}

fn extent(input: &mut Input<'_>) -> Result<Extent, Finding> {
    Ok(Extent { at: input.offset(), start: input.u64()?, size: input.u64()? })
}

/// The encoding that a first byte stands for.
pub(super) const fn encoding(first: u8) -> Encoding {
    if first & HIGH != 0 { Encoding::Compact } else { Encoding::Normal }
}

impl Table {
    /// Reads the header and the first byte of each section, and tells the defects of single sections.
    pub fn decode(bytes: &[u8], tell: &mut dyn FnMut(Finding)) -> Result<Self, Finding> {
        let extents = Extents::decode(bytes)?;
        if extents.flags & !HIGH != 0 {
            let defect = Defect::HeaderFlags(extents.flags & !HIGH);
            tell(Finding { offset: MAGIC.len() as u64, defect });
        }
        let mut section = |extent: &Extent| section_at(extent, bytes, tell);
        let table = Self {
            summary: section(&extents.summary),
            file_names: section(&extents.file_names),
            entries: extents.entries.iter().map(&mut section).collect(),
            compact: extents.compact,
        };
        table.check(extents.end, tell);
        Ok(table)
    }

    /// All sections in the order of their offsets. This order numbers them (D1).
    pub fn by_offset(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = [self.summary, self.file_names]
            .into_iter()
            .chain(self.entries.iter().copied())
            .collect();
        sections.sort_by_key(|section| section.start);
        sections
    }

    fn check(&self, header: u64, tell: Tell<'_>) {
        let expected = [(self.summary, section::SUMMARY), (self.file_names, section::FILE_NAMES)];
        for (section, expected) in expected {
            if let Some(found) = section.kind.filter(|&kind| kind != expected) {
                let defect = Defect::SectionType { expected, found };
                tell(Finding { offset: section.start, defect });
            }
        }
        let mut end = header;
        for section in self.by_offset().iter().filter(|section| section.kind.is_some()) {
            if section.start < end {
                tell(Finding { offset: section.start, defect: Defect::Overlap });
            }
            end = end.max(section.start + section.size);
        }
        for section in &self.entries {
            let defect = match section.kind {
                Some(kind @ (section::SUMMARY | section::FILE_NAMES)) => {
                    Defect::SectionType { expected: section::SYMBOL_INFO, found: kind }
                }
                Some(kind @ (0 | 6..)) => Defect::UnknownSection(kind),
                _ => continue,
            };
            tell(Finding { offset: section.start, defect });
        }
    }
}

fn section_at(extent: &Extent, bytes: &[u8], tell: Tell<'_>) -> Section {
    let &Extent { at, start, size } = extent;
    let is_inside = size > 0 && extent.range().end <= bytes.len() as u64;
    let first = bytes.get(start as usize).filter(|_| is_inside);
    let Some(&first) = first else {
        let missing = extent.range().end.saturating_sub(bytes.len() as u64);
        let defect = match size {
            0 => Defect::NoFirstByte(start),
            _ => Defect::OutOfBounds { start, size, missing },
        };
        tell(Finding { offset: at, defect });
        return Section { start, size, kind: None, compact: false };
    };
    Section { start, size, kind: Some(first & !HIGH), compact: first & HIGH != 0 }
}
