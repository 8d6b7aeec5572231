//! A profile as a whole: its totals, its cutoffs, and a table of its functions.

use std::fmt::Write;
use std::prelude::v1::*;

use crate::cli::terminal::names::Names;
use crate::cli::terminal::percent;
use crate::cli::terminal::style::heat;
use crate::cli::terminal::table::Table;
use crate::convert::number::Number;
use crate::profile::{Profile, Summary, SymbolId};

/// The totals, in two lines.
pub fn totals(summary: &Summary) -> String {
    format!(
        "total count {}, largest {}, largest head count {}\n{}, {}\n",
        summary.total_count,
        summary.max_count,
        summary.max_function_count,
        Number(summary.functions, "function"),
        Number(summary.counts, "count"),
    )
}

/// How many counts carry which share of all, one line per cutoff.
pub fn cutoffs(summary: &Summary) -> String {
    let mut text = String::new();
    for cutoff in &summary.cutoffs {
        let share = f64::from(cutoff.share) / 10_000.0;
        let (counts, least) = (Number(cutoff.counts, "count"), cutoff.min_count);
        let _ = writeln!(text, "{share:9.4} % in {counts} of at least {least}");
    }
    text
}

/// The functions with their shares of all counts.
pub fn table(profile: &Profile, functions: &[SymbolId], summary: &Summary, names: Names) -> String {
    let mut table = Table::new(["share", "total", "head count", "first"]);
    let whole = match summary.total_count {
        // A summary has no place for more.
        u64::MAX => profile.functions.values().map(|function| function.body.total()).sum(),
        total => total.into(),
    };
    for symbol in functions {
        let Some(function) = profile.functions.get(symbol) else { continue };
        let total = function.body.total();
        let share = percent::share(total, whole);
        let first = match function.timestamp {
            0 => "-".to_owned(),
            timestamp => timestamp.to_string(),
        };
        let [total, head_count] =
            [total, function.head_count.into()].map(|number| number.to_string());
        table.push([percent::text(share), total, head_count, first], heat(share));
    }
    table.text("function", |row, room| names.fitting(&profile.symbols, functions[row], room))
}
