//! Lines on standard error: what a command says about its work, and about files that do not stop it.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::prelude::v1::*;

use super::visible::visible;

/// Writes a line to standard error. Perhaps nobody is listening; that is no reason to fail.
pub fn say(line: impl Display) {
    let lines: Vec<String> = line.to_string().split('\n').map(visible).collect();
    let _ = writeln!(std::io::stderr(), "countersink: {}", lines.join("\n"));
}

/// Reports something about a file that does not stop the command.
pub fn warn(file: impl AsRef<Path>, what: impl Display) {
    let file = visible(&file.as_ref().to_string_lossy());
    say(format_args!("{file}: {what}"));
}
