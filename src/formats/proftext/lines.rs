//! The lines of a text that say something.

use super::check::{Defect, TextError};

/// A text, read up to some line.
#[derive(Clone, Debug)]
pub struct Lines<'t> {
    rest: &'t [u8],
    /// Number of the line taken last, from 1.
    number: u64,
}

impl<'t> Lines<'t> {
    /// A text from its start.
    pub const fn new(text: &'t [u8]) -> Self {
        Self { rest: text, number: 0 }
    }

    /// Takes the next line that is neither empty nor a comment.
    pub fn take(&mut self) -> Option<&'t [u8]> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n');
            let line = &self.rest[..end.unwrap_or(self.rest.len())];
            self.rest = &self.rest[end.map_or(self.rest.len(), |end| end + 1)..];
            self.number += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.is_empty() && line[0] != b'#' {
                return Some(line);
            }
        }
        None
    }

    /// The next of these lines, which stays.
    pub fn peek(&self) -> Option<&'t [u8]> {
        self.clone().take()
    }

    /// Takes the next of these lines, which must be there; messages call it `what`.
    pub fn expect(&mut self, what: &'static str) -> Result<&'t [u8], TextError> {
        let line = self.take();
        line.ok_or_else(|| TextError {
            line: self.number + 1,
            column: 1,
            defect: Defect::End(what),
        })
    }

    /// Takes a line that is a decimal number.
    pub fn number(&mut self, what: &'static str) -> Result<u64, TextError> {
        let line = self.expect(what)?;
        decimal(line).ok_or_else(|| self.error(0, Defect::Expected(what)))
    }

    /// Takes a line that is a number, decimal or with a prefix that says its base.
    pub fn number_of_any_base(&mut self, what: &'static str) -> Result<u64, TextError> {
        let line = self.expect(what)?;
        of_any_base(line).ok_or_else(|| self.error(0, Defect::Expected(what)))
    }

    /// A defect at a byte of the line taken last.
    pub fn error(&self, place: usize, defect: Defect) -> TextError {
        TextError { line: self.number, column: 1 + place as u64, defect }
    }
}

/// The decimal number that these bytes are.
pub fn decimal(digits: &[u8]) -> Option<u64> {
    digits_of(digits, 10)
}

/// The number that these bytes are, in the base that its prefix says.
pub fn of_any_base(digits: &[u8]) -> Option<u64> {
    match digits {
        [b'0', b'x' | b'X', digits @ ..] => digits_of(digits, 16),
        [b'0', b'b' | b'B', digits @ ..] => digits_of(digits, 2),
        [b'0', b'o', digits @ ..] => digits_of(digits, 8),
        [b'0', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
            digits_of(digits, 8)
        }
        _ => decimal(digits),
    }
}

fn digits_of(digits: &[u8], base: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = char::from(digit).to_digit(base)?;
        number.checked_mul(base.into())?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(decimal(b"18446744073709551616"), None);
        assert_eq!([decimal(b""), decimal(b"-1"), decimal(b"1 "), decimal(b"0x1")], [None; 4]);
        let bases = [&b"0xfF"[..], b"0b11", b"010", b"0", b"9"].map(of_any_base);
        assert_eq!(bases, [255, 3, 8, 0, 9].map(Some));
        assert_eq!([of_any_base(b"0x"), of_any_base(b"08")], [None; 2]);
    }
}
