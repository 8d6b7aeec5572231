//! Reads tracefiles, whoever wrote them.
//!
//! Other lines than those of [`super`] are skipped: names of tests, versions of files, what other tools add. A file of
//! several records has the sum of their counts, as in lcov. lcov 2 writes functions as `FN:start,end,name`, or as
//! `FNL:number,start,end` and `FNA:number,executions,name`, and an `e` before the blocks of exceptions.

use alloc::vec::Vec;
use hashbrown::HashMap;

use crate::coverage::{Branch, Coverage, File, Function};

/// Why a text is no tracefile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The line with this number is none of the format.
    #[error("line {0} is none of a tracefile of lcov")]
    Line(usize),
    /// There is no record.
    #[error("no tracefile of lcov: there is no record")]
    Empty,
    /// The last record has no end.
    #[error("the last record has no end: the file is cut")]
    Cut,
}

/// The coverage in a text.
pub fn decode(text: &[u8]) -> Result<Coverage, DecodeError> {
    let mut coverage = Coverage::default();
    let mut open: Option<(&[u8], Record)> = None;
    let mut has_record = false;
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(path) = line.strip_prefix(b"SF:") {
            if open.is_some() {
                return Err(DecodeError::Line(number));
            }
            open = Some((path, Record::default()));
        } else if line == b"end_of_record" {
            let (path, record) = open.take().ok_or(DecodeError::Line(number))?;
            coverage.add(Coverage { files: [(path.to_vec(), record.file)].into() });
            has_record = true;
        } else if let Some((_, record)) = &mut open {
            record.add(line).ok_or(DecodeError::Line(number))?;
        } else if !is_outside(line) {
            return Err(DecodeError::Line(number));
        }
    }
    match (has_record, open) {
        (_, Some(_)) => Err(DecodeError::Cut),
        (false, None) => Err(DecodeError::Empty),
        (true, None) => Ok(coverage),
    }
}

/// Whether a line may stand before a record.
fn is_outside(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() || line.starts_with(b"TN:") || line.starts_with(b"#")
}

/// What the lines of a record say.
#[derive(Default)]
struct Record {
    file: File,
    /// Indexes of functions, by name.
    places: HashMap<Vec<u8>, usize>,
    /// The lines of lcov 2's functions, by their numbers.
    starts: HashMap<u32, (u32, u32)>,
}

impl Record {
    /// `None` if the line is none of the format.
    fn add(&mut self, line: &[u8]) -> Option<()> {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            return line.trim_ascii().is_empty().then_some(());
        };
        let (kind, rest) = (&line[..colon], &line[colon + 1..]);
        match kind {
            b"DA" => self.line(rest),
            b"FN" => self.start(rest),
            b"FNDA" => {
                let (count, name) = split(rest)?;
                self.function(name).count = executions(count)?;
                Some(())
            }
            b"FNL" => self.numbered_start(rest),
            b"FNA" => self.numbered(rest),
            b"BRDA" => self.branch(rest),
            _ => Some(()),
        }
    }

    /// `line,executions`, perhaps with a checksum behind.
    fn line(&mut self, rest: &[u8]) -> Option<()> {
        let (line, count) = split(rest)?;
        let count = split(count).map_or(count, |(count, _)| count);
        let sum = self.file.lines.entry(number(line)?).or_default();
        *sum = sum.saturating_add(executions(count)?);
        Some(())
    }

    /// `start,name` or `start,end,name`. A name may have commas.
    fn start(&mut self, rest: &[u8]) -> Option<()> {
        let (start, rest) = split(rest)?;
        let ended = split(rest).and_then(|(end, name)| Some((number(end)?, name)));
        let (end, name) = ended.unwrap_or((0, rest));
        let line = number(start)?;
        let function = self.function(name);
        (function.line, function.end) = (line, end);
        Some(())
    }

    /// `number,start` or `number,start,end`.
    fn numbered_start(&mut self, rest: &[u8]) -> Option<()> {
        let (place, rest) = split(rest)?;
        let (start, end) = split(rest).unwrap_or((rest, b"0"));
        self.starts.insert(number(place)?, (number(start)?, number(end)?));
        Some(())
    }

    /// `number,executions,name`.
    fn numbered(&mut self, rest: &[u8]) -> Option<()> {
        let (place, rest) = split(rest)?;
        let (count, name) = split(rest)?;
        let (line, end) = *self.starts.get(&number(place)?)?;
        let function = self.function(name);
        (function.line, function.end, function.count) = (line, end, executions(count)?);
        Some(())
    }

    /// `line,block,branch,taken`.
    fn branch(&mut self, rest: &[u8]) -> Option<()> {
        let (line, rest) = split(rest)?;
        let (block, rest) = split(rest)?;
        let taken = rest.rsplit(|&byte| byte == b',').next()?;
        let (block, is_exception) = match block.strip_prefix(b"e") {
            Some(block) => (block, true),
            None => (block, false),
        };
        let (line, block) = (number(line)?, number(block)?);
        let count = match taken {
            b"-" => None,
            taken => Some(executions(taken)?),
        };
        let last = self.file.branches.range((line, 0)..=(line, u32::MAX)).next_back();
        let place = last.map_or(0, |(&(_, last), _)| last.saturating_add(1));
        self.file
            .branches
            .insert((line, place), Branch { block, count, is_exception, leads_to: 0 });
        Some(())
    }

    fn function(&mut self, name: &[u8]) -> &mut Function {
        let functions = &mut self.file.functions;
        let place = *self.places.entry(name.to_vec()).or_insert_with(|| {
            functions.push(Function { name: name.to_vec(), ..Function::default() });
            functions.len() - 1
        });
        &mut functions[place]
    }
}

