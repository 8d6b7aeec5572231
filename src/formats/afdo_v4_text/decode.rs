//! Reads the text form.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::profile::{Body, Cutoff, Function, Position, Profile, Summary, SymbolId};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The defect.
    pub defect: Defect,
}

/// A defect of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Something else was due.
    Expected(&'static str),
    /// A number too large for its field.
    TooLarge,
    /// A file number out of range.
    File(u64),
    /// Two different symbols with one id.
    DuplicateId(u32),
    /// A target whose id no symbol has.
    UnknownId(u32),
    /// A name that is empty or has a NUL in it.
    Name,
    /// Functions inlined into each other too deep.
    Depth,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        match &self.defect {
            Defect::Expected(what) => write!(f, "expected {what}"),
            Defect::TooLarge => f.write_str("number too large"),
            Defect::File(number) => write!(f, "there is no file {number}"),
            Defect::DuplicateId(id) => write!(f, "id {id} of another symbol"),
            Defect::UnknownId(id) => write!(f, "no symbol has id {id}"),
            Defect::Name => f.write_str("expected a name that is not empty and has no NUL"),
            Defect::Depth => f.write_str("functions inlined into each other too deep"),
        }
    }
}

impl core::error::Error for TextError {}

/// What a text says.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The summary as it stands in the text.
    pub summary: Summary,
}

/// Deepest nesting of inlined functions.
const DEEPEST: usize = 1024;

/// Reads a text.
pub fn decode(text: &[u8]) -> Result<Decoded, TextError> {
    // Twice: targets are known by ids whose names may stand anywhere.
    let mut names = Parser::new(text);
    names.top_level()?;
    let mut parser = Parser { files: names.files, names: names.names, ..Parser::new(text) };
    parser.names_are_known = true;
    parser.top_level()?;
    Ok(Decoded { profile: parser.profile, summary: parser.summary })
}

/// A symbol's name and the number of its file.
type Name<'t> = (&'t [u8], Option<usize>);

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    files: Vec<&'t [u8]>,
    names: BTreeMap<u32, Name<'t>>,
    names_are_known: bool,
    summary: Summary,
    profile: Profile,
}

