//! `countersink man`.

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, roman};

use super::error::{Context, Result};
use super::{Cli, Outcome, output};

/// Print the man page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink man > countersink.1
  # countersink.1, countersink-convert.1, ...
  countersink man --directory man1")]
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

/// The usual sections, of which clap would put examples and notes into one named EXTRA, and break the
/// lines of commands.
fn page(command: &Command, name: &str) -> Result<Vec<u8>> {
    let page = Page::new(command.clone());
    let mut bytes = Vec::new();
    let mut render = || {
        page.render_title(&mut bytes)?;
        page.render_name_section(&mut bytes)?;
        page.render_synopsis_section(&mut bytes)?;
        page.render_description_section(&mut bytes)?;
        page.render_options_section(&mut bytes)?;
        if command.has_subcommands() {
            page.render_subcommands_section(&mut bytes)?;
        }
        if command.get_version().is_some() {
            page.render_version_section(&mut bytes)?;
        }
        let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        examples_and_notes(&help).to_writer(&mut bytes)
    };
    render().about(name)?;
    Ok(bytes)
}

/// What follows the options in a help text: a title, indented commands, and paragraphs.
fn examples_and_notes(help: &str) -> Roff {
    let mut roff = Roff::new();
    let (examples, notes) = help.split_once("\n\n").unwrap_or((help, ""));
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in examples.lines().skip(1) {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
    }
    for paragraph in notes.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        roff.control("PP", []).text([roman(paragraph)]);
    }
    roff
}
