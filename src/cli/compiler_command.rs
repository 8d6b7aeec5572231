//! The command of a compiler as people write it: `gcc`, `gcc -m32`, `ccache gcc`, `"/opt/my tools/gcc" -m64`.
//!
//! A command is divided into words as a shell does it, with quotes and backslashes, and nothing else: no variable, no
//! pattern. A path with blanks needs no quotes if there is such a file.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::prelude::v1::*;
use std::process::Command;

use super::error::{Error, Result};
use super::names::visible;

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
        let text = text.trim();
        let (path, rest) = path_with_blanks(text).unwrap_or(("", text));
        let Some(words) = shlex::split(rest) else {
            let what = "a quote is not closed, or a backslash ends it";
            return Err(Error::new(format!("{option} {}: {what}", visible(text))));
        };
        let path = (!path.is_empty()).then(|| path.to_owned());
        let mut words = path.into_iter().chain(words);
        let program = words.next().filter(|program| !program.is_empty());
        let program =
            program.ok_or_else(|| Error::new(format!("{option}: expected a compiler")))?;
        Ok(Self { program, arguments: words.collect() })
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

    /// The error where the program could not be started.
    pub fn not_started(&self, option: &str, error: &io::Error) -> Error {
        let program = visible(&self.program);
        let why = match error.kind() {
            ErrorKind::NotFound => "no such command".to_owned(),
            _ => format!("cannot be run: {error}"),
        };
        Error::new(format!("{option} {program}: {why}"))
    }
}

impl fmt::Display for CompilerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.words().collect();
        f.write_str(&visible(&words.join(" ")))
    }
}

/// The path that begins a text, if it has blanks and there is such a file, and the rest. The longest one counts.
fn path_with_blanks(text: &str) -> Option<(&str, &str)> {
    let blanks = text.match_indices(char::is_whitespace).map(|(at, _)| at);
    let ends = blanks.chain([text.len()]).skip(1).collect::<Vec<_>>();
    let is_file = |end: &usize| text.contains('/') && Path::new(&text[..*end]).is_file();
    let end = ends.into_iter().rev().find(is_file)?;
    Some(text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> std::result::Result<Vec<String>, String> {
        let command = CompilerCommand::new("--cc", text).map_err(|error| error.to_string())?;
        Ok(command.words().map(str::to_owned).collect())
    }

    #[test]
    fn words_as_in_a_shell() {
        for (text, expected) in [
            ("gcc", &["gcc"][..]),
            ("  gcc\t-m32 ", &["gcc", "-m32"]),
            ("ccache gcc-12 -m64", &["ccache", "gcc-12", "-m64"]),
            ("'/opt/my tools/gcc' -m32", &["/opt/my tools/gcc", "-m32"]),
            (r"/opt/my\ tools/gcc -m32", &["/opt/my tools/gcc", "-m32"]),
            (r#"gcc -DNAME="\"a b\"" '-DX=$Y'"#, &["gcc", "-DNAME=\"a b\"", "-DX=$Y"]),
            ("gcc ''", &["gcc", ""]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        for (text, complaint) in [
            ("", "--cc: expected a compiler"),
            (" \t", "--cc: expected a compiler"),
            ("''", "--cc: expected a compiler"),
            ("'gcc -m32", "--cc 'gcc -m32: a quote is not closed, or a backslash ends it"),
            ("gcc \\", "--cc gcc \\: a quote is not closed, or a backslash ends it"),
        ] {
            assert_eq!(words(text).unwrap_err(), complaint, "{text}");
        }
    }

    #[test]
    fn a_file_with_blanks_is_one_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::create_dir(path("my tools")).unwrap();
        for name in ["my tools/gcc", "my tools/it's a gcc", "my tools/it's"] {
            std::fs::write(path(name), "").unwrap();
            let path = path(name);
            assert_eq!(words(&path).unwrap(), [&*path]);
            assert_eq!(words(&format!(" {path}  -m32 'a b'")).unwrap(), [&*path, "-m32", "a b"]);
        }
        // A folder is no program, and what is no file is divided.
        let (none, first) = (path("my tools/none"), path("my"));
        assert_eq!(words(&none).unwrap(), [&*first, "tools/none"]);
        assert_eq!(words(&path("my tools")).unwrap(), [&*first, "tools"]);
    }
}
