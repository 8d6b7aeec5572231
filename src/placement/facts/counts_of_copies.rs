//! How often each inlined copy of a function was entered and executed.
//!
//! ```c
//! static inline int clamp(int x) { return x < 0 ? 0 : x; }
//! s += clamp(a[i]);       /* executed a thousand times: so was the copy, whose count the code does not show */
//! ```
//!
//! Consumes what the code shows of copies and of their calls. Gives hints to the rules that choose between blocks, and
//! no position.

use alloc::vec;
use alloc::vec::Vec;

use super::position_evidence::{Count, PositionEvidence};
use crate::placement::observe::{InlineInstance, Observation, SourcePosition};

/// How often each copy was entered, where the debug information names the place.
pub fn entered(instances: &[InlineInstance], observations: &[Observation]) -> Vec<Option<i64>> {
    let mut counts: Vec<Option<i64>> = vec![None; instances.len()];
    let at_once = observations
        .iter()
        .filter(|observation| !observation.is_sum && observation.at.instance != 0);
    for observations in at_once.collect::<Vec<_>>().chunk_by(|a, b| a.at == b.at) {
        let SourcePosition { instance, file, line, .. } = observations[0].at;
        let of = &instances[instance as usize];
        if (file, line) == (of.file, of.start) {
            let mut of_blocks = observations.iter().map(|observation| observation.count);
            counts[instance as usize] =
                of_blocks.try_fold(0i64, |sum, count| sum.checked_add(count?));
        }
    }
    counts
}

/// The expected count of each copy: that of all its positions if they agree, or else its call's.
pub fn hints(
    instances: &[InlineInstance],
    positions: &[PositionEvidence],
    entered: &[Option<i64>],
) -> Vec<Option<i64>> {
    // What is known about each copy, and whether it is all the same.
    let mut known: Vec<(Option<i64>, bool)> = vec![(None, true); instances.len()];
    let mut of_calls = vec![None; instances.len()];
    let called_at = |instance: &InlineInstance| {
        let line = instances[instance.caller as usize].start.wrapping_add(instance.call.line);
        (instance.caller, line & 0xffff, instance.call.discriminator)
    };
    let mut by_call: Vec<_> = instances.iter().map(called_at).zip(0usize..).skip(1).collect();
    by_call.sort_unstable();
    for position in positions {
        let Count::Exactly(count) = position.count else { continue };
        let (first, is_same) = &mut known[position.at.instance as usize];
        *is_same &= *first.get_or_insert(count) == count;
        let call = (position.at.instance, position.at.line & 0xffff, position.at.discriminator);
        let first = by_call.partition_point(|&(at, _)| at < call);
        let its = by_call[first..].iter().take_while(|&&(at, _)| at == call);
        its.for_each(|&(_, place)| of_calls[place] = Some(count));
    }
    let mut hints: Vec<Option<i64>> = Vec::with_capacity(instances.len());
    for (place, (count, is_same)) in known.into_iter().enumerate() {
        let caller = || hints[instances[place].caller as usize];
        hints.push(match (place, count, is_same) {
            (0, ..) | (_, Some(_), false) => None,
            (_, Some(count), true) => Some(count),
            (_, None, _) => entered[place].or(of_calls[place]).or_else(caller),
        });
    }
    hints
}
