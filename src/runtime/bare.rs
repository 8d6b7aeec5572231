//! A whole dump for programs without an operating system, through a callback.
//!
//! Nothing is merged, locked or remembered: a dump holds what was counted since the start or the
//! last reset, as one run. All calls down to the callback together use at most 512 bytes of stack
//! (`tests/bare.rs` measures it), so sections are small and a site's values are written one by one.
//! Interrupts may count during a dump.

use core::sync::atomic::Ordering;

use spin::Mutex;
use zerocopy::FromZeros;

use super::abi::gcov::{Array, Registry};
use super::abi::{Array as _, Shift};
use super::counters::nodes::Nodes;
use super::counters::topn::LiveSite;
use super::module::Objects;
use crate::raw::head::Head;
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::{ModuleRecord, SectionKind, SumsRecord};
use crate::raw::merge::Pair;
use crate::raw::site::SiteHead;
use crate::raw::text::Lines;
use crate::raw::writer::{Sink, Writer};

/// Header and payload of a section.
const SECTION: usize = 256;

/// A writer of small sections.
type To<'b, S> = Writer<'b, S, SECTION>;

/// An image without files.
pub struct BareImage {
    /// Its objects.
    pub objects: Registry,
    /// Nodes of its top-N sites.
    pub nodes: Nodes,
    /// Memory of the one dump that is being written.
    work: Mutex<Work>,
}

/// What a dump needs besides the stack.
struct Work {
    section: [u8; SECTION],
    record: ModuleRecord,
    head: Head,
    /// Sums of the counts.
    found: SumsRecord,
}

/// Why a dump is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped<E> {
    /// Another one is being written.
    Busy,
    /// The sink returned an error.
    Sink(E),
}

/// Counters, nodes or the mark are outside the memory to be retained, or a dump is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced;

impl BareImage {
    /// An image without objects.
    pub const fn new() -> Self {
        let record = zerocopy::transmute!([0u8; size_of::<ModuleRecord>()]);
        let found = zerocopy::transmute!([0u8; size_of::<SumsRecord>()]);
        let (section, head) = ([0; SECTION], zerocopy::transmute!([0u8; size_of::<Head>()]));
        let work = Work { section, record, head, found };
        Self { objects: Registry::new(), nodes: Nodes::new(), work: Mutex::new(work) }
    }

    /// Writes a dump. `starts` is the number of the program's starts that the counts come from.
    #[inline(always)]
    pub fn write<E>(&self, starts: u32, sink: &mut dyn Sink<Error = E>) -> Result<(), Stopped<E>> {
        let mut work = self.work.try_lock().ok_or(Stopped::Busy)?;
        let Work { section, record, head, found } = &mut *work;
        // Two calls in a row rather than nested, to save stack.
        self.survey(record, head);
        let writer = &mut Writer::new(sink, section);
        self.write_names(record, writer)
            .and_then(|()| self.write_functions(head, found, writer))
            .and_then(|()| self.write_end(starts, found, writer))
            .map_err(Stopped::Sink)
    }

    #[inline(never)]
    fn survey(&self, record: &mut ModuleRecord, head: &mut Head) {
        record.zero();
        self.image().survey(record, head);
    }

    #[inline(never)]
    fn write_names<S: Sink>(
        &self,
        record: &ModuleRecord,
        writer: &mut To<'_, S>,
    ) -> Result<(), S::Error> {
        writer.put_record(SectionKind::Module, record)?;
        self.image().write_names(writer)
    }

    #[inline(never)]
    fn write_functions<S: Sink>(
        &self,
        head: &mut Head,
        found: &mut SumsRecord,
        writer: &mut To<'_, S>,
    ) -> Result<(), S::Error> {
        found.zero();
        let counts = |array: &Array, to: &mut To<'_, S>| write_counts(array, found, to);
        self.image().write_functions_with(head, writer, counts)
    }

    #[inline(never)]
    fn write_end<S: Sink>(
        &self,
        starts: u32,
        found: &mut SumsRecord,
        writer: &mut To<'_, S>,
    ) -> Result<(), S::Error> {
        found.sums.runs = u64::from(starts);
        found.sums.dropped = self.nodes.dropped();
        writer.put_record(SectionKind::Sums, found)?;
        writer.end()
    }

    /// Writes a dump as lines of text.
    pub fn write_text<E>(
        &self,
        starts: u32,
        sink: &mut dyn Sink<Error = E>,
    ) -> Result<(), Stopped<E>> {
        let mut lines = Lines::new(sink);
        self.write(starts, &mut lines)?;
        lines.finish().map(drop).map_err(Stopped::Sink)
    }

    /// The signature that distinguishes these objects from others. `None` while a dump is being written.
    pub fn signature(&self) -> Option<u64> {
        let mut work = self.work.try_lock()?;
        let Work { record, head, .. } = &mut *work;
        self.survey(record, head);
        Some(record.identity.signature)
    }

    /// Sets all counters to zero.
    pub fn reset(&self) {
        self.image().zero(&[Rule::Add, Rule::TopN, Rule::Ior, Rule::Time]);
        self.nodes.reset_dropped();
        self.nodes.reset_indexes();
    }

    fn image(&self) -> Objects<'_, Registry> {
        Objects { registry: &self.objects, path: b"", shift: Shift::default() }
    }
}

impl Default for BareImage {
    fn default() -> Self {
        Self::new()
    }
}

#[inline(always)]
fn write_counts<S: Sink>(
    array: &Array,
    found: &mut SumsRecord,
    writer: &mut To<'_, S>,
) -> Result<(), S::Error> {
    if array.rule != Rule::TopN {
        for counter in array.counters {
            let count = counter.load(Ordering::Relaxed);
            found.counters = found.counters.wrapping_add(1);
            if array.kind == Kind::ARCS {
                found.sums.sum_max = found.sums.sum_max.max(count.max(0) as u64);
            }
            writer.put_word(SectionKind::Functions, count)?;
        }
    }
    for index in 0.. {
        let Some(site) = array.site(index) else { break };
        found.sites = found.sites.wrapping_add(1);
        write_site(site, writer)?;
    }
    Ok(())
}

/// Writes a site with the number of values that it had at first. Values that an interrupt adds are in the next dump.
#[inline(always)]
fn write_site<S: Sink>(site: LiveSite<'_>, writer: &mut To<'_, S>) -> Result<(), S::Error> {
    writer.put_word(SectionKind::Functions, measure(site).0)?;
    let head = measure(site).1;
    writer.put_word(SectionKind::Functions, head.to_word())?;
    if head.has_error {
        writer.put_word(SectionKind::Functions, measure(site).2)?;
    }
    let mut number = head.pairs;
    let mut pairs = site.pairs();
    while number > 0 {
        number -= 1;
        let pair = pairs.next().unwrap_or_default();
        writer.put_word(SectionKind::Functions, pair.value)?;
        writer.put_word(SectionKind::Functions, pair.count)?;
    }
    Ok(())
}

/// Total, head and error of a site. The caller measures again for each word: the stack has no room for all three.
#[inline(never)]
fn measure(site: LiveSite<'_>) -> (i64, SiteHead, i64) {
    let (mut number, mut counts) = (0usize, 0i64);
    for Pair { count, .. } in site.pairs() {
        number = number.wrapping_add(1);
        counts = counts.saturating_add(count);
    }
    let (total, error) = site.total_and_error(counts);
    (total, SiteHead::new(number, error), error)
}
