//! The command of a compiler as people write it: `gcc`, `gcc -m32`, `ccache gcc`. `command_words` divides it.

use std::env;
use std::fmt;
use std::io::{self, ErrorKind};
use std::prelude::v1::*;
use std::process::{Command, Stdio};

use super::command_words;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::visible::visible;

/// A program and its first arguments: flags of a compiler, or the compiler that a launcher starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerCommand {
    program: String,
    arguments: Vec<String>,
}

impl CompilerCommand {
    /// Divides the value of an option or variable, which messages name.
    ///
    /// # Errors
    ///
    /// It has no word, or a quote without its end.
    pub fn new(option: &str, text: &str) -> Result<Self> {
        let Some(words) = command_words::split(text) else {
            let what = "a quote is not closed, or a backslash ends it";
            return Err(Error::new(format!("{option} {}: {what}", visible(text.trim()))));
        };
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty());
        let program =
            program.ok_or_else(|| Error::new(format!("{option}: expected a compiler")))?;
        Ok(Self { program, arguments: words.collect() })
    }

    /// A program without arguments.
    pub const fn of_program(program: String) -> Self {
        Self { program, arguments: Vec::new() }
    }

    /// The same with more arguments.
    pub fn with(mut self, arguments: impl IntoIterator<Item = String>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    /// The program: the compiler, or a launcher of it.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// What the program is called with.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(String::as_str)
    }

    /// All words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program()).chain(self.arguments())
    }

    /// The command, for more arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }

    /// The command, for arguments with `-E`: without input, and without rules of make, which preprocessing may write.
    pub fn preprocessor(&self) -> Command {
        let mut command = self.command();
        command.stdin(Stdio::null());
        command.env_remove("DEPENDENCIES_OUTPUT").env_remove("SUNPRO_DEPENDENCIES");
        command
    }

    /// The error where the program could not be started.
    pub fn not_started(&self, option: &str, error: &io::Error) -> Error {
        let program = visible(&self.program);
        let why = match error.kind() {
            ErrorKind::NotFound => "no such command".to_owned(),
            // A folder of `PATH` may not be read.
            ErrorKind::PermissionDenied if !is_there(&self.program) => "no such command".to_owned(),
            _ => format!("cannot be run: {error}"),
        };
        Error::new(format!("{option} {program}: {why}"))
    }
}

/// Whether there is a file of a command. A path names it, a name is looked for in the folders of `PATH`.
fn is_there(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    program.contains('/') || env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

impl fmt::Display for CompilerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.words().collect();
        f.write_str(&visible(&words.join(" ")))
    }
}
