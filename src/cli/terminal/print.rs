//! Standard output.

use std::io::{ErrorKind, Write};
use std::prelude::v1::*;

use super::error::{Context, Result};

/// Writes all of a file, part by part, to its destination.
pub type Fill<'f> = &'f dyn Fn(&mut dyn Write) -> std::io::Result<()>;

/// Writes to standard output. A reader that closes it early is no error.
pub fn print(bytes: &[u8]) -> Result<()> {
    print_with(&|out| out.write_all(bytes))
}

/// Writes text for people to standard output, in colours where these are wanted.
pub fn print_text(text: &str) -> Result<()> {
    let fill: Fill<'_> = &|out| out.write_all(text.as_bytes());
    finish(fill, &mut anstream::AutoStream::auto(std::io::stdout().lock()))
}

pub fn print_with(fill: Fill<'_>) -> Result<()> {
    finish(fill, &mut std::io::stdout().lock())
}

fn finish(fill: Fill<'_>, stdout: &mut dyn Write) -> Result<()> {
    printed(fill(stdout).and_then(|()| stdout.flush()))
}

/// Whether standard output took all. A closed pipe is no reason to fail.
pub fn printed(result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.about("standard output"),
    }
}
