//! Cuts dumps out of a log.

use alloc::vec::Vec;
use core::fmt;

use super::{ALPHABET, MARK, crc32};

/// A dump in a log, or what is left of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Number of the log's line where the dump starts, counted from 1.
    pub line: usize,
    /// Its bytes.
    pub dump: Result<Vec<u8>, Broken>,
}

/// Why a dump is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Number of the line where that shows.
    pub line: usize,
    /// What shows.
    pub reason: Reason,
}

/// What can happen to a dump in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A line is cut, or its checksum does not match its text.
    Damaged,
    /// Lines with these bytes are missing.
    Missing {
        /// Offset of the first byte in the dump.
        from: u32,
        /// Offset of the next byte that is there.
        to: u32,
    },
    /// No last line.
    Unfinished {
        /// Bytes that are there.
        length: u32,
    },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match self.reason {
            Reason::Damaged => f.write_str("damaged line of a dump"),
            Reason::Missing { from, to } => {
                write!(f, "bytes {from:#x} to {to:#x} of the dump are missing")
            }
            Reason::Unfinished { length } => {
                write!(f, "the dump is cut short after {length:#x} bytes")
            }
        }
    }
}

impl core::error::Error for Broken {}

/// All dumps of a log, in order.
pub fn extract(log: &[u8]) -> Vec<Found> {
    let mut extraction = Extraction::default();
    let mut number = 0;
    for text in log.split(|&byte| byte == b'\n') {
        number += 1;
        let in_text = Lines::find(text);
        if in_text.sound.is_empty() && in_text.has_damaged {
            extraction.suspect(number);
        }
        in_text.sound.iter().for_each(|line| extraction.line(number, line));
    }
    extraction.close(number);
    extraction.give_up_lost();
    extraction.found
}

/// A line of a dump.
struct Line {
    offset: u32,
    bytes: Vec<u8>,
}

/// The dump's lines in a line of the log: one, or several where ends of lines were lost.
struct Lines {
    sound: Vec<Line>,
    /// Whether there is what is left of another: the mark and an offset. The mark alone may be anything.
    has_damaged: bool,
}

impl Lines {
    fn find(text: &[u8]) -> Self {
        let places = text.windows(MARK.len()).enumerate().filter(|(_, word)| word == MARK);
        let mut lines = Self { sound: Vec::new(), has_damaged: false };
        for (place, _) in places {
            let rest = &text[place + MARK.len()..];
            match Line::parse(rest) {
                Some(line) => lines.sound.push(line),
                None => {
                    let has_offset = rest.get(..8).and_then(hexadecimal).is_some();
                    lines.has_damaged |= has_offset && rest.get(8) == Some(&b':');
                }
            }
        }
        lines
    }
}

impl Line {
    fn parse(text: &[u8]) -> Option<Self> {
        let length = 9 + text.get(9..)?.iter().position(|&byte| byte == b':')?;
        let checksum = hexadecimal(text.get(length + 1..length + 9)?)?;
        let text = &text[..length];
        if crc32(text) != checksum || text[8] != b':' {
            return None;
        }
        Some(Self { offset: hexadecimal(&text[..8])?, bytes: base64(&text[9..])? })
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |value: u32, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.chunks(4) {
        let said = group.iter().position(|&byte| byte == b'=').unwrap_or(group.len());
        let value = (0..4).try_fold(0u32, |value, place| {
            let digit = match group.get(place)? {
                b'=' if place >= said && place > 1 => 0,
                digit => ALPHABET.iter().position(|known| known == digit)? as u32,
            };
            Some(value << 6 | digit)
        })?;
        bytes.extend_from_slice(&value.to_be_bytes()[1..said]);
    }
    Some(bytes)
}

/// The dump being put together, and the finished ones.
#[derive(Default)]
struct Extraction {
    found: Vec<Found>,
    open: Option<Open>,
    /// A damaged line outside of any dump: the start of one that is lost.
    lost: Option<usize>,
}

struct Open {
    line: usize,
    bytes: Vec<u8>,
    /// A damaged line behind the last good one.
    suspect: Option<usize>,
    broken: Option<Broken>,
    finished: bool,
}

impl Open {
    fn new(line: usize) -> Self {
        Self { line, bytes: Vec::new(), suspect: None, broken: None, finished: false }
    }

