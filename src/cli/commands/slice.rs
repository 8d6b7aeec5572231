//! `countersink slice`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args};
use hashbrown::HashSet;

use crate::cli::compilers::gcc;
use crate::cli::compilers::identifiers::{Identifiers, base_name};
use crate::cli::inputs::missing::missing;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::{self, Content};
use crate::cli::outputs::parts::{self, Lookups, Whole};
use crate::cli::outputs::profile::say_of;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::names::text;
use crate::cli::terminal::suggestion;
use crate::formats::afdo_v4::slice::Order;

/// Cut the part of a version 4 profile that one compilation needs, as its gcc reads it
///
/// gcc reads all of a profile in each compilation. With the part it makes the same object file, and reads a fraction.
/// The counts are read by their places; only the first cut from a profile reads all of it.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("compilation").required(true).multiple(true))]
#[command(after_long_help = "\
Example:
  countersink convert prog.csraw --to v4 --for-gcc gcc -o prog.v4
  gcc -MM prog.c -MF prog.d
  countersink slice prog.v4 --source prog.c --depends prog.d --for-gcc gcc \\
    -o prog.afdo
  gcc -O2 -fauto-profile=prog.afdo $(countersink flags --optimise gcc) -c prog.c
  # Smaller, if there are many templates
  gcc -O2 -E prog.c -o prog.i
  countersink slice prog.v4 --preprocessed prog.i --for-gcc gcc -o prog.afdo

`countersink launch` does this for each compilation of a build.

Files are known by the last part of their paths, as gcc 16 knows them: the sources may lie elsewhere than when the \
program was trained. Without --depends, functions of headers are missing in the part, and gcc knows nothing about them.")]
pub struct Slice {
    /// An AutoFDO profile of version 4, as `convert --to v4 --for-gcc GCC` writes it
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
    /// The source that is compiled
    #[arg(long, value_name = "FILE", group = "compilation")]
    source: Vec<PathBuf>,
    /// What it includes, as gcc -MD writes it
    #[arg(long, value_name = "FILE", requires = "source")]
    depends: Vec<PathBuf>,
    /// The source as gcc -E writes it, instead of --source and --depends: the functions whose names it has
    #[arg(long, value_name = "FILE", group = "compilation", conflicts_with = "source")]
    preprocessed: Vec<PathBuf>,
    /// Write what this gcc reads: its version, such as 12 or 12.2, or its command, such as "gcc -m64"
    #[arg(long, value_name = "VERSION|COMMAND", value_parser = NonEmptyStringValueParser::new())]
    for_gcc: String,
    /// For -flto with gcc 16: keep the order of first executions across all sources, which takes room
    #[arg(long)]
    lto: bool,
    /// Keep the list of what the profile has in this folder; without it, in the user's cache
    #[arg(long, value_name = "DIR")]
    parts: Option<PathBuf>,
    /// Write here; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Slice {
    pub fn run(&self) -> Result<Outcome> {
        let rules = gcc::rules(&self.for_gcc)?;
        let whole = Whole::open(&self.profile, &parts::folder(self.parts.as_deref())?)?;
        let order = if self.lto { Order::Whole } else { Order::Near };
        let part = match self.preprocessed.is_empty() {
            true => whole.part(&Lookups::Files(&self.files(&whole)?), rules, order)?,
            false => whole.part(&Lookups::Text(&self.identifiers()?), rules, order)?,
        };
        let Some(part) = part else {
            let what = "it has no function of this compilation, which needs no profile";
            return Err(Error::about(&self.profile, what));
        };
        say_of(&part, &self.output);
        output::write(Some(&self.output), &part.bytes, Content::Binary)?;
        Ok(Outcome::Done)
    }

    fn identifiers(&self) -> Result<Identifiers> {
        let mut identifiers = Identifiers::default();
        for path in &self.preprocessed {
            identifiers.add(&fs::read(path).map_err(|error| missing(path, error))?);
        }
        Ok(identifiers)
    }

    /// The base names of the sources and of what they include.
    fn files(&self, whole: &Whole) -> Result<HashSet<Vec<u8>>> {
        let mut files = HashSet::new();
        for source in &self.source {
            let name = base_name(source.as_os_str().as_encoded_bytes());
            if !whole.has_source(name) {
                return Err(Error::about(&self.profile, absence(source, whole)));
            }
            files.insert(name.to_vec());
        }
        for depends in &self.depends {
            let rule = fs::read(depends).map_err(|error| missing(depends, error))?;
            let included = included(&rule).about(depends)?;
            files.extend(included.iter().map(|path| base_name(path).to_vec()));
        }
        Ok(files)
    }
}

/// Says that the profile has no function of a source, and which sources come near.
fn absence(source: &Path, whole: &Whole) -> String {
    let source = source.to_string_lossy();
    let paths: BTreeSet<String> = whole.known_paths().map(text).collect();
    let instead =
        suggestion::hint(&source, "/", &paths).unwrap_or_else(|| suggestion::there_is(&paths));
    format!("no function of {source} in the profile; {instead}")
}

/// The files behind the colon of make's rules. Each `\` before a blank belongs to the name.
fn included(rules: &[u8]) -> std::result::Result<Vec<Vec<u8>>, &'static str> {
    let (mut names, mut name, mut is_behind) = (Vec::new(), Vec::new(), false);
    let mut colons = 0;
    let mut bytes = rules.iter().copied().chain([b'\n']).peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(b'\n')) => _ = bytes.next(),
            (b'\\', Some(&next @ (b' ' | b'#' | b':'))) | (b'$', Some(&next @ b'$')) => {
                name.push(next);
                bytes.next();
                continue;
            }
            (b':', Some(b' ' | b'\n' | b'\\' | b'\t')) if !is_behind => {
                (is_behind, colons) = (true, colons + 1);
                name.clear();
                continue;
            }
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            _ => {
                name.push(byte);
                continue;
            }
        }
        if !name.is_empty() && is_behind {
            names.push(std::mem::take(&mut name));
        }
        name.clear();
        is_behind &= byte != b'\n';
    }
    if colons == 0 { Err("expected a rule of make, as gcc -MD writes it") } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_make() {
        let rules =
            b"a.o b\\ c.o: src/a.c my\\ include/a.h \\\n  c:/x.h cost$$.h\n\nmy\\ include/a.h:\n";
        let names =
            ["src/a.c", "my include/a.h", "c:/x.h", "cost$.h"].map(|name| name.as_bytes().to_vec());
        assert_eq!(included(rules).unwrap(), names);
        included(b"int main(void);\n").unwrap_err();
        included(b"").unwrap_err();
    }
}
