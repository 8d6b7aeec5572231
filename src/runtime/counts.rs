//! The functions with their live counts since the last flush, added to those of an older dump.
//!
//! One walk does it all: counts are many small pieces of memory far from each other, and with thousands of
//! objects they do not fit into the processor's caches.

use core::sync::atomic::AtomicI64;

use super::abi::{Array, Function, Functions, Instrumented, Row, load_words};
use super::baseline::{Writing, Written};
use super::counters::topn::LiveSite;
use super::module::Objects;
use super::problem::Problem;
use super::sys::Errno;
use crate::raw::head::Head;
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::{SectionKind, Word};
use crate::raw::llvm::plain::{self, Width};
use crate::raw::merge::{Pair, SITE_LIMIT, Site, counter};
use crate::raw::reader::{Contradiction, Reader, Source};
use crate::raw::site::SiteHead;
use crate::raw::writer::{Sink, Writer};

/// Words of a site with as many values as it can have.
const LONGEST_SITE: usize = 3 + 2 * SITE_LIMIT;

/// What the last flush wrote, and room for what this one writes.
pub type Copies<'b> = Option<(Written<'b>, Writing<'b>)>;

/// What a walk over all counts finds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Number of counters, those of top-N sites left out.
    pub counters: usize,
    /// Number of top-N sites.
    pub sites: usize,
    /// The largest arc counter.
    pub largest: i64,
    /// The most that any arc counter has grown by since the last flush.
    pub growth: i64,
}

/// One walk: what it knows besides the counts themselves, and where the counts go.
struct Walk<'w, 'b, 'r, 's, R, S> {
    found: Found,
    copies: Copies<'b>,
    older: Option<&'w mut Reader<'r, R>>,
    writer: &'w mut Writer<'s, S>,
    /// The site at hand. A signal handler's stack has no room for several of them.
    site: Site,
}

impl<I: Instrumented> Objects<'_, I> {
    /// Writes the functions with the counts since `copies`, added to those of `older`. The next sections of
    /// `older` must be the functions of the same module.
    pub fn write_functions<S: Sink<Error = Errno>, R: Source<Error = Errno>>(
        &self,
        copies: Copies<'_>,
        older: Option<&mut Reader<'_, R>>,
        writer: &mut Writer<'_, S>,
    ) -> Result<Found, Problem> {
        let (found, site) = (Found::default(), Site::new(0, 0));
        let mut walk = Walk { found, copies, older, writer, site };
        let mut objects = self.registry.objects(self.shift).inspect(Functions::fetch);
        let mut following = objects.next();
        while let Some(mut functions) = following {
            following = objects.next();
            loop {
                if I::Functions::HAS_ROWS {
                    while walk.row(&mut functions)? {}
                }
                let Some(function) = functions.next() else { break };
                functions.fetch_later(following.as_ref());
                walk.head(&function)?;
                for array in function.arrays() {
                    match array.rule() {
                        Rule::TopN => {
                            array.sites().try_for_each(|site| walk.site(&array, site))?;
                        }
                        _ => walk.counters(&array)?,
                    }
                }
            }
        }
        Ok(walk.found)
    }
}

impl<S: Sink<Error = Errno>, R: Source<Error = Errno>> Walk<'_, '_, '_, '_, R, S> {
    /// Writes the row that the next functions make; `false` if they make none. Its heads must agree with those in the
    /// older dump.
    #[inline(always)]
    fn row<F: Functions>(&mut self, functions: &mut F) -> Result<bool, Problem> {
        let apart = functions.clone();
        let room = self.writer.room(SectionKind::Functions, plain::HEADS)?;
        let Some(Row { functions, words, counters }) = functions.put_row(room) else {
            return Ok(false);
        };
        if let Some(older) = &mut self.older {
            let before = older.words_together(SectionKind::Functions, words)?;
            if !plain::agree(room.get_mut(..words).unwrap_or_default(), before) {
                return older.wrong(Contradiction::Functions);
            }
        }
        self.writer.fill(words);
        let apart = apart.take(if counters.is_some() { 0 } else { functions });
        self.chunks(counters.into_iter().chain(apart.map(|function| function.executions())))?;
        Ok(true)
    }