    fn line(&mut self, number: usize, line: &Line) {
        let length = self.bytes.len() as u32;
        if line.offset > length {
            self.fail(number, Reason::Missing { from: length, to: line.offset });
        } else if line.offset == length {
            self.bytes.extend_from_slice(&line.bytes);
            self.suspect = None;
        }
        self.finished |= line.bytes.is_empty();
    }

    /// Whether a line is not of this dump, although it comes where this one has bytes already: after a reset
    /// another dump has begun, and its first line is damaged.
    fn contradicts(&self, line: &Line) -> bool {
        let Some(here) = self.bytes.get(line.offset as usize..) else { return false };
        let is_again = !line.bytes.is_empty() && here.starts_with(&line.bytes);
        line.offset > 0 && !here.is_empty() && (!is_again || self.suspect.is_some())
    }

    fn fail(&mut self, number: usize, reason: Reason) {
        self.broken.get_or_insert(match self.suspect {
            Some(line) => Broken { line, reason: Reason::Damaged },
            None => Broken { line: number, reason },
        });
    }
}

impl Extraction {
    fn line(&mut self, number: usize, line: &Line) {
        if self.open.is_none() && self.ended_with(line) {
            return;
        }
        // Two dumps of one line each look like a line that comes twice. They count as one.
        if line.offset == 0 && !line.bytes.is_empty() && !self.repeats(line) {
            self.close(number);
        }
        if let Some(open) = self.open.as_ref().filter(|open| open.contradicts(line)) {
            self.lost = open.suspect;
            self.close(number);
        }
        if line.offset == 0 {
            self.give_up_lost();
        }
        let lost = self.lost.take();
        let open = self.open.get_or_insert_with(|| Open::new(lost.unwrap_or(number)));
        open.suspect = open.suspect.or(lost);
        open.line(number, line);
        if line.bytes.is_empty() {
            self.close(number);
        }
    }

    /// Whether a line with offset 0 repeats the first line of the open dump.
    fn repeats(&self, line: &Line) -> bool {
        self.open.as_ref().is_some_and(|open| open.bytes == line.bytes)
    }

    /// Whether a line repeats the last line of the last dump.
    fn ended_with(&self, line: &Line) -> bool {
        let last = self.found.last().and_then(|found| found.dump.as_ref().ok());
        line.bytes.is_empty() && last.is_some_and(|dump| dump.len() == line.offset as usize)
    }

    fn suspect(&mut self, number: usize) {
        let suspect = match &mut self.open {
            Some(open) => &mut open.suspect,
            None => &mut self.lost,
        };
        suspect.get_or_insert(number);
    }

    /// Reports the damaged line as a dump of which nothing is left.
    fn give_up_lost(&mut self) {
        if let Some(line) = self.lost.take() {
            let dump = Err(Broken { line, reason: Reason::Damaged });
            self.found.push(Found { line, dump });
        }
    }

    /// Ends the open dump, if there is one, at this line of the log.
    fn close(&mut self, number: usize) {
        let Some(mut open) = self.open.take() else { return };
        if !open.finished {
            let reason = Reason::Unfinished { length: open.bytes.len() as u32 };
            open.fail(number, reason);
        }
        let dump = match open.broken {
            Some(broken) => Err(broken),
            None => Ok(open.bytes),
        };
        self.found.push(Found { line: open.line, dump });
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};

    use super::*;
    use crate::raw::text;
    use crate::raw::writer::Sink;

    struct Text(Vec<u8>);

    impl Sink for Text {
        type Error = core::convert::Infallible;

        fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
            assert!(bytes.ends_with(b"\r\n"), "a line in one piece");
            self.0.extend_from_slice(bytes);
            Ok(())
        }
    }

