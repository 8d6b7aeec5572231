//! The live counters since the last flush, added to those of an older dump.

use core::sync::atomic::Ordering;

use zerocopy::IntoBytes;

use super::abi::gcov::{Array, Part};
use super::baseline::{Writing, Written};
use super::counters::topn::LiveSite;
use super::merge::Problem;
use super::module::Objects;
use super::sys::Errno;
use crate::raw::gcov::Rule;
use crate::raw::gcov::record::SiteHead;
use crate::raw::layout::SectionKind;
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
        let mut place: usize = 0;
        for part in self.parts() {
            let Part::Function(function) = part else { continue };
            for Array { rule, counters, .. } in function.arrays() {
                if rule == Rule::TopN {
                    continue;
                }
                for live in counters {
                    let mut value = live.load(Ordering::Relaxed);
                    if rule == Rule::Add {
                        value = since(&mut copies, place, value);
                    }
                    if let Some(older) = &mut older {
                        value = counter(rule, value, older.next_word(SectionKind::Counters)?);
                    }
                    writer.put_word(SectionKind::Counters, value)?;
                    place = place.wrapping_add(1);
                }
            }
        }
        let mut place: usize = 0;
        let mut site = Site::new(0, 0);
        for part in self.parts() {
            let Part::Function(function) = part else { continue };
            for live in function.arrays().flat_map(|array| array.sites()) {
                collect(live, &mut site);
                if let Some((written, writing)) = &mut copies {
                    writing.set_site(place, &site);
                    written.take_off(place, &mut site);
                }
                if let Some(older) = &mut older {
                    merge_older_site(&mut site, older)?;
                }
                write_site(&site, writer)?;
                place = place.wrapping_add(1);
            }
        }
        Ok(())
    }
}

#[cfg(feature = "live")]
impl Objects<'_> {
    /// Sets all counters back to what the last flush found.
    pub fn set_back(&self, flushed: &Written<'_>) {
        let (mut counters, mut sites) = (0usize.., 0usize..);
        for array in self.arrays() {
            for (live, place) in array.sites().zip(&mut sites) {
                live.set_back(&flushed.site(place));
            }
            let plain = array.counters.iter().filter(|_| array.rule != Rule::TopN);
            for (counter, place) in plain.zip(&mut counters) {
                counter.store(flushed.counter(place), Ordering::Relaxed);
            }
        }
    }
}

/// What a counter has grown by since the last flush.
fn since(copies: &mut Copies<'_>, place: usize, value: i64) -> i64 {
    match copies {
        Some((written, writing)) => {
            writing.set_counter(place, value);
            value.wrapping_sub(written.counter(place))
        }
        None => value,
    }
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
