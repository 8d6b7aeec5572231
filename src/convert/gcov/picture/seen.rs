//! Lines that the machine code shows.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashSet;

use super::long_lines::LongLine;
use super::pairing::{Count, Key, in_order};
use super::{Painter, Source};
use crate::convert::gcov::counted::Line;
use crate::convert::gcov::evidence::Spot;

/// One after the other, the lines of a function use the same memory.
#[derive(Default)]
pub struct Memory {
    /// The count of each block.
    counts: Vec<i64>,
    /// Pieces, and the indexes of their blocks.
    blocks: Vec<(Spot, usize)>,
    /// For each block: whether a copy has it.
    taken: Vec<bool>,
    /// The counts of blocks with pieces.
    of_pieces: Vec<i64>,
    /// For each block: whether no piece has its count.
    is_open: Vec<bool>,
}

impl Painter<'_, '_> {
    /// Gives the pieces of a line their blocks, and gives blocks without pieces estimates.
    pub fn line(
        &mut self,
        lines: &[Line],
        keys: &[Key],
        hints: &[Option<i64>],
        memory: &mut Memory,
    ) {
        if let ([line], [key]) = (lines, keys) {
            return self.piece(key.spot, line, key.source(true));
        }
        let Memory { counts, blocks, taken, of_pieces, is_open } = memory;
        counts.clear();
        counts.extend(lines.iter().map(|line| self.count(line)));
        blocks.clear();
        taken.clear();
        taken.resize(lines.len(), false);
        let several = keys.iter().any(|key| key.spot.chain != keys[0].spot.chain);
        let mut long = LongLine::new(keys.len(), counts);
        let is_sparse = !several && long.is_none() && keys.len() < lines.len();
        let all = if is_sparse { with_hidden(keys, lines.len()) } else { Cow::Borrowed(keys) };
        let keys = &all[..];
        let mut give = |keys: &[Key]| {
            let hint = hints[keys[0].spot.chain as usize];
            let found = match &mut long {
                None => in_order(keys, counts, hint, several.then_some(&*taken)),
                Some(long) => long.take(keys, hint).into_iter().map(Some).collect(),
            };
            for (key, block) in keys.iter().zip(found) {
                let Some(block) = block else { continue };
                self.piece(key.spot, &lines[block], key.source(lines.len() == 1));
                blocks.push((key.spot, block));
                taken[block] = true;
            }
        };
        match several {
            true => certain_first(keys).into_iter().for_each(give),
            false => give(keys),
        }
        // For the compiler, blocks with the same count may be the same.
        of_pieces.clear();
        of_pieces.extend(blocks.iter().map(|&(_, block)| counts[block]));
        of_pieces.sort_unstable();
        is_open.clear();
        is_open.extend(counts.iter().map(|count| of_pieces.binary_search(count).is_err()));
        self.give_to_silent(keys, lines, is_open);
        self.fill(keys, blocks, lines, is_open);
    }

    /// Gives blocks without pieces to silent copies of the function: they show nothing of the line in the
    /// code, but were entered as often as the block was executed.
    fn give_to_silent(&mut self, keys: &[Key], lines: &[Line], is_open: &mut [bool]) {
        if !is_open.contains(&true) {
            return;
        }
        let symbol = |chain: u32| self.picture.chains.get(chain as usize).map(|chain| chain.symbol);
        let of_keys = symbol(keys[0].spot.chain);
        // Keys are sorted by their copies.
        let has_key = |chain: u32| keys.binary_search_by_key(&chain, |key| key.spot.chain).is_ok();
        let is_silent = |&chain: &u32| symbol(chain) == of_keys && !has_key(chain);
        let silent: Vec<u32> = (1..self.picture.chains.len() as u32).filter(is_silent).collect();
        let entered: HashSet<i64> =
            silent.iter().filter_map(|&chain| self.entered[chain as usize]).collect();
        let mut given = Vec::new();
        for (line, open) in lines.iter().zip(is_open) {
            if *open && entered.contains(&self.count(line)) {
                *open = false;
                given.push(*line);
            }
        }
        if !given.is_empty() {
            self.share(&given, &silent);
        }
    }

    /// Gives blocks without pieces the discriminators between those of other blocks.
    fn fill(&mut self, keys: &[Key], blocks: &[(Spot, usize)], lines: &[Line], is_open: &[bool]) {
        if !is_open.contains(&true) {
            return;
        }
        let several = keys.iter().any(|key| key.spot.chain != keys[0].spot.chain);
        let chain = keys[0].spot.chain;
        let own = || blocks.iter().filter(|(spot, _)| spot.chain == chain);
        let mut greatest: Vec<Option<u16>> = vec![None; lines.len()];
        own().for_each(|&(spot, block)| {
            greatest[block] = greatest[block].max(Some(spot.discriminator));
        });
        let taken: HashSet<u16> = own().map(|(spot, _)| spot.discriminator).collect();
        let mut last: Option<u16> = None;
        for (place, line) in lines.iter().enumerate() {
            last = greatest[place].map(|greatest| greatest.max(last.unwrap_or(0))).or(last);
            if !is_open[place] {
                continue;
            }
            let discriminator = last.map_or(0, |last| last.saturating_add(1));
            let is_taken = taken.contains(&discriminator);
            let spot = Spot { chain, discriminator, ..keys[0].spot };
            if !is_taken {
                last = Some(discriminator);
            }
            self.piece(spot, line, if several || is_taken { Source::Guess } else { Source::Notes });
        }
    }
}

/// The same pieces, and between them pieces with the discriminators that none of them has. There are no more of these in
/// a row than the line has blocks.
fn with_hidden(keys: &[Key], blocks: usize) -> Cow<'_, [Key]> {
    let spots = keys.windows(2).map(|pair| (pair[0].spot, pair[1].spot.discriminator));
    let gaps = spots.map(|(spot, next)| (spot, spot.discriminator.saturating_add(1)..next));
    if gaps.clone().all(|(_, gap)| gap.is_empty()) {
        return Cow::Borrowed(keys);
    }
    let mut all: Vec<Key> = keys.first().into_iter().cloned().collect();
    for ((spot, gap), key) in gaps.zip(&keys[1..]) {
        let hidden = gap.map(|discriminator| Key::hidden(Spot { discriminator, ..spot }));
        all.extend(hidden.take(blocks));
        all.push(key.clone());
    }
    Cow::Owned(all)
}

/// The keys of each copy. Certain copies go first, so that the others do not get their blocks.
fn certain_first(keys: &[Key]) -> Vec<&[Key]> {
    let mut copies: Vec<&[Key]> = keys.chunk_by(|a, b| a.spot.chain == b.spot.chain).collect();
    let is_certain = |key: &Key| matches!(key.count, Count::Exactly(_));
    copies.sort_by_key(|keys| !keys.iter().all(is_certain));
    copies
}

impl Key {
    /// How the block of its piece is known, which may be the only block of its line.
    fn source(&self, is_only: bool) -> Source {
        match self.count {
            _ if self.is_hidden => Source::Hidden,
            Count::Exactly(_) if self.has_instructions => Source::Code,
            Count::Exactly(_) => Source::Mark,
            _ if is_only => Source::Code,
            _ => Source::Order,
        }
    }
}
