//! `countersink diff` of LLVM's profiles.

use std::prelude::v1::*;

use crate::counters;
use crate::profile::{Position, Profile};

/// A profile by source position, to compare: each counter of a function becomes a line with the counter's number.
/// The body around the lines is named after the hash of the control flow, so counters under different hashes have
/// nothing in common.
pub fn comparable(profile: &counters::Profile) -> Profile {
    let mut comparable = Profile::default();
    for function in &profile.functions {
        let symbol = comparable.symbols.symbol(&function.name, None);
        let hash = comparable.symbols.symbol(format!("{:#018x}", function.hash).as_bytes(), None);
        let body = &mut comparable.functions.entry(symbol).or_default().body;
        let body = body.positions.entry(Position::line(0)).or_default();
        let body = body.inlined.entry(hash).or_default();
        for (line, &count) in (0..).zip(&function.counters) {
            let record = body.positions.entry(Position::line(line)).or_default();
            record.count = Some(record.count.unwrap_or_default().saturating_add(count));
        }
    }
    comparable
}
