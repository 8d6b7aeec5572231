//! How often each inlined copy of a function was entered and executed.

use alloc::vec;
use alloc::vec::Vec;

use super::pairing::{Count, Key};
use crate::placement::observe::{Chain, Spot, Vote};

/// How often each copy was entered, where the debug information names the place.
pub fn entered(chains: &[Chain], votes: &[Vote]) -> Vec<Option<i64>> {
    let mut counts: Vec<Option<i64>> = vec![None; chains.len()];
    let at_once = votes.iter().filter(|vote| !vote.is_sum && vote.spot.chain != 0);
    for votes in at_once.collect::<Vec<_>>().chunk_by(|a, b| a.spot == b.spot) {
        let Spot { chain, file, line, .. } = votes[0].spot;
        let of = &chains[chain as usize];
        if (file, line) == (of.file, of.start) {
            let mut of_blocks = votes.iter().map(|vote| vote.count);
            counts[chain as usize] = of_blocks.try_fold(0i64, |sum, count| sum.checked_add(count?));
        }
    }
    counts
}

/// How often each copy was executed: the count of all that is known about it, if that is one count, or else
/// of its call.
pub fn hints(chains: &[Chain], keys: &[Key], entered: &[Option<i64>]) -> Vec<Option<i64>> {
    // What is known about each copy, and whether it is all the same.
    let mut known: Vec<(Option<i64>, bool)> = vec![(None, true); chains.len()];
    let mut of_calls = vec![None; chains.len()];
    let called_at = |chain: &Chain| {
        let line = chains[chain.caller as usize].start.wrapping_add(chain.call.line);
        (chain.caller, line & 0xffff, chain.call.discriminator)
    };
    let mut by_call: Vec<_> = chains.iter().map(called_at).zip(0usize..).skip(1).collect();
    by_call.sort_unstable();
    for key in keys {
        let Count::Exactly(count) = key.count else { continue };
        let (first, is_same) = &mut known[key.spot.chain as usize];
        *is_same &= *first.get_or_insert(count) == count;
        let call = (key.spot.chain, key.spot.line & 0xffff, key.spot.discriminator);
        let first = by_call.partition_point(|&(at, _)| at < call);
        let its = by_call[first..].iter().take_while(|&&(at, _)| at == call);
        its.for_each(|&(_, place)| of_calls[place] = Some(count));
    }
    let mut hints: Vec<Option<i64>> = Vec::with_capacity(chains.len());
    for (place, (count, is_same)) in known.into_iter().enumerate() {
        let caller = || hints[chains[place].caller as usize];
        hints.push(match (place, count, is_same) {
            (0, ..) | (_, Some(_), false) => None,
            (_, Some(count), true) => Some(count),
            (_, None, _) => entered[place].or(of_calls[place]).or_else(caller),
        });
    }
    hints
}
