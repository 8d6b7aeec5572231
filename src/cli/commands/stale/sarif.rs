//! The result as SARIF 2.1.0, for viewers of code: one result for each function with a loss, at its declaration.
//!
//! Source: OASIS Standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0". A log has runs; a run
//! has the tool with its rules, and results with a rule, a message and a location each.

use std::path::Path;
use std::prelude::v1::*;

use serde::Serialize;

use super::json::kind;
use super::text::message;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::names::{Names, text as lossy};
use crate::cli::terminal::percent;
use crate::staleness::{Judged, Verdict, What};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The kinds of reasons, each with its description.
const RULES: [(&str, &str); 10] = [
    ("gone", "The profile has counts of a function that the program does not have."),
    ("other-file", "The profile has counts of a function that is in another file now."),
    ("no-code", "The profile has counts of a function that has no code now."),
    (
        "undescribed",
        "The profile has counts of a function that the debug information does not describe.",
    ),
    ("moved", "Lines of the function moved, so counts of the profile belong to other lines."),
    ("open", "Lines of the function may have moved."),
    ("no-line", "The profile has counts of lines that have no code now."),
    ("no-call", "The profile has a call that the line does not make now."),
    ("control-flow", "The control flow of the function has changed."),
    ("no-notes", "The object of the function has no notes now."),
];

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<SarifResult>,
    properties: Totals,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    properties: Loss,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    logical_locations: [LogicalLocation; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Totals {
    executions: u64,
    fit: u64,
    share: f64,
}

#[derive(Serialize)]
struct Loss {
    executions: u64,
    lost: u64,
    share: f64,
}

/// The JSON of the log. `profile` is the file with the profile.
pub fn text(verdict: &Verdict, names: Names, profile: &Path) -> Result<String> {
    let rule = |&(id, text): &(&'static str, &str)| Rule { id, short_description: plain(text) };
    let driver = Driver {
        name: "countersink stale",
        version: env!("CARGO_PKG_VERSION"),
        rules: RULES.iter().map(rule).collect(),
    };
    let all = verdict.executions;
    let profile = profile.as_os_str().as_encoded_bytes();
    let result = |judged: &Judged| result(judged, all.all, names, profile);
    let results = verdict.functions.iter().filter_map(result);
    let run = Run {
        tool: Tool { driver },
        column_kind: "utf16CodeUnits",
        results: results.collect(),
        properties: Totals {
            executions: number(all.all),
            fit: number(all.fit),
            share: all.share(),
        },
    };
    let log = Log { schema: SCHEMA, version: "2.1.0", runs: [run] };
    Ok(serde_json::to_string_pretty(&log).map_err(Error::new)? + "\n")
}

/// The result of a function. Its rule is that of the heaviest loss.
fn result(judged: &Judged, all: u128, names: Names, profile: &[u8]) -> Option<SarifResult> {
    let heaviest = judged.reasons.first()?;
    let name = names.of(&lossy(&judged.name));
    let reasons: Vec<String> =
        judged.reasons.iter().map(|reason| message(&reason.what, names)).collect();
    let lost = judged.executions.all - judged.executions.fit;
    let fit = percent::text(judged.executions.share());
    let text = format!("{name}: {fit} of its executions fit: {}", reasons.join("; "));
    let rule_id = kind(&heaviest.what);
    Some(SarifResult {
        rule_id,
        rule_index: RULES.iter().position(|&(id, _)| id == rule_id)?,
        level: if matches!(heaviest.what, What::Open { .. } | What::Undescribed) {
            "note"
        } else {
            "warning"
        },
        message: plain(&text),
        locations: vec![location(judged, name, profile)],
        properties: Loss {
            executions: number(judged.executions.all),
            lost: number(lost),
            share: percent::share(lost, all),
        },
    })
}

/// Code hosts want a file and a line for each result. The profile stands for a file that nobody knows, and the first
/// line for the whole file.
fn location(judged: &Judged, name: String, profile: &[u8]) -> Location {
    let file = judged.file.as_deref().filter(|file| !file.is_empty());
    let line = judged.line.filter(|&line| line > 0 && file.is_some());
    Location {
        physical_location: PhysicalLocation {
            artifact_location: Artifact { uri: uri(file.unwrap_or(profile)) },
            region: Region { start_line: line.unwrap_or(1) },
        },
        logical_locations: [LogicalLocation { fully_qualified_name: name, kind: "function" }],
    }
}

/// A path as a URI reference: an absolute path gets `file://`, and bytes with another meaning in URIs are
/// percent-encoded.
fn uri(path: &[u8]) -> String {
    let scheme = if path.starts_with(b"/") { "file://" } else { "" };
    let byte = |&byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' | b'+' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    path.iter().map(byte).fold(scheme.to_owned(), |text, byte| text + &byte)
}

fn plain(text: &str) -> Message {
    Message { text: text.to_owned() }
}

fn number(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
