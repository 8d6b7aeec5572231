//! The rules of the compiler that will read a profile: `convert --for-gcc`, `flags --optimise`.

use std::path::Path;
use std::prelude::v1::*;
use std::process::Command;

use super::error::{Context, Error, Result};
use crate::formats::afdo_v1_v3::rules::Rules;

/// The rules of a compiler that `--for-gcc` names.
pub fn rules(choice: &str) -> Result<Rules> {
    let option = "--for-gcc";
    let major = known_major(option, choice)?;
    Rules::for_gcc(major).ok_or_else(|| unknown(option, major))
}

/// The major version of a compiler in an option. The option names the compiler by the version that `gcc
/// --version` prints, or by its path.
pub fn known_major(option: &str, choice: &str) -> Result<u32> {
    let is_version = choice.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let major = match major(choice).filter(|_| is_version) {
        Some(major) => major,
        None => major_for(Path::new(choice))?,
    };
    Rules::for_gcc(major).map(|_| major).ok_or_else(|| unknown(option, major))
}

fn unknown(option: &str, major: u32) -> Error {
    let known = "the rules of gcc 10 to 17 are known, not those of gcc";
    Error::new(format!("{option}: {known} {major}"))
}

/// The major version whose rules a compiler follows. gcc 16 and later print the version of the format that they read.
/// For earlier releases the compiler's own version decides.
fn major_for(compiler: &Path) -> Result<u32> {
    let ask = |option| Command::new(compiler).arg(option).output().about(compiler);
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
                Err(Error::about(compiler, what))
            }
        };
    }
    // clang also accepts -dumpversion below, so look for clang first.
    let output = ask("--version")?;
    if let Some(clang) =
        String::from_utf8_lossy(&output.stdout).lines().find(|line| line.contains("clang version"))
    {
        return Err(Error::about(compiler, clang_instead(clang)));
    }
    let output = ask("-dumpversion")?;
    let version = String::from_utf8_lossy(&output.stdout);
    major(version.trim()).ok_or_else(|| {
        let found = version.trim().to_string();
        Error::about(compiler, format!("-dumpversion: expected a version, found \"{found}\""))
    })
}

/// What clang reads instead.
fn clang_instead(version: &str) -> String {
    format!(
        "expected gcc, found {version}; clang reads --to profdata of its own programs (-fprofile-use), and \
         --for-clang of gcc's (-fprofile-sample-use)"
    )
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}
