//! The live counters since the last flush, added to those of an older dump.

use core::sync::atomic::Ordering;

use zerocopy::IntoBytes;

use super::abi::gcov::Array;
use super::baseline::{Writing, Written};
use super::counters::topn::LiveSite;
use super::merge::Problem;
use super::module::Objects;
use super::sys::Errno;
use crate::raw::gcov::record::SiteHead;
use crate::raw::gcov::{Kind, Rule};
use crate::raw::layout::{SectionKind, Word};
use crate::raw::merge::{Pair, Site, counter};
use crate::raw::reader::{Contradiction, Reader, Source};
use crate::raw::writer::{Sink, Writer};

/// What the last flush wrote, and room for what this one writes.
pub type Copies<'b> = Option<(Written<'b>, Writing<'b>)>;

impl Objects<'_> {
    /// Writes the counts since `copies`, added to those of `older`, whose next sections must be the
    /// counts of the same module.
    pub fn write_counts<S: Sink<Error = Errno>, R: Source<Error = Errno>>(
        &self,
        mut copies: Copies<'_>,
        mut older: Option<&mut Reader<'_, R>>,
        writer: &mut Writer<'_, S>,
    ) -> Result<(), Problem> {
        self.write_counters(&mut copies, &mut older, writer)?;
        self.write_sites(&mut copies, &mut older, writer)
    }

    fn write_counters<S: Sink<Error = Errno>, R: Source<Error = Errno>>(
        &self,
        copies: &mut Copies<'_>,
        older: &mut Option<&mut Reader<'_, R>>,
        writer: &mut Writer<'_, S>,
    ) -> Result<(), Problem> {
        let (mut place, mut unwritten) = (0usize, 0usize);
        let mut room: &mut [Word] = &mut [];
        for object in self.registry.objects() {
            for function in object.functions(self.shift) {
                for Array { rule, mut counters, .. } in function.arrays() {
                    while rule != Rule::TopN && !counters.is_empty() {
                        if room.is_empty() {
                            writer.fill(core::mem::take(&mut unwritten));
                            room = writer.room(SectionKind::Counters)?;
                        }
                        let number = counters.len().min(room.len());
                        let (words, free) = room.split_at_mut_checked(number).unwrap_or_default();
                        let (now, later) = counters.split_at_checked(number).unwrap_or_default();
                        for (word, counter) in words.iter_mut().zip(now) {
                            *word = counter.load(Ordering::Relaxed).to_ne_bytes();
                        }
                        if let Some(copies) = copies {
                            take_off(rule, copies, place, words);
                        }
                        if let Some(older) = older {
                            merge_older(rule, words, older)?;
                        }
                        (room, counters) = (free, later);
                        place = place.wrapping_add(number);
                        unwritten = unwritten.wrapping_add(number);
                    }
                }
            }
        }
        writer.fill(unwritten);
        Ok(())
    }

    fn write_sites<S: Sink<Error = Errno>, R: Source<Error = Errno>>(
        &self,
        copies: &mut Copies<'_>,
        older: &mut Option<&mut Reader<'_, R>>,
        writer: &mut Writer<'_, S>,
    ) -> Result<(), Problem> {
        let mut place: usize = 0;
        let mut site = Site::new(0, 0);
        for object in self.registry.objects() {
            for function in object.functions(self.shift) {
                for array in function.arrays() {
                    if array.rule != Rule::TopN {
                        continue;
                    }
                    for live in array.sites() {
                        collect(live, &mut site);
                        if let Some((written, writing)) = copies {
                            writing.set_site(place, &site);
                            written.take_off(place, &mut site);
                        }
                        if let Some(older) = older {
                            merge_older_site(&mut site, older)?;
                        }
                        write_site(&site, writer)?;
                        place = place.wrapping_add(1);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Objects<'_> {
    /// What the arc counter has grown by that has grown most since the last flush.
    pub fn largest_growth(&self, written: &Written<'_>) -> i64 {
        let (mut place, mut largest) = (0usize, 0);
        for array in self.arrays().filter(|array| array.rule != Rule::TopN) {
            if array.kind == Kind::ARCS {
                for (counter, written) in array.counters.iter().zip(written.counters(place)) {
                    largest = counter.load(Ordering::Relaxed).wrapping_sub(*written).max(largest);
                }
            }
            place = place.wrapping_add(array.counters.len());
        }
        largest
    }
}

#[cfg(feature = "live")]
impl Objects<'_> {
    /// Sets all counters back to what the last flush found.
    pub fn set_back(&self, flushed: &Written<'_>) {
        let (mut place, mut sites) = (0usize, 0usize..);
        for array in self.arrays() {
            for (live, site) in array.sites().zip(&mut sites) {
                live.set_back(&flushed.site(site));
            }
            if array.rule != Rule::TopN {
                for (counter, value) in array.counters.iter().zip(flushed.counters(place)) {
                    counter.store(*value, Ordering::Relaxed);
                }
                place = place.wrapping_add(array.counters.len());
            }
        }
    }
}

/// Remembers counters, and leaves of those that add up what they have grown by since the last flush.
fn take_off(
    rule: Rule,
    (written, writing): &mut (Written<'_>, Writing<'_>),
    place: usize,
    words: &mut [Word],
) {
    let copies = written.counters(place).iter().zip(writing.counters(place));
    for (word, (written, writing)) in words.iter_mut().zip(copies) {
        *writing = i64::from_ne_bytes(*word);
        if rule == Rule::Add {
            *word = writing.wrapping_sub(*written).to_ne_bytes();
        }
    }
}

#[inline(always)]
fn merge_older<R: Source<Error = Errno>>(
    rule: Rule,
    mut words: &mut [Word],
    older: &mut Reader<'_, R>,
) -> Result<(), Problem> {
    while !words.is_empty() {
        let older = older.words(SectionKind::Counters, words.len())?;
        let (now, later) = words.split_at_mut_checked(older.len()).unwrap_or_default();
        for (newer, older) in now.iter_mut().zip(older) {
            let merged = counter(rule, i64::from_ne_bytes(*newer), i64::from_ne_bytes(*older));
            *newer = merged.to_ne_bytes();
        }
        words = later;
    }
    Ok(())
}

/// Reads the events of a site as they are now.
#[inline(always)]
fn collect(live: LiveSite<'_>, site: &mut Site) {
    site.pairs.clear();
    let mut counts: i64 = 0;
    for pair in live.pairs() {
        counts = counts.wrapping_add(pair.count);
        // A race may make two nodes of one value.
        if !site.add_to_known(pair) {
            let _ = site.pairs.push(pair);
        }
    }
    (site.total, site.error) = live.total_and_error(counts);
}

fn write_site<S: Sink>(site: &Site, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
    let head = SiteHead::new(site.pairs.len(), site.error);
    writer.put_word(SectionKind::TopN, site.total)?;
    writer.put_word(SectionKind::TopN, head.to_word())?;
    if head.has_error {
        writer.put(SectionKind::TopN, site.error.as_bytes())?;
    }
    writer.put(SectionKind::TopN, site.pairs.as_slice().as_bytes())
}

fn merge_older_site<R: Source<Error = Errno>>(
    site: &mut Site,
    older: &mut Reader<'_, R>,
) -> Result<(), Problem> {
    let total = older.word(SectionKind::TopN)?;
    let Some(head) = SiteHead::from_word(older.word(SectionKind::TopN)?) else {
        return older.wrong(Contradiction::Values);
    };
    let error = if head.has_error { older.word(SectionKind::TopN)? } else { 0 };
    let mut merge = site.merge(total, error);
    for _ in 0..head.pairs {
        let value = older.word(SectionKind::TopN)?;
        let count = older.word(SectionKind::TopN)?;
        merge.pair(Pair { value, count });
    }
    merge.finish();
    Ok(())
}
