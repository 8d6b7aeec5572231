//! The sections or parts of a file.

use std::fmt::Write;
use std::prelude::v1::*;

use crate::cli::inputs::input::{Format, Input};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::formats::afdo_v4::check::Part;
use crate::formats::{afdo_v1_v3, afdo_v4, llvm_sample};
use crate::raw;
use crate::raw::dump::Dump;

/// Their places, sizes and kinds, one line each.
pub fn sections(input: &Input) -> Result<String> {
    let mut text = String::new();
    match input.format {
        Format::Dump => {
            let sum = input.decoded_dump().map(Dump::to_bytes);
            let bytes = sum.as_ref().unwrap_or(&input.bytes);
            for (offset, kind, length) in raw::dump::sections(bytes).about(&input.name)? {
                let _ = writeln!(text, "{offset:#10x} {length:8} {}", kind.name());
            }
        }
        Format::V4 => {
            let table =
                afdo_v4::table::Table::decode(&input.bytes, &mut |_| {}).about(&input.name)?;
            for section in table.by_offset() {
                let outside = || "outside the file".into();
                let kind =
                    section.kind.map_or_else(outside, |kind| Part::Section(kind).to_string());
                let compact = if section.compact { " compact" } else { "" };
                let _ = writeln!(text, "{:#10x} {:8} {kind}{compact}", section.start, section.size);
            }
        }
        Format::V1V3(_) => {
            let parts = afdo_v1_v3::decode::decode(&input.bytes).about(&input.name)?.parts;
            let ends = parts.iter().skip(1).map(|&(_, start)| start);
            for (&(part, start), end) in parts.iter().zip(ends.chain([input.bytes.len() as u64])) {
                let _ = writeln!(text, "{start:#10x} {:8} {part}", end - start);
            }
        }
        Format::Sample => {
            for section in llvm_sample::open::sections(&input.bytes).about(&input.name)? {
                let part = section.part.map_or("unknown".into(), |part| part.to_string());
                let flags = section.flag_names().join(", ");
                let flags = if flags.is_empty() { flags } else { format!(" ({flags})") };
                let (offset, size) = (section.offset, section.size);
                let _ = writeln!(text, "{offset:#10x} {size:8} {part}{flags}");
            }
        }
        format => {
            let what = format!("{}, has no sections", format.name());
            return Err(Error::about(&input.name, what));
        }
    }
    Ok(text)
}
