//! Reads the text form.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::check::{Defect, Findings, Tell, TextError};
use super::scanner::{Lines, Scanner};
use crate::profile::{Body, Cutoff, DEEPEST, Function, Position, Profile, Summary, SymbolId};

/// What a text says.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The summary as it stands in the text, if there is one.
    pub summary: Option<Summary>,
    /// Defects that were tolerated.
    pub findings: Findings,
}

/// Reads a text.
pub fn decode(text: &[u8]) -> Result<Decoded, TextError> {
    decode_and_tell(text, &mut |_| {})
}

/// The same, but tells every defect as it finds it.
pub fn decode_and_tell(text: &[u8], tell: &mut dyn FnMut(TextError)) -> Result<Decoded, TextError> {
    let mut findings = Findings::default();
    let mut note = |found: TextError| {
        tell(found.clone());
        findings.note(found);
    };
    // Reads twice: targets have ids whose names may stand anywhere.
    let mut ignore = |_| {};
    let mut names = Parser::new(text, &mut ignore);
    names.top_level()?;
    let (files, names) = (names.files, names.names);
    let mut parser = Parser { files, names, ..Parser::new(text, &mut note) };
    parser.names_are_known = true;
    parser.top_level()?;
    let Parser { profile, summary, summary_at, .. } = parser;
    match summary_at {
        None => note(Lines::default().error(text, 0, Defect::NoSummary)),
        Some(place) if summary != profile.summary() => {
            note(Lines::default().error(text, place, Defect::Summary));
        }
        Some(_) => {}
    }
    let summary = summary_at.map(|_| summary);
    Ok(Decoded { profile, summary, findings })
}

/// A symbol's name and the number of its file.
type Name<'t> = (&'t [u8], Option<usize>);

struct Parser<'t, 'f> {
    words: Scanner<'t>,
    files: Vec<&'t [u8]>,
    names: BTreeMap<u32, Name<'t>>,
    names_are_known: bool,
    summary: Summary,
    /// Where the summary starts, if there is one.
    summary_at: Option<usize>,
    profile: Profile,
    text: &'t [u8],
    /// Lines before the last defect.
    lines: Lines,
    tell: Tell<'f>,
}

impl<'t, 'f> Parser<'t, 'f> {
    fn new(text: &'t [u8], tell: Tell<'f>) -> Self {
        Self {
            words: Scanner::new(text),
            files: Vec::new(),
            names: BTreeMap::new(),
            names_are_known: false,
            summary: Summary::default(),
            summary_at: None,
            profile: Profile::default(),
            text,
            lines: Lines::default(),
            tell,
        }
    }

    fn top_level(&mut self) -> Result<(), TextError> {
        loop {
            match self.words.peek() {
                None => return Ok(()),
                Some(b'"') => self.function()?,
                Some(_) => {
                    let start = self.words.offset();
                    let keyword = self.words.keyword()?;
                    self.words.expect(b'=', "'='")?;
                    match keyword {
                        b"filenames" => self.file_names()?,
                        b"summary" => {
                            self.summary_at = Some(start);
                            self.summary()?;
                        }
                        b"symbol_names" => self.list(Self::symbol_name)?,
                        _ => self.words.skip()?,
                    }
                }
            }
        }
    }

    fn file_names(&mut self) -> Result<(), TextError> {
        self.files.clear();
        self.list(|parser| {
            let path = parser.words.quoted()?;
            if path.contains(&0) {
                return parser.words.fail(Defect::Path);
            }
            parser.files.push(path);
            Ok(())
        })
    }

    fn symbol_name(&mut self) -> Result<(), TextError> {
        let id = self.words.id()?;
        self.words.expect(b'=', "'='")?;
        let name = self.name()?;
        self.know(id, name)
    }

    fn summary(&mut self) -> Result<(), TextError> {
        let mut entries = None;
        self.list(|parser| {
            let keyword = parser.words.keyword()?;
            parser.words.expect(b'=', "'='")?;
            match keyword {
                b"total_count" => parser.summary.total_count = parser.words.number(u64::MAX)?,
                b"max_count" => parser.summary.max_count = parser.words.number(u64::MAX)?,
                b"max_fn_count" => {
                    parser.summary.max_function_count = parser.words.number(u64::MAX)?
                }
                b"num_counts" => parser.summary.counts = parser.words.number(u64::MAX)?,
                b"num_functions" => parser.summary.functions = parser.words.number(u64::MAX)?,
                b"num_detailed_entries" => entries = Some(parser.words.number(u64::MAX)?),
                b"detailed_entries" => parser.list(Self::cutoff)?,
                _ => parser.words.skip()?,
            }
            Ok(())
        })?;
        match entries {
            Some(entries) if entries != self.summary.cutoffs.len() as u64 => {
                self.words.fail(Defect::Expected("as many detailed entries as announced"))
            }
            _ => Ok(()),
        }
    }

