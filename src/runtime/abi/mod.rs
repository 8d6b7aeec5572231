//! The structures that compilers put into programs: one family of compilers a folder, with the same file names,
//! and what the rest of the runtime wants of any of them.

#![allow(unsafe_code)]

pub mod gcov;
pub mod llvm;
mod shift;

use super::atomic::AtomicI64;
use super::counters::topn::LiveSite;
use crate::raw::head::Head;
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::{ModuleRecord, Signature, Word};
use crate::raw::merge::Pair;
use crate::raw::writer::{Sink, Writer};

pub use shift::Shift;

/// What one family of compilers has laid out in an image.
pub trait Instrumented: Sync + 'static {
    /// `ModuleRecord::abi`.
    const ABI: u32;
    /// The functions of an object.
    type Functions: Functions;

    /// How many objects there are. It grows until the image's constructors have run.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An address in the image's text.
    fn text(&self) -> usize;

    /// Bytes of function records that nobody can read.
    fn unknown(&self) -> usize {
        0
    }

    /// Where the image is and where it ends, if values of sites are addresses.
    #[cfg(feature = "live")]
    fn image(&self) -> [usize; 2] {
        [0; 2]
    }

    /// Adds the objects to a record and to the signature. `head` is room for a function's head.
    fn survey(&self, record: &mut ModuleRecord, signature: &mut Signature, head: &mut Head);

    /// Writes what STRINGS has behind the image's path.
    fn write_strings<S: Sink, const N: usize>(
        &self,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error>;

    /// Writes OBJECTS; the strings begin at this offset.
    fn write_objects<S: Sink, const N: usize>(
        &self,
        offset: u32,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error>;

    /// The functions of each object, in the order of a dump, with counters at a distance of `shift`.
    fn objects(&self, shift: Shift) -> impl Iterator<Item = Self::Functions>;

    /// The arrays of all functions.
    fn arrays(&self, shift: Shift) -> impl Iterator<Item = ArrayOf<Self>>;
}

/// The arrays of a family.
pub type ArrayOf<I> = <FunctionOf<I> as Function>::Array;
/// The functions of a family.
pub type FunctionOf<I> = <<I as Instrumented>::Functions as Iterator>::Item;

/// The functions of an object.
pub trait Functions: Iterator<Item: Function> + Clone {
    /// Whether [`Functions::put_row`] ever puts any.
    const HAS_ROWS: bool = false;

    /// Puts the heads of the next functions into a room if these make a row of a dump ([`crate::raw::llvm::plain`]),
    /// and takes these functions.
    #[inline(always)]
    fn put_row(&mut self, _room: &mut [Word]) -> Option<Row> {
        None
    }

    /// Fetches the first functions into the processor's caches, where it does not see by itself where the walk
    /// goes.
    #[inline(always)]
    fn fetch(&self) {}

    /// Fetches functions a little ahead of the one at hand. Behind the last come those of the `following`
    /// object.
    #[inline(always)]
    fn fetch_later(&self, _following: Option<&Self>) {}
}

/// A function with its counters.
pub trait Function {
    /// Its counters of one kind.
    type Array: Array;

    /// Puts the words that stand before the function's counts in a dump into a room; gives their number.
    fn put_head(&self, room: &mut Head) -> usize;

    /// Whether a word at this place of a head is of the same function as another run's. What is content becomes that of
    /// both runs.
    #[inline(always)]
    fn agree(_place: usize, word: &mut Word, other: &Word) -> bool {
        word == other
    }

    /// Its counters, kind by kind.
    fn arrays(&self) -> impl Iterator<Item = Self::Array>;

    /// The counters of executions of a function in a row.
    #[inline(always)]
    fn executions(&self) -> &'static [AtomicI64] {
        &[]
    }
}

/// What [`Functions::put_row`] has put into a room.
pub struct Row {
    /// Number of functions.
    pub functions: usize,
    /// Words of their heads.
    pub words: usize,
    /// Their counters, if they lie behind each other.
    pub counters: Option<&'static [AtomicI64]>,
}

/// The counters of one kind of one function.
pub trait Array {
    /// The kind.
    fn kind(&self) -> Kind;

    /// How it merges.
    fn rule(&self) -> Rule;

    /// Words that the counters take in a dump, those of sites left out.
    fn words(&self) -> usize;

    /// Puts the words from one on into a room; gives the largest.
    fn load(&self, start: usize, room: &mut [Word]) -> i64;

    /// A top-N site; `None` behind the last.
    fn site(&self, index: usize) -> Option<LiveSite<'static>>;

    /// The top-N sites.
    fn sites(&self) -> impl Iterator<Item = LiveSite<'static>> + Clone;

    /// Number of top-N sites.
    fn site_count(&self) -> usize;

    /// Events of a site that were counted elsewhere, a value each.
    #[inline(always)]
    fn elsewhere(&self, _site: LiveSite<'_>) -> impl Iterator<Item = Pair> {
        core::iter::empty()
    }

    /// What a value of a site is in a dump.
    #[inline(always)]
    fn value(&self, value: i64) -> i64 {
        value
    }

    /// Sets all counters back.
    fn reset(&self);

    /// Sets the words from the first on. For rules other than top-N.
    #[cfg(feature = "live")]
    fn store(&self, words: &[i64]);

    /// Where the compiler laid out the counters, in bytes.
    fn place(&self) -> core::ops::Range<usize>;

    /// Makes sites lead to nodes in another place, as `translate` says.
    #[cfg(feature = "live")]
    fn relocate(&self, translate: &dyn Fn(usize) -> Option<&'static super::counters::node::Node>);
}

/// Counters that the compiler laid out as 64-bit words. Other threads may be counting.
pub(super) fn load_words(counters: &[AtomicI64], room: &mut [Word]) -> i64 {
    use super::atomic::Ordering;
    let mut largest = 0;
    for (word, live) in room.iter_mut().zip(counters) {
        let value = live.load(Ordering::Relaxed);
        largest = value.max(largest);
        *word = value.to_ne_bytes();
    }
    largest
}
