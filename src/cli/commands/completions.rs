//! `countersink completions`.

use std::prelude::v1::*;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::error::Result;
use crate::cli::{Cli, Outcome, output};

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
    pub fn run(&self) -> Result<Outcome> {
        output::print(&script(self.shell))?;
        Ok(Outcome::Done)
    }
}

/// The completions for a shell.
pub fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "countersink", &mut script);
    script
}