    /// Writes the counters of a row.
    #[inline(always)]
    fn chunks(
        &mut self,
        counters: impl Iterator<Item = &'static [AtomicI64]>,
    ) -> Result<(), Problem> {
        let (mut chunk, mut used) = ([Word::default(); plain::CHUNK], 0usize);
        for mut counters in counters {
            while !counters.is_empty() {
                let free = chunk.get_mut(used..).unwrap_or_default();
                let most = free.len().min(counters.len());
                let (now, later) = counters.split_at_checked(most).unwrap_or((counters, &[]));
                self.found.largest = load_words(now, free).max(self.found.largest);
                counters = later;
                used = used.wrapping_add(most);
                if used == chunk.len() {
                    self.chunk(&mut chunk)?;
                    used = 0;
                }
            }
        }
        self.chunk(chunk.get_mut(..used).unwrap_or_default())
    }

    /// Writes some counters of a row.
    #[inline(never)]
    fn chunk(&mut self, counters: &mut [Word]) -> Result<(), Problem> {
        let Self { found, copies, older, writer, .. } = self;
        if counters.is_empty() {
            return Ok(());
        }
        let growth = match copies {
            Some(copies) => take_off(Rule::Saturate, copies, found.counters, counters),
            None => found.largest,
        };
        found.growth = growth.max(found.growth);
        found.counters = found.counters.wrapping_add(counters.len());
        let bits = match older {
            Some(older) => {
                let Some(width) = Width::from_word(older.word(SectionKind::Functions)?) else {
                    return older.wrong(Contradiction::Width);
                };
                let words = width.words(counters.len());
                let before = older.words_together(SectionKind::Functions, words)?;
                plain::add(width, before, counters)
            }
            None => plain::bits(counters),
        };
        let room = writer.room(SectionKind::Functions, plain::LONGEST_CHUNK)?;
        let used = plain::pack(counters, bits, room);
        writer.fill(used);
        Ok(())
    }

    /// Writes a function's head. It must agree with the head in the older dump.
    #[inline(always)]
    fn head<F: Function>(&mut self, function: &F) -> Result<(), Problem> {
        let Self { older, writer, .. } = self;
        let room = writer.room(SectionKind::Functions, size_of::<Head>() / size_of::<Word>())?;
        let Some(head) = room.first_chunk_mut::<{ size_of::<Head>() / 8 }>() else { return Ok(()) };
        let used = function.put_head(head);
        if let Some(older) = older {
            let mut at = 0usize;
            while at < used {
                let before = older.words(SectionKind::Functions, used.wrapping_sub(at))?;
                let number = before.len();
                let now = head.get_mut(at..).unwrap_or_default().iter_mut().zip(before);
                let mut agree = true;
                for (place, (now, before)) in (at..).zip(now) {
                    agree &= F::agree(place, now, before);
                }
                if !agree {
                    return older.wrong(Contradiction::Functions);
                }
                at = at.wrapping_add(number);
            }
        }
        writer.fill(used);
        Ok(())
    }

    #[inline(always)]
    fn counters(&mut self, array: &impl Array) -> Result<(), Problem> {
        let Self { found, copies, older, writer, .. } = self;
        let (mut done, all) = (0usize, array.words());
        while done < all {
            let room = writer.room(SectionKind::Functions, 1)?;
            let most = all.wrapping_sub(done).min(room.len());
            let before = match older {
                Some(older) => Some(older.words(SectionKind::Functions, most)?),
                None => None,
            };
            let number = before.map_or(most, <[Word]>::len);
            let Some(words) = room.get_mut(..number) else { break };
            let largest = array.load(done, words);
            let growth = match copies {
                Some(copies) => take_off(array.rule(), copies, found.counters, words),
                None => largest,
            };
            if let Some(before) = before {
                merge_older(array.rule(), words, before);
            }
            if array.kind() == Kind::ARCS {
                found.largest = largest.max(found.largest);
                found.growth = growth.max(found.growth);
            }
            writer.fill(number);
            done = done.wrapping_add(number);
            found.counters = found.counters.wrapping_add(number);
        }
        Ok(())
    }

    #[inline(always)]
    fn site(&mut self, array: &impl Array, live: LiveSite<'_>) -> Result<(), Problem> {
        let Self { found, copies, older, writer, site, .. } = self;
        collect(array, live, site);
        for Pair { value, count } in array.elsewhere(live) {
            site.add(Pair { value: array.value(value), count });
        }
        if let Some((written, writing)) = copies {
            writing.set_site(found.sites, site);
            written.take_off(found.sites, site);
        }
        if let Some(older) = older {
            merge_older_site(site, older)?;
        }
        write_site(site, writer)?;
        found.sites = found.sites.wrapping_add(1);
        Ok(())
    }
}

