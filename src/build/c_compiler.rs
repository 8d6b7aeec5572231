//! The C compiler of a target: that of the variables, or one with the target's name.
//!
//! | variable, the first that is set | |
//! |---|---|
//! | `CC_TARGET` | the target's name, or with `_` for `-` |
//! | `HOST_CC`, `TARGET_CC` | the tool's own target, and all others |
//! | `CC` | |
//!
//! `cc` takes the words behind a launcher that it does not know for flags, asks the launcher what it supports, and
//! leaves flags out in silence. So a command of several words becomes a script, which is one word.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use super::target::Target;
use super::{command_words, var};

/// Ends the build if the target's C compiler does not run.
pub fn check(target: &Target) {
    let tool = find(target).opt_level(0).cargo_warnings(false).try_get_compiler();
    let tried = tool.map_err(|error| error.to_string()).and_then(|tool| {
        let tried = Command::new(tool.path()).arg("--version").output();
        tried.map_err(|error| format!("{}: {error}", tool.path().display()))
    });
    match tried {
        Err(error) => refuse(target, &error),
        Ok(output) if !output.status.success() => {
            refuse(target, String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(_) => {}
    }
}

/// Ends the build with an error of the target's C compiler.
pub fn refuse(target: &Target, error: &str) -> ! {
    let chosen = format!("CC_{}", target.name.replace('-', "_"));
    let error = error.replace('\n', " ");
    super::refuse(&format!("{}: {error}; {chosen} chooses the C compiler", target.name));
}

/// The target's C compiler.
pub fn find(target: &Target) -> cc::Build {
    let mut cc = cc::Build::new();
    if !target.is_own() {
        cc.target(&target.name);
    }
    if let Some(compiler) = target.compiler() {
        cc.compiler(compiler);
    }
    if let Some(script) = script(target) {
        cc.compiler(script);
    }
    cc.inherit_rustflags(false).cargo_metadata(false);
    cc
}

/// A script for the command of the variables, if it has several words.
fn script(target: &Target) -> Option<PathBuf> {
    let command = chosen(target)?;
    let Some(words) = command_words::split(&command) else {
        refuse(target, &format!("{command}: a quote is not closed, or a backslash ends it"));
    };
    if words.len() < 2 && !command.contains(['\'', '"', '\\']) {
        return None;
    }
    let line = shlex::try_join(words.iter().map(String::as_str)).expect("variables have no NUL");
    let folder = PathBuf::from(var("OUT_DIR")).join(&target.name);
    let script = folder.join("cc");
    let write = || {
        fs::create_dir_all(folder)?;
        fs::write(&script, format!("#!/bin/sh\nexec {line} \"$@\"\n"))?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
    };
    write().expect("OUT_DIR is writable");
    Some(script)
}

/// The variables' command.
fn chosen(target: &Target) -> Option<String> {
    let general = if target.is_own() { "HOST_CC" } else { "TARGET_CC" };
    let [name, with_underscores] = target.variables();
    let names = [&*name, &*with_underscores, general, "CC"];
    for name in names {
        println!("cargo::rerun-if-env-changed={name}");
    }
    names.iter().find_map(|name| env::var(name).ok())
}
