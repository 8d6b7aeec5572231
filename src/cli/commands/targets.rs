//! `countersink targets`.

use std::prelude::v1::*;

use anstyle::Style;
use clap::Args;

use crate::cli::archives::archive::{Archive, TARGETS};
use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::Result;
use crate::cli::terminal::print;
use crate::cli::terminal::table::Table;

/// Print the targets that this tool has archives for, and the size of each archive in bytes
///
/// The first is the tool's own. The others were named in COUNTERSINK_TARGETS when the tool was built. Targets
/// without an operating system have only the archive that `flags --bare` names.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink targets
  # For what a compiler compiles for, if the tool has it
  countersink flags --cc \"gcc -O2\"

A tool with more of them:
  export COUNTERSINK_TARGETS=aarch64-unknown-linux-gnu,thumbv7em-none-eabihf
  cargo install --path . --locked
The build needs rustc's library core for each, which `rustup target add` brings, and a C compiler.")]
pub struct Targets {}

impl Targets {
    pub fn run(&self) -> Result<Outcome> {
        let mut table = Table::new(["runtime", "live", "bare"]);
        for target in TARGETS {
            let archives = [target.hosted(), target.live(), target.bare()];
            table.push(archives.map(size), Style::new());
        }
        let name = |row: usize, _| TARGETS.get(row).map_or("", |target| target.name).to_owned();
        print::print_text(&table.text("target", name))?;
        Ok(Outcome::Done)
    }
}

fn size(archive: Option<Archive>) -> String {
    archive.map_or_else(|| "-".to_owned(), |archive| archive.bytes.len().to_string())
}
