//! Opens a file: finds its form and its sections. It does not read the contents of the sections.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Part, Tell};
use super::table::{self, Section};
use super::words::Words;
use super::{Form, MAGIC, VERSION};

/// A file whose sections are known.
#[derive(Debug)]
pub struct File<'a> {
    /// The whole file.
    pub bytes: &'a [u8],
    /// Its form.
    pub form: Form,
    /// Its sections; empty for a binary and a compact binary.
    pub sections: Vec<Section>,
    /// Offset behind the header.
    pub start: usize,
}

impl<'a> File<'a> {
    /// Reads the magic, the version and the table of sections.
    pub fn open(bytes: &'a [u8], tell: Tell<'_>) -> Result<Self, Finding> {
        let mut words = Words::new(bytes, 0, Part::Header);
        let magic = words.number()?;
        let form = Form::ALL.into_iter().find(|&form| magic == MAGIC | form as u64);
        let form = form.ok_or(Finding { offset: 0, defect: Defect::Magic })?;
        let offset = words.offset();
        let version = words.number()?;
        if version != VERSION {
            return Err(Finding { offset, defect: Defect::Version(version) });
        }
        words.part = Part::Table;
        let sections = match form {
            Form::Binary | Form::Compact => Vec::new(),
            Form::Extensible => table::read(&mut words, bytes.len(), tell)?,
        };
        Ok(Self { bytes, form, sections, start: words.at() })
    }

    /// The section of a part; `None` if the file has none. A second one is a defect.
    pub fn section(&self, part: Part) -> Result<Option<Section>, Finding> {
        let mut found = self.all(part);
        let first = found.next();
        match found.next() {
            Some(_) => Err(Finding { offset: 0, defect: Defect::Sections(part) }),
            None => Ok(first),
        }
    }

    /// The section of a part. A missing one is a defect.
    pub fn needed(&self, part: Part) -> Result<Section, Finding> {
        let missing = Finding { offset: 0, defect: Defect::Sections(part) };
        self.section(part)?.ok_or(missing)
    }

    /// Checks that the file has one or two sections of functions.
    pub fn check_function_sections(&self) -> Result<(), Finding> {
        match self.all(Part::Functions).count() {
            1 | 2 => Ok(()),
            _ => Err(Finding { offset: 0, defect: Defect::Sections(Part::Functions) }),
        }
    }

    /// Whether the file is as LLVM 13 writes it: functions with contexts have these as names, and the metadata is that
    /// of functions without their inlined copies. Later releases have a section of contexts, or two of functions.
    pub fn is_of_llvm_13(&self) -> bool {
        self.form == Form::Extensible
            && self.all(Part::Contexts).next().is_none()
            && self.all(Part::Functions).count() == 1
    }

    /// All sections of a part.
    pub fn all(&self, part: Part) -> impl Iterator<Item = Section> {
        self.sections.iter().filter(move |section| section.part == Some(part)).copied()
    }
}

/// The sections of an extensible binary, by their place in the file.
pub fn sections(bytes: &[u8]) -> Result<Vec<Section>, Finding> {
    let mut sections = File::open(bytes, &mut |_| {})?.sections;
    sections.sort_by_key(|section| section.offset);
    Ok(sections)
}
