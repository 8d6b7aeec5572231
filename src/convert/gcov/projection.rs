//! What a reader is given of a picture: one count for each position.

use alloc::vec::Vec;

use super::picture::{Picture, Source};
use crate::profile::{Position, Profile, SymbolId};

/// A position in a function, or in a body inlined there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub function: SymbolId,
    /// Inlined calls, outermost first.
    pub within: Vec<(Position, SymbolId)>,
    pub position: Position,
}

/// Where to put the counts of functions that were inlined before the counters were laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inline {
    /// To the functions themselves.
    Flat,
    /// At the calls, as bodies of their own.
    #[default]
    Nested,
}

/// The count of a position that several blocks have with different counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OfSeveral {
    /// The smallest, of blocks that show in the code if there are any. A compiler gives this count to all the
    /// blocks, and then makes the counts of the function agree. That only raises counts: what is too small
    /// heals, what is too large stays.
    #[default]
    Least,
    /// The smallest, or none if the greatest is more than four times as large. A reader without
    /// discriminators asks for blocks of a line that have nothing in common. Without a count their
    /// neighbours tell more about them than each other's count would.
    LeastOfSimilar,
    /// The greatest, as in profiles of samples.
    Greatest,
}

/// Measured with gcc 12 on ten programs: 2 and 8 save fewer instructions, and so does any count at all.
const DOUBTFUL: u64 = 4;

/// What a reader is given for 0 in functions that were executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zeros {
    /// 0.
    #[default]
    Kept,
    /// 1 in loops without calls: GCC 12 ends with an internal error where it vectorises a loop that has a
    /// block with 0.
    OnesInLoops,
    /// 1: GCC 16 takes 0 for unknown, and guesses.
    Ones,
}

/// What a reader is given at hot calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HotCalls {
    /// Nothing.
    #[default]
    None,
    /// Bodies besides those of the functions that are called.
    Copied,
    /// Bodies whose counts are taken from the functions themselves, which keep half. The reader gives back what it does not
    /// inline.
    Moved,
}

/// What a reader makes of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// Whether it uses discriminators to distinguish positions of a line.
    pub discriminators: bool,
    /// What it is given where the blocks of a position differ.
    pub of_several: OfSeveral,
    /// What it is given for 0 in functions that were executed.
    pub zeros: Zeros,
    /// Where it looks for inlined functions.
    pub inline: Inline,
    /// How it is told to inline functions that hot calls call.
    pub hot_calls: HotCalls,
}

impl Reader {
    /// Takes everything as it is.
    pub const EXACT: Self = Self {
        discriminators: true,
        of_several: OfSeveral::Greatest,
        zeros: Zeros::Kept,
        inline: Inline::Nested,
        hot_calls: HotCalls::None,
    };
}

impl Picture {
    /// The counts of a function for a reader.
    pub fn project(&self, function: SymbolId, own_start: u32, reader: Reader) -> Vec<(Place, u64)> {
        let mut found: Vec<(u32, Position, u64)> = Vec::with_capacity(self.pieces.len());
        let mut weak = Vec::new();
        for piece in &self.pieces {
            let discriminator = if reader.discriminators { piece.spot.discriminator } else { 0 };
            let start =
                self.chains.get(piece.spot.chain as usize).map_or(own_start, |chain| chain.start);
            let line = piece.spot.line.wrapping_sub(start) & 0xffff;
            let one = (piece.spot.chain, Position { line, discriminator }, piece.count);
            match piece.source {
                _ if reader.of_several == OfSeveral::Greatest => found.push(one),
                Source::Code | Source::Order => found.push(one),
                _ => weak.push(one),
            }
        }
        found.sort_unstable();
        weak.retain(|weak| {
            let place = found.partition_point(|strong| (strong.0, strong.1) < (weak.0, weak.1));
            found.get(place).is_none_or(|strong| (strong.0, strong.1) != (weak.0, weak.1))
        });
        found.append(&mut weak);
        found.sort_unstable();
        let mut places: Vec<(Place, u64)> = Vec::new();
        for one in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (chain, position, _) = one[0];
            // Sorted by counts.
            let (least, greatest) = (one[0].2, one[one.len() - 1].2);
            let is_doubtful = least.checked_mul(DOUBTFUL).is_some_and(|most| most < greatest);
            let count = match reader.of_several {
                OfSeveral::LeastOfSimilar if is_doubtful => continue,
                OfSeveral::Least | OfSeveral::LeastOfSimilar => least,
                OfSeveral::Greatest => greatest,
            };
            places.push((self.place(function, chain, position, reader.inline), count));
        }
        places.sort_by(|(a, _), (b, _)| a.cmp(b));
        places
    }

    /// A position of a copy as a place in the profile.
    pub fn place(
        &self,
        function: SymbolId,
        chain: u32,
        position: Position,
        inline: Inline,
    ) -> Place {
        if chain == 0 {
            return Place { function, within: Vec::new(), position };
        }
        if inline == Inline::Flat {
            let function = self.chains[chain as usize].symbol;
            return Place { function, within: Vec::new(), position };
        }
        let mut within = Vec::new();
        let mut at = chain;
        while at != 0 {
            let link = &self.chains[at as usize];
            within.push((link.call, link.symbol));
            at = link.caller;
        }
        within.reverse();
        Place { function, within, position }
    }
}

/// Raises every count of 0 in executed functions to 1.
pub fn zeros_as_ones(profile: &mut Profile) {
    for function in profile.functions.values_mut() {
        if function.head_count == 0 && function.body.total() == 0 {
            continue;
        }
        function.body.for_each_record_mut(&mut |record| {
            record.count = record.count.map(|count| count.max(1));
        });
    }
}
