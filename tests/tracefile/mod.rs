//! lcov's tracefiles as maps, whatever the order of their lines. A line that several records have counts once, with
//! their sum, as in lcov's own tools.

#![allow(dead_code, reason = "every test uses some of it")]

use std::collections::BTreeMap;

/// A tracefile.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tracefile {
    /// By path.
    pub files: BTreeMap<String, File>,
}

/// What it has of one source file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct File {
    pub lines: BTreeMap<u32, u64>,
    /// By name: the line and the executions.
    pub functions: BTreeMap<String, (u32, u64)>,
    /// By line, block and number.
    pub branches: BTreeMap<(u32, u32, u32), Option<u64>>,
}

impl Tracefile {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        let mut all = Self::default();
        let mut path = String::new();
        for line in text.lines() {
            let (kind, rest) = line.split_once(':').unwrap_or((line, ""));
            if kind == "SF" {
                path = rest.to_owned();
            }
            all.files.entry(path.clone()).or_default().add(kind, rest);
        }
        // lcov also names files that have nothing.
        all.files.retain(|_, file| *file != File::default());
        all
    }

    /// The counts of all lines.
    pub fn lines(&self) -> Vec<u64> {
        self.files.values().flat_map(|file| file.lines.values().copied()).collect()
    }

    /// How many lines were not executed, or have a branch that was not taken.
    pub fn lines_missed(&self) -> usize {
        let is_missed = |file: &File, line: u32, count: u64| {
            let of_line = file.branches.range((line, 0, 0)..=(line, u32::MAX, u32::MAX));
            count == 0 || of_line.into_iter().any(|(_, taken)| taken.unwrap_or(0) == 0)
        };
        let missed = |file: &File| {
            file.lines.iter().filter(|&(&line, &count)| is_missed(file, line, count)).count()
        };
        self.files.values().map(missed).sum()
    }
}

impl File {
    fn add(&mut self, kind: &str, rest: &str) {
        let fields: Vec<&str> = rest.split(',').collect();
        let number = |place: usize| fields[place].parse::<u64>().unwrap();
        match kind {
            "DA" => *self.lines.entry(number(0) as u32).or_default() += number(1),
            "FN" => self.functions.entry(fields[1].into()).or_default().0 = number(0) as u32,
            "FNDA" => self.functions.entry(fields[1].into()).or_default().1 += number(0),
            "BRDA" => {
                let place = (number(0) as u32, number(1) as u32, number(2) as u32);
                let sum = self.branches.entry(place).or_default();
                if fields[3] != "-" {
                    *sum = Some(sum.unwrap_or(0) + number(3));
                }
            }
            _ => {}
        }
    }
}

/// Compares two tracefiles, and says where they differ first.
#[track_caller]
pub fn assert_same_lines(found: &Tracefile, expected: &Tracefile, about: &str) {
    assert!(!expected.lines().is_empty(), "{about}");
    for (path, expected) in &expected.files {
        let found = found.files.get(path).unwrap_or_else(|| panic!("{about}: no {path}"));
        same(&found.lines, &expected.lines, &format!("{about}: {path}: lines"));
        same(&found.functions, &expected.functions, &format!("{about}: {path}: functions"));
        same(&found.branches, &expected.branches, &format!("{about}: {path}: branches"));
    }
    let more: Vec<_> =
        found.files.keys().filter(|path| !expected.files.contains_key(*path)).collect();
    assert!(more.is_empty(), "{about}: {more:?}");
}

#[track_caller]
fn same<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    found: &BTreeMap<K, V>,
    expected: &BTreeMap<K, V>,
    about: &str,
) {
    let places: std::collections::BTreeSet<&K> = found.keys().chain(expected.keys()).collect();
    for place in places {
        let (found, expected) = (found.get(place), expected.get(place));
        assert!(found == expected, "{about}: {place:?}: found {found:?}, expected {expected:?}");
    }
}
