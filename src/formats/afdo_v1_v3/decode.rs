//! Reads all versions and layouts, strictly. Compilers take what is missing for zeros; this does not.
//!
//! It reports tolerable defects and reads on: it adds second records, as `dump_gcov` does. If the file of a
//! name is known, it drops `.lto_priv.N` behind that name: this only keeps equal names of different files
//! apart, and the profile model needs no help for that.

use alloc::vec::Vec;

use super::body::Instances;
use super::check::{Defect, Finding, Findings, Part, Tell};
use super::words::Words;
use super::{
    FUNCTIONS, Layout, MAGIC, MODULES, NAMES, NO_FILE, SUMMARY, Version, WORKING_SET,
    WORKING_SET_ENTRIES, names,
};
use crate::profile::{CUTOFFS, Cutoff, Function, LARGEST_COUNT, Profile, Summary, SymbolId};

/// What a file says, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The summary as it stands in the file, if there is one.
    pub summary: Option<Summary>,
    /// The version of the file.
    pub version: Version,
    /// The layout that it turned out to have.
    pub layout: Layout,
    /// Where its parts start.
    pub parts: Vec<(Part, u64)>,
    /// Defects that were tolerated.
    pub findings: Findings,
}

/// Reads a file; the first defect that cannot be tolerated is an error.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Finding> {
    let Some(Ok(version)) = Version::of(bytes) else {
        return Err(Finding { offset: 0, defect: Defect::Magic });
    };
    let mut first_tag = Words::new(bytes, is_big_endian(bytes));
    first_tag.take(12)?;
    let candidates = Layout::candidates(version, first_tag.word()? == SUMMARY);
    let read = |&layout| {
        let mut findings = Findings::default();
        let mut note = |finding| _ = findings.note(finding);
        let mut decoded = Reader::new(bytes, version, layout, &mut note).file()?;
        decoded.findings = findings;
        Ok(decoded)
    };
    let mut tried = candidates.iter().map(read);
    let first = tried.next().unwrap_or(Err(Finding { offset: 4, defect: Defect::Magic }));
    // If no layout fits, the defect is that of the likeliest.
    first.or_else(|finding| tried.find_map(Result::ok).ok_or(finding))
}

/// Reads a file as [`decode`] does, and tells every defect. The first one that cannot be tolerated is an
/// error.
pub fn decode_and_tell(bytes: &[u8], tell: &mut dyn FnMut(Finding)) -> Result<Decoded, Finding> {
    // Only reading the whole file shows its layout.
    let Decoded { version, layout, .. } = decode(bytes)?;
    Reader::new(bytes, version, layout, tell).file()
}

fn is_big_endian(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_be_bytes())
}

struct Reader<'a, 't> {
    words: Words<'a>,
    version: Version,
    layout: Layout,
    profile: Profile,
    parts: Vec<(Part, u64)>,
    tell: Tell<'t>,
}

impl<'a, 't> Reader<'a, 't> {
    fn new(bytes: &'a [u8], version: Version, layout: Layout, tell: Tell<'t>) -> Self {
        let big_endian = is_big_endian(bytes);
        let mut words = Words::new(bytes, big_endian);
        words.padded_strings = layout.padded_strings;
        Self { words, version, layout, profile: Profile::default(), parts: Vec::new(), tell }
    }

    /// Begins to read this part.
    fn start(&mut self, part: Part) {
        self.words.part = part;
        self.parts.push((part, self.words.offset()));
    }

    fn file(mut self) -> Result<Decoded, Finding> {
        self.start(Part::Header);
        self.words.take(12)?;
        if self.layout != Layout::of(self.version) {
            self.note(4, Defect::Layout);
        }
        let summary = if self.layout.summary { Some(self.summary()?) } else { None };
        let names = self.names()?;
        self.functions(&names)?;
        self.tail()?;
        if summary.as_ref().is_some_and(|summary| *summary != self.profile.summary()) {
            self.note(12, Defect::Summary);
        }
        let Self { version, layout, profile, parts, .. } = self;
        let findings = Findings::default();
        Ok(Decoded { profile, summary, version, layout, parts, findings })
    }

