//! Names of files with LLVM's letters, as ours.
//!
//! | LLVM | here |
//! |---|---|
//! | `%p`, `%h`, `%%` | the same |
//! | `%m` | the same; files are always merged |
//! | `%Nm` | `%m_K`, K the process id modulo N; without `_K` if N is 0 or 1 |
//! | `%t` | `TMPDIR` and `/` |
//! | `%b` | the build-id in hexadecimal digits |
//! | `%c` | nothing: see `countersink flags --live` |
//!
//! Without `TMPDIR`, or a build-id, a name that wants it becomes [`DEFAULT`].
//!
//! What follows another `%` stays for [`crate::runtime::output_path`] to report.

use crate::runtime::message::decimal;
use crate::runtime::output_path::LONGEST_PATH;

/// The name of the file if nobody gives another.
pub const DEFAULT: &[u8] = b"default.profraw";

/// A name of a file with our letters.
pub type Pattern = heapless::Vec<u8, LONGEST_PATH>;

/// What letters stand for.
pub struct Meaning<'m> {
    /// The process.
    pub process: u32,
    /// `TMPDIR`, empty if it is not set.
    pub directory: &'m [u8],
    /// The build-id, empty if there is none.
    pub build_id: &'m [u8],
}

/// Puts the name that LLVM's letters stand for into `pattern`, as far as there is room. If there is nothing that a
/// letter stands for, the name is [`DEFAULT`], and this says what is missing.
pub fn translate(
    name: &[u8],
    meaning: &Meaning<'_>,
    pattern: &mut Pattern,
) -> Result<(), &'static [u8]> {
    let result = translate_known(name, meaning, pattern);
    if result.is_err() {
        pattern.clear();
        let _ = pattern.extend_from_slice(DEFAULT);
    }
    result
}

fn translate_known(
    name: &[u8],
    meaning: &Meaning<'_>,
    pattern: &mut Pattern,
) -> Result<(), &'static [u8]> {
    pattern.clear();
    let mut rest = name;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            let _ = pattern.push(byte);
            continue;
        }
        let digits = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
        let (number, letter) = rest.split_at_checked(digits).unwrap_or_default();
        match (letter.first(), number) {
            (Some(b't'), []) if meaning.directory.is_empty() => return Err(b"TMPDIR is not set"),
            (Some(b'b'), []) if meaning.build_id.is_empty() => return Err(b"no build-id"),
            (Some(&known), _) if put(known, number, meaning, pattern) => {
                rest = letter.get(1..).unwrap_or_default();
            }
            _ => _ = pattern.push(b'%'),
        }
    }
    Ok(())
}

/// Puts what a letter stands for; `false` if it is none of LLVM's own.
fn put(letter: u8, number: &[u8], meaning: &Meaning<'_>, pattern: &mut Pattern) -> bool {
    match (letter, number) {
        (b'm', _) => {
            let _ = pattern.extend_from_slice(b"%m");
            let pool = number.iter().fold(0u32, |pool, digit| {
                pool.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
            });
            if pool > 1 {
                let _ = pattern.push(b'_');
                let process = meaning.process.checked_rem(pool).unwrap_or(0);
                let _ = pattern.extend_from_slice(&decimal(u64::from(process)));
            }
        }
        (b'%', []) => _ = pattern.extend_from_slice(b"%%"),
        (b'c', []) => {}
        (b't', []) => {
            put_text(meaning.directory, pattern);
            let _ = pattern.push(b'/');
        }
        (b'b', []) => meaning.build_id.iter().for_each(|byte| {
            let digit = |half: u8| b"0123456789abcdef".get(usize::from(half)).copied();
            let _ = pattern
                .extend_from_slice(&[byte >> 4, byte & 15].map(|half| digit(half).unwrap_or(b'0')));
        }),
        _ => return false,
    }
    true
}

/// Puts text in which `%` has no meaning.
fn put_text(text: &[u8], pattern: &mut Pattern) {
    for &byte in text {
        let _ = pattern.push(byte);
        if byte == b'%' {
            let _ = pattern.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters() {
        let meaning = Meaning { process: 17, directory: b"/tmp/a%b", build_id: &[0x0a, 0xf0] };
        for (name, expected) in [
            ("default_%m_%p.profraw", "default_%m_%p.profraw"),
            ("a%4m%c.b", "a%m_1.b"),
            ("a%1m%0m", "a%m%m"),
            ("%tx%%y%h", "/tmp/a%%b/x%%y%h"),
            ("%b-%z%", "0af0-%z%"),
            ("%%t%%4m", "%%t%%4m"),
            ("%4x", "%4x"),
        ] {
            let mut pattern = Pattern::new();
            translate(name.as_bytes(), &meaning, &mut pattern).unwrap();
            assert_eq!(std::str::from_utf8(&pattern).unwrap(), expected);
        }
    }

    #[test]
    fn letters_that_stand_for_nothing() {
        let mut pattern = Pattern::new();
        let directory = Meaning { process: 17, directory: b"/tmp", build_id: b"" };
        let id = Meaning { process: 17, directory: b"", build_id: &[1] };
        for (meaning, name, missing) in
            [(directory, "folder/%b-%m", &b"no build-id"[..]), (id, "%tx%b", b"TMPDIR is not set")]
        {
            assert_eq!(translate(name.as_bytes(), &meaning, &mut pattern), Err(missing));
            assert_eq!(pattern, DEFAULT);
            translate(b"%%t%%b", &meaning, &mut pattern).unwrap();
        }
    }
}
