//! Writes a profile as text, in the canonical order. Refuses names and lines that no reader could read again.

use alloc::format;
use alloc::vec::Vec;

use super::line::first_target;
use crate::formats::EncodeError;
use crate::profile::{DEEPEST, SymbolId};
use crate::samples::{Body, ContextId, Ranks, Samples, Site};

/// Largest distance of a line that a text can hold.
const FARTHEST_LINE: u32 = 0xffff;

/// The text of a profile.
pub fn encode(samples: &Samples) -> Result<Vec<u8>, EncodeError> {
    let ranks = Ranks::new(&samples.symbols);
    let (mut text, most) = (Vec::new(), samples.most_text());
    for context in samples.order(&ranks) {
        let (body, function) = (&samples.functions[&context], samples.contexts.function(context));
        if body.is_deeper_than(DEEPEST) {
            return Err(EncodeError::depth(&samples.symbols, function));
        }
        let mut writer = Writer { samples, ranks: &ranks, text, most, function };
        writer.function(context, body)?;
        text = writer.text;
    }
    Ok(text)
}

struct Writer<'s> {
    samples: &'s Samples,
    ranks: &'s Ranks,
    text: Vec<u8>,
    most: usize,
    /// The function being written.
    function: SymbolId,
}

impl Writer<'_> {
    fn function(&mut self, context: ContextId, body: &Body) -> Result<(), EncodeError> {
        match self.samples.traits.contexts {
            true => self.context(context)?,
            false => self.name(self.samples.contexts.function(context), function_misread)?,
        }
        self.put(format!(":{}:{}\n", body.total, body.head).as_bytes());
        self.body(body, 1)
    }

    fn context(&mut self, context: ContextId) -> Result<(), EncodeError> {
        let mut before = "[";
        let mut frames = self.samples.contexts.frames(context).peekable();
        while let Some(frame) = frames.next() {
            self.put(before.as_bytes());
            before = " @ ";
            self.name(frame.function, frame_misread)?;
            if frames.peek().is_some() {
                self.put(b":");
                self.site(frame.site)?;
            }
        }
        self.put(b"]");
        Ok(())
    }

    fn body(&mut self, body: &Body, level: usize) -> Result<(), EncodeError> {
        for (&site, record) in &body.records {
            self.position(level, site)?;
            self.put(format!("{}", record.count).as_bytes());
            for (target, calls) in self.ranks.targets(record) {
                self.put(b" ");
                self.name(target, target_misread)?;
                self.put(format!(":{calls}").as_bytes());
            }
            self.put(b"\n");
        }
        for (site, callee, inlined) in self.ranks.inlined(body) {
            self.position(level, site)?;
            self.name(callee, copy_misread)?;
            self.put(format!(":{}\n", inlined.total).as_bytes());
            self.body(inlined, level + 1)?;
        }
        if self.samples.traits.probes {
            self.metadata(level, format!("!CFGChecksum: {}\n", body.checksum).as_bytes());
        }
        if body.attributes != 0 {
            self.metadata(level, format!("!Attributes: {}\n", body.attributes).as_bytes());
        }
        match self.text.len() <= self.most {
            true => Ok(()),
            false => Err(EncodeError::Large(self.most)),
        }
    }

    fn position(&mut self, level: usize, site: Site) -> Result<(), EncodeError> {
        self.text.resize(self.text.len() + level, b' ');
        self.site(site)?;
        self.put(b": ");
        Ok(())
    }

    fn site(&mut self, site: Site) -> Result<(), EncodeError> {
        let Site { line, discriminator } = site;
        if line > FARTHEST_LINE {
            let function = self.samples.symbols.name(self.function).to_vec();
            return Err(EncodeError::Line { function, line });
        }
        self.put(format!("{line}").as_bytes());
        if discriminator != 0 {
            self.put(format!(".{discriminator}").as_bytes());
        }
        Ok(())
    }

    fn metadata(&mut self, level: usize, text: &[u8]) {
        self.text.resize(self.text.len() + level, b' ');
        self.put(text);
    }

    /// Writes a name, if a reader can find its end there; `misread` says what the reader would do otherwise.
    fn name(
        &mut self,
        symbol: SymbolId,
        misread: impl Fn(&[u8]) -> Option<&'static str>,
    ) -> Result<(), EncodeError> {
        let name = self.samples.symbols.name(symbol);
        let is_bad = |byte: &u8| matches!(byte, 0 | b'\n' | b'\r');
        if name.is_empty() || name.iter().any(is_bad) {
            return Err(EncodeError::Name(name.to_vec()));
        }
        if let Some(why) = misread(name) {
            return Err(EncodeError::Misread { name: name.to_vec(), why });
        }
        self.text.extend_from_slice(name);
        Ok(())
    }

    fn put(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }
}

fn function_misread(name: &[u8]) -> Option<&'static str> {
    match name[0] {
        b' ' => Some("a line with a space at its start is no function"),
        b'#' => Some("a line with # at its start is a comment"),
        b'[' => Some("a bracket begins a context"),
        _ => None,
    }
}

/// LLVM's readers end the name at its first colon, and drop the rest of it.
fn frame_misread(name: &[u8]) -> Option<&'static str> {
    if name.windows(3).any(|bytes| bytes == b" @ ") {
        return Some("in contexts \" @ \" separates functions");
    }
    name.contains(&b':').then_some("in contexts a colon ends the name")
}

fn target_misread(name: &[u8]) -> Option<&'static str> {
    if matches!(name[0], b' ' | b':') {
        return Some("no target of a call begins with a space or colon");
    }
    let target = [name, b":0"].concat();
    let is_read = first_target(&target).is_some_and(|(read, ..)| read == name);
    (!is_read).then_some("a colon, a number and a space end the target of a call")
}

fn copy_misread(name: &[u8]) -> Option<&'static str> {
    let word = name.split(|&byte| byte == b' ').next().unwrap_or_default();
    let is_count =
        word.len() < name.len() && !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    is_count.then_some("a number and a space begin a count with calls")
}