    fn text(bytes: &[u8]) -> String {
        let mut lines = text::Lines::new(Text(Vec::new()));
        // In pieces of all lengths.
        let (mut rest, mut length) = (bytes, 0);
        while !rest.is_empty() {
            length = (length + 1) % 100;
            let (now, later) = rest.split_at(length.min(rest.len()));
            let Ok(()) = lines.write(now);
            rest = later;
        }
        let Ok(Text(text)) = lines.finish();
        String::from_utf8(text).unwrap()
    }

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|place| (place * 7 + place / 256) as u8).collect()
    }

    fn reasons(log: &str) -> Vec<Result<usize, String>> {
        let found = extract(log.as_bytes()).into_iter();
        found.map(|f| f.dump.map(|dump| dump.len()).map_err(|e| e.to_string())).collect()
    }

    #[test]
    fn a_line_is_what_the_table_says() {
        let expected = "csraw1:00000000:AQID+g==:6338d697\r\ncsraw1:00000004::e9abaa0c\r\n";
        assert_eq!(text(&[1, 2, 3, 250]), expected);
    }

    #[test]
    fn every_length_comes_back() {
        for length in (1..200).chain([4096, 70_000]) {
            let found = extract(text(&bytes(length)).as_bytes());
            assert_eq!(found, [Found { line: 1, dump: Ok(bytes(length)) }]);
        }
    }

    #[test]
    fn noise_around_and_between_does_not_matter() {
        let noisy: String = text(&bytes(500))
            .lines()
            .map(|line| ["[ 1.5] csraw1:oops ", line, " \x1b[0m\r\n[ 1.6] eth0: up\r\n"].concat())
            .collect();
        // Others may write the mark, too.
        let noisy = noisy.replace("eth0: up", "csraw1:garbage");
        let log = ["boot\n", &noisy, &noisy, &text(&bytes(10)), "csraw1:"].concat();
        assert_eq!(reasons(&log), [Ok(500), Ok(500), Ok(10)]);
    }

    #[test]
    fn ends_of_lines_do_not_matter() {
        let log = text(&bytes(500));
        for end in ["\r", "", " x "] {
            assert_eq!(reasons(&log.replace("\r\n", end)), [Ok(500)], "{end:?}");
        }
    }

    #[test]
    fn what_comes_twice_counts_once() {
        let twice: String =
            text(&bytes(100)).lines().map(|l| [l, "\n", l, "\n"].concat()).collect();
        assert_eq!(reasons(&twice), [Ok(100)]);
    }

    #[test]
    fn a_dump_after_a_reset_does_not_join_the_one_before() {
        let (first, second) = (text(&bytes(200)), text(&bytes(207)[7..]));
        let [first, second] = [&first, &second].map(|text| text.lines().collect::<Vec<_>>());
        let spoiled = second[0].replace(":0", ":1");
        let cut = "line 4: damaged line of a dump";
        // The second dump goes on where the first one has bytes already, other ones or the same.
        for rest in [&second[1..], &first[1..]] {
            let log = [&first[..3], &[&spoiled], rest].concat().join("\n");
            assert_eq!(reasons(&log), [Err(cut.into()), Err(cut.into())]);
        }
        let log = [&first[..], &[&spoiled], &[]].concat().join("\n");
        let lost = "line 7: damaged line of a dump";
        assert_eq!(reasons(&log), [Ok(200), Err(lost.into())]);
        let log = [&first[..], &[&spoiled], &first[..]].concat().join("\n");
        assert_eq!(reasons(&log), [Ok(200), Err(lost.into()), Ok(200)]);
    }

    #[test]
    fn broken_dumps_are_told_and_the_others_kept() {
        let whole = text(&bytes(200));
        let lines: Vec<&str> = whole.lines().collect();
        let log = |lines: &[&str]| lines.join("\n") + "\n" + &text(&bytes(3));
        let without = |place: usize| [&lines[..place], &lines[place + 1..]].concat();
        let missing = "line 2: bytes 0x30 to 0x60 of the dump are missing";
        assert_eq!(reasons(&log(&without(1))), [Err(missing.into()), Ok(3)]);
        let spoiled = lines[1].replace(":0", ":1");
        let damaged = [lines[0], &spoiled, lines[2], lines[3], lines[4], lines[5]];
        assert_eq!(reasons(&log(&damaged)), [Err("line 2: damaged line of a dump".into()), Ok(3)]);
        // The first line is sent again before the dump goes on.
        let repaired = [lines[0], &spoiled, lines[1], lines[2], lines[3], lines[4], lines[5]];
        assert_eq!(reasons(&log(&repaired)), [Ok(200), Ok(3)]);
        let short = "line 6: the dump is cut short after 0xc8 bytes";
        assert_eq!(reasons(&log(&lines[..5])), [Err(short.into()), Ok(3)]);
        let late = "line 1: bytes 0x0 to 0x60 of the dump are missing";
        assert_eq!(reasons(&log(&lines[2..])), [Err(late.into()), Ok(3)]);
    }
}
