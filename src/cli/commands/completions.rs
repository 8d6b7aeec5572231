//! `countersink completions`.

use std::prelude::v1::*;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::outcome::Outcome;
use crate::cli::terminal::error::Result;
use crate::cli::terminal::print;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  # For ~/.bashrc, a folder of $fpath, ~/.config/fish/completions
  countersink completions bash > countersink.bash
  countersink completions zsh > _countersink
  countersink completions fish > countersink.fish")]
pub struct Completions {
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(&self, mut tool: Command) -> Result<Outcome> {
        print::print(&script(self.shell, &mut tool))?;
        Ok(Outcome::Done)
    }
}

/// The completions of the tool's command line for a shell.
pub fn script(shell: Shell, tool: &mut Command) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, tool, "countersink", &mut script);
    script
}
