//! `countersink check`.

use std::fmt::Display;
use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use crate::cli::inputs::input::{Format, Input};
use crate::cli::inputs::{folder, input};
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::Result;
use crate::cli::terminal::message::say;
use crate::cli::terminal::print;
use crate::cli::terminal::visible::visible;
use crate::formats::gcda::decode::Data;
use crate::formats::gcno::Notes;
use crate::formats::{
    Findings, Found, afdo_v1_v3, afdo_v4, afdo_v4_text, llvm_sample, llvm_sample_text, profdata,
    profraw, proftext,
};
use crate::raw;

/// Verify a file strictly
///
/// Every defect is printed with its offset, those that reading would tolerate included, up to 100 of
/// each kind. The exit status is 1 if there are any, and 2 if a file could not be read or recognised;
/// the others are checked all the same.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink check prog.csraw && echo sound
  countersink check prog.gcov
  # prog.gcov: 0x1a4: symbol info cut short: expected 12 more bytes, found 3")]
pub struct Check {
    /// A raw dump, a profile of AutoFDO or LLVM of any version, .gcda or .gcno; a folder stands for the dumps and
    /// profiles below it
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print all defects, however many there are of a kind
    #[arg(long)]
    all: bool,
}

/// Number of defects of a kind that are printed without `--all`.
const MOST_PRINTED: u64 = 100;

impl Check {
    pub fn run(&self) -> Result<Outcome> {
        input::refuse_twice(self.files.iter().map(|path| &**path))?;
        let mut worst = Outcome::Done;
        for file in &folder::expand_to_all(&self.files)? {
            let outcome = match Input::read(file) {
                Ok(input) if self.check(&input)? => Outcome::Found,
                Ok(_) => Outcome::Done,
                // A bad file does not stop the others.
                Err(error) => {
                    say(error);
                    Outcome::Failed
                }
            };
            worst = worst.max(outcome);
        }
        Ok(worst)
    }

    /// Prints the defects of a file; says whether there were any.
    fn check(&self, input: &Input) -> Result<bool> {
        let bytes = &input.bytes;
        match input.format {
            Format::Dump => self.print(input, |tell| {
                raw::dump::check(bytes, tell);
                Ok(())
            }),
            Format::V4 => self.print(input, |tell| {
                let mut tell = |finding: afdo_v4::check::Finding| {
                    if !finding.defect.is_extension() {
                        tell(finding);
                    }
                };
                afdo_v4::decode::decode_and_tell(bytes, &mut tell).map(drop)
            }),
            Format::V4Text => self
                .print(input, |tell| afdo_v4_text::decode::decode_and_tell(bytes, tell).map(drop)),
            Format::V1V3(_) => {
                self.print(input, |tell| afdo_v1_v3::decode::decode_and_tell(bytes, tell).map(drop))
            }
            Format::Gcda => self.print(input, |_| Data::decode(bytes).map(drop)),
            Format::Gcno => self.print(input, |_| Notes::decode(bytes).map(drop)),
            Format::Profraw => {
                self.print(input, |tell| profraw::decode::decode_and_tell(bytes, tell).map(drop))
            }
            Format::Profdata => {
                self.print(input, |tell| profdata::decode::decode_and_tell(bytes, tell).map(drop))
            }
            Format::SampleBinary | Format::Sample => self
                .print(input, |tell| llvm_sample::decode::decode_and_tell(bytes, tell).map(drop)),
            Format::SampleText => self.print(input, |tell| {
                llvm_sample_text::decode::decode_and_tell(bytes, tell).map(drop)
            }),
            Format::Proftext => {
                self.print(input, |tell| proftext::decode::decode_and_tell(bytes, tell).map(drop))
            }
            // An input has the sum of a table, not the table.
            Format::Parquet => Ok(false),
        }
    }

    /// Prints the defects that `read` tells, and the defect that ends it.
    fn print<F: Found + Display>(
        &self,
        input: &Input,
        read: impl FnOnce(&mut dyn FnMut(F)) -> std::result::Result<(), F>,
    ) -> Result<bool> {
        let mut found = Findings::default();
        let mut lines = Lines { text: String::new(), printed: Ok(()) };
        let most = if self.all { u64::MAX } else { MOST_PRINTED };
        let name = input.name.display();
        let mut tell = |finding: F| {
            let line = format!("{name}: {finding}");
            if found.note(finding) <= most {
                lines.put(&line);
            }
        };
        if let Err(last) = read(&mut tell) {
            tell(last);
        }
        for kind in found.kinds().iter().filter(|kind| kind.number > most) {
            let (more, first) = (kind.number - most, &kind.first[0]);
            lines.put(&format!("{name}: {more} more like {first}; --all prints them"));
        }
        lines.print();
        lines.printed.map(|()| !found.is_empty())
    }
}

/// Lines for standard output. They are printed as they come, many at a time.
struct Lines {
    text: String,
    printed: Result<()>,
}

impl Lines {
    fn put(&mut self, line: &str) {
        self.text += &visible(line);
        self.text += "\n";
        if self.text.len() > 1 << 16 {
            self.print();
        }
    }

    fn print(&mut self) {
        if self.printed.is_ok() {
            self.printed = print::print(self.text.as_bytes());
        }
        self.text.clear();
    }
}
