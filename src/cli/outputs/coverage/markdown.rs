//! A review as Markdown: tables of files, least covered first.

use std::cmp::Ordering;
use std::fmt::Write;
use std::prelude::v1::*;

use super::review::{Review, Reviewed, Runs};
use crate::cli::terminal::markdown::code;
use crate::convert::number::Number;
use crate::coverage::{Total, Totals};

/// The runs of lines of a file that are listed.
const MOST_RUNS: usize = 20;

/// The columns of the tables of totals.
struct Columns(Vec<(&'static str, Of)>);

/// What a column shows of a file.
type Of = fn(&Totals) -> Total;

/// The text.
pub fn text(review: &Review) -> String {
    let columns = Columns::of(review);
    let mut text = format!("### Coverage\n\n{}", columns.titles());
    let files = Number(review.files.len() as u64, "file");
    text += &columns.row(&files.to_string(), &review.totals, review.before.as_ref());
    if let Some(changed) = review.changed {
        changed_lines(review, changed, &mut text);
    }
    runs("No longer executed", review, |file| &file.lost, &mut text);
    if review.changed.is_none() {
        let title =
            if review.before.is_some() { "Not executed in new files" } else { "Not executed" };
        runs(title, review, |file| &file.missed, &mut text);
    }
    all_files(review, &columns, &mut text);
    text
}

/// The lines that changed, by file.
fn changed_lines(review: &Review, changed: Total, text: &mut String) {
    let Total { found, hit } = changed;
    *text += "\n#### Changed lines\n\n";
    let _ = match found {
        0 => writeln!(text, "No changed line has code."),
        _ => writeln!(
            text,
            "{hit} of {found} changed lines with code were executed, {}.",
            share(changed)
        ),
    };
    let mut files: Vec<&Reviewed> =
        review.files.iter().filter(|file| file.changed.found > 0).collect();
    files.sort_by(|a, b| by_share(a.changed, b.changed));
    if !files.is_empty() {
        *text += "\n| file | executed | not executed |\n|---|---:|---|\n";
    }
    for Reviewed { path, changed, missed, .. } in files {
        let Total { found, hit } = changed;
        let _ = writeln!(text, "| {} | {hit} of {found} | {} |", code(path), lines(missed));
    }
    if !review.without.is_empty() {
        let names: Vec<String> = review.without.iter().map(|path| code(path)).collect();
        let _ = writeln!(text, "\nChanged sources without coverage: {}.", names.join(", "));
    }
}

/// Runs of lines, by file.
fn runs(title: &str, review: &Review, of: impl Fn(&Reviewed) -> &Runs, text: &mut String) {
    let mut files = review.files.iter().filter(|file| !of(file).is_empty()).peekable();
    if files.peek().is_some() {
        let _ = write!(text, "\n#### {title}\n\n| file | lines |\n|---|---|\n");
    }
    for file in files {
        let _ = writeln!(text, "| {} | {} |", code(&file.path), lines(of(file)));
    }
}

/// The files with their totals: all, or those whose totals are not those of before. A review of changed lines alone has
/// said enough.
fn all_files(review: &Review, columns: &Columns, text: &mut String) {
    let is_compared = review.before.is_some();
    if review.changed.is_some() && !is_compared {
        return;
    }
    let is_shown = |file: &&Reviewed| match (&file.before, &review.before) {
        (Some(before), Some(all)) => columns.differ(&file.totals, before, all),
        _ => true,
    };
    let mut files: Vec<&Reviewed> = review.files.iter().filter(is_shown).collect();
    files.sort_by(|a, b| by_share(a.totals.lines, b.totals.lines));
    if files.is_empty() && review.gone.is_empty() {
        return;
    }
    let title = if is_compared { "Files with other totals" } else { "Files" };
    let _ = write!(text, "\n#### {title}\n\n{}", columns.titles());
    for file in files {
        let new = if is_compared && file.before.is_none() { ", new" } else { "" };
        *text += &columns.row(&(code(&file.path) + new), &file.totals, file.before.as_ref());
    }
    for (path, before) in &review.gone {
        *text += &columns.line(&(code(path) + ", gone"), |of| cell_before(of(before)));
    }
}

impl Columns {
    /// Lines, branches and functions, and conditions and prime paths if there are any.
    fn of(review: &Review) -> Self {
        let mut columns: Vec<(&'static str, Of)> = vec![
            ("lines", |totals| totals.lines),
            ("branches", |totals| totals.branches),
            ("functions", |totals| totals.functions),
        ];
        let all = [Some(&review.totals), review.before.as_ref()];
        if all.into_iter().flatten().any(|totals| totals.conditions.found > 0) {
            columns.push(("conditions", |totals| totals.conditions));
        }
        if all.into_iter().flatten().any(|totals| totals.paths.found > 0) {
            columns.push(("prime paths", |totals| totals.paths));
        }
        Self(columns)
    }

    fn titles(&self) -> String {
        let names: String = self.0.iter().map(|(name, _)| format!(" {name} |")).collect();
        format!("| |{names}\n|---|{}\n", "---:|".repeat(self.0.len()))
    }

    fn line(&self, name: &str, cell: impl Fn(Of) -> String) -> String {
        let cells: String = self.0.iter().map(|(_, of)| format!(" {} |", cell(*of))).collect();
        format!("| {name} |{cells}\n")
    }

    fn row(&self, name: &str, now: &Totals, before: Option<&Totals>) -> String {
        self.line(name, |of| cell(of(now), before.map(of)))
    }

    /// Whether totals are not those of before. What the whole base does not have does not matter.
    fn differ(&self, now: &Totals, before: &Totals, all_before: &Totals) -> bool {
        let has = |of: Of| of(all_before).found > 0;
        self.0.iter().any(|&(_, of)| has(of) && of(now) != of(before))
    }
}

/// `88.3 % (+1.2) of 60`.
fn cell(now: Total, before: Option<Total>) -> String {
    if now.found == 0 {
        return "-".into();
    }
    let difference = before.filter(|before| before.found > 0).map(|before| {
        let difference = format!("{:+.1}", percent(now) - percent(before));
        if matches!(&*difference, "+0.0" | "-0.0") {
            String::new()
        } else {
            format!(" ({difference})")
        }
    });
    format!("{}{} of {}", share(now), difference.unwrap_or_default(), now.found)
}

fn cell_before(total: Total) -> String {
    if total.found == 0 { "-".into() } else { format!("was {} of {}", share(total), total.found) }
}

fn percent(Total { found, hit }: Total) -> f64 {
    hit as f64 * 100.0 / found as f64
}

/// A share in percent. Only all is 100, and only nothing is 0.
fn share(total: Total) -> String {
    let is_part = total.hit > 0 && total.hit < total.found;
    let percent = if is_part { percent(total).clamp(0.1, 99.9) } else { percent(total) };
    format!("{percent:.1} %")
}

/// Smaller shares first, then those that miss more.
fn by_share(a: Total, b: Total) -> Ordering {
    let share = |total: Total| if total.found == 0 { 100.0 } else { percent(total) };
    let missed = |total: Total| total.found - total.hit;
    share(a).total_cmp(&share(b)).then(missed(b).cmp(&missed(a)))
}

/// `3, 7-9`.
fn lines(runs: &Runs) -> String {
    let text = |run: &std::ops::RangeInclusive<u32>| match (run.start(), run.end()) {
        (start, end) if start == end => start.to_string(),
        (start, end) => format!("{start}-{end}"),
    };
    let mut shown: Vec<String> = runs.iter().take(MOST_RUNS).map(text).collect();
    if let more @ 1.. = runs.len().saturating_sub(MOST_RUNS) {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_runs() {
        let total = |hit, found| Total { found, hit };
        let shares = [total(0, 9), total(1, 10_000), total(9999, 10_000), total(3, 3)].map(share);
        assert_eq!(shares, ["0.0 %", "0.1 %", "99.9 %", "100.0 %"]);
        assert_eq!(cell(total(1, 2), Some(total(1, 4))), "50.0 % (+25.0) of 2");
        assert_eq!(cell(total(1, 2), Some(total(2, 4))), "50.0 % of 2");
        assert_eq!(cell(total(0, 0), Some(total(2, 4))), "-");
        assert_eq!(lines(&vec![3..=3, 7..=9]), "3, 7-9");
        assert!(lines(&(1..30).map(|line| 2 * line..=2 * line).collect()).ends_with("40, 9 more"));
    }
}