#[cfg(feature = "live")]
impl<I: Instrumented> Objects<'_, I> {
    /// Sets all counters back to what the last flush found.
    // A function, so that its sites do not lie below a flush.
    #[inline(never)]
    pub fn set_back(&self, flushed: &Written<'_>) {
        let (mut place, mut sites) = (0usize, 0usize..);
        for array in self.arrays() {
            for (live, site) in array.sites().zip(&mut sites) {
                live.set_back(&flushed.site(site), |value| array.value(value));
            }
            array.store(flushed.counters(place).get(..array.words()).unwrap_or_default());
            place = place.wrapping_add(array.words());
        }
    }
}

/// Remembers the counters from this place on. Those that add up keep only what they have grown by since the
/// last flush. Gives the largest value left.
#[inline(always)]
fn take_off(
    rule: Rule,
    (written, writing): &mut (Written<'_>, Writing<'_>),
    place: usize,
    words: &mut [Word],
) -> i64 {
    let remembered = writing.counters(place).iter_mut().zip(written.counters(place));
    for (word, (writing, written)) in words.iter_mut().zip(remembered) {
        *writing = i64::from_ne_bytes(*word);
        if matches!(rule, Rule::Add | Rule::Saturate) {
            *word = writing.wrapping_sub(*written).to_ne_bytes();
        }
    }
    words.iter().map(|&word| i64::from_ne_bytes(word)).fold(0, i64::max)
}

/// Merges older counters in. The commonest rules have loops without choices.
#[inline(always)]
fn merge_older(rule: Rule, words: &mut [Word], older: &[Word]) {
    let pairs = words.iter_mut().zip(older);
    let merge = |rule, (word, older): (&mut Word, &Word)| {
        *word = counter(rule, i64::from_ne_bytes(*word), i64::from_ne_bytes(*older)).to_ne_bytes();
    };
    match rule {
        Rule::Add => pairs.for_each(|pair| merge(Rule::Add, pair)),
        Rule::Saturate => pairs.for_each(|pair| merge(Rule::Saturate, pair)),
        _ => pairs.for_each(|pair| merge(rule, pair)),
    }
}

/// Reads the events of a site as they are now.
#[inline(always)]
fn collect(array: &impl Array, live: LiveSite<'_>, site: &mut Site) {
    site.pairs.clear();
    let (mut counts, mut marks): (i64, u64) = (0, 0);
    for Pair { value, count } in live.pairs() {
        let pair = Pair { value: array.value(value), count };
        counts = counts.saturating_add(pair.count);
        // A race may make two nodes of one value. An earlier one is looked for only if its mark was seen.
        let mark = mark(pair.value);
        if marks & mark == 0 || !site.add_to_known(pair) {
            let _ = site.pairs.push(pair);
        }
        marks |= mark;
    }
    (site.total, site.error) = live.total_and_error(counts);
}

/// One of 64 bits, by the first six bits of the product with the golden ratio; similar values rarely share
/// it.
const fn mark(value: i64) -> u64 {
    1 << ((value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// Word by word, as they were just stored: wider loads would wait for the stores.
#[inline(always)]
fn write_site<S: Sink>(site: &Site, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
    let head = SiteHead::of(&site.pairs, site.error);
    let room = writer.room(SectionKind::Functions, LONGEST_SITE)?;
    let mut free = room.iter_mut();
    let mut put = |word: i64| _ = free.next().map(|free| *free = word.to_ne_bytes());
    put(site.total);
    put(head.to_word());
    if head.has_error {
        put(site.error);
    }
    for &pair in &site.pairs {
        head.put(pair, &mut put);
    }
    let left = free.len();
    let used = room.len().wrapping_sub(left);
    writer.fill(used);
    Ok(())
}

#[inline(always)]
fn merge_older_site<R: Source<Error = Errno>>(
    site: &mut Site,
    older: &mut Reader<'_, R>,
) -> Result<(), Problem> {
    let total = older.word(SectionKind::Functions)?;
    let Some(head) = SiteHead::from_word(older.word(SectionKind::Functions)?) else {
        return older.wrong(Contradiction::Values);
    };
    let error = if head.has_error { older.word(SectionKind::Functions)? } else { 0 };
    let mut merge = site.merge(total, error);
    let (mut left, mut reader) = (head.words(), head.reader());
    while left > 0 {
        let words = older.words(SectionKind::Functions, left)?;
        left = left.wrapping_sub(words.len());
        let pairs = words.iter().filter_map(|&word| reader.take(i64::from_ne_bytes(word)));
        pairs.for_each(|pair| merge.pair(pair));
    }
    merge.finish();
    Ok(())
}
