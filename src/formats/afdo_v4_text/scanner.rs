//! The words of a text: punctuation, keywords, numbers, quoted strings.

use super::check::{Defect, TextError};

/// A text, read up to some place. Skips white space before a word.
#[derive(Clone)]
pub struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    /// A text from its start.
    pub const fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Takes a closing brace, if there is one.
    pub fn closes(&mut self) -> bool {
        self.peek();
        self.takes(b'}')
    }

    /// Takes the comma behind an item. The last item need not have one.
    pub fn separator(&mut self) -> Result<(), TextError> {
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(b'}') => {}
            _ => return self.fail(Defect::Expected("',' or '}'")),
        }
        Ok(())
    }

    /// Skips braces and all between them. Braces inside quotation marks do not count.
    pub fn skip(&mut self) -> Result<(), TextError> {
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

    /// Takes `byte` if it follows at once.
    pub fn takes(&mut self, byte: u8) -> bool {
        let takes = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(takes);
        takes
    }

    /// Takes an opening and a closing brace with nothing between them, if they follow.
    pub fn skips_empty_braces(&mut self) -> bool {
        self.peek() == Some(b'{') && self.takes(b'{') && self.closes()
    }

    /// Takes the id of a symbol.
    pub fn id(&mut self) -> Result<u32, TextError> {
        self.number(u32::MAX.into()).map(|id| id as u32)
    }

    /// Takes a number, at most `most`.
    pub fn number(&mut self, most: u64) -> Result<u64, TextError> {
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

    /// Takes a keyword.
    pub fn keyword(&mut self) -> Result<&'t [u8], TextError> {
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

    /// Takes the text between quotation marks.
    pub fn quoted(&mut self) -> Result<&'t [u8], TextError> {
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

    /// Takes `byte`, which must follow; messages call it `what`.
    pub fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), TextError> {
        if self.peek() != Some(byte) {
            return self.fail(Defect::Expected(what));
        }
        self.at += 1;
        Ok(())
    }

    /// The next byte that is no white space.
    pub fn peek(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.get(self.at).copied()
    }

    /// Bytes before this place.
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// Fails with a defect at this place.
    pub fn fail<T>(&self, defect: Defect) -> Result<T, TextError> {
        Err(Lines::default().error(self.text, self.at, defect))
    }
}

/// Counts lines up to some place.
#[derive(Default)]
pub struct Lines {
    ended: u64,
    /// Where the last line starts.
    start: usize,
    seen: usize,
}

impl Lines {
    /// A defect at a place. That must not lie before the place of the last one.
    pub fn error(&mut self, text: &[u8], at: usize, defect: Defect) -> TextError {
        let at = at.min(text.len());
        for (place, _) in (self.seen..at).zip(&text[self.seen..at]).filter(|(_, b)| **b == b'\n') {
            self.ended += 1;
            self.start = place + 1;
        }
        self.seen = at;
        let column = 1 + (at - self.start) as u64;
        TextError { line: 1 + self.ended, column, defect }
    }
}
