//! Names of C++ constructors and destructors in debug information.
//!
//! The entry for what all variants of a constructor have in common has a mangled name of variant 4, as in `_ZN1AC4Ei`.
//! Compilers look for variant 2, the base object's: `_ZN1AC2Ei`. [`base_object`] finds the digit. It reads as much of
//! the mangling as it needs for that: which bytes are identifiers, numbers and back references, and what encloses what.

use std::borrow::Cow;
use std::prelude::v1::*;

/// The name of a constructor's or destructor's variant 2, if this is the name of variant 4. Other names stay.
pub fn base_object(name: &[u8]) -> Cow<'_, [u8]> {
    // Few names have such letters at all.
    if !memchr::memchr_iter(b'4', name).any(|place| may_tell_variant(&name[..place])) {
        return name.into();
    }
    match variant(name).filter(|&place| name[place] == b'4') {
        Some(place) => [&name[..place], b"2", &name[place + 1..]].concat().into(),
        None => name.into(),
    }
}

/// The name of variant 2, if this is the name of any variant: all of them are one function of the source.
pub fn any_variant(name: &[u8]) -> Cow<'_, [u8]> {
    if !memchr::memchr3_iter(b'0', b'1', b'4', name).any(|place| may_tell_variant(&name[..place])) {
        return name.into();
    }
    match variant(name) {
        Some(place) => [&name[..place], b"2", &name[place + 1..]].concat().into(),
        None => name.into(),
    }
}

/// Whether this is the name of variant 2.
pub fn is_base_object(name: &[u8]) -> bool {
    variant(name).is_some_and(|place| name[place] == b'2')
}

/// Whether the digit behind this may tell a variant. `CI` is a constructor that is inherited.
const fn may_tell_variant(before: &[u8]) -> bool {
    matches!(before, [.., b'C' | b'D'] | [.., b'C', b'I'])
}

/// The place of the digit that tells the variant.
fn variant(name: &[u8]) -> Option<usize> {
    // What encloses the place, by its letter. The function's own name is in one `N` and in nothing else; template
    // arguments, and a function around a local class, may have constructors, too.
    let mut open = Vec::new();
    let mut place = if name.starts_with(b"_Z") { 2 } else { return None };
    while let Some(rest) = name.get(place..).filter(|rest| !rest.is_empty()) {
        let top = open.last().copied();
        let step = match rest {
            // The value of a literal, behind its type: `Lj4E`.
            [b'0'..=b'9', ..] if top == Some(b'L') && name[place - 1] != b'L' && is_value(rest) => {
                digits(rest)
            }
            // An identifier stands behind its length.
            [b'0'..=b'9', ..] => {
                let digits = digits(rest);
                let length = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
                digits.checked_add(length)?
            }
            // Operators whose second letter means something elsewhere. Among the arguments of a template, the first
            // letter is a type: `ImLm8EE`.
            [b'a', b'N' | b'S', ..]
            | [b'l' | b'r', b'S', ..]
            | [b'm', b'I' | b'L', ..]
            | [b'e', b'O', ..]
                if matches!(top, Some(b'N' | b'X')) =>
            {
                2
            }
            // Back references, and abbreviations of names in `std`.
            [b'S', ..] => back_reference(rest).unwrap_or(2),
            [b'T', b'0'..=b'9' | b'_', ..]
            | [b'A', b'0'..=b'9', ..]
            | [b'_', b'0'..=b'9', ..]
            | [b'D', b'v', ..]
            | [b'U', b't', ..]
            | [b'f', b'p', ..] => up_to_line(rest),
            // The parameters of a lambda.
            [b'U', b'l', ..] => {
                open.push(b'U');
                2
            }
            [b'D', b't' | b'T', ..] => {
                open.push(b'X');
                2
            }
            [b'N' | b'I' | b'X' | b'J' | b'Z' | b'F' | b'L', ..] => {
                open.push(rest[0]);
                1
            }
            [b'E', ..] => match open.pop() {
                Some(b'U') => up_to_line(rest),
                _ => 1,
            },
            [b'C' | b'D', b'0'..=b'5', ..] if open == [b'N'] => return Some(place + 1),
            [b'C', b'I', b'0'..=b'5', ..] if open == [b'N'] => return Some(place + 2),
            [b'C' | b'D', b'0'..=b'5', ..] => 2,
            _ => 1,
        };
        place = place.checked_add(step)?;
    }
    None
}