/// The text before and behind the first comma.
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let comma = text.iter().position(|&byte| byte == b',')?;
    Some((&text[..comma], &text[comma + 1..]))
}

fn number(text: &[u8]) -> Option<u32> {
    str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Executions. Some tools write negative numbers, or numbers with a point.
fn executions(text: &[u8]) -> Option<u64> {
    let text = str::from_utf8(text).ok()?.trim();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number: f64 = text.parse().ok()?;
    // As a conversion does: 0 for negative ones, the largest for those above.
    number.is_finite().then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::formats::lcov::encode::encode;

    #[test]
    fn what_was_written_is_read() {
        let mut file = File::default();
        let function = |name: &[u8], line| Function {
            name: name.into(),
            line,
            end: 0,
            count: 3,
            ..Function::default()
        };
        file.functions = vec![function(b"f(int, char)", 1), function(b"main", 4)];
        file.lines.extend([(1, 2), (2, 0), (9, u64::MAX)]);
        let branch = |count| Branch { count, ..Branch::default() };
        file.branches.extend([((2, 0), branch(Some(7))), ((2, 1), branch(None))]);
        let coverage = Coverage { files: [(b"/a, b.c".to_vec(), file)].into() };
        assert_eq!(decode(&encode(&coverage).unwrap()), Ok(coverage));
    }

    #[test]
    fn other_tools() {
        let text = "# made by hand\nTN:parse\r\nSF:a.c\nVER:1\nFN:3,9,f\nFNDA:2,f\nFNL:0,12,14\nFNA:0,5,g<a,b>\nFNF:2\n\
                    DA:3,2,cksum\nDA:4,-1\nDA:5,1e3\nBRDA:4,e0,0,-\nBRDA:4,0,x > 1,2\nMCDC:4,1,t,0,0,x\n\nend_of_record\n\
                    SF:a.c\nDA:3,1\nend_of_record\n";
        let coverage = decode(text.as_bytes()).unwrap();
        let file = &coverage.files[&b"a.c"[..]];
        assert_eq!(file.lines, [(3, 3), (4, 0), (5, 1000)].into());
        let function = |name: &[u8], line, end, count| Function {
            name: name.into(),
            line,
            end,
            count,
            ..Function::default()
        };
        assert_eq!(file.functions, [function(b"f", 3, 9, 2), function(b"g<a,b>", 12, 14, 5)]);
        let branch = |count, is_exception| Branch { block: 0, count, is_exception, leads_to: 0 };
        assert_eq!(
            file.branches,
            [((4, 0), branch(None, true)), ((4, 1), branch(Some(2), false))].into()
        );
    }

    #[test]
    fn what_is_none() {
        for (text, expected) in [
            ("", DecodeError::Empty),
            ("TN:x\n", DecodeError::Empty),
            ("<?xml", DecodeError::Line(1)),
            ("SF:a\nDA:1,2\n", DecodeError::Cut),
            ("SF:a\nDA:x,2\nend_of_record", DecodeError::Line(2)),
            ("SF:a\nDA:1\nend_of_record", DecodeError::Line(2)),
            ("SF:a\nBRDA:1,2\nend_of_record", DecodeError::Line(2)),
            ("SF:a\nFNA:7,2,f\nend_of_record", DecodeError::Line(2)),
            ("SF:a\nnothing\nend_of_record", DecodeError::Line(2)),
            ("end_of_record", DecodeError::Line(1)),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(expected), "{text:?}");
        }
    }
}
