//! Parses single lines. `decode` joins them to functions. Columns count from 0.

use alloc::vec::Vec;

use super::check::Defect;
use crate::samples::Site;

/// A line with content.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'t> {
    /// A function, with its total and its head count.
    Function { name: &'t [u8], total: u64, head: u64 },
    /// A line of a function's body.
    Inner { level: usize, what: Inner<'t> },
}

/// A line of a function's body.
#[derive(Debug, PartialEq, Eq)]
pub enum Inner<'t> {
    /// Samples, and the targets of calls as text.
    Count { site: Site, count: u64, targets: &'t [u8] },
    /// The start of an inlined copy.
    Inlined { site: Site, name: &'t [u8], total: u64 },
    /// The checksum of the function's control flow.
    Checksum(u64),
    /// The attributes of the context.
    Attributes(u64),
    /// `!Flat`.
    Flat,
}

/// A defect, and its column in the line.
pub type Wrong = (usize, Defect);

const FUNCTION: Defect = Defect::Expected("a function: its name, ':', total, ':', head count");
const INNER: Defect = Defect::Expected("a position, ':', and a count or an inlined function");
const METADATA: Defect = Defect::Expected("!CFGChecksum: or !Attributes: and a number, or !Flat");
const LARGEST_LINE: u64 = 0xffff;

/// Parses a line; `None` if it is empty or a comment.
pub fn parse(line: &[u8]) -> Result<Option<Line<'_>>, Wrong> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Some(level) = line.iter().position(|&byte| byte != b' ') else { return Ok(None) };
    if line[level] == b'#' {
        return Ok(None);
    }
    if level == 0 {
        return function(line).map(Some);
    }
    let what = match &line[level..] {
        text @ [b'!', ..] => metadata(text).ok_or((level, METADATA))?,
        text => inner(text).ok_or((level, INNER))?,
    };
    Ok(Some(Line::Inner { level, what }))
}

fn function(line: &[u8]) -> Result<Line<'_>, Wrong> {
    let parts = || {
        let (line, head) = number_behind_colon(line)?;
        let (name, total) = number_behind_colon(line)?;
        Some(Line::Function { name, total, head })
    };
    parts().ok_or((0, FUNCTION))
}

fn metadata(text: &[u8]) -> Option<Inner<'_>> {
    if text == b"!Flat" {
        return Some(Inner::Flat);
    }
    let number = |name: &[u8]| decimal(text.strip_prefix(name)?);
    let checksum = number(b"!CFGChecksum: ").map(Inner::Checksum);
    checksum.or_else(|| number(b"!Attributes: ").map(Inner::Attributes))
}

fn inner(text: &[u8]) -> Option<Inner<'_>> {
    let colon = text.iter().position(|&byte| byte == b':')?;
    let site = site(&text[..colon])?;
    let rest = text[colon + 1..].strip_prefix(b" ")?;
    let end = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len());
    if let Some(count) = decimal(&rest[..end]) {
        return Some(Inner::Count { site, count, targets: &rest[end..] });
    }
    let (name, total) = number_behind_colon(rest)?;
    Some(Inner::Inlined { site, name, total })
}

/// Parses a position: a line, and behind a dot the discriminator.
pub fn site(text: &[u8]) -> Option<Site> {
    let dot = text.iter().position(|&byte| byte == b'.');
    let line = decimal(&text[..dot.unwrap_or(text.len())]);
    let line = line.filter(|&line| line <= LARGEST_LINE)? as u32;
    let discriminator = match dot {
        Some(dot) => u32::try_from(decimal(&text[dot + 1..])?).ok()?,
        None => 0,
    };
    Some(Site { line, discriminator })
}

/// The frames of a context, such as `[main:3 @ f:1.2 @ g]`, the outermost first: names, and the positions of the calls.
pub fn frames(context: &[u8]) -> Option<Vec<(&[u8], Site)>> {
    const BETWEEN: &[u8] = b" @ ";
    let mut rest = context.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let mut frames = Vec::new();
    while let Some(end) = rest.windows(BETWEEN.len()).position(|bytes| bytes == BETWEEN) {
        let frame = &rest[..end];
        let colon = frame.iter().rposition(|&byte| byte == b':');
        let called = colon.and_then(|colon| Some((&frame[..colon], site(&frame[colon + 1..])?)));
        frames.push(called.unwrap_or((frame, Site::default())));
        rest = &rest[end + BETWEEN.len()..];
    }
    frames.push((rest, Site::default()));
    Some(frames)
}

