//! Writes a tracefile.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::coverage::decisions::Condition;
use crate::coverage::{Coverage, File, Total};
use crate::formats::frame_names::visible;

/// Why coverage cannot be written: no reader would take it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A name that is empty or has an end of a line in it.
    #[error("the name \"{}\" cannot be written", .0.escape_ascii())]
    Name(Vec<u8>),
}

/// Whether a path or the name of a function can be written.
pub fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && !name.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The text of a program's coverage.
pub fn encode(coverage: &Coverage) -> Result<Vec<u8>, EncodeError> {
    of_test(None, coverage)
}

/// The text of what a test has executed. Texts of several tests, one behind the other, are a tracefile.
pub fn encode_test(test: &str, coverage: &Coverage) -> Result<Vec<u8>, EncodeError> {
    // lcov makes the same of other letters, and complains.
    let is_word = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    let word = test.chars().map(|letter| if is_word(letter) { letter } else { '_' });
    of_test(Some(&word.collect::<String>()), coverage)
}

fn of_test(test: Option<&str>, coverage: &Coverage) -> Result<Vec<u8>, EncodeError> {
    let mut text = Text::default();
    for (path, file) in &coverage.files {
        test.iter().for_each(|test| text.line(&format!("TN:{test}")));
        text.name("SF:", path)?;
        text.file(file)?;
    }
    Ok(text.bytes)
}

#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
}

impl Text {
    fn file(&mut self, file: &File) -> Result<(), EncodeError> {
        for function in &file.functions {
            self.numbers("FN:", &[function.line.into()]);
            self.name(",", &function.name)?;
        }
        for function in &file.functions {
            self.numbers("FNDA:", &[function.count]);
            self.name(",", &function.name)?;
        }
        let totals = file.totals();
        self.total("FN", totals.functions);
        for (&line, &count) in &file.lines {
            self.numbers("DA:", &[line.into(), count]);
            self.bytes.push(b'\n');
        }
        for (&(line, number), branch) in &file.branches {
            self.numbers("BRDA:", &[line.into(), branch.block.into(), number.into()]);
            match branch.count {
                Some(count) => self.numbers(",", &[count]),
                None => self.bytes.extend_from_slice(b",-"),
            }
            self.bytes.push(b'\n');
        }
        self.total("BR", totals.branches);
        if totals.conditions.found > 0 {
            self.decisions(file);
            self.total("MC", totals.conditions);
        }
        self.total("L", totals.lines);
        self.line("end_of_record");
        Ok(())
    }

    /// Numbers with commas between them, without the library's formatting: there are hundreds of thousands.
    fn numbers(&mut self, start: &str, numbers: &[u64]) {
        self.bytes.extend_from_slice(start.as_bytes());
        for (place, &number) in numbers.iter().enumerate() {
            if place > 0 {
                self.bytes.push(b',');
            }
            let (mut digits, mut from, mut left) = ([0; 20], 20, number);
            while from == digits.len() || left > 0 {
                from -= 1;
                digits[from] = b'0' + (left % 10) as u8;
                left /= 10;
            }
            self.bytes.extend_from_slice(&digits[from..]);
        }
    }

    /// lcov keeps the conditions of a line by the number that their decision has. So decisions with equal numbers are
    /// one group, whose indexes go on.
    fn decisions(&mut self, file: &File) {
        let of_line = |a: &(u32, u32), b: &(u32, u32)| a.0 == b.0;
        let places: Vec<&(u32, u32)> = file.decisions.keys().collect();
        for places in places.chunk_by(|a, b| of_line(a, b)) {
            let mut groups: BTreeMap<usize, Vec<Condition>> = BTreeMap::new();
            for place in places {
                let conditions = &file.decisions[*place].conditions;
                groups.entry(conditions.len()).or_default().extend(conditions);
            }
            for (size, conditions) in groups {
                for (index, condition) in conditions.into_iter().enumerate() {
                    let (line, Condition { shown_true, shown_false }) = (places[0].0, condition);
                    let start = format!("MCDC:{line},{size}");
                    self.line(&format!("{start},t,{},{index},{index}", u8::from(shown_true)));
                    self.line(&format!("{start},f,{},{index},{index}", u8::from(shown_false)));
                }
            }
        }
    }

    fn total(&mut self, what: &str, total: Total) {
        self.line(&format!("{what}F:{}", total.found));
        self.line(&format!("{what}H:{}", total.hit));
    }

    fn line(&mut self, line: &str) {
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
    }

    fn name(&mut self, start: &str, name: &[u8]) -> Result<(), EncodeError> {
        if !is_name(name) {
            return Err(EncodeError::Name(name.to_vec()));
        }
        self.bytes.extend_from_slice(start.as_bytes());
        // Bytes that are no UTF-8 stay, so that the file is found.
        for part in name.utf8_chunks() {
            self.bytes.extend_from_slice(visible(part.valid()).as_bytes());
            self.bytes.extend_from_slice(part.invalid());
        }
        self.bytes.push(b'\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::{Branch, Function};

    #[test]
    fn all_kinds_of_lines() {
        let mut coverage = Coverage::default();
        let file = coverage.files.entry(b"/a.c".to_vec()).or_default();
        file.functions.push(Function {
            name: b"main".to_vec(),
            line: 1,
            end: 1,
            count: 2,
            ..Function::default()
        });
        file.lines.extend([(1, 2), (2, 0)]);
        let branch = |block, count| Branch { block, count, ..Branch::default() };
        file.branches.insert((2, 0), branch(0, Some(2)));
        file.branches.insert((2, 1), branch(0, Some(0)));
        file.branches.insert((2, 2), branch(1, None));
        let expected = "SF:/a.c\nFN:1,main\nFNDA:2,main\nFNF:1\nFNH:1\nDA:1,2\nDA:2,0\nBRDA:2,0,0,2\nBRDA:2,0,1,0\n\
                        BRDA:2,1,2,-\nBRF:3\nBRH:1\nLF:2\nLH:1\nend_of_record\n";
        assert_eq!(encode(&coverage).unwrap(), expected.as_bytes());
        coverage.files.entry(b"a\nend_of_record".to_vec()).or_default();
        assert!(encode(&coverage).is_err());
    }

    #[test]
    fn names_of_tests() {
        let mut coverage = Coverage::default();
        coverage.files.entry(b"/a.c".to_vec()).or_default();
        let text = encode_test("unit/parse-1", &coverage).unwrap();
        assert!(text.starts_with(b"TN:unit_parse_1\nSF:/a.c\n"));
    }

    #[test]
    fn names_that_a_terminal_would_act_on() {
        let mut coverage = Coverage::default();
        coverage.files.entry(b"/\x1b[2J\xc2\x9b1m/\xff\xc3\xbc.c".to_vec()).or_default();
        let text = encode(&coverage).unwrap();
        assert!(text.starts_with(b"SF:/\\x1b[2J\\x9b1m/\xff\xc3\xbc.c\n"));
    }
}
