//! Text for a page: spells out letters that are invisible or change the direction of the text around them.

use std::prelude::v1::*;

use crate::cli::terminal::names::beginning;
use crate::cli::terminal::visible::visible;

/// Most bytes of a name. Longer names are cut.
const LONGEST_NAME: usize = 600;

/// A name of a function or a file.
pub fn name(text: &str) -> String {
    let shown = spelled(&visible(text));
    match beginning(&shown, LONGEST_NAME) {
        cut if cut.len() < shown.len() => format!("{cut}…"),
        _ => shown,
    }
}

/// A line of a source file. Tabulators stay.
pub fn line(text: &str) -> String {
    let parts: Vec<String> = text.split('\t').map(|part| spelled(&visible(part))).collect();
    parts.join("\t")
}

/// Number of bytes of a text in the JSON of a page.
pub fn bytes(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'<' => 6,
        b'"' | b'\\' | b'\t' => 2,
        _ => 1,
    });
    3 + escaped.sum::<usize>()
}

fn spelled(text: &str) -> String {
    if !text.contains(is_unseen) {
        return text.to_owned();
    }
    let mut spelled = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_unseen(letter) {
            true => spelled.extend(letter.escape_unicode()),
            false => spelled.push(letter),
        }
    }
    spelled
}

/// Marks of direction, separators of lines, and letters without width.
const fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_letters_are_spelled_out() {
        assert_eq!(name("a\u{202e}b\x1b\t"), r"a\u{202e}b\x1b\x09");
        assert_eq!(line("\ta\u{2066}\u{7f}é"), "\ta\\u{2066}\\x7fé");
        assert_eq!(name(&"é".repeat(LONGEST_NAME)).len(), LONGEST_NAME + "…".len());
    }
}
