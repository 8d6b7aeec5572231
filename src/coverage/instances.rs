//! What each function of a file has, for tools that count lines and branches function by function.
//!
//! LLVM's do: a line of a closure counts for the closure and for the function around it, and so does a line with two
//! functions. Functions that start at the same character are instances of one function. It has as many
//! lines as the instance with the most:
//!
//! ```text
//! 3  let twice = numbers.map(|n| n * 2);      one line, but 2 in LLVM's total
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;

use super::Total;

/// The functions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instances {
    /// By their first character and the number that stands for their name. Functions of two programs may have one name,
    /// and other lines.
    functions: BTreeMap<(Start, u64), Vec<Instance>>,
}

/// The first character of a function: line and column.
pub type Start = (u32, u32);

/// What a function has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// Times it was entered.
    pub count: u64,
    /// Its lines with code, and whether they were executed.
    pub lines: Vec<(Range<u32>, bool)>,
    /// The line of each of its branches, and whether it was taken.
    pub branches: Vec<(u32, bool)>,
}

impl Instances {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Adds a function, or the counts of one that is known. `name` stands for its name.
    pub fn add(&mut self, start: Start, name: u64, instance: Instance) {
        let known = self.functions.entry((start, name)).or_default();
        match known.iter_mut().find(|known| known.has_lines_of(&instance)) {
            Some(known) => known.add(&instance),
            None => known.push(instance),
        }
    }

    /// Adds those of another program.
    pub fn add_all(&mut self, others: Self) {
        for ((start, name), instances) in others.functions {
            for instance in instances {
                self.add(start, name, instance);
            }
        }
    }

    /// Leaves out lines, with the functions that start there, and the branches for which `is_out` says so.
    pub fn leave_out(&mut self, lines: &BTreeSet<u32>, is_out: impl Fn(u32, bool) -> bool) {
        self.functions.retain(|&((line, _), _), _| !lines.contains(&line));
        for instance in self.functions.values_mut().flatten() {
            let runs = core::mem::take(&mut instance.lines).into_iter();
            instance.lines = runs.flat_map(|(run, hit)| without(run, lines, hit)).collect();
            instance.branches.retain(|&(line, hit)| !is_out(line, hit));
        }
    }

    /// The numbers of functions, lines and branches.
    pub fn totals(&self) -> [Total; 3] {
        let [mut functions, mut lines, mut branches] = [Total::default(); 3];
        let all: Vec<(Start, &Vec<Instance>)> =
            self.functions.iter().map(|((start, _), instances)| (*start, instances)).collect();
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            let group = || group.iter().flat_map(|(_, instances)| instances.iter());
            functions.add(group().fold(0u64, |sum, instance| sum.saturating_add(instance.count)));
            lines += most(group().map(Instance::lines));
            branches += most(group().map(Instance::branches));
        }
        [functions, lines, branches]
    }
}

/// The parts of a run of lines that are not among these.
fn without(run: Range<u32>, lines: &BTreeSet<u32>, hit: bool) -> Vec<(Range<u32>, bool)> {
    let mut parts = Vec::new();
    let mut start = run.start;
    for &line in lines.range(run.clone()) {
        parts.push((start..line, hit));
        start = line.saturating_add(1);
    }
    parts.push((start..run.end, hit));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

fn most(totals: impl Iterator<Item = Total>) -> Total {
    totals.fold(Total::default(), |most, total| Total {
        found: most.found.max(total.found),
        hit: most.hit.max(total.hit),
    })
}

impl Instance {
    fn has_lines_of(&self, other: &Self) -> bool {
        let same_lines =
            self.lines.iter().map(|(run, _)| run).eq(other.lines.iter().map(|(run, _)| run));
        let branches = self.branches.iter().map(|(line, _)| line);
        same_lines && branches.eq(other.branches.iter().map(|(line, _)| line))
    }

    fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        for ((_, hit), (_, more)) in self.lines.iter_mut().zip(&other.lines) {
            *hit |= more;
        }
        for ((_, hit), (_, more)) in self.branches.iter_mut().zip(&other.branches) {
            *hit |= more;
        }
    }

    fn lines(&self) -> Total {
        let mut total = Total::default();
        for (run, hit) in &self.lines {
            total.add_all(run.len() as u64, (*hit).into());
        }
        total
    }

    fn branches(&self) -> Total {
        Total::of(self.branches.iter().map(|&(_, hit)| hit.into()))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn instance(count: u64, lines: &[(Range<u32>, bool)]) -> Instance {
        Instance { count, lines: lines.to_vec(), branches: vec![(3, count > 0), (4, false)] }
    }

    /// A function of lines 1 to 9, and a closure of line 3, which another program has, too.
    fn with_a_closure() -> Instances {
        let mut all = Instances::default();
        all.add((1, 1), 1, instance(1, &[(1..5, true), (5..10, false)]));
        all.add((3, 9), 2, instance(0, &[(3..4, false)]));
        all
    }

    fn total(found: u64, hit: u64) -> Total {
        Total { found, hit }
    }

    #[test]
    fn a_line_counts_for_each_function() {
        assert_eq!(with_a_closure().totals(), [total(2, 1), total(10, 4), total(4, 1)]);
    }

    #[test]
    fn programs_add_up() {
        let mut all = with_a_closure();
        let mut other = Instances::default();
        other.add((3, 9), 2, instance(7, &[(3..4, true)]));
        all.add_all(other);
        assert_eq!(all.totals(), [total(2, 2), total(10, 5), total(4, 2)]);
        // The same name with other lines is another instance. The larger of both counts.
        let mut changed = Instances::default();
        changed.add((3, 9), 2, instance(1, &[(3..6, true)]));
        all.add_all(changed);
        assert_eq!(all.totals(), [total(2, 2), total(12, 7), total(4, 2)]);
    }

    #[test]
    fn lines_that_are_left_out() {
        let mut all = with_a_closure();
        all.leave_out(&[4, 7].into(), |line, _| line == 4);
        assert_eq!(all.totals(), [total(2, 1), total(8, 3), total(2, 1)]);
        all.leave_out(&[3].into(), |_, _| false);
        assert_eq!(all.totals(), [total(1, 1), total(6, 2), total(1, 1)]);
    }
}
