//! The errors as a table in Markdown, and as CSV.

use std::fmt::Write as _;

use crate::error::Sums;

/// A program, compared with one kind of truth.
pub struct Row {
    pub program: String,
    pub gcc: u32,
    /// Which truth.
    pub truth: &'static str,
    /// The share of executions that `convert` says stand at a wrong place.
    pub stated: f64,
    pub error: Sums,
}

/// A column: its title, its name in CSV, and its share in percent.
type Column = (&'static str, &'static str, fn(&Row) -> f64);

const COLUMNS: [Column; 7] = [
    ("compared", "compared", |row| percent(row.error.compared(), row.error.all)),
    ("estimates", "estimates", |row| percent(row.error.estimated, row.error.compared())),
    ("error", "error", |row| percent(row.error.excess(), row.error.compared())),
    ("stated", "stated", |row| row.stated * 100.0),
    ("of certain counts", "error_certain", |row| {
        percent(row.error.certain_excess, row.error.certain)
    }),
    ("of estimates", "error_estimates", |row| {
        percent(row.error.estimated_excess, row.error.estimated)
    }),
    ("absent", "absent", |row| percent(row.error.absent, row.error.truth)),
];

fn percent(part: u64, all: u64) -> f64 {
    part as f64 * 100.0 / all.max(1) as f64
}

/// Prints a row for each program, compiler and truth; all numbers are percent.
pub fn print(rows: &[Row]) {
    let titles: Vec<&str> = COLUMNS.iter().map(|(title, ..)| *title).collect();
    println!("| program | gcc | truth | {} |", titles.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(COLUMNS.len()));
    for row in rows {
        let cells: Vec<String> =
            COLUMNS.iter().map(|(.., share)| format!("{:.1}", share(row))).collect();
        println!("| {} | {} | {} | {} |", row.program, row.gcc, row.truth, cells.join(" | "));
    }
}

/// Prints how often each kind of estimate is wrong, by program and for all of a truth.
pub fn print_estimates(rows: &[Row]) {
    let mut sums = Sums::default();
    println!("| estimate | program | gcc | truth | executions | error |");
    println!("|---|---|---|---|---|---|");
    let print = |program: &str, gcc: &str, truth: &str, sums: &Sums| {
        let all = sums.compared().max(1) as f64;
        for (how, (executions, excess)) in &sums.by_estimate {
            let (share, error) = (executions * 100.0 / all, excess * 100.0 / executions.max(1.0));
            println!("| {how} | {program} | {gcc} | {truth} | {share:.1} | {error:.1} |");
        }
    };
    for row in rows {
        print(&row.program, &row.gcc.to_string(), row.truth, &row.error);
        // Each program has the same weight.
        let mut share = row.error.clone();
        let all = row.error.compared().max(1) as f64 / 1e9;
        share.by_estimate.values_mut().for_each(|sums| *sums = (sums.0 / all, sums.1 / all));
        if row.truth != "O0" {
            sums.add(&Sums {
                certain: 1_000_000_000,
                by_estimate: share.by_estimate,
                ..Sums::default()
            });
        }
    }
    print("**all**", "", "made, late", &sums);
}

pub fn print_rule_heads() {
    println!(
        "| without | program | gcc | moved | error with | error without | absent with | absent without | placed |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
}

/// Prints the share of executions that move without a rule, the errors with and without it, and the share that the
/// account then says is placed.
pub fn print_rule(
    rule: &str,
    program: &str,
    gcc: u32,
    moved: f64,
    (with, without): (&Sums, &Sums),
    placed: f64,
) {
    let error = |sums: &Sums| percent(sums.excess(), sums.compared());
    let absent = |sums: &Sums| percent(sums.absent, sums.truth);
    let shares =
        [moved * 100.0, error(with), error(without), absent(with), absent(without), placed * 100.0];
    let cells = shares.map(|share| format!("{share:.2}"));
    println!("| {rule} | {program} | {gcc} | {} |", cells.join(" | "));
}

/// The same as CSV.
pub fn record(rows: &[Row]) -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|(_, name, _)| *name).collect();
    let mut text = format!("program,gcc,truth,{}\n", names.join(","));
    for row in rows {
        write!(text, "\"{}\",{},{}", row.program, row.gcc, row.truth).unwrap();
        for (.., share) in COLUMNS {
            write!(text, ",{:.2}", share(row)).unwrap();
        }
        text.push('\n');
    }
    text
}