/// Splits at the last colon, if a number follows it.
pub fn number_behind_colon(text: &[u8]) -> Option<(&[u8], u64)> {
    let colon = text.iter().rposition(|&byte| byte == b':')?;
    Some((&text[..colon], decimal(&text[colon + 1..])?))
}

/// Splits the first target off; returns its name, the number of calls, and the other targets. A name may have spaces
/// and colons in it. It ends at the first colon with a number and a space or the end of the line behind it.
pub fn first_target(targets: &[u8]) -> Option<(&[u8], u64, &[u8])> {
    let start = targets.iter().position(|&byte| byte != b' ')?;
    let targets = &targets[start..];
    let colons = targets.iter().enumerate().filter(|&(_, &byte)| byte == b':');
    colons.map(|(colon, _)| colon).find_map(|colon| {
        let (name, rest) = (&targets[..colon], &targets[colon + 1..]);
        let end = rest.iter().position(|&byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        let (calls, rest) = (decimal(&rest[..end])?, &rest[end..]);
        matches!(rest, [] | [b' ', ..]).then_some((name, calls, rest))
    })
}

/// Parses a decimal number.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = char::from(digit).to_digit(10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn lines() {
        let parsed = |line: &'static [u8]| parse(line).unwrap().unwrap();
        let name = b"a:b".as_slice();
        assert_eq!(parsed(b"a:b:3:1\r"), Line::Function { name, total: 3, head: 1 });
        let site = Site { line: 3, discriminator: 2 };
        let what = Inner::Count { site, count: 7, targets: b" f:3 g:4" };
        assert_eq!(parsed(b" 3.2: 7 f:3 g:4"), Line::Inner { level: 1, what });
        let what = Inner::Inlined { site, name: b"123", total: 7 };
        assert_eq!(parsed(b"  3.2: 123:7"), Line::Inner { level: 2, what });
        let what = Inner::Checksum(5);
        assert_eq!(parsed(b" !CFGChecksum: 5"), Line::Inner { level: 1, what });
        for nothing in [&b"# text"[..], b"  # text", b" #1: 3", b"   ", b""] {
            assert_eq!(parse(nothing), Ok(None), "{}", nothing.escape_ascii());
        }
        for wrong in [
            &b"f"[..],
            b"f:3",
            b"f:3:",
            b" 1:3",
            b" 65536: 1",
            b" 1.x: 1",
            b" !CFGChecksum: 0x1",
            b" 18446744073709551616: 1",
            b" 1: ",
            b" 1: f",
        ] {
            assert!(parse(wrong).is_err(), "{}", wrong.escape_ascii());
        }
    }

    /// What `llvm-profdata` 14 to 22 reads.
    #[test]
    fn targets() {
        let names = |mut targets: &'static str| {
            let mut names = Vec::new();
            while let Some((name, calls, rest)) = first_target(targets.as_bytes()) {
                names.push((str::from_utf8(name).unwrap(), calls));
                targets = str::from_utf8(rest).unwrap();
            }
            (names, targets)
        };
        assert_eq!(names(" -[F q:]:3 +[A b]:2"), (vec![("-[F q:]", 3), ("+[A b]", 2)], ""));
        assert_eq!(names("  x y:5  z:6"), (vec![("x y", 5), ("z", 6)], ""));
        assert_eq!(names(" f(a, g:2)::h:6 a:5:6"), (vec![("f(a, g:2)::h", 6), ("a:5", 6)], ""));
        assert_eq!(names(" x:5y z:6"), (vec![("x:5y z", 6)], ""));
        assert_eq!(names(" x:99999999999999999999 y:3").0, [("x:99999999999999999999 y", 3)]);
        assert_eq!(names(" x:5 y"), (vec![("x", 5)], " y"));
        assert_eq!(names(" x:5 "), (vec![("x", 5)], " "));
    }
}
