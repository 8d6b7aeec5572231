//! The summary: how the counts are distributed.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Part, Tell};
use super::record::put;
use super::words::Words;
use crate::counters::summary::{CUTOFFS, Cutoff, Summary};

/// Numbers before the cutoffs.
const TOTALS: u64 = 6;

/// Bytes of a summary.
pub const SIZE: usize = 8 * (2 + TOTALS as usize + 3 * CUTOFFS.len());

/// Reads a summary. It may have fewer or more totals than LLVM writes.
pub(super) fn decode(words: &mut Words<'_>, tell: Tell<'_>) -> Result<Summary, Finding> {
    words.part = Part::Summary;
    let offset = words.offset();
    let totals = words.count(8)?;
    let cutoffs = words.u64()?;
    if totals as u64 != TOTALS || cutoffs != CUTOFFS.len() as u64 {
        let defect = Defect::SummaryShape { totals: totals as u64, cutoffs };
        tell(Finding { offset, defect });
    }
    let mut known = [0; TOTALS as usize];
    for place in 0..totals {
        let total = words.u64()?;
        if let Some(known) = known.get_mut(place) {
            *known = total;
        }
    }
    let most = (words.left() / 24) as u64;
    if cutoffs > most {
        let defect = Defect::Count { part: Part::Summary, most, found: cutoffs };
        return Err(Finding { offset: offset + 8, defect });
    }
    let mut cutoff = || {
        let share = words.u64()?;
        Ok(Cutoff { share, least: words.u64()?, counters: words.u64()? })
    };
    let cutoffs = (0..cutoffs).map(|_| cutoff()).collect::<Result<_, _>>()?;
    let [functions, counters, largest_entry, largest, largest_inner, sum] = known;
    Ok(Summary { functions, counters, largest_entry, largest, largest_inner, sum, cutoffs })
}

/// Writes a summary.
pub(super) fn encode(summary: &Summary, output: &mut Vec<u8>) {
    let Summary { functions, counters, largest_entry, largest, largest_inner, sum, cutoffs } =
        summary;
    let totals = [*functions, *counters, *largest_entry, *largest, *largest_inner, *sum];
    put(TOTALS, output);
    put(cutoffs.len() as u64, output);
    totals.into_iter().for_each(|total| put(total, output));
    for cutoff in cutoffs {
        [cutoff.share, cutoff.least, cutoff.counters].into_iter().for_each(|n| put(n, output));
    }
}
