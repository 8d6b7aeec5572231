//! The live counters since the last flush, added to those of an older dump.

use core::sync::atomic::Ordering;

use super::abi::gcov::{Array, Part};
use super::baseline::{Writing, Written};
use super::counters::topn::LiveSite;
use super::merge::Problem;
use super::module::Objects;
use super::sys::Errno;
use crate::raw::gcov::Rule;
use crate::raw::layout::SectionKind;
use crate::raw::merge::{Pair, SITE_LIMIT, Site, counter};
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
            let Part::Array(Array { rule, counters, .. }) = part else { continue };
            for live in counters.iter().filter(|_| rule != Rule::TopN) {
                let mut value = live.load(Ordering::Relaxed);
                if rule == Rule::Add {
                    value = since(&mut copies, place, value);
                }
                if let Some(older) = &mut older {
                    value = counter(rule, value, older.word(SectionKind::Counters)?);
                }
                writer.put_word(SectionKind::Counters, value)?;
                place = place.wrapping_add(1);
            }
        }
        let mut place: usize = 0;
        for part in self.parts() {
            let Part::Array(array) = part else { continue };
            for live in array.sites() {
                let mut site = collect(live);
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

    /// Remembers the counts as written, without writing them.
    pub fn write_off(&self, mut copies: Copies<'_>) {
        let (mut place, mut site_place): (usize, usize) = (0, 0);
        for part in self.parts() {
            let Part::Array(array) = part else { continue };
            for live in array.counters.iter().filter(|_| array.rule != Rule::TopN) {
                since(&mut copies, place, live.load(Ordering::Relaxed));
                place = place.wrapping_add(1);
            }
            for live in array.sites() {
                if let Some((_, writing)) = &mut copies {
                    writing.set_site(site_place, &collect(live));
                }
                site_place = site_place.wrapping_add(1);
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

fn write_site<S: Sink>(site: &Site, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
    writer.put_word(SectionKind::TopN, site.total)?;
    writer.put_word(SectionKind::TopN, site.pairs.len() as i64)?;
    for pair in &site.pairs {
        writer.put_word(SectionKind::TopN, pair.value)?;
        writer.put_word(SectionKind::TopN, pair.count)?;
    }
    Ok(())
}

/// The events of a site now. Two nodes of one value, which only a race makes, become one.
fn collect(live: LiveSite<'_>) -> Site {
    let mut site = Site::new(live.total());
    for pair in live.pairs() {
        match site.pairs.iter_mut().find(|known| known.value == pair.value) {
            Some(known) => known.count = known.count.wrapping_add(pair.count),
            None => drop(site.pairs.push(pair)),
        }
    }
    site
}

fn merge_older_site<R: Source<Error = Errno>>(
    site: &mut Site,
    older: &mut Reader<'_, R>,
) -> Result<(), Problem> {
    let mut merge = site.merge(older.word(SectionKind::TopN)?);
    let pairs = older.word(SectionKind::TopN)?;
    if !(0..=SITE_LIMIT as i64).contains(&pairs) {
        return older.wrong(Contradiction::Values);
    }
    for _ in 0..pairs {
        let value = older.word(SectionKind::TopN)?;
        let count = older.word(SectionKind::TopN)?;
        merge.pair(Pair { value, count });
    }
    merge.finish();
    Ok(())
}
