//! Reads a function's records as a body of the profile model.

use alloc::vec::Vec;
use core::mem;

use super::check::{Defect, Finding, Tell};
use super::records::{Records, What};
use crate::profile::{Body, Position, SymbolId};

/// Where an inlined body belongs.
struct Place {
    offset: u64,
    position: Position,
    callee: SymbolId,
}

/// Reads the remaining records. `symbol` finds symbols by id. Second records for the same thing are added,
/// and told.
pub fn body(
    records: &mut Records<'_>,
    tell: Tell<'_>,
    mut symbol: impl FnMut(u32) -> Result<SymbolId, Finding>,
) -> Result<Body, Finding> {
    let mut outer: Vec<(Body, Place)> = Vec::new();
    let mut body = Body::default();
    while let Some(record) = records.next_or_tell(tell) {
        let record = record?;
        let mut note = |offset, again| note(tell, offset, again);
        let (offset, position) = (record.offset, record.position);
        close(&mut body, &mut outer, record.depth, &mut note);
        let mut known = |id| symbol(id).map_err(|finding| Finding { offset, ..finding });
        match record.what {
            What::Count(count) => {
                let entry = body.positions.entry(position).or_default();
                note(offset, entry.count.is_some());
                let sum = entry.count.get_or_insert(0);
                *sum = sum.saturating_add(count);
            }
            What::Target { symbol, calls } => {
                let target = known(symbol)?;
                let entry = body.positions.entry(position).or_default();
                note(offset, entry.targets.contains_key(&target));
                let sum = entry.targets.entry(target).or_default();
                *sum = sum.saturating_add(calls);
            }
            What::Inlined(symbol) => {
                let place = Place { offset, position, callee: known(symbol)? };
                outer.push((mem::take(&mut body), place));
            }
        }
    }
    close(&mut body, &mut outer, 0, &mut |offset, again| note(tell, offset, again));
    body.shrink();
    Ok(body)
}

/// Tells of something that is there for the second time.
fn note(tell: Tell<'_>, offset: u64, again: bool) {
    if again {
        tell(Finding { offset, defect: Defect::DuplicateLocation });
    }
}

/// Puts bodies deeper than `depth` into the bodies around them.
fn close(
    body: &mut Body,
    outer: &mut Vec<(Body, Place)>,
    depth: usize,
    note: &mut impl FnMut(u64, bool),
) {
    while outer.len() > depth {
        let Some((around, place)) = outer.pop() else { return };
        body.shrink();
        let inner = mem::replace(body, around);
        let entry = body.positions.entry(place.position).or_default();
        note(place.offset, entry.inlined.contains_key(&place.callee));
        entry.inline(place.callee, inner);
    }
}
