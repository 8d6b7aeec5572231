//! `countersink man`.

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;

use super::error::{Context, Result};
use super::{Cli, Outcome, output};

/// Print the man page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink man > countersink.1
  countersink man --directory man1               # countersink.1, countersink-convert.1, ...")]
pub struct Man {
    /// Write a page for each command here
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Man {
    pub fn run(&self) -> Result<Outcome> {
        let mut tool = Cli::command();
        // Builds the names of the commands, too.
        tool.build();
        let Some(directory) = &self.directory else {
            output::print(&page(&tool, "standard output")?)?;
            return Ok(Outcome::Done);
        };
        let is_own = |command: &&Command| command.get_name() != "help";
        let commands = tool.get_subcommands().filter(is_own);
        for command in std::iter::once(&tool).chain(commands) {
            let name = command.get_display_name().unwrap_or(command.get_name());
            let path = directory.join(format!("{name}.1"));
            output::replace(&path, &page(command, name)?)?;
        }
        Ok(Outcome::Done)
    }
}

fn page(command: &Command, name: &str) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page).about(name)?;
    Ok(page)
}
