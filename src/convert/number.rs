//! Numbers of things in messages.

use core::fmt;

/// A number of things, given by their noun: 1 object, 2 objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'n>(pub u64, pub &'n str);

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, noun) = self;
        write!(f, "{number} {noun}{}", if *number == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn only_one_is_singular() {
        let text = |number| Number(number, "live file").to_string();
        assert_eq!([text(0), text(1), text(2)], ["0 live files", "1 live file", "2 live files"]);
    }
}