    fn summary(&mut self) -> Result<Summary, Finding> {
        self.start(Part::Summary);
        self.words.expect(SUMMARY)?;
        let mut summary = Summary {
            total_count: self.words.value()?,
            max_count: self.words.value()?,
            max_function_count: self.words.value()?,
            counts: self.words.value()?,
            functions: self.words.value()?,
            cutoffs: Vec::new(),
        };
        let offset = self.words.offset();
        let cutoffs = self.words.wide_count(20)?;
        if cutoffs != CUTOFFS.len() {
            self.note(offset, Defect::Cutoffs(cutoffs as u64));
        }
        for _ in 0..cutoffs {
            let share = self.words.word()?;
            let (min_count, counts) = (self.words.value()?, self.words.value()?);
            summary.cutoffs.push(Cutoff { share, min_count, counts });
        }
        Ok(summary)
    }

    /// The symbols by their index in the name table, `None` for the empty first one.
    fn names(&mut self) -> Result<Vec<Option<SymbolId>>, Finding> {
        self.start(if self.layout.files { Part::Files } else { Part::Names });
        self.words.tag(NAMES)?;
        let mut files = Vec::new();
        if self.layout.files {
            for _ in 0..self.words.count(5)? {
                let path = self.words.string()?;
                // An empty path stands for no file.
                files.push((!path.is_empty()).then(|| self.profile.symbols.file(path)));
            }
            self.start(Part::Names);
        }
        let number = self.words.count(5)?;
        let mut symbols = Vec::with_capacity(number);
        for place in 0..number {
            let offset = self.words.offset();
            let name = self.words.string()?;
            let file = match self.layout.files.then(|| self.words.word()).transpose()? {
                None | Some(NO_FILE) => None,
                Some(index) => match files.get(index as usize) {
                    Some(&file) => file,
                    None => return self.words.error(offset, Defect::FileIndex(index)),
                },
            };
            if place == 0 && !name.is_empty() {
                self.note(offset, Defect::FirstName);
            }
            let name = if file.is_some() { names::without_lto_priv(name) } else { name };
            let is_one = place > 0 && !name.is_empty();
            symbols.push(is_one.then(|| self.profile.symbols.symbol(name, file)));
        }
        Ok(symbols)
    }

    fn functions(&mut self, symbols: &[Option<SymbolId>]) -> Result<(), Finding> {
        self.start(Part::Functions);
        self.words.tag(FUNCTIONS)?;
        for _ in 0..self.words.count(if self.layout.timestamps { 28 } else { 20 })? {
            let offset = self.words.offset();
            let head_count = self.words.value()?;
            if head_count > LARGEST_COUNT {
                self.note(offset, Defect::LargeCount(head_count));
            }
            let timestamp = if self.layout.timestamps { self.words.value()? } else { 0 };
            let mut instances = Instances::new(&mut self.words, symbols, self.tell);
            let (symbol, body) = instances.read()?;
            if self.profile.functions.contains_key(&symbol) {
                self.note(offset, Defect::DuplicateFunction);
            }
            self.profile.add(symbol, Function { head_count, timestamp, body });
        }
        Ok(())
    }

    fn tail(&mut self) -> Result<(), Finding> {
        self.start(Part::Modules);
        self.words.tag(MODULES)?;
        self.words.expect(0)?;
        let (offset, left) = (self.words.offset(), self.words.left());
        self.start(Part::WorkingSet);
        let length = 4 * 3 * WORKING_SET_ENTRIES as usize;
        let missing = (8 + length).saturating_sub(left) as u64;
        let is_whole = self.words.tag(WORKING_SET).is_ok() && self.words.take(length).is_ok();
        match (is_whole, self.words.left()) {
            (false, _) => self.note(offset, Defect::WorkingSet { missing }),
            (true, 0) => {}
            (true, left) => self.note(self.words.offset(), Defect::Trailing(left as u64)),
        }
        Ok(())
    }

    fn note(&mut self, offset: u64, defect: Defect) {
        (self.tell)(Finding { offset, defect });
    }
}
