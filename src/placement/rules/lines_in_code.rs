//! Lines that the machine code shows.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashSet;

use super::call_order::Beside;
use super::long_lines::{LongLine, is_long};
use super::pairing::{Count, Key, in_order};
use super::segments::{Segmented, Segments};
use crate::placement::Rule;
use crate::placement::assignment::{Painter, Source};
use crate::placement::observe::Spot;
use crate::placement::solve::counted::Line;

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

/// What is known about the copies of functions.
pub struct Copies {
    /// The blocks of those that were inlined several times.
    pub segments: Segments,
    /// How often each was executed, as far as known.
    pub hints: Vec<Option<i64>>,
}

/// The blocks of a line that belong to other copies than its pieces.
#[derive(Clone, Copy)]
enum Others<'b> {
    /// None.
    Nothing,
    /// Perhaps those that have no piece.
    Unknown,
    /// These, and perhaps others without a piece.
    These(&'b HashSet<u32>),
}

impl Others<'_> {
    fn have(self, block: u32) -> bool {
        matches!(self, Others::These(blocks) if blocks.contains(&block))
    }
}

impl Painter<'_, '_> {
    /// Gives the pieces of a line their blocks, by the calls beside them, by segments, or by their counts alone. Gives
    /// blocks without pieces estimates.
    pub fn place_line(
        &mut self,
        lines: &[Line],
        keys: &[Key],
        copies: &Copies,
        memory: &mut Memory,
    ) {
        let Copies { segments, hints } = copies;
        let Some(symbol) = self.only_function(keys) else {
            return self.pair_line(lines, keys, hints, Others::Unknown, memory);
        };
        let beside = self.beside(segments, symbol, lines, keys);
        if !beside.as_ref().is_some_and(|beside| beside.is_complete) {
            let segmented = self.segmented(segments, symbol, lines, keys);
            let agrees = segmented.is_some();
            self.agree.entry(symbol).and_modify(|all| *all &= agrees).or_insert(agrees);
            if let Some(segmented) = segmented {
                return self.by_copy(keys, &segmented, hints, memory);
            }
        }
        let Some(beside) = beside else {
            return self.pair_line(lines, keys, hints, Others::Unknown, memory);
        };
        self.by_copy(keys, &beside.known, hints, memory);
        self.place_rest(&beside, (lines, keys), copies, memory);
    }

    /// Gives the pieces of a line their blocks where other pieces stand beside calls.
    fn place_rest(
        &mut self,
        beside: &Beside,
        (all_lines, all_keys): (&[Line], &[Key]),
        copies: &Copies,
        memory: &mut Memory,
    ) {
        let Beside { taken, keys, lines, .. } = beside;
        let Copies { segments, hints } = copies;
        if keys.is_empty() {
            return self.place_blocks_without_pieces(beside, all_keys);
        }
        let symbol = self.only_function(keys);
        let segmented = symbol.and_then(|symbol| self.segmented(segments, symbol, lines, keys));
        if let Some(segmented) = segmented {
            return self.by_copy(keys, &segmented, hints, memory);
        }
        if !lines.is_empty() && keys.iter().all(|key| self.may_be_of(key, lines)) {
            return self.pair_line(lines, keys, hints, Others::Unknown, memory);
        }
        // Others may have no block any more.
        let certain = beside.certain();
        if !certain.is_empty() {
            self.pair_line(all_lines, &certain, hints, Others::These(taken), memory);
        }
    }

    /// Gives the blocks of a line away that are left when all pieces have theirs.
    fn place_blocks_without_pieces(&mut self, beside: &Beside, keys: &[Key]) {
        let lines = &beside.lines;
        if beside.is_complete {
            return self.missing_copies(keys[0].spot.chain, lines);
        }
        let mut is_open = vec![true; lines.len()];
        self.give_to_silent(keys, lines, &mut is_open);
        self.estimate_discriminators(keys, &[], lines, &is_open);
    }

    /// Gives the pieces of a line their blocks by their counts, and gives blocks without pieces estimates.
    fn pair_line(
        &mut self,
        lines: &[Line],
        keys: &[Key],
        hints: &[Option<i64>],
        others: Others<'_>,
        memory: &mut Memory,
    ) {
        if let ([line], [key]) = (lines, keys) {
            return self.piece(key.spot, line, key.source(true));
        }
        let may_number = self.rules.has(Rule::Numbering) && is_hardly_shown(keys, lines.len());
        if may_number && !is_long(keys.len(), lines.len()) {
            return self.number_blocks(keys, lines);
        }
        let Memory { counts, blocks, taken, of_pieces, is_open } = memory;
        counts.clear();
        counts.extend(lines.iter().map(|line| self.count(line)));
        blocks.clear();
        taken.clear();
        taken.extend(lines.iter().map(|line| others.have(line.block)));
        let several = keys.iter().any(|key| key.spot.chain != keys[0].spot.chain);
        let mut long = LongLine::new(keys.len(), counts);
        let is_sparse =
            self.rules.has(Rule::Gaps) && !several && long.is_none() && keys.len() < lines.len();
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
                let source = key.source(lines.len() == 1);
                if source == Source::Order && !self.rules.has(Rule::Order) {
                    continue;
                }
                self.piece(key.spot, &lines[block], source);
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
        of_pieces.extend(
            taken.iter().zip(&*counts).filter(|(taken, _)| **taken).map(|(_, &count)| count),
        );
        of_pieces.sort_unstable();
        is_open.clear();
        is_open.extend(counts.iter().map(|count| of_pieces.binary_search(count).is_err()));
        if !matches!(others, Others::Nothing) {
            self.give_to_silent(keys, lines, is_open);
        }
        self.estimate_discriminators(keys, blocks, lines, is_open);
    }

