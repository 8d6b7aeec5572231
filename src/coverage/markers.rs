//! Comments that leave code out of the coverage: the markers of lcov and gcovr.
//!
//! | marker | leaves out |
//! |---|---|
//! | `LCOV_EXCL_LINE` | the line, its branches and conditions, and a function that starts there |
//! | `LCOV_EXCL_START`, `LCOV_EXCL_STOP` | the same for all lines from the first marker to the line before the last |
//! | `LCOV_EXCL_BR_LINE`, `LCOV_EXCL_BR_START`, `LCOV_EXCL_BR_STOP` | the branches and conditions only |
//! | `LCOV_EXCL_EXCEPTION_BR_LINE`, and the same with `START` and `STOP` | the branches that exceptions take |
//! | `LCOV_EXCL_BR_WITHOUT_HIT: 2/4` | branches that never ran, if these are two of four |
//! | `LCOV_EXCL_BR_SOURCE` | the branches of the same file that lead to a block that ends in the line |
//! | `LCOV_EXCL_FUNCTION` | the function that starts in the line |
//! | `LCOV_UNREACHABLE_LINE`, `_START`, `_STOP` | as `LCOV_EXCL_LINE` |
//! | `#pragma GCC suppress_coverage begin`, `end` | as `LCOV_EXCL_START`, `LCOV_EXCL_STOP` |
//!
//! `GCOV` and `GCOVR` stand for `LCOV` in all of them. lcov knows only its own name, gcovr each; `UNREACHABLE` is lcov
//! 2's, `FUNCTION`, `SOURCE` and `WITHOUT_HIT` are gcovr's. The pragma is for gcc 17, which then counts nothing there.

use alloc::collections::{BTreeMap, BTreeSet};

use super::{Branch, File};

/// What the markers of a source file leave out, by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    lines: BTreeSet<u32>,
    branches: BTreeSet<u32>,
    exceptions: BTreeSet<u32>,
    functions: BTreeSet<u32>,
    /// Lines to which branches may lead.
    sources: BTreeSet<u32>,
    /// How many branches of the line never ran, and how many it has.
    without_hit: BTreeMap<u32, (usize, usize)>,
    /// The line with the last start that no stop follows, which leaves out the rest of the file.
    pub unclosed: Option<u32>,
}

/// What a region of lines is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lines,
    Branches,
    Exceptions,
}

/// What a marker does.
#[derive(Clone, Copy)]
enum Marker<'t> {
    Line(Kind),
    Start(Kind),
    Stop(Kind),
    Function,
    Source,
    /// With the text behind it.
    WithoutHit(&'t str),
}

impl<'t> Marker<'t> {
    /// The marker with this name behind `LCOV_`, and the text behind the name.
    fn of(name: &str, behind: &'t str) -> Option<Self> {
        use Kind::{Branches, Exceptions, Lines};
        let name = match name.strip_prefix("UNREACHABLE_") {
            Some(name) => name,
            None => name.strip_prefix("EXCL_")?,
        };
        let (kind, place) = match name.strip_prefix("EXCEPTION_BR_") {
            Some(place) => (Exceptions, place),
            None => name.strip_prefix("BR_").map_or((Lines, name), |place| (Branches, place)),
        };
        Some(match (place, kind) {
            ("LINE", _) => Self::Line(kind),
            ("START", _) => Self::Start(kind),
            ("STOP", _) => Self::Stop(kind),
            ("FUNCTION", Lines) => Self::Function,
            ("SOURCE", Branches) => Self::Source,
            ("WITHOUT_HIT", Branches) => Self::WithoutHit(behind),
            _ => return None,
        })
    }
}

/// The markers in a line of text, in their order.
fn markers_in(mut text: &str) -> impl Iterator<Item = Marker<'_>> {
    core::iter::from_fn(move || {
        loop {
            let place = text.find("COV")?;
            let before = text[..place].ends_with(['L', 'G']);
            text = &text[place + 3..];
            let rest = text.strip_prefix('R').unwrap_or(text);
            let Some(rest) = rest.strip_prefix('_').filter(|_| before) else { continue };
            let is_of_name = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
            let name = &rest[..rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len())];
            if let Some(marker) = Marker::of(name, &rest[name.len()..]) {
                return Some(marker);
            }
        }
    })
}

