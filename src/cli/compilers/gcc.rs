//! The rules of the compiler that will read a profile: `convert --for-gcc`, `flags --optimise`.

use std::prelude::v1::*;
use std::process::{Output, Stdio};

use super::command::CompilerCommand;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::visible::visible;
use crate::formats::afdo_v1_v3::rules::Rules;

/// The first gcc that prints the version of the format that it reads.
const FIRST_TO_PRINT: u32 = 16;

/// The rules of a compiler that `--for-gcc` names.
pub fn rules(choice: &str) -> Result<Rules> {
    let option = "--for-gcc";
    let major = known_major(option, choice)?;
    Rules::for_gcc(major).ok_or_else(|| unknown(option, major))
}

/// The major version and the rules of the gcc on the path, which reads the profile if no other reader is named.
pub fn installed() -> Result<(u32, Rules)> {
    let installed = || {
        let major = major_for("the installed", "gcc")?;
        let rules = Rules::for_gcc(major).ok_or_else(|| unknown("the installed gcc", major))?;
        Ok((major, rules))
    };
    let hint = "--for-gcc VERSION or --to says what to write";
    installed().map_err(|error: Error| Error::new(format!("{error}; {hint}")))
}

/// The major version of a compiler in an option. The option names the compiler by the version that `gcc
/// --version` prints, or by its command, which may have flags.
pub fn known_major(option: &str, choice: &str) -> Result<u32> {
    let major = match version(choice) {
        Some(major) => major,
        None => major_for(option, choice)?,
    };
    Rules::for_gcc(major).map(|_| major).ok_or_else(|| unknown(option, major))
}

/// Whether a compiler may have vector instructions that load and store some elements only: AVX or SVE. Its arguments
/// choose the machine. One that does not tell its macros may have them.
pub fn may_have_masked_moves(option: &str, command: &CompilerCommand) -> Result<bool> {
    let output = command.preprocessor().args(["-dM", "-E", "-x", "c", "-"]).output();
    let output = output.map_err(|error| command.not_started(option, &error))?;
    let macros = String::from_utf8_lossy(&output.stdout);
    let has = |name: &str| macros.lines().any(|line| line.split(' ').nth(1) == Some(name));
    Ok(!output.status.success() || has("__AVX__") || has("__ARM_FEATURE_SVE"))
}

/// The major version in an option that names one, instead of a command.
pub fn version(choice: &str) -> Option<u32> {
    let is_version = choice.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    major(choice).filter(|_| is_version)
}

fn unknown(option: &str, major: u32) -> Error {
    let known = "the rules of gcc 10 to 17 are known, not those of gcc";
    Error::new(format!("{option}: {known} {major}"))
}

/// The major version whose rules a compiler follows. gcc 16 and later print the version of the format that they read.
/// For earlier releases the compiler's own version decides.
fn major_for(option: &str, compiler: &str) -> Result<u32> {
    asked(option, &CompilerCommand::new(option, compiler)?)
}

/// The major version of a compiler whose command is known, if its rules are.
pub fn major_of(option: &str, command: &CompilerCommand) -> Result<u32> {
    let major = asked(option, command)?;
    Rules::for_gcc(major).map(|_| major).ok_or_else(|| unknown(option, major))
}

fn asked(option: &str, command: &CompilerCommand) -> Result<u32> {
    let compiler = command.to_string();
    let ask = |question| {
        let answer = command.command().arg(question).stdin(Stdio::null()).output();
        answer.map_err(|error| command.not_started(option, &error))
    };
    // One question suffices for most compilers. Each takes milliseconds.
    let about = ask("--version")?;
    let answer = String::from_utf8_lossy(&about.stdout);
    if let Some(early) = released(&answer).filter(|&major| major < FIRST_TO_PRINT) {
        return Ok(early);
    }
    let output = ask("--print-autofdo-gcov-version")?;
    if output.status.success() {
        let text = String::from_utf8_lossy(&output.stdout);
        return match text.trim() {
            "1" => Ok(10),
            "2" => Ok(13),
            "3" => Ok(16),
            other => {
                let what =
                    format!("reads version \"{other}\" of AutoFDO's format, which is not known");
                Err(Error::about(&compiler, what))
            }
        };
    }
    // clang also accepts -dumpversion below, so look for clang first.
    if let Some(clang) = answer.lines().find(|line| line.contains("clang version")) {
        return Err(Error::about(&compiler, clang_instead(clang)));
    }
    let output = ask("-dumpversion")?;
    let version = String::from_utf8_lossy(&output.stdout);
    major(version.trim()).ok_or_else(|| Error::about(&compiler, not_gcc(command, &about)))
}

/// What a program is that has no version: not gcc, as a launcher without a compiler, or one that fails.
fn not_gcc(command: &CompilerCommand, about: &Output) -> String {
    let line = |text: &[u8]| String::from_utf8_lossy(text).lines().next().map(visible);
    if !about.status.success() {
        let complaint = line(&about.stderr).unwrap_or_else(|| about.status.to_string());
        return format!("--version: {complaint}");
    }
    let found = line(&about.stdout).unwrap_or_default();
    let whole = match command.arguments().next() {
        Some(_) => String::new(),
        None => format!(
            "; a launcher needs the compiler behind it: \"{} gcc\"",
            visible(command.program())
        ),
    };
    format!("expected gcc, found \"{found}\"{whole}")
}

/// What clang reads instead.
fn clang_instead(version: &str) -> String {
    format!(
        "expected gcc, found {version}; clang reads --to profdata of its own programs (-fprofile-use), and \
         --for-clang of gcc's (-fprofile-sample-use)"
    )
}

/// The major version of gcc in its answer to `--version`: `gcc (Debian 12.2.0-14) 12.2.0`. That of clang has nothing in
/// brackets before its version.
fn released(answer: &str) -> Option<u32> {
    let (_, version) = answer.lines().next()?.rsplit_once(") ")?;
    major(version).filter(|_| !answer.contains("clang"))
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_answers() {
        let answers = [
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free", Some(12)),
            ("gcc (GCC) 13.2.1 20231011 (Red Hat 13.2.1-4)\n", Some(13)),
            ("gcc-15 (SUSE Linux) 15.1.1 20250626 [revision 5a9f]\n", Some(15)),
            ("Apple clang version 14.0.0 (clang-1400.0.29.202)\nTarget: arm64\n", None),
            ("11.4.0\n", None),
            ("", None),
        ];
        for (answer, version) in answers {
            assert_eq!(released(answer), version, "{answer}");
        }
    }
}
