//! Runs of lines that were not executed, as people read them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::File;

impl File {
    /// The lines that were not executed, of those that are asked for: from the first to the last one of each run. Lines
    /// without code do not end a run, other lines do.
    pub fn missed(&self, is_asked: impl Fn(u32) -> bool) -> Vec<RangeInclusive<u32>> {
        let mut runs: Vec<RangeInclusive<u32>> = Vec::new();
        let mut is_open = false;
        for (&line, &count) in &self.lines {
            let is_missed = count == 0 && is_asked(line);
            match runs.last_mut().filter(|_| is_open && is_missed) {
                Some(run) => *run = *run.start()..=line,
                None if is_missed => runs.push(line..=line),
                None => {}
            }
            is_open = is_missed;
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_lines() {
        let lines = [(2, 0), (4, 0), (5, 1), (6, 0), (7, 0), (9, 0), (10, 3)];
        let file = File { lines: lines.into(), ..File::default() };
        assert_eq!(file.missed(|_| true), [2..=4, 6..=9]);
        assert_eq!(file.missed(|line| line != 7), [2..=4, 6..=6, 9..=9]);
        assert_eq!(file.missed(|line| line == 5), []);
    }
}