impl<'t> Parser<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            at: 0,
            files: Vec::new(),
            names: BTreeMap::new(),
            names_are_known: false,
            summary: Summary::default(),
            profile: Profile::default(),
        }
    }

    fn top_level(&mut self) -> Result<(), TextError> {
        loop {
            match self.peek() {
                None => return Ok(()),
                Some(b'"') => self.function()?,
                Some(_) => {
                    let keyword = self.keyword()?;
                    self.expect(b'=', "'='")?;
                    match keyword {
                        b"filenames" => self.file_names()?,
                        b"summary" => self.summary()?,
                        b"symbol_names" => self.list(Self::symbol_name)?,
                        _ => self.skip()?,
                    }
                }
            }
        }
    }

    fn file_names(&mut self) -> Result<(), TextError> {
        self.files.clear();
        self.list(|parser| {
            let path = parser.quoted()?;
            parser.files.push(path);
            Ok(())
        })
    }

    fn symbol_name(&mut self) -> Result<(), TextError> {
        let id = self.id()?;
        self.expect(b'=', "'='")?;
        let name = self.name()?;
        self.know(id, name)
    }

    fn summary(&mut self) -> Result<(), TextError> {
        let mut entries = None;
        self.list(|parser| {
            let keyword = parser.keyword()?;
            parser.expect(b'=', "'='")?;
            match keyword {
                b"total_count" => parser.summary.total_count = parser.number(u64::MAX)?,
                b"max_count" => parser.summary.max_count = parser.number(u64::MAX)?,
                b"max_fn_count" => parser.summary.max_function_count = parser.number(u64::MAX)?,
                b"num_counts" => parser.summary.counts = parser.number(u64::MAX)?,
                b"num_functions" => parser.summary.functions = parser.number(u64::MAX)?,
                b"num_detailed_entries" => entries = Some(parser.number(u64::MAX)?),
                b"detailed_entries" => parser.list(Self::cutoff)?,
                _ => parser.skip()?,
            }
            Ok(())
        })?;
        match entries {
            Some(entries) if entries != self.summary.cutoffs.len() as u64 => {
                self.fail(Defect::Expected("as many detailed entries as announced"))
            }
            _ => Ok(()),
        }
    }

    fn cutoff(&mut self) -> Result<(), TextError> {
        let mut cutoff = Cutoff { share: 0, min_count: 0, counts: 0 };
        self.list(|parser| {
            let keyword = parser.keyword()?;
            parser.expect(b'=', "'='")?;
            match keyword {
                b"cutoff" => cutoff.share = parser.number(u32::MAX.into())? as u32,
                b"min_count" => cutoff.min_count = parser.number(u64::MAX)?,
                b"num_counts" => cutoff.counts = parser.number(u64::MAX)?,
                _ => parser.skip()?,
            }
            Ok(())
        })?;
        self.summary.cutoffs.push(cutoff);
        Ok(())
    }

    fn function(&mut self) -> Result<(), TextError> {
        let name = self.name()?;
        self.expect(b'(', "'('")?;
        let id = self.id()?;
        self.know(id, name)?;
        self.expect(b':', "':'")?;
        let head_count = self.number(u64::MAX)?;
        self.expect(b':', "':'")?;
        let timestamp = self.number(u64::MAX)?;
        self.expect(b')', "')'")?;
        self.expect(b'=', "'='")?;
        let body = self.body()?;
        // A function without anything is how other writers name a target (D44).
        let stub = Function { head_count: 0, timestamp: 0, body: Body::default() };
        let function = Function { head_count, timestamp, body };
        if self.names_are_known && function != stub {
            let symbol = self.symbol(name)?;
            self.profile.functions.insert(symbol, function);
        }
        Ok(())
    }

    /// Reads a body and those inlined in it, without recursion.
    fn body(&mut self) -> Result<Body, TextError> {
        let mut outer: Vec<(Body, Position, Name<'t>)> = Vec::new();
        let mut body = Body::default();
        // Whether the next item is one of `inlined`, or one of the body itself.
        let mut inlined = false;
        self.expect(b'{', "'{'")?;
        loop {
            match (self.closes(), inlined) {
                (false, true) => {
                    let (position, name) = self.inlined()?;
                    if outer.len() >= DEEPEST {
                        return self.fail(Defect::Depth);
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
                    self.put_inlined(&mut body, position, name, &inner)?;
                    inlined = true;
                }
            }
            self.separator()?;
        }
    }

    /// Reads a section of a body; of `inlined` only the opening brace, which is told by `true`.
    fn section(&mut self, body: &mut Body) -> Result<bool, TextError> {
        let keyword = self.keyword()?;
        self.expect(b'=', "'='")?;
        match keyword {
            b"locations" => self.list(|parser| parser.location(body))?,
            b"callsites" => self.list(|parser| parser.call_site(body))?,
            b"inlined" => {
                self.expect(b'{', "'{'")?;
                return Ok(true);
            }
            _ => self.skip()?,
        }
        Ok(false)
    }

    fn location(&mut self, body: &mut Body) -> Result<(), TextError> {
        let position = self.position()?;
        self.expect(b'=', "'='")?;
        let count = self.number(u64::MAX)?;
        let sum = body.positions.entry(position).or_default().count.get_or_insert(0);
        *sum = sum.saturating_add(count);
        Ok(())
    }

    fn call_site(&mut self, body: &mut Body) -> Result<(), TextError> {
        let position = self.position()?;
        self.expect(b'-', "'->'")?;
        self.expect(b'>', "'->'")?;
        self.list(|parser| {
            let id = parser.id()?;
            parser.expect(b'=', "'='")?;
            let calls = parser.number(u64::MAX)?;
            if parser.names_are_known {
                let target = parser.target(id)?;
                let record = body.positions.entry(position).or_default();
                let sum = record.targets.entry(target).or_default();
                *sum = sum.saturating_add(calls);
            }
            Ok(())
        })
    }

    /// Reads the head of an inlined function and the brace that opens its body.
    fn inlined(&mut self) -> Result<(Position, Name<'t>), TextError> {
        let position = self.position()?;
        self.expect(b'=', "'='")?;
        let name = self.name()?;
        self.expect(b'(', "'('")?;
        let id = self.id()?;
        self.know(id, name)?;
        self.expect(b')', "')'")?;
        self.expect(b'=', "'='")?;
        self.expect(b'{', "'{'")?;
        Ok((position, name))
    }

    fn put_inlined(
        &mut self,
        body: &mut Body,
        position: Position,
        name: Name<'t>,
        inner: &Body,
    ) -> Result<(), TextError> {
        if self.names_are_known {
            let callee = self.symbol(name)?;
            let record = body.positions.entry(position).or_default();
            record.inlined.entry(callee).or_default().add(inner);
        }
        Ok(())
    }

    fn position(&mut self) -> Result<Position, TextError> {
        let line = self.number((1 << 24) - 1)? as u32;
        let mut discriminator = 0;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            discriminator = self.number(u16::MAX.into())? as u16;
        }
        Ok(Position { line, discriminator })
    }

    /// A quoted name, a colon and the number of a file.
    fn name(&mut self) -> Result<Name<'t>, TextError> {
        let name = self.quoted()?;
        if name.is_empty() || name.contains(&0) {
            return self.fail(Defect::Name);
        }
        self.expect(b':', "':'")?;
        if self.peek() == Some(b'-') {
            self.at += 1;
            return match self.number(u64::MAX)? {
                1 => Ok((name, None)),
                _ => self.fail(Defect::Expected("a file number or -1")),
            };
        }
        let file = self.number(u64::MAX)?;
        if self.names_are_known && file >= self.files.len() as u64 {
            return self.fail(Defect::File(file));
        }
        Ok((name, Some(file as usize)))
    }

    fn know(&mut self, id: u32, name: Name<'t>) -> Result<(), TextError> {
        match self.names.insert(id, name) {
            Some(known) if known != name => self.fail(Defect::DuplicateId(id)),
            _ => Ok(()),
        }
    }

    fn target(&mut self, id: u32) -> Result<SymbolId, TextError> {
        match self.names.get(&id) {
            Some(&name) => self.symbol(name),
            None => self.fail(Defect::UnknownId(id)),
        }
    }

    fn symbol(&mut self, (name, file): Name<'t>) -> Result<SymbolId, TextError> {
        let path = match file.map(|file| self.files.get(file)) {
            Some(None) => return self.fail(Defect::File(file.unwrap_or(0) as u64)),
            Some(path) => path.copied(),
            None => None,
        };
        let symbols = &mut self.profile.symbols;
        let file = path.map(|path| symbols.file(path));
        Ok(symbols.symbol(name, file))
    }

    /// Items in braces, separated by commas.
    fn list(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), TextError>,
    ) -> Result<(), TextError> {
        self.expect(b'{', "'{'")?;
        while !self.closes() {
            item(self)?;
            self.separator()?;
        }
        Ok(())
    }

    /// Takes a closing brace, if there is one.
    fn closes(&mut self) -> bool {
        let closes = self.peek() == Some(b'}');
        self.at += usize::from(closes);
        closes
    }

    /// Takes the comma behind an item, which the last one need not have.
    fn separator(&mut self) -> Result<(), TextError> {
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(b'}') => {}
            _ => return self.fail(Defect::Expected("',' or '}'")),
        }
        Ok(())
    }

    /// Skips braces and all between them; braces inside quotation marks do not count.
    fn skip(&mut self) -> Result<(), TextError> {
        self.expect(b'{', "'{'")?;
        let mut open = 1;
        while open > 0 {
            match self.text.get(self.at) {
                Some(b'"') => drop(self.quoted()?),
                Some(&byte) => {
                    open += usize::from(byte == b'{');
                    open -= usize::from(byte == b'}');
                    self.at += 1;
                }
                None => return self.fail(Defect::Expected("'}'")),
            }
        }
        Ok(())
    }

    fn id(&mut self) -> Result<u32, TextError> {
        self.number(u32::MAX.into()).map(|id| id as u32)
    }

    fn number(&mut self, most: u64) -> Result<u64, TextError> {
        self.peek();
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return self.fail(Defect::Expected("a number"));
        }
        let number = rest[..length].iter().try_fold(0u64, |number, digit| {
            number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        match number.filter(|&number| number <= most) {
            Some(number) => {
                self.at += length;
                Ok(number)
            }
            None => self.fail(Defect::TooLarge),
        }
    }

    fn keyword(&mut self) -> Result<&'t [u8], TextError> {
        self.peek();
        let rest = &self.text[self.at..];
        let word = |byte: &&u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let length = rest.iter().take_while(word).count();
        if length == 0 || !rest[0].is_ascii_lowercase() {
            return self.fail(Defect::Expected("a keyword"));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    fn quoted(&mut self) -> Result<&'t [u8], TextError> {
        self.expect(b'"', "'\"'")?;
        let rest = &self.text[self.at..];
        match rest.iter().position(|&byte| byte == b'"') {
            Some(length) => {
                self.at += length + 1;
                Ok(&rest[..length])
            }
            None => self.fail(Defect::Expected("a closing '\"'")),
        }
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), TextError> {
        if self.peek() != Some(byte) {
            return self.fail(Defect::Expected(what));
        }
        self.at += 1;
        Ok(())
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.get(self.at).copied()
    }

    fn fail<T>(&self, defect: Defect) -> Result<T, TextError> {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let column = 1 + before.len() - start;
        Err(TextError { line: line as u32, column: column as u32, defect })
    }
}
