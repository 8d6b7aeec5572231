//! The LLVM whose tools will read a profile: `--for-llvm`, `COUNTERSINK_LLVM`, or what is installed.

use std::env;
use std::path::Path;
use std::prelude::v1::*;
use std::process::Stdio;

use super::command::CompilerCommand;
use crate::cli::terminal::error::{Error, Result};
use crate::counters::{Profile, Variant};
use crate::formats::profdata::{Hashes, version_for_llvm};
use crate::formats::{profdata, profraw};

/// Names the LLVM to write for: its version, or the path of one of its tools.
pub const VARIABLE: &str = "COUNTERSINK_LLVM";

/// The releases of LLVM whose formats are known.
const OLDEST: u32 = 10;
const NEWEST: u32 = 23;

/// The first release whose front end makes hashes in the new way, and the version that says so.
const WITH_NEW_HASHES: u32 = 22;
const NEW_HASHES: u32 = 13;

/// A release of LLVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Llvm {
    /// Its major version.
    pub major: u32,
    /// Its version in full, as far as it is known.
    pub version: String,
}

/// What the profiles that were read say about their LLVM.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origins {
    raw: Option<profraw::Version>,
    indexed: Option<profdata::Version>,
}

impl Origins {
    /// A raw profile of this version was read.
    pub fn add_raw(&mut self, version: profraw::Version) {
        self.raw = self.raw.max(Some(version));
    }

    /// An indexed profile of this version was read.
    pub fn add_indexed(&mut self, version: profdata::Version) {
        self.indexed = self.indexed.max(Some(version));
    }

    /// The version of the raw profiles that were read, the newest one.
    pub const fn raw(self) -> Option<profraw::Version> {
        self.raw
    }

    /// The oldest version of indexed profiles that holds a profile made of all that was read. Where the profile does
    /// not tell how clang's front end made its hashes, the files do, or else the compiler that is installed.
    pub fn oldest_version(self, profile: &Profile) -> profdata::Version {
        let is_old_raw = self.raw.is_some_and(|version| version < profraw::Version::V10);
        let indexed = self.indexed.map(profdata::Version::number);
        let is_old = is_old_raw || indexed.is_some_and(|version| version < NEW_HASHES);
        let hashes = match Hashes::of(profile) {
            Hashes::New | Hashes::Unknown if is_old => Hashes::Old,
            Hashes::Unknown if indexed.is_some() => Hashes::New,
            Hashes::Unknown => match Llvm::installed(self).major >= WITH_NEW_HASHES {
                true => Hashes::New,
                false => Hashes::Old,
            },
            known => known,
        };
        // LLVM 14 and 15 leave them out, too.
        let keep_ids = self.raw.is_none_or(|version| version > profraw::Version::V8);
        profdata::oldest_version(profile, hashes, keep_ids)
    }

    /// Whether this LLVM reads all that was read.
    fn fit(self, llvm: &Llvm) -> bool {
        let raw = profraw::Version::for_llvm(llvm.major);
        let indexed = Some(newest_indexed(llvm.major));
        self.raw.is_none_or(|version| raw == Some(version)) && self.indexed <= indexed
    }

    /// The oldest LLVM that reads all that was read.
    fn oldest(self) -> u32 {
        let fits = |&major: &u32| {
            let indexed = Some(newest_indexed(major));
            self.raw <= profraw::Version::for_llvm(major) && self.indexed <= indexed
        };
        (OLDEST..=NEWEST).find(fits).unwrap_or(NEWEST)
    }
}

impl Llvm {
    fn of(major: u32) -> Self {
        Self { major, version: format!("{major}.0.0") }
    }

    /// The LLVM that an option names: by its version, or by the command of clang, rustc or `llvm-profdata`.
    pub fn named(option: &str, choice: &str) -> Result<Self> {
        let is_version = choice.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let llvm = match major(choice).filter(|_| is_version) {
            Some(major) if choice.contains('.') => Self { major, version: choice.into() },
            Some(major) => Self::of(major),
            None => Self::asked(&CompilerCommand::new(option, choice)?, option)?,
        };
        let Llvm { major, .. } = llvm;
        if !(OLDEST..=NEWEST).contains(&major) {
            let known =
                format!("the profiles of LLVM {OLDEST} to {NEWEST} are known, not those of");
            return Err(Error::new(format!("{option}: {known} LLVM {major}")));
        }
        Ok(llvm)
    }

