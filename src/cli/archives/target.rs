//! The target whose archives `flags` and `install` use: `--target`, `--cc`, or the tool's own. `compiler_target`
//! finds the target of a compiler.

use std::prelude::v1::*;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::archive::{TARGETS, Target};
use crate::cli::compilers::rustc_target;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::suggestion;

/// The options.
#[derive(Debug, Args)]
pub struct Choice {
    /// Take the archives for another machine, by rustc's name: one of those that `countersink targets` prints
    #[arg(long, value_name = "TARGET", conflicts_with = "cc", value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,
    /// Take the archives for the machine that this compiler compiles for, with the flags that choose it: "gcc -m32"
    #[arg(long, value_name = "COMMAND")]
    cc: Option<String>,
}

impl Choice {
    /// The target.
    pub fn find(&self) -> Result<&'static Target> {
        let (names, asked) = match (&self.target, &self.cc) {
            (Some(name), _) => (vec![name.clone()], format!("--target {name}")),
            (_, Some(command)) => {
                (rustc_target::names(command)?, format!("{command}: it compiles for"))
            }
            _ => return Ok(Target::own()),
        };
        let found = names.iter().flat_map(|name| served_by(name)).find_map(|name| carried(&name));
        found.ok_or_else(|| missing(&asked, &names))
    }
}

/// A target, and the other target whose archives fit it: programs with musl link the same archives as programs with
/// glibc.
fn served_by(name: &str) -> Vec<String> {
    match name {
        "x86_64-unknown-linux-musl" => vec![name.to_owned(), "x86_64-unknown-linux-gnu".to_owned()],
        _ => vec![name.to_owned()],
    }
}

fn carried(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn missing(asked: &str, names: &[String]) -> Error {
    let carried: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let all = carried.iter().map(|&name| name.to_owned()).collect();
    let near = |name| suggestion::hint(name, "/", &all).map(|near| format!("; {near}"));
    let first = names.first().map_or("", String::as_str);
    let asked = if asked.ends_with(first) { asked.to_owned() } else { format!("{asked} {first}") };
    Error::new(format!(
        "{asked}: this tool has archives for {}{}; to add one that `rustc --print target-list` names, build the tool \
         with COUNTERSINK_TARGETS={first}",
        carried.join(", "),
        near(first).unwrap_or_default(),
    ))
}
