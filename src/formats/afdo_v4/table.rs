//! Header and section table: the part of the format that a later dialect changes.

use alloc::vec::Vec;

use super::check::{Defect, Finding};
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

/// Puts a header before sections: summary, file names and the others. References between sections
/// are their places in `sections`.
pub fn assemble(sections: &[Vec<u8>], encoding: Encoding) -> Vec<u8> {
    // In compact form the length of the header depends on the offsets, and they on it. Longer
    // headers have no shorter offsets, so this ends.
    let mut length = 0;
    loop {
        let header = header(sections, length, encoding);
        if header.len() == length {
            return [&[header], sections].concat().concat();
        }
        length = header.len();
    }
}

fn header(sections: &[Vec<u8>], length: usize, encoding: Encoding) -> Vec<u8> {
    let mut output = Output::new(encoding);
    output.bytes.extend_from_slice(&MAGIC);
    output.byte(if encoding == Encoding::Compact { HIGH } else { 0 });
    output.number(sections.len().saturating_sub(2) as u64, 7);
    let mut offset = length as u64;
    for section in sections {
        output.u64(offset);
        output.u64(section.len() as u64);
        offset += section.len() as u64;
    }
    output.bytes
}

impl Table {
    /// Reads the header. What is wrong with single sections goes to `findings`.
    pub fn decode(bytes: &[u8], findings: &mut Vec<Finding>) -> Result<Self, Finding> {
        let mut input = Input::new(bytes, 0, bytes.len());
        if !bytes.starts_with(&MAGIC) {
            return input.error(0, Defect::Magic);
        }
        input.take(MAGIC.len())?;
        let flags = input.byte()?;
        if flags & !HIGH != 0 {
            findings.push(Finding { offset: 8, defect: Defect::HeaderFlags(flags & !HIGH) });
        }
        let compact = flags & HIGH != 0;
        input.set_encoding(if compact { Encoding::Compact } else { Encoding::Normal });
        let number = input.count(7, if compact { 2 } else { 16 })?;
        let summary = entry(&mut input, bytes, findings)?;
        let file_names = entry(&mut input, bytes, findings)?;
        let entries =
            (0..number).map(|_| entry(&mut input, bytes, findings)).collect::<Result<_, _>>()?;
        let table = Self { summary, file_names, entries, compact };
        table.check(input.offset(), findings);
        Ok(table)
    }

    /// All sections in the order of their offsets, which numbers them (D1).
    pub fn by_offset(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = [self.summary, self.file_names]
            .into_iter()
            .chain(self.entries.iter().copied())
            .collect();
        sections.sort_by_key(|section| section.start);
        sections
    }

    fn check(&self, header: u64, findings: &mut Vec<Finding>) {
        let expected = [(self.summary, section::SUMMARY), (self.file_names, section::FILE_NAMES)];
        for (section, expected) in expected {
            if let Some(found) = section.kind.filter(|&kind| kind != expected) {
                let defect = Defect::SectionType { expected, found };
                findings.push(Finding { offset: section.start, defect });
            }
        }
        let mut end = header;
        for section in self.by_offset().iter().filter(|section| section.kind.is_some()) {
            if section.start < end {
                findings.push(Finding { offset: section.start, defect: Defect::Overlap });
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
            findings.push(Finding { offset: section.start, defect });
        }
    }
}

fn entry(
    input: &mut Input<'_>,
    bytes: &[u8],
    findings: &mut Vec<Finding>,
) -> Result<Section, Finding> {
    let offset = input.offset();
    let (start, size) = (input.u64()?, input.u64()?);
    let inside = start.checked_add(size).is_some_and(|end| end <= bytes.len() as u64) && size > 0;
    if !inside {
        findings.push(Finding { offset, defect: Defect::OutOfBounds { start, size } });
        return Ok(Section { start, size, kind: None, compact: false });
    }
    let first = bytes[start as usize];
    Ok(Section { start, size, kind: Some(first & !HIGH), compact: first & HIGH != 0 })
}