    /// Gives the pieces of a line their blocks, where it is known which blocks each copy of its function has.
    fn by_copy(
        &mut self,
        keys: &[Key],
        segmented: &Segmented,
        hints: &[Option<i64>],
        memory: &mut Memory,
    ) {
        for (chain, its) in &segmented.copies {
            let lines = &segmented.lines[its.clone()];
            let first = keys.partition_point(|key| key.spot.chain < *chain);
            let end = keys.partition_point(|key| key.spot.chain <= *chain);
            let keys_of = &keys[first..end];
            if keys_of.is_empty() {
                self.in_copy(*chain, lines);
                continue;
            }
            self.pair_line(lines, keys_of, hints, Others::Nothing, memory);
        }
    }

    /// Gives the blocks of a line that the code hardly shows discriminators in their order, as compilers do.
    fn number_blocks(&mut self, keys: &[Key], lines: &[Line]) {
        let counts: Vec<i64> = lines.iter().map(|line| self.count(line)).collect();
        let shown = in_order(keys, &counts, None, None);
        for (place, line) in lines.iter().enumerate() {
            let is_shown = shown.contains(&Some(place));
            let source = if is_shown { Source::Order } else { Source::Numbered };
            self.piece(numbered(keys[0].spot, place), line, source);
        }
    }

    /// Gives blocks without pieces to silent copies of the function: they show nothing of the line in the
    /// code, but were entered as often as the block was executed.
    fn give_to_silent(&mut self, keys: &[Key], lines: &[Line], is_open: &mut [bool]) {
        if !self.rules.has(Rule::SilentCopies) || !is_open.contains(&true) {
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
    fn estimate_discriminators(
        &mut self,
        keys: &[Key],
        blocks: &[(Spot, usize)],
        lines: &[Line],
        is_open: &[bool],
    ) {
        if !self.rules.has(Rule::Discriminators) || !is_open.contains(&true) {
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

/// The spot of a line's block, if the blocks have discriminators in their order.
pub fn numbered(spot: Spot, place: usize) -> Spot {
    Spot { discriminator: u16::try_from(place).unwrap_or(u16::MAX), ..spot }
}

/// How many blocks a line must have for each piece, so that the order of the blocks tells more than the pieces do. Where
/// the compiler merged the code of two lines, only odd pieces are left of one of them.
const HARDLY_SHOWN: usize = 3;

/// Whether the code shows so little of a line with this number of blocks.
fn is_hardly_shown(keys: &[Key], blocks: usize) -> bool {
    let is_likely = |key: &Key| key.spot.chain == 0 && usize::from(key.spot.discriminator) < blocks;
    blocks > HARDLY_SHOWN && keys.len() * HARDLY_SHOWN <= blocks && keys.iter().all(is_likely)
}

/// The same pieces of a copy, and those with the discriminators before them and between them that none of them has. There
/// are no more of these in a row than the line has blocks.
fn with_hidden(keys: &[Key], blocks: usize) -> Cow<'_, [Key]> {
    let is_next = |(key, next): (&Key, u16)| key.spot.discriminator == next;
    if keys.iter().zip(0..).all(is_next) {
        return Cow::Borrowed(keys);
    }
    let (mut all, mut next) = (Vec::with_capacity(2 * keys.len()), 0);
    for key in keys {
        let gap = next..key.spot.discriminator;
        let hidden = gap.map(|discriminator| Key::hidden(Spot { discriminator, ..key.spot }));
        all.extend(hidden.take(blocks));
        all.push(key.clone());
        next = key.spot.discriminator.saturating_add(1);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discriminators_that_no_piece_has() {
        let keys = [1, 4].map(|discriminator| Key::piece(discriminator, Count::Unknown));
        let all = with_hidden(&keys, 9);
        let found: Vec<(u16, bool)> =
            all.iter().map(|key| (key.spot.discriminator, key.is_hidden)).collect();
        assert_eq!(found, [(0, true), (1, false), (2, true), (3, true), (4, false)]);
        assert!(matches!(with_hidden(&[Key::piece(0, Count::Unknown)], 9), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_that_the_code_hardly_shows() {
        let keys = [0, 9].map(|discriminator| Key::piece(discriminator, Count::Exactly(7)));
        assert!(is_hardly_shown(&keys[..1], 4));
        assert!(!is_hardly_shown(&keys[..1], 3), "one piece of a loop may be gone");
        assert!(!is_hardly_shown(&keys, 9), "more discriminators than blocks");
        assert!(is_hardly_shown(&keys, 10));
    }
}
