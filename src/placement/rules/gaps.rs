//! Discriminators that are missing between others.
//!
//! ```c
//! for (int i = 0; i < n; i++) if (a[i]) b++;   /* the code has discriminators 0 and 2, and four blocks */
//! ```
//!
//! Consumes groups with more blocks than positions, all in one copy. Adds the positions with the missing
//! discriminators. They need not have a block. Which block one has is known as exactly as for its neighbours: by the
//! order of the discriminators.

use alloc::vec::Vec;

use super::long_lines::is_long;
use super::pairing::Key;
use crate::placement::assignment::Assignment;
use crate::placement::facts::Facts;
use crate::placement::observe::Spot;

/// Adds the positions that are missing between those of a group.
pub fn place<'a>(_: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    assignment.for_each_group(|_, group| {
        let (keys, blocks) = (&group.keys, group.lines.len());
        let is_sparse = group.is_waiting()
            && keys.iter().all(|key| key.spot.chain == keys[0].spot.chain)
            && !is_long(keys.len(), blocks)
            && keys.len() < blocks;
        if is_sparse && let Some(all) = with_hidden(keys, blocks) {
            group.keys = all.into();
        }
    });
}

/// The same pieces of a copy, and those with the discriminators before them and between them that none of them has.
/// There are no more of these in a row than the line has blocks.
fn with_hidden(keys: &[Key], blocks: usize) -> Option<Vec<Key>> {
    let is_next = |(key, next): (&Key, u16)| key.spot.discriminator == next;
    if keys.iter().zip(0..).all(is_next) {
        return None;
    }
    let (mut all, mut next) = (Vec::with_capacity(2 * keys.len()), 0);
    for key in keys {
        let gap = next..key.spot.discriminator;
        let hidden = gap.map(|discriminator| Key::hidden(Spot { discriminator, ..key.spot }));
        all.extend(hidden.take(blocks));
        all.push(key.clone());
        next = key.spot.discriminator.saturating_add(1);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::super::pairing::Count;
    use super::*;

    #[test]
    fn discriminators_that_no_piece_has() {
        let keys = [1, 4].map(|discriminator| Key::piece(discriminator, Count::Unknown));
        let all = with_hidden(&keys, 9).unwrap();
        let found: Vec<(u16, bool)> =
            all.iter().map(|key| (key.spot.discriminator, key.is_hidden)).collect();
        assert_eq!(found, [(0, true), (1, false), (2, true), (3, true), (4, false)]);
        assert!(with_hidden(&[Key::piece(0, Count::Unknown)], 9).is_none());
    }
}
