//! Arguments in LLVM's way of writing them, as clap reads them.
//!
//! One dash does for long options (`-sparse`), a short one may have `=` (`-o=FILE`), an option may be given a
//! truth value (`--sparse=false`), and `@FILE` stands for the arguments in a file.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::prelude::v1::*;

use clap::{Arg, Command};

/// Response files that name each other deeper than this are not opened.
const DEEPEST: usize = 10;
/// Arguments of all response files, in bytes: more than a system lets any program have.
const MOST_BYTES: u64 = 64 << 20;

/// The arguments with each `@FILE` replaced by those in the file. What cannot be read stays, as it may be a
/// file's own name.
pub fn expanded(arguments: Vec<OsString>) -> Vec<OsString> {
    let (mut all, mut room) = (Vec::new(), MOST_BYTES);
    arguments.into_iter().for_each(|argument| expand(argument, 0, &mut room, &mut all));
    all
}

fn expand(argument: OsString, depth: usize, room: &mut u64, all: &mut Vec<OsString>) {
    let content = argument.as_bytes().strip_prefix(b"@").filter(|_| depth < DEEPEST);
    let content = content.and_then(|name| read(name, room));
    let Some(content) = content else {
        all.push(argument);
        return;
    };
    words(&content).into_iter().for_each(|word| expand(word, depth + 1, room, all));
}

fn read(name: &[u8], room: &mut u64) -> Option<Vec<u8>> {
    let name = OsString::from_vec(name.to_vec());
    let size = std::fs::metadata(&name).ok().filter(|file| file.is_file())?.len();
    *room = room.checked_sub(size)?;
    std::fs::read(name).ok()
}

/// The words of a response file, by the rules of a shell: quotation marks keep blanks, a backslash takes the
/// next character as it is.
fn words(content: &[u8]) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Vec<u8>>, None);
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None | Some(b'"'), b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == byte => quote = None,
            (None, _) if byte.is_ascii_whitespace() => {
                words.extend(word.take().map(OsString::from_vec));
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

/// The arguments of a command as clap wants them: two dashes before each option, and its value behind `=`.
pub fn normalised(command: &Command, arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let (mut all, mut arguments) = (Vec::new(), arguments.into_iter());
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            all.push(argument);
            all.extend(arguments);
            break;
        }
        let Some((name, value)) = option(&argument) else {
            all.push(argument);
            continue;
        };
        let known = command.get_arguments().find(|known| is_named(known, &name));
        let takes_value = known.is_some_and(|known| known.get_action().takes_values());
        match value {
            None if takes_value => {
                let value = arguments.next().ok_or_else(|| format!("--{name} needs a value"))?;
                all.push(joined(&name, &value));
            }
            None => all.push(format!("--{name}").into()),
            Some(value) if takes_value || known.is_none() => all.push(joined(&name, &value)),
            Some(value) => match truth(&value) {
                Some(true) => all.push(format!("--{name}").into()),
                Some(false) => {}
                None => {
                    let found = value.to_string_lossy();
                    return Err(format!("--{name}: expected true or false, found \"{found}\""));
                }
            },
        }
    }
    Ok(all)
}

/// Name and value of an option.
fn option(argument: &OsString) -> Option<(String, Option<OsString>)> {
    let bytes = argument.as_bytes();
    let text = bytes.strip_prefix(b"--").or_else(|| bytes.strip_prefix(b"-"))?;
    let end = text.iter().position(|&byte| byte == b'=').unwrap_or(text.len());
    let name = std::str::from_utf8(&text[..end]).ok().filter(|name| !name.is_empty())?;
    let value = text.get(end + 1..).map(|value| OsString::from_vec(value.to_vec()));
    Some((name.to_owned(), value))
}

fn is_named(known: &Arg, name: &str) -> bool {
    known.get_long() == Some(name)
        || known.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
}

fn joined(name: &str, value: &OsString) -> OsString {
    let mut joined = OsString::from(format!("--{name}="));
    joined.push(value);
    joined
}

fn truth(value: &OsString) -> Option<bool> {
    match value.to_str()? {
        "" | "true" | "TRUE" | "True" | "1" => Some(true),
        "false" | "FALSE" | "False" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        use clap::ArgAction;
        let sparse = Arg::new("sparse").long("sparse").action(ArgAction::SetTrue);
        let output = Arg::new("output").long("output").alias("o").action(ArgAction::Set);
        Command::new("merge").args([sparse, output])
    }

    #[test]
    fn one_dash_is_as_good_as_two() {
        for (given, wanted) in [
            ("-sparse x", Ok("--sparse x")),
            ("--sparse=false x", Ok("x")),
            ("-sparse=1 -o=x y", Ok("--sparse --o=x y")),
            ("-o -x", Ok("--o=-x")),
            ("--output - -", Ok("--output=- -")),
            ("-new=1 -- -o", Ok("--new=1 -- -o")),
            ("-o", Err("--o needs a value")),
            ("-sparse=2", Err("--sparse: expected true or false, found \"2\"")),
        ] {
            let arguments = given.split(' ').map(OsString::from).collect();
            let found = normalised(&command(), arguments);
            let found = found.map(|found| found.join(" ".as_ref()).into_string().unwrap());
            assert_eq!(found.as_deref().map_err(|what| &**what), wanted, "{given}");
        }
    }

    #[test]
    fn words_of_a_response_file() {
        let content = b"-o 'a b' \"c \\\" d\" e\\ f\n\t'' g'h'\\";
        assert_eq!(words(content), ["-o", "a b", "c \" d", "e f", "", "gh"]);
    }
}