    fn cutoff(&mut self) -> Result<(), TextError> {
        let mut cutoff = Cutoff { share: 0, min_count: 0, counts: 0 };
        self.list(|parser| {
            let keyword = parser.words.keyword()?;
            parser.words.expect(b'=', "'='")?;
            match keyword {
                b"cutoff" => cutoff.share = parser.words.number(u32::MAX.into())? as u32,
                b"min_count" => cutoff.min_count = parser.words.number(u64::MAX)?,
                b"num_counts" => cutoff.counts = parser.words.number(u64::MAX)?,
                _ => parser.words.skip()?,
            }
            Ok(())
        })?;
        self.summary.cutoffs.push(cutoff);
        Ok(())
    }

    fn function(&mut self) -> Result<(), TextError> {
        let name = self.name()?;
        self.words.expect(b'(', "'('")?;
        let id = self.words.id()?;
        self.know(id, name)?;
        self.words.expect(b':', "':'")?;
        let head_count = self.words.number(u64::MAX)?;
        self.words.expect(b':', "':'")?;
        let timestamp = self.words.number(u64::MAX)?;
        self.words.expect(b')', "')'")?;
        self.words.expect(b'=', "'='")?;
        // With nothing in it, not even an empty section, it is how other writers name a target (D44).
        let is_stub = (head_count, timestamp) == (0, 0) && self.words.clone().skips_empty_braces();
        let body = self.body()?;
        let function = Function { head_count, timestamp, body };
        if self.names_are_known && !is_stub {
            let symbol = self.symbol(name)?;
            self.tell(self.profile.functions.contains_key(&symbol), Defect::DuplicateFunction);
            self.profile.add(symbol, function);
        }
        Ok(())
    }

