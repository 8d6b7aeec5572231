//! The result as text for people, and the words of each reason.

use std::prelude::v1::*;

use crate::cli::terminal::names::{Names, text as lossy};
use crate::cli::terminal::percent;
use crate::cli::terminal::style::heat;
use crate::cli::terminal::table::Table;
use crate::cli::terminal::visible::visible;
use crate::convert::gcov::statistics::Amount;
use crate::convert::number::Number;
use crate::staleness::judgement::Tally;
use crate::staleness::{Judged, Reason, Verdict, What};

/// Most reasons of a function in the text.
const REASONS: usize = 4;
/// The indentation of a reason.
const INDENT: &str = "        ";

/// The text, with the `top` functions with the heaviest losses.
pub fn text(verdict: &Verdict, names: Names, top: usize) -> String {
    let mut text = line(verdict.executions, "executions");
    if verdict.calls.all > 0 {
        text += &line(verdict.calls, "calls of known targets");
    }
    let is_lossy = |judged: &&Judged| !judged.reasons.is_empty();
    let lossy: Vec<&Judged> = verdict.functions.iter().filter(is_lossy).collect();
    let all = verdict.functions.iter().filter(|judged| judged.executions.all > 0).count();
    let number = Number(lossy.len() as u64, "function");
    match lossy.len() {
        0 => text += "no function has counts that do not fit\n",
        _ => text += &format!("{number} of {all} executed with counts that do not fit\n"),
    }
    let mut table = Table::new(["lost", "of it fits"]);
    for judged in lossy.iter().take(top) {
        let lost = judged.executions.all - judged.executions.fit;
        let share = percent::share(lost, verdict.executions.all);
        let fit = percent::text(judged.executions.share());
        table.push([percent::text(share), fit], heat(share));
    }
    text += &table.text("function", |row, room| {
        let judged = lossy[row];
        name(judged, names, room) + &reasons(judged, names)
    });
    text
}

fn line(tally: Tally, what: &str) -> String {
    let amount = Amount(u64::try_from(tally.all).unwrap_or(u64::MAX));
    let mut line = format!("{} of {amount} {what} fit", percent::text(tally.share()));
    if tally.open > 0 {
        let open = percent::share(tally.open, tally.all);
        line += &format!(", {} may fit", percent::text(open));
    }
    line + "\n"
}

fn name(judged: &Judged, names: Names, room: Option<usize>) -> String {
    let file = judged.file.as_deref().map(lossy).unwrap_or_default();
    let place = match (&*file, judged.line) {
        ("", _) => String::new(),
        (file, Some(line)) => format!(" ({}:{line})", visible(file)),
        (file, None) => format!(" ({})", visible(file)),
    };
    match &*judged.name {
        [] => names.short(&file, "", room),
        name => names.short(&lossy(name), &place, room),
    }
}

fn reasons(judged: &Judged, names: Names) -> String {
    let reason = |reason: &Reason| {
        let amount = Amount(u64::try_from(reason.executions).unwrap_or(u64::MAX));
        format!("\n{INDENT}{amount}: {}", message(&reason.what, names))
    };
    let mut text: String = judged.reasons.iter().take(REASONS).map(reason).collect();
    if let Some(more @ 1..) = judged.reasons.len().checked_sub(REASONS) {
        text += &format!("\n{INDENT}{} more", Number(more as u64, "reason"));
    }
    text
}

/// A reason in words.
pub fn message(what: &What, names: Names) -> String {
    let shown = |name: &[u8]| visible(&names.of(&lossy(name)));
    match what {
        What::Gone { like: None } => "no function has this name".into(),
        What::Gone { like: Some(name) } => {
            format!("no function has this name; {} has such lines", shown(name))
        }
        What::OtherFile(file) => format!("the function is in {} now", visible(&lossy(file))),
        What::Undescribed => "not compared: the debug information does not describe it".into(),
        What::NoCode => "the function is declared, but has no code".into(),
        &What::Moved { from, by } => {
            let way = if by < 0 { "up" } else { "down" };
            let lines = Number(by.unsigned_abs(), "line");
            format!("from {from:+} on, lines moved {way} by {lines}")
        }
        What::Open { from } => format!("from {from:+} on, lines may have moved"),
        What::NoLine { from } => format!("lines without code, the first at {from:+}"),
        What::NoCall { line, callee } => format!("{line:+} does not call {}", shown(callee)),
        What::Graph => "the control flow is another one".into(),
        What::NoNotes => "the object has no notes now".into(),
    }
}