    /// The LLVM of [`VARIABLE`], if it is set.
    pub fn of_environment() -> Result<Option<Self>> {
        let choice = env::var_os(VARIABLE).filter(|choice| !choice.is_empty());
        choice.map(|choice| Self::named(VARIABLE, &choice.to_string_lossy())).transpose()
    }

    /// The LLVM to write for if nobody says: that of the first of `$RUSTC`, `rustc` and `clang` that reads
    /// all that was read, or else the oldest that does.
    pub fn installed(origins: Origins) -> Self {
        let rustc = env::var("RUSTC").into_iter();
        let tools = rustc.chain(["rustc".into(), "clang".into()]);
        let commands = tools.filter_map(|tool| CompilerCommand::new("RUSTC", &tool).ok());
        let mut found = commands.filter_map(|tool| Self::asked(&tool, "RUSTC").ok());
        found.find(|llvm| origins.fit(llvm)).unwrap_or_else(|| Self::of(origins.oldest()))
    }

    /// The LLVM of a tool that an option names.
    fn asked(tool: &CompilerCommand, option: &str) -> Result<Self> {
        let ask = |options: &str| {
            // The tool may be this one, which would ask itself again.
            let mut command = tool.command();
            let command = command.args(options.split(' ')).env_remove(VARIABLE);
            let answer = command.stdin(Stdio::null()).output();
            answer.map_err(|error| tool.not_started(option, &error))
        };
        // rustc tells its LLVM only here, and rustup takes long to start it. So it is asked once.
        let is_named = |word: &str| Path::new(word).file_stem().is_some_and(|name| name == "rustc");
        let is_rustc = tool.words().any(is_named);
        let mut text = ask(if is_rustc { "-vV" } else { "--version" })?.stdout;
        if text.starts_with(b"rustc ") && !is_rustc {
            text = ask("-vV")?.stdout;
        }
        // llvm-profdata up to release 16 tells it only behind one of its commands.
        if text.is_empty() && tool.words().any(|word| word.contains("profdata")) {
            text = ask("merge --version")?.stdout;
        }
        let text = String::from_utf8_lossy(&text);
        if text.starts_with("Apple ") {
            let what = "Apple numbers its releases in its own way; give the version of LLVM";
            return Err(Error::about(tool.to_string(), what));
        }
        version(&text).ok_or_else(|| {
            let found = text.lines().next().unwrap_or_default();
            Error::about(
                tool.to_string(),
                format!("--version: expected LLVM's version, found \"{found}\""),
            )
        })
    }
}

/// The newest version of indexed profiles that this LLVM reads.
fn newest_indexed(major: u32) -> profdata::Version {
    version_for_llvm(major, &Profile { variant: Variant::IR, ..Profile::default() })
}

/// The version in what clang, `rustc -vV` or a tool of LLVM say about themselves.
fn version(text: &str) -> Option<Llvm> {
    let behind = |start| Some(text.split_once(start)?.1.trim_start_matches([':', ' ']));
    let version = behind("LLVM version").or_else(|| behind("clang version"))?;
    let end = version.find(|letter: char| letter.is_whitespace()).unwrap_or(version.len());
    Some(Llvm { major: major(version)?, version: version[..end].into() })
}

fn major(version: &str) -> Option<u32> {
    let end = version.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(version.len());
    version[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_say_about_themselves() {
        for (text, wanted) in [
            ("Debian clang version 14.0.6\nTarget: x86_64", Some((14, "14.0.6"))),
            ("Debian LLVM version 22.1.8\n  Optimized build.", Some((22, "22.1.8"))),
            (
                "LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n",
                Some((22, "22.1.2-rust-1.95.0-stable")),
            ),
            ("rustc 1.95.0 (5980761 2026-04-14)\nLLVM version: 22.1.2", Some((22, "22.1.2"))),
            ("gcc (Debian 12.2.0-14) 12.2.0", None),
        ] {
            let found = version(text);
            let found = found.as_ref().map(|llvm| (llvm.major, &*llvm.version));
            assert_eq!(found, wanted, "{text}");
        }
    }
}