fn digits(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether digits are the rest of a literal, and no length.
fn is_value(rest: &[u8]) -> bool {
    rest.get(digits(rest)) == Some(&b'E')
}

/// The length of `S_`, `S0_`, `S1A_`.
fn back_reference(rest: &[u8]) -> Option<usize> {
    let is_digit = |byte: &&u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    let digits = rest[1..].iter().take_while(is_digit).count();
    (rest.get(1 + digits) == Some(&b'_')).then_some(digits + 2)
}

/// The length up to and with the next `_`.
fn up_to_line(rest: &[u8]) -> usize {
    let line = rest.iter().skip(1).position(|&byte| byte == b'_');
    line.map_or(rest.len(), |line| line + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_have_the_name_of_a_variant() {
        for (unified, expected) in [
            ("_ZN1BC4Ei", "_ZN1BC2Ei"),
            ("_ZN3FC4C4E3C4E", "_ZN3FC4C2E3C4E"),
            ("_ZN1AILj12EED4Ev", "_ZN1AILj12EED2Ev"),
            (
                "_ZN4ListImLm8EEC4ESt16initializer_listImE",
                "_ZN4ListImLm8EEC2ESt16initializer_listImE",
            ),
            ("_ZN3MapIlSt4lessIlEEC4Ev", "_ZN3MapIlSt4lessIlEEC2Ev"),
            ("_ZN1AIaN1B1CEED4Ev", "_ZN1AIaN1B1CEED2Ev"),
            // Templates.
            ("_ZNSt4pairIliEC4IlRKiLb1EEEOT_OT0_", "_ZNSt4pairIliEC2IlRKiLb1EEEOT_OT0_"),
            (
                "_ZNSt5tupleIJP6SquareSt14default_deleteIS0_EEEC4ILb1ELb1EEEv",
                "_ZNSt5tupleIJP6SquareSt14default_deleteIS0_EEEC2ILb1ELb1EEEv",
            ),
            // Back references before it.
            (
                "_ZN9__gnu_cxx17__normal_iteratorIPSt10unique_ptrI5ShapeSt14default_deleteIS2_EESt6vectorIS5_SaIS5_EEEC4ERKS6_",
                "_ZN9__gnu_cxx17__normal_iteratorIPSt10unique_ptrI5ShapeSt14default_deleteIS2_EESt6vectorIS5_SaIS5_EEEC2ERKS6_",
            ),
            // A lambda as an argument of the template, and a class inside of a constructor.
            (
                "_ZNSt8functionIFllEEC4IZ4mainEUllE10_vEEOT_",
                "_ZNSt8functionIFllEEC2IZ4mainEUllE10_vEEOT_",
            ),
            ("_ZN1VC4IZN3BarC4EvEUlvE_EET_", "_ZN1VC2IZN3BarC4EvEUlvE_EET_"),
            ("_ZZN1AC4EvEN5LocalD4Ev", "_ZZN1AC4EvEN5LocalD2Ev"),
            ("_ZZN1AaSERKS_EN5LocalC4Ev", "_ZZN1AaSERKS_EN5LocalC2Ev"),
            ("_ZN1AIL1E2EEC4Ev", "_ZN1AIL1E2EEC2Ev"),
            // Inherited ones.
            ("_ZN2CCCI44BaseEi", "_ZN2CCCI24BaseEi"),
            ("_ZN6HolderIlECI44BaseEi", "_ZN6HolderIlECI24BaseEi"),
            ("_ZN1DCI4N2ns1BEEi", "_ZN1DCI2N2ns1BEEi"),
            // Those of other variants, other functions, and what is no name of C++.
            ("_ZN1AC1Ev", "_ZN1AC1Ev"),
            ("_ZN4FC4E1fEv", "_ZN4FC4E1fEv"),
            ("_ZZN1AC4EvENKUlvE_clEv", "_ZZN1AC4EvENKUlvE_clEv"),
            ("C4E", "C4E"),
            ("_Z99C4E", "_Z99C4E"),
            ("_ZN18446744073709551616C4E", "_ZN18446744073709551616C4E"),
        ] {
            assert_eq!(String::from_utf8_lossy(&base_object(unified.as_bytes())), expected);
        }
    }
}
