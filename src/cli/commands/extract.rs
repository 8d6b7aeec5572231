//! `countersink extract`.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use crate::cli::outcome::Outcome;
use crate::cli::outputs::output;
use crate::cli::outputs::output::Content;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::say;
use crate::raw::dump::Dump;
use crate::raw::text::{Found, extract};

/// Cut raw dumps out of the log of a serial line
///
/// Finds what countersink_write_text (countersink.h) wrote, among any other output. The exit status is
/// 1 if there is a dump that is not whole: of each such dump it is said where it is broken, and the
/// others are written.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  qemu-system-x86_64 -kernel image.elf -serial file:serial.log
  countersink extract serial.log -o image.csraw
  countersink convert image.csraw --binary image.elf -o image.afdo

Of several dumps in a log each has a file: image.1.csraw, image.2.csraw, ... Those of one start of a \
program hold, one after the other, ever more of the same counts, so that the last is all of it; those of \
several starts are added with `countersink merge`.")]
pub struct Extract {
    /// The log; - for standard input
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Where to write; - for standard output [default: the log's name with .csraw, or standard output if
    /// the log comes from standard input]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Of dumps in which nothing counts.
const NO_OBJECTS: &str = "a dump has no objects: the program's start must run the constructors (.init_array), or pass \
                          the section of -fprofile-info-section to countersink_register";

impl Extract {
    pub fn run(&self) -> Result<Outcome> {
        let (name, log) = crate::cli::inputs::input::read(&self.log)?;
        let found = extract(&log);
        if found.is_empty() {
            return Err(Error::about(name, "no dump found"));
        }
        let (mut whole, mut outcome) = (Vec::new(), Outcome::Done);
        for found in found {
            match sound(found) {
                Ok((dump, objects)) => {
                    if objects == 0 {
                        crate::cli::terminal::message::warn(&name, NO_OBJECTS);
                    }
                    whole.push(dump);
                }
                Err(broken) => {
                    outcome = Outcome::Found;
                    crate::cli::terminal::message::warn(
                        &name,
                        format!("{broken}; this dump is left out"),
                    );
                }
            }
        }
        self.write(&name, &whole)?;
        Ok(outcome)
    }

    fn write(&self, log: &Path, dumps: &[Vec<u8>]) -> Result<()> {
        let beside = || match self.log.as_os_str() == "-" {
            true => self.log.clone(),
            false => log.with_extension("csraw"),
        };
        let given = self.output.clone().unwrap_or_else(beside);
        if given.as_os_str() == "-" && dumps.len() > 1 {
            let what = "dumps for one output; choose their names with -o FILE";
            return Err(Error::about(log, format!("{} {what}", dumps.len())));
        }
        for (number, dump) in dumps.iter().enumerate() {
            let path = match dumps.len() {
                1 => given.clone(),
                _ => numbered(&given, number + 1),
            };
            if is_same_file(&path, &self.log) {
                return Err(Error::about(
                    log,
                    "the dump would replace the log; choose another name with -o FILE",
                ));
            }
            output::write(Some(&path), dump, Content::Binary)?;
            if path.as_os_str() != "-" {
                say(format_args!("{}: {} bytes", path.display(), dump.len()));
            }
        }
        Ok(())
    }
}

/// The bytes of a sound dump, and its number of objects.
fn sound(found: Found) -> std::result::Result<(Vec<u8>, usize), String> {
    let dump = found.dump.map_err(|broken| broken.to_string())?;
    match Dump::parse(&dump) {
        Ok(sum) => Ok((dump, sum.modules.iter().map(|module| module.objects.len()).sum())),
        Err(damage) => Err(format!("line {}: the dump is damaged: {damage}", found.line)),
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    a.as_os_str() != "-" && real(a).is_some_and(|a| real(b) == Some(a))
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut extension = std::ffi::OsString::from(number.to_string());
    if let Some(own) = path.extension() {
        extension.push(".");
        extension.push(own);
    }
    path.with_extension(extension)
}
