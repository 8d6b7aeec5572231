//! The one line on standard error: `countersink: PATH: what happened, what was done`.
//!
//! Made without `core::fmt`, which would bring panic paths into the archive and double its size.

use super::problem::{
    ANY_LINK, FOREIGN, FOREIGN_DIRECTORY, FOREIGN_LINK, MORE_RIGHTS, NOT_OURS, SECOND_NAME,
};
use super::sys::{self, Errno};

/// Digits of a number.
pub type Digits = heapless::Vec<u8, 20>;

/// A number in decimal.
pub fn decimal(number: u64) -> Digits {
    digits(1, number, |number| (number / 10, number % 10))
}

/// A number in hexadecimal with at least `width` digits.
pub fn hexadecimal(number: u64, width: usize) -> Digits {
    digits(width, number, |number| (number >> 4, number & 15))
}

fn digits(width: usize, mut number: u64, split: fn(u64) -> (u64, u64)) -> Digits {
    let mut reversed = Digits::new();
    while number > 0 || reversed.len() < width {
        let (rest, digit) = split(number);
        let digit = digit as u8;
        let _ = reversed.push(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
        number = rest;
    }
    let mut digits = Digits::new();
    while let Some(digit) = reversed.pop() {
        let _ = digits.push(digit);
    }
    digits
}

/// A line being put together. What does not fit is cut.
#[derive(Debug)]
pub struct Line(heapless::Vec<u8, 1024>);

impl Line {
    /// Starts a line about a file.
    pub fn about(path: &[u8]) -> Self {
        let mut line = Self(heapless::Vec::new());
        // The end of a very long path says more than its start.
        let shown = path.get(path.len().saturating_sub(700)..).unwrap_or(path);
        line.text(b"countersink: ").text(shown).text(b": ");
        line
    }

    /// Appends text. What could control a terminal is spelled out: control characters, and bytes that are no UTF-8.
    #[inline(never)]
    pub fn text(&mut self, mut text: &[u8]) -> &mut Self {
        while let Some((&first, rest)) = text.split_first() {
            match length_of_letter(text).and_then(|length| text.split_at_checked(length)) {
                Some((letter, behind)) => {
                    let _ = self.0.extend_from_slice(letter);
                    text = behind;
                }
                None => {
                    let _ = self.0.extend_from_slice(b"\\x");
                    let _ = self.0.extend_from_slice(&hexadecimal(first.into(), 2));
                    text = rest;
                }
            }
        }
        self
    }

    /// Appends an offset.
    pub fn offset(&mut self, offset: u64) -> &mut Self {
        self.text(b"0x").text(&hexadecimal(offset, 1))
    }

    /// Appends what an error number means.
    pub fn error(&mut self, error: Errno) -> &mut Self {
        match meaning(error) {
            b"" => self.text(b"system error ").text(&decimal(error.raw_os_error() as u64)),
            meaning => self.text(meaning),
        }
    }

    /// Writes the line.
    pub fn print(&mut self) {
        self.0.truncate(self.0.capacity() - 1);
        let _ = self.0.push(b'\n');
        sys::complain(&self.0);
    }
}

/// Number of bytes of the letter at the start of a text in UTF-8; `None` if none is there, or a control character.
/// Not all that passes is a letter, but a terminal takes none of it for a command.
fn length_of_letter(text: &[u8]) -> Option<usize> {
    let length = match text {
        [b' '..=b'~', ..] => 1,
        // C2 80 to C2 9F are the control characters of the second set.
        [0xc2, 0x80..=0x9f, ..] => return None,
        [0xc2..=0xdf, ..] => 2,
        [0xe0..=0xef, ..] => 3,
        [0xf0..=0xf4, ..] => 4,
        _ => return None,
    };
    let behind = text.get(1..length)?;
    behind.iter().all(|byte| byte & 0xc0 == 0x80).then_some(length)
}

fn meaning(error: Errno) -> &'static [u8] {
    match error {
        Errno::ACCESS | Errno::PERM => b"permission denied",
        Errno::BUSY => b"in use for too long",
        Errno::DQUOT => b"disk quota exceeded",
        ANY_LINK => b"has a link, which a program with more rights than its starter does not follow",
        FOREIGN => b"another user's file",
        FOREIGN_DIRECTORY => b"others may change one of its directories",
        FOREIGN_LINK => b"a link that belongs neither to this user nor to root",
        MORE_RIGHTS => b"the program has more rights than its starter, and no absolute name from `flags --file`",
        NOT_OURS => b"its .part is not ours, move it away",
        Errno::FBIG => b"file too large",
        Errno::IO => b"input/output error",
        Errno::ISDIR => b"is a directory",
        Errno::LOOP => b"too many links",
        Errno::MFILE | Errno::NFILE => b"too many open files",
        Errno::NAMETOOLONG => b"name too long",
        Errno::NOENT => b"no such directory",
        Errno::NOMEM => b"out of memory",
        Errno::NOSPC => b"no space left on device",
        Errno::NOTDIR => b"not a directory",
        Errno::NXIO | Errno::NOTSUP => b"not an ordinary file",
        SECOND_NAME => b"the file has a second name",
        Errno::ROFS => b"read-only file system",
        _ => b"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(decimal(0), b"0");
        assert_eq!(decimal(u64::MAX), b"18446744073709551615");
        assert_eq!(hexadecimal(0xbeef, 1), b"beef");
        assert_eq!(hexadecimal(0xbeef, 16), b"000000000000beef");
    }

    #[test]
    fn a_line() {
        let mut line = Line::about(b"/a\nb");
        line.text(b"cut at ").offset(420).text(b": ").error(Errno::NOSPC);
        assert_eq!(line.0, b"countersink: /a\\x0ab: cut at 0x1a4: no space left on device");
        let mut line = Line::about(b"\xc3\xa9 \xe2\x82\xac\xf0\x9f\x98\x80");
        line.text(b"\x1b[1m \x7f \xc2\x9b \x9b \xe2\x82 \xc3");
        let shown = "countersink: é €😀: \\x1b[1m \\x7f \\xc2\\x9b \\x9b \\xe2\\x82 \\xc3";
        assert_eq!(std::str::from_utf8(&line.0).unwrap(), shown);
        let mut line = Line::about(&[b'x'; 5000]);
        line.error(Errno::from_raw_os_error(4000));
        assert_eq!(line.0.len(), 13 + 700 + 2 + 13 + 4);
    }
}