/// What a line of the preprocessor says.
fn pragma(text: &str) -> Option<Marker<'_>> {
    let mut words = text.trim_start().strip_prefix('#')?.split_whitespace();
    match [words.next()?, words.next()?, words.next()?, words.next()?] {
        ["pragma", "GCC", "suppress_coverage", "begin"] => Some(Marker::Start(Kind::Lines)),
        ["pragma", "GCC", "suppress_coverage", "end"] => Some(Marker::Stop(Kind::Lines)),
        _ => None,
    }
}

/// The numbers of `: 2/4`.
fn without_hit(text: &str) -> Option<(usize, usize)> {
    let text = text.strip_prefix(':')?.trim_start();
    let (missed, all) = text.split_once('/')?;
    let end = all.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(all.len());
    Some((missed.trim().parse().ok()?, all[..end].parse().ok()?))
}

impl Markers {
    /// The markers in the lines of a file.
    pub fn of<'t>(text: impl Iterator<Item = &'t str>) -> Self {
        let mut markers = Self::default();
        let mut open = [false; 3];
        let mut started = 0;
        for (number, text) in (1..).zip(text) {
            let mut here = open;
            for marker in markers_in(text).chain(pragma(text)) {
                match marker {
                    Marker::Line(kind) => here[kind as usize] = true,
                    Marker::Start(kind) => {
                        (here[kind as usize], open[kind as usize]) = (true, true);
                        started = number;
                    }
                    Marker::Stop(kind) => {
                        (here[kind as usize], open[kind as usize]) = (false, false)
                    }
                    Marker::Function => _ = markers.functions.insert(number),
                    Marker::Source => _ = markers.sources.insert(number),
                    Marker::WithoutHit(behind) => {
                        markers.without_hit.extend(without_hit(behind).map(|pair| (number, pair)));
                    }
                }
            }
            let sets = [&mut markers.lines, &mut markers.branches, &mut markers.exceptions];
            for (set, _) in sets.into_iter().zip(here).filter(|(_, is_in)| *is_in) {
                set.insert(number);
            }
        }
        markers.unclosed = open.contains(&true).then_some(started);
        markers
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl File {
    /// Leaves out what the markers of the source say.
    pub fn leave_out(&mut self, markers: &Markers) {
        let mut lines = markers.lines.clone();
        for function in self.functions.iter().filter(|f| markers.functions.contains(&f.line)) {
            // Lines without code do not matter.
            let own = self.lines.range(function.line..=function.end.max(function.line));
            lines.extend(own.map(|(&line, _)| line));
            lines.insert(function.line);
        }
        self.lines.retain(|line, _| !lines.contains(line));
        self.functions.retain(|function| !lines.contains(&function.line));
        let mut unhit = BTreeSet::new();
        for (&line, &expected) in &markers.without_hit {
            let own = self.branches.range((line, 0)..=(line, u32::MAX));
            let missed = own.clone().filter(|(_, branch)| is_missed(branch)).count();
            if (missed, own.count()) == expected {
                self.branches.retain(|place, branch| place.0 != line || !is_missed(branch));
                unhit.insert(line);
            }
        }
        self.branches.retain(|&(line, _), branch| {
            let is_excepted = branch.is_exception && markers.exceptions.contains(&line);
            let is_excepted = is_excepted || markers.sources.contains(&branch.leads_to);
            !(is_excepted || lines.contains(&line) || markers.branches.contains(&line))
        });
        self.decisions
            .retain(|&(line, _), _| !(lines.contains(&line) || markers.branches.contains(&line)));
        self.instances.leave_out(&lines, |line, is_hit| {
            let is_unhit = !is_hit && unhit.contains(&line);
            is_unhit || lines.contains(&line) || markers.branches.contains(&line)
        });
    }
}

fn is_missed(branch: &Branch) -> bool {
    branch.count.is_none_or(|count| count == 0)
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::coverage::Function;
    use crate::coverage::decisions::Decision;

    fn of(text: &str) -> Markers {
        Markers::of(text.lines())
    }

    #[test]
    fn names_of_markers() {
        for name in ["LCOV", "GCOV", "GCOVR", "LCOVR"] {
            let marker = alloc::format!("f(); /* {name}_EXCL_LINE: why */");
            assert_eq!(of(&marker).lines, BTreeSet::from([1]), "{marker}");
        }
        let others = "XCOV_EXCL_LINE COV_EXCL_LINE LCOV_EXCL_LINES LCOV_EXCL_ LCOV EXCL_LINE LCOV_EXCL_BR_FUNCTION";
        assert!(of(others).is_empty());
        assert!(of("").is_empty());
    }

    #[test]
    fn regions_end_before_their_stop() {
        let text =
            "a\nb // LCOV_EXCL_START\nc\nd // LCOV_EXCL_STOP\n// LCOV_EXCL_STOP LCOV_EXCL_LINE\nf";
        assert_eq!(of(text).lines, BTreeSet::from([2, 3, 5]));
        let pragmas =
            "a\n# pragma GCC suppress_coverage begin\nc\n#pragma GCC suppress_coverage end\ne";
        assert_eq!(of(pragmas).lines, BTreeSet::from([2, 3]));
        // Without an end, all that follows.
        assert_eq!(of("a\n// GCOVR_EXCL_BR_START\nc").branches, BTreeSet::from([2, 3]));
        let both =
            "// LCOV_EXCL_EXCEPTION_BR_START GCOV_EXCL_LINE\n\n// LCOV_EXCL_EXCEPTION_BR_STOP";
        assert_eq!(
            (of(both).exceptions, of(both).lines),
            (BTreeSet::from([1, 2]), BTreeSet::from([1]))
        );
    }

    #[test]
    fn branches_by_their_destination() {
        let mut file = File::default();
        for (line, leads_to) in [(3, 0), (4, 2), (5, 1)] {
            file.branches.insert((line, 0), Branch { leads_to, ..Branch::default() });
        }
        file.leave_out(&of("f\nstd::string s; // GCOVR_EXCL_BR_SOURCE"));
        let left: Vec<_> = file.branches.keys().map(|&(line, _)| line).collect();
        assert_eq!(left, [3, 5]);
    }

    #[test]
    fn what_is_left() {
        let text = "f // GCOVR_EXCL_FUNCTION\n2\n3\nbranches // LCOV_EXCL_BR_WITHOUT_HIT: 1/2\n\
                    others // LCOV_EXCL_BR_WITHOUT_HIT: 2/2 why\nthrows // LCOV_EXCL_EXCEPTION_BR_LINE";
        let function = |name: &str, line, end| Function {
            name: name.into(),
            line,
            end,
            count: 1,
            ..Function::default()
        };
        let branch = |count, is_exception| Branch { block: 0, count, is_exception, leads_to: 0 };
        let mut file = File {
            lines: (1..=6).map(|line| (line, 7)).collect(),
            functions: vec![function("f", 1, 3), function("g", 4, 6)],
            branches: [
                ((2, 0), branch(Some(1), false)),
                ((4, 0), branch(Some(1), false)),
                ((4, 1), branch(None, false)),
                ((5, 0), branch(Some(1), false)),
                ((5, 1), branch(Some(0), false)),
                ((6, 0), branch(Some(0), false)),
                ((6, 1), branch(Some(0), true)),
            ]
            .into(),
            ..File::default()
        };
        for line in 1..=6 {
            file.add_decision(line, 0, Decision::default());
        }
        file.leave_out(&of(text));
        assert_eq!(file.lines.keys().copied().collect::<Vec<_>>(), [4, 5, 6]);
        assert_eq!(file.functions, [function("g", 4, 6)]);
        let left: Vec<_> = file.branches.keys().copied().collect();
        assert_eq!(left, [(4, 0), (5, 0), (5, 1), (6, 0)]);
        let left: Vec<_> = file.decisions.keys().map(|&(line, _)| line).collect();
        assert_eq!(left, [4, 5, 6]);
    }
}
