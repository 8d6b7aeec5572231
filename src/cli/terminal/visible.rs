//! Text that cannot control a terminal. Names and paths come from files that anybody may have written.

use std::prelude::v1::*;

/// The text with what could control a terminal spelled out: control characters are spelled out, and those that change
/// the direction or end the line.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\0'..='\x1f' | '\x7f' => visible += &format!("\\x{:02x}", u32::from(letter)),
            _ if letter.is_control() || turns_text(letter) => {
                visible.extend(letter.escape_unicode())
            }
            _ => visible.push(letter),
        }
    }
    visible
}

/// Whether a letter is one of Unicode's marks of direction or separators of lines.
fn turns_text(letter: char) -> bool {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    marks.contains(&letter) || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters() {
        let raw = "a\x1b[2Jb\nc\0\x7f\u{9b}\té\\";
        assert_eq!(visible(raw), r"a\x1b[2Jb\x0ac\x00\x7f\u{9b}\x09é\");
    }
}
