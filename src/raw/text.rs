//! A dump as lines of text, for a serial line or a log that others write to as well.
//!
//! Each line carries 48 bytes, the last ones fewer, and stands for itself:
//!
//! | characters | field |
//! |---|---|
//! | 7 | `csraw1:` |
//! | 8 | offset of the line's first byte in the dump, hexadecimal |
//! | 1 | `:` |
//! | 0 to 64 | the bytes in base64 (RFC 4648, with `=` at the end) |
//! | 1 | `:` |
//! | 8 | CRC-32 of everything between the first colon and the last, hexadecimal |
//! | 2 | CR, LF |
//!
//! A line without bytes ends the dump; its offset is the dump's length. A reader ignores text before the mark and
//! behind the checksum, such as a time or a color. It ignores other lines in between and repeated lines, and needs
//! no ends of lines. The format does not repair a line that a log has spoilt: [`extract()`] gives only whole dumps, and
//! says where the others are broken.

#[cfg(feature = "alloc")]
mod extract;

#[cfg(feature = "alloc")]
pub use extract::{Broken, Found, Reason, extract};

use super::checksum::crc32;
use super::writer::Sink;

/// What every line starts with.
const MARK: &[u8; 7] = b"csraw1:";
/// Base64 characters of a full line.
const FULL: usize = 64;
/// Mark, offset, colon, payload, colon, checksum, end of the line.
const LONGEST_LINE: usize = MARK.len() + 8 + 1 + FULL + 1 + 8 + 2;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Takes the bytes of a dump and gives lines, each in one piece.
pub struct Lines<S> {
    sink: S,
    line: [u8; LONGEST_LINE],
    used: usize,
    /// Bytes of the dump before this line, and in it.
    offset: u32,
    taken: u32,
    /// Up to two bytes that wait for a third, the newest lowest. A 1 above them marks how many there are.
    waiting: u32,
}

impl<S: Sink> Lines<S> {
    /// Sends the lines of a dump to `sink`.
    pub fn new(sink: S) -> Self {
        let mut lines =
            Self { sink, line: [0; LONGEST_LINE], used: 0, offset: 0, taken: 0, waiting: 1 };
        lines.begin();
        lines
    }

    /// Ends the dump.
    pub fn finish(mut self) -> Result<S, S::Error> {
        if self.taken > 0 {
            self.end_line()?;
        }
        self.end_line()?;
        Ok(self.sink)
    }

    fn begin(&mut self) {
        self.used = 0;
        self.offset = self.offset.wrapping_add(self.taken);
        self.taken = 0;
        MARK.iter().for_each(|&byte| self.push(byte));
        self.push_hexadecimal(self.offset);
        self.push(b':');
    }

    fn end_line(&mut self) -> Result<(), S::Error> {
        match self.waiting {
            1 => {}
            0x100.. if self.waiting >= 0x1_0000 => self.push_group(self.waiting << 8, 3),
            _ => self.push_group(self.waiting << 16, 2),
        }
        let text = self.line.get(MARK.len()..self.used).unwrap_or_default();
        let checksum = crc32(text);
        self.push(b':');
        self.push_hexadecimal(checksum);
        self.push(b'\r');
        self.push(b'\n');
        self.sink.write(self.line.get(..self.used).unwrap_or_default())?;
        self.begin();
        Ok(())
    }

    fn take(&mut self, byte: u8) -> Result<(), S::Error> {
        self.waiting = self.waiting << 8 | u32::from(byte);
        self.taken = self.taken.wrapping_add(1);
        if self.waiting >> 24 != 0 {
            self.push_group(self.waiting, 4);
            if self.taken as usize == FULL / 4 * 3 {
                self.end_line()?;
            }
        }
        Ok(())
    }

    /// Three bytes as four characters; `=` takes the place of those behind the first `said`.
    fn push_group(&mut self, bytes: u32, said: u32) {
        for place in 0..4 {
            let digit = bytes >> (18 - 6 * place) & 63;
            let digit = ALPHABET.get(digit as usize).copied().unwrap_or_default();
            self.push(if place < said { digit } else { b'=' });
        }
        self.waiting = 1;
    }

    fn push_hexadecimal(&mut self, number: u32) {
        for place in 0..8 {
            let digit = (number >> (28 - 4 * place) & 15) as u8;
            self.push(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
        }
    }

    fn push(&mut self, byte: u8) {
        if let Some(free) = self.line.get_mut(self.used) {
            *free = byte;
            self.used = self.used.wrapping_add(1);
        }
    }
}

impl<S: Sink> Sink for Lines<S> {
    type Error = S::Error;

    fn write(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        bytes.iter().try_for_each(|&byte| self.take(byte))
    }
}
