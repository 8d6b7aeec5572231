//! Escapes names and paths as text, and reads them back.
//!
//! A byte that is not UTF-8, and `%`, become `%` and two hexadecimal digits.

use std::borrow::Cow;
use std::fmt::Write;
use std::prelude::v1::*;

/// The text of some bytes. `also` are further characters to escape.
pub fn escaped<'b>(bytes: &'b [u8], also: &str) -> Cow<'b, str> {
    let is_plain = |text: &str| !text.contains(|letter| letter == '%' || also.contains(letter));
    if let Ok(text) = std::str::from_utf8(bytes)
        && is_plain(text)
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                letter if letter == '%' || also.contains(letter) => {
                    let _ = write!(text, "%{:02X}", letter as u32);
                }
                letter => text.push(letter),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    Cow::Owned(text)
}

/// The bytes of a text; `None` if anything but two hexadecimal digits follows a `%`.
pub fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text;
    while let Some((&first, rest)) = left.split_first() {
        left = rest;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, rest) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        left = rest;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for bytes in [
            b"".as_slice(),
            b"main",
            b"100%",
            b"\xff\xfe",
            "\u{e9}\u{1f980}".as_bytes(),
            b"a\xc3(;>",
        ] {
            assert_eq!(unescaped(escaped(bytes, ";>").as_bytes()).unwrap(), bytes);
        }
        assert_eq!(escaped(b"a%;\xff", ";"), "a%25%3B%FF");
        assert_eq!([b"%".as_slice(), b"%1", b"%g0"].map(unescaped), [const { None }; 3]);
    }
}
