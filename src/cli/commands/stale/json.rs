//! The result as JSON. The help of the command documents the schema.

use std::prelude::v1::*;

use serde::Serialize;

use super::text::message;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::names::{Names, text as lossy};
use crate::staleness::judgement::Tally;
use crate::staleness::{Judged, Reason, Verdict, What};

#[derive(Serialize)]
struct StaleJson {
    format: &'static str,
    version: u32,
    share: f64,
    executions: TallyJson,
    calls: TallyJson,
    functions: Vec<FunctionJson>,
}

#[derive(Serialize)]
struct TallyJson {
    all: u64,
    fit: u64,
    open: u64,
}

#[derive(Serialize)]
struct FunctionJson {
    name: String,
    file: Option<String>,
    line: Option<u32>,
    executions: TallyJson,
    calls: TallyJson,
    reasons: Vec<ReasonJson>,
}

#[derive(Serialize)]
struct ReasonJson {
    kind: &'static str,
    executions: u64,
    line: Option<i64>,
    by: Option<i64>,
    name: Option<String>,
    message: String,
}

impl From<Tally> for TallyJson {
    fn from(Tally { all, fit, open }: Tally) -> Self {
        Self { all: number(all), fit: number(fit), open: number(open) }
    }
}

/// The JSON.
pub fn text(verdict: &Verdict, names: Names) -> Result<String> {
    let json = StaleJson {
        format: "countersink-stale",
        version: 1,
        share: verdict.executions.share(),
        executions: verdict.executions.into(),
        calls: verdict.calls.into(),
        functions: verdict.functions.iter().map(|judged| function(judged, names)).collect(),
    };
    Ok(serde_json::to_string_pretty(&json).map_err(Error::new)? + "\n")
}

fn function(judged: &Judged, names: Names) -> FunctionJson {
    FunctionJson {
        name: names.of(&lossy(&judged.name)),
        file: judged.file.as_deref().map(lossy),
        line: judged.line,
        executions: judged.executions.into(),
        calls: judged.calls.into(),
        reasons: judged.reasons.iter().map(|reason| reason_json(reason, names)).collect(),
    }
}

fn reason_json(reason: &Reason, names: Names) -> ReasonJson {
    let what = &reason.what;
    let line = match *what {
        What::Moved { from, .. } | What::Open { from } | What::NoLine { from } => Some(from),
        What::NoCall { line, .. } => Some(line),
        _ => None,
    };
    let name = match what {
        What::Gone { like: Some(name) } | What::NoCall { callee: name, .. } => Some(name),
        What::OtherFile(file) => Some(file),
        _ => None,
    };
    ReasonJson {
        kind: kind(what),
        executions: number(reason.executions),
        line,
        by: if let What::Moved { by, .. } = *what { Some(by) } else { None },
        name: name.map(|name| names.of(&lossy(name))),
        message: message(what, names),
    }
}

/// The name of a reason's kind, in JSON and SARIF.
pub const fn kind(what: &What) -> &'static str {
    match what {
        What::Gone { .. } => "gone",
        What::OtherFile(_) => "other-file",
        What::Undescribed => "undescribed",
        What::NoCode => "no-code",
        What::Moved { .. } => "moved",
        What::Open { .. } => "open",
        What::NoLine { .. } => "no-line",
        What::NoCall { .. } => "no-call",
        What::Graph => "control-flow",
        What::NoNotes => "no-notes",
    }
}

fn number(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
