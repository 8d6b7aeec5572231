//! A review as annotations of GitHub Actions: a line for each run of lines, which the job prints.
//!
//! ```text
//! ::warning file=src/prog.c,line=12,endLine=14,title=Not covered::Lines 12 to 14 were not executed
//! ```
//!
//! `%` and ends of lines are written as `%25`, `%0D` and `%0A`; in what stands before the second `::`, also `:` and `,`
//! as `%3A` and `%2C`. GitHub shows the first ten annotations of a step, so the longest runs come first.
//!
//! Source: "Workflow commands for GitHub Actions" of GitHub's documentation.

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::prelude::v1::*;

use super::review::Review;

/// The annotations.
pub fn text(review: &Review) -> String {
    let mut runs: Vec<(&str, &RangeInclusive<u32>, bool)> = Vec::new();
    for file in &review.files {
        runs.extend(file.missed.iter().map(|run| (&*file.path, run, false)));
        runs.extend(file.lost.iter().map(|run| (&*file.path, run, true)));
    }
    let length = |run: &RangeInclusive<u32>| run.end() - run.start();
    // Stable: by file and line where the lengths are equal.
    runs.sort_by_key(|&(_, run, _)| std::cmp::Reverse(length(run)));
    let mut text = String::new();
    for (path, run, is_lost) in runs {
        let (start, end) = (run.start(), run.end());
        let title = if is_lost { "No longer covered" } else { "Not covered" };
        let (lines, verb) = match start == end {
            true => (format!("Line {start}"), if is_lost { "is" } else { "was" }),
            false => (format!("Lines {start} to {end}"), if is_lost { "are" } else { "were" }),
        };
        let what = if is_lost { "not executed any more" } else { "not executed" };
        let path = property(path);
        let _ = writeln!(
            text,
            "::warning file={path},line={start},endLine={end},title={title}::{lines} {verb} {what}"
        );
    }
    text
}

/// A value before the message.
fn property(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '%' | '\r' | '\n' | ':' | ',' => {
                let _ = write!(escaped, "%{:02X}", u32::from(letter));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::outputs::coverage::review::Reviewed;
    use crate::coverage::{Total, Totals};

    #[test]
    fn one_line_for_each_run() {
        let (totals, changed) = (Totals::default(), Total::default());
        let file = |path: &str, missed, lost| Reviewed {
            path: path.into(),
            totals,
            before: None,
            changed,
            missed,
            lost,
        };
        let files = vec![
            file("a.c", vec![3..=3], vec![7..=9]),
            file("odd,50%:\n.c", vec![1..=4], vec![2..=2]),
        ];
        let (gone, without) = (Vec::new(), Vec::new());
        let review = Review { files, gone, totals, before: None, changed: None, without };
        let expected = "\
::warning file=odd%2C50%25%3A%0A.c,line=1,endLine=4,title=Not covered::Lines 1 to 4 were not executed
::warning file=a.c,line=7,endLine=9,title=No longer covered::Lines 7 to 9 are not executed any more
::warning file=a.c,line=3,endLine=3,title=Not covered::Line 3 was not executed
::warning file=odd%2C50%25%3A%0A.c,line=2,endLine=2,title=No longer covered::Line 2 is not executed any more
";
        assert_eq!(text(&review), expected);
    }
}