    /// Reads a body and those inlined in it, without recursion.
    fn body(&mut self) -> Result<Body, TextError> {
        let mut outer: Vec<(Body, Position, Name<'t>)> = Vec::new();
        let mut body = Body::default();
        // Whether the next item belongs to `inlined` or to the body itself.
        let mut inlined = false;
        self.words.expect(b'{', "'{'")?;
        loop {
            match (self.words.closes(), inlined) {
                (false, true) => {
                    let (position, name) = self.inlined()?;
                    if outer.len() >= DEEPEST {
                        return self.words.fail(Defect::Depth);
                    }
                    outer.push((core::mem::take(&mut body), position, name));
                    inlined = false;
                    continue;
                }
                (false, false) => {
                    inlined = self.section(&mut body)?;
                    if inlined {
                        continue;
                    }
                }
                (true, true) => inlined = false,
                (true, false) => {
                    let Some((around, position, name)) = outer.pop() else { return Ok(body) };
                    let inner = core::mem::replace(&mut body, around);
                    self.put_inlined(&mut body, position, name, inner)?;
                    inlined = true;
                }
            }
            self.words.separator()?;
        }
    }

    /// Reads a section of a body. Of an `inlined` section it reads only the opening brace and gives `true`.
    fn section(&mut self, body: &mut Body) -> Result<bool, TextError> {
        let keyword = self.words.keyword()?;
        self.words.expect(b'=', "'='")?;
        match keyword {
            b"locations" => self.list(|parser| parser.location(body))?,
            b"callsites" => self.list(|parser| parser.call_site(body))?,
            b"inlined" => {
                self.words.expect(b'{', "'{'")?;
                return Ok(true);
            }
            _ => self.words.skip()?,
        }
        Ok(false)
    }

    fn location(&mut self, body: &mut Body) -> Result<(), TextError> {
        let position = self.position()?;
        self.words.expect(b'=', "'='")?;
        let count = self.words.number(u64::MAX)?;
        let record = body.positions.entry(position).or_default();
        self.tell(record.count.is_some(), Defect::DuplicateLocation);
        let sum = record.count.get_or_insert(0);
        *sum = sum.saturating_add(count);
        Ok(())
    }

    fn call_site(&mut self, body: &mut Body) -> Result<(), TextError> {
        let position = self.position()?;
        self.words.expect(b'-', "'->'")?;
        self.words.expect(b'>', "'->'")?;
        self.list(|parser| {
            let id = parser.words.id()?;
            parser.words.expect(b'=', "'='")?;
            let calls = parser.words.number(u64::MAX)?;
            if parser.names_are_known {
                let target = parser.target(id)?;
                let record = body.positions.entry(position).or_default();
                parser.tell(record.targets.contains_key(&target), Defect::DuplicateLocation);
                let sum = record.targets.entry(target).or_default();
                *sum = sum.saturating_add(calls);
            }
            Ok(())
        })
    }

    /// Reads the head of an inlined function and the brace that opens its body.
    fn inlined(&mut self) -> Result<(Position, Name<'t>), TextError> {
        let position = self.position()?;
        self.words.expect(b'=', "'='")?;
        let name = self.name()?;
        self.words.expect(b'(', "'('")?;
        let id = self.words.id()?;
        self.know(id, name)?;
        self.words.expect(b')', "')'")?;
        self.words.expect(b'=', "'='")?;
        self.words.expect(b'{', "'{'")?;
        Ok((position, name))
    }

    fn put_inlined(
        &mut self,
        body: &mut Body,
        position: Position,
        name: Name<'t>,
        inner: Body,
    ) -> Result<(), TextError> {
        if self.names_are_known {
            let callee = self.symbol(name)?;
            let record = body.positions.entry(position).or_default();
            self.tell(record.inlined.contains_key(&callee), Defect::DuplicateLocation);
            record.inline(callee, inner);
        }
        Ok(())
    }

    fn position(&mut self) -> Result<Position, TextError> {
        let line = self.words.number((1 << 24) - 1)? as u32;
        let mut discriminator = 0;
        if self.words.takes(b'.') {
            discriminator = self.words.number(u16::MAX.into())? as u16;
        }
        Ok(Position { line, discriminator })
    }

    /// A quoted name, a colon and the number of a file.
    fn name(&mut self) -> Result<Name<'t>, TextError> {
        let name = self.words.quoted()?;
        if name.is_empty() || name.contains(&0) {
            return self.words.fail(Defect::Name);
        }
        self.words.expect(b':', "':'")?;
        self.words.peek();
        if self.words.takes(b'-') {
            return match self.words.number(u64::MAX)? {
                1 => Ok((name, None)),
                _ => self.words.fail(Defect::Expected("a file number or -1")),
            };
        }
        let file = self.words.number(u64::MAX)?;
        if self.names_are_known && file >= self.files.len() as u64 {
            return self.words.fail(Defect::File(file));
        }
        Ok((name, Some(file as usize)))
    }

    /// Tells of tolerated defects. The text is read twice, and only the second time counts.
    fn tell(&mut self, found: bool, defect: Defect) {
        if found && self.names_are_known {
            (self.tell)(self.lines.error(self.text, self.words.offset(), defect));
        }
    }

    fn know(&mut self, id: u32, name: Name<'t>) -> Result<(), TextError> {
        match self.names.insert(id, name) {
            Some(known) if known != name => self.words.fail(Defect::DuplicateId(id)),
            _ => Ok(()),
        }
    }

    fn target(&mut self, id: u32) -> Result<SymbolId, TextError> {
        match self.names.get(&id) {
            Some(&name) => self.symbol(name),
            None => self.words.fail(Defect::UnknownId(id)),
        }
    }

    fn symbol(&mut self, (name, file): Name<'t>) -> Result<SymbolId, TextError> {
        let path = match file.map(|file| self.files.get(file)) {
            Some(None) => return self.words.fail(Defect::File(file.unwrap_or(0) as u64)),
            Some(path) => path.copied(),
            None => None,
        };
        let symbols = &mut self.profile.symbols;
        // An empty path stands for no file.
        let file = path.filter(|path| !path.is_empty()).map(|path| symbols.file(path));
        Ok(symbols.symbol(name, file))
    }

    /// Items in braces, separated by commas.
    fn list(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), TextError>,
    ) -> Result<(), TextError> {
        self.words.expect(b'{', "'{'")?;
        while !self.words.closes() {
            item(self)?;
            self.words.separator()?;
        }
        Ok(())
    }
}
