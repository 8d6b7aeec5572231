//! An object's notes, or its counters.

use std::fmt::Write;
use std::prelude::v1::*;

use crate::cli::terminal::names::text;
use crate::cli::terminal::visible::visible;
use crate::convert::number::Number;
use crate::formats::gcda::decode::Data;
use crate::formats::gcno::Notes;

/// What a `.gcda` file has.
pub fn gcda(data: &Data) -> String {
    let (runs, sum_max) = data.summary.unwrap_or_default();
    format!(
        "counters of {}, stamp {:#010x}, checksum {:#010x}\n{}, sum of largest arc counters \
         {sum_max}\n{}\n",
        data.version,
        data.stamp,
        data.checksum,
        Number(runs.into(), "run"),
        Number(data.functions.iter().flatten().count() as u64, "function"),
    )
}

/// What a `.gcno` file has.
pub fn gcno(notes: &Notes<'_>) -> String {
    let mut shown = format!(
        "notes of {}, stamp {:#010x}, in {}\n",
        notes.version,
        notes.stamp,
        visible(&text(notes.directory)),
    );
    for function in &notes.functions {
        let [name, source] =
            [function.name, notes.source(function)].map(|bytes| visible(&text(bytes)));
        let (start, end) = (function.start_line, function.end_line);
        let blocks = Number(function.blocks.into(), "block");
        let arcs = Number(notes.arcs(function).len() as u64, "arc");
        let _ = writeln!(shown, "{name}  {source}:{start}-{end}, {blocks}, {arcs}");
    }
    shown
}
