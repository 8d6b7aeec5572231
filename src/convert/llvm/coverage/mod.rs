//! Line coverage from a program's coverage mapping and its counters, with the counts that `llvm-cov` gives.
//!
//! | step | where |
//! |---|---|
//! | which of several mappings of a function counts, and the counts of its regions | `counted` |
//! | which count holds from which character of a file on | `segments` |
//! | counts of lines | `lines` |
//! | counts of branches | `branches` |
//! | decisions and their conditions | `decisions` |
//! | what each function has, for the totals | `instances` |
//! | counts at positions of functions, for compilers | `positions` |
//!
//! A file's counts come from all functions with text in it. Regions that cover the same characters are added: these are
//! the instances of a template, and the uses of a macro. With single-byte coverage each of them counts once if it was
//! executed, as in `llvm-cov` of LLVM 22; that of LLVM 19 gives such a sum as 1.

mod branches;
mod counted;
mod decisions;
mod instances;
mod lines;
mod positions;
mod segments;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::counters::Profile;
use crate::coverage::decisions::Decision;
use crate::coverage::{Coverage, File, Function};
use crate::formats::coverage_mapping::{Mapping, Place};
use crate::formats::profraw::names::Names;

pub use counted::Left;
use counted::{Counted, counted};
pub use positions::{Positioned, positions};
use segments::Segment;

/// Line coverage, and what is not in it.
#[derive(Clone, Debug, Default)]
pub struct Converted {
    /// The coverage.
    pub coverage: Coverage,
    /// Functions in it.
    pub functions: usize,
    /// Functions that are left out.
    pub left: Left,
    /// Functions whose counters contradict each other: a count that is derived from others was below 0, and is 0.
    pub torn: Vec<Vec<u8>>,
    /// Functions whose decisions are left out: their bitmap does not fit them.
    pub without_decisions: usize,
}

/// Lines that a mapping may have anyway, see [`LINES_PER_REGION`].
const LEAST_LINES: usize = 1 << 20;
/// Lines that each region of a mapping may add.
const LINES_PER_REGION: usize = 1 << 10;

/// The regions claim more lines than any source of their number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("coverage mapping: more than {most} lines, so it is damaged")]
pub struct TooManyLines {
    /// How many there may be.
    pub most: usize,
}

/// The coverage of a program with this mapping and these names.
pub fn coverage(
    mapping: &Mapping,
    names: &[Names],
    profile: &Profile,
) -> Result<Converted, TooManyLines> {
    let (functions, left) = counted(mapping, names, profile);
    let mut lines = Lines::of_mapping(mapping);
    let mut coverage = Coverage::default();
    for (file, functions) in by_file(&functions, mapping.files.len()) {
        let path = &mapping.files[file as usize];
        coverage.files.insert(path.clone(), of_file(file, &functions, &mut lines)?);
    }
    let torn = counted::torn(&functions);
    let without_decisions =
        functions.iter().filter(|function| function.decisions.is_none()).count();
    Ok(Converted { coverage, functions: functions.len(), left, torn, without_decisions })
}

/// How many lines there may still be.
struct Lines {
    most: usize,
    left: usize,
}

impl Lines {
    /// As many as the regions of a mapping justify.
    fn of_mapping(mapping: &Mapping) -> Self {
        let regions: usize = mapping.functions.iter().map(|function| function.regions.len()).sum();
        let most = LEAST_LINES.saturating_add(regions.saturating_mul(LINES_PER_REGION));
        Self { most, left: most }
    }

    /// Takes some.
    fn take(&mut self, number: usize) -> Result<(), TooManyLines> {
        self.left = self.left.checked_sub(number).ok_or(TooManyLines { most: self.most })?;
        Ok(())
    }

    /// The lines of these segments.
    fn of(&mut self, segments: &[Segment]) -> Result<BTreeMap<u32, u64>, TooManyLines> {
        let mut all = BTreeMap::new();
        for (run, count) in lines::lines(segments) {
            self.take(run.len())?;
            all.extend(run.map(|line| (line, count)));
        }
        Ok(all)
    }
}

/// The functions with text in each file.
fn by_file<'c, 'm>(functions: &'c [Counted<'m>], files: usize) -> Vec<(u32, Vec<&'c Counted<'m>>)> {
    let mut all: HashMap<u32, Vec<&Counted<'m>>> = HashMap::with_capacity(files);
    for function in functions {
        let mut own = function.mapping.files.clone();
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|file| all.entry(file).or_default().push(function));
    }
    all.into_iter().collect()
}

fn of_file(file: u32, functions: &[&Counted<'_>], lines: &mut Lines) -> Result<File, TooManyLines> {
    let regions = functions.iter().flat_map(|function| function.regions_in(file));
    let segments = segments::segments(regions.copied().collect());
    let function = |function: &&&Counted<'_>| Function {
        name: function.name.to_vec(),
        line: function.regions.first().map_or(0, |region| region.start.line),
        end: function.regions.first().map_or(0, |region| region.end.line),
        count: function.count,
        paths: Vec::new(),
    };
    let starts_here = |function: &&&Counted<'_>| function.mapping.files.first() == Some(&file);
    let mut of_file = File {
        lines: lines.of(&segments)?,
        functions: functions.iter().filter(starts_here).map(|f| function(&f)).collect(),
        branches: branches::branches(file, functions),
        instances: instances::instances(file, functions),
        has_instances: true,
        ..File::default()
    };
    add_decisions(file, functions, &mut of_file);
    Ok(of_file)
}

/// Adds the decisions of functions. Those that start at the same character and have as many conditions are instances of
/// one: of a template, or of a macro.
fn add_decisions(file: u32, functions: &[&Counted<'_>], of_file: &mut File) {
    let mut places = BTreeMap::<Place, Vec<&Decision>>::new();
    for function in functions {
        let all = function.decisions.iter().flatten();
        for placed in all.filter(|placed| function.is_in(placed.file, file)) {
            places.entry(placed.start).or_default().push(&placed.decision);
        }
    }
    let (mut line, mut number) = (0, 0);
    for (place, decisions) in places {
        if place.line != line {
            (line, number) = (place.line, 0);
        }
        for decision in decisions {
            of_file.add_decision(line, number, decision.clone());
        }
        number = of_file.decisions.range((line, 0)..=(line, u32::MAX)).count() as u32;
    }
}
