//! The live counters of an image as a module of a raw dump.

use core::sync::atomic::Ordering;

use zerocopy::FromZeros;

use super::abi::gcov::{Array, Object, Part, Registry, Tokens};
use super::baseline::{Writing, Written};
use super::counters::topn::LiveSite;
use super::identity::BuildId;
use super::merge::Problem;
use super::sys::Errno;
use crate::raw::gcov::{Kind, ObjectRecord, Rule};
use crate::raw::layout::{ABI_GCOV, ModuleRecord, SectionKind, Signature, Sums};
use crate::raw::merge::{Pair, SITE_LIMIT, Site, counter};
use crate::raw::reader::{Contradiction, Reader, Source};
use crate::raw::writer::{Sink, Writer};

/// An image's objects, with what must be known of them before they can be written.
pub struct LiveModule<'i> {
    registry: &'i Registry,
    tokens: &'i Tokens,
    path: &'i [u8],
    /// Identity and sizes; what it says of runs and losses is up to the owner.
    pub record: ModuleRecord,
}

/// What the last flush wrote, and room for what this one writes.
pub type Copies<'b> = Option<(Written<'b>, Writing<'b>)>;

impl<'i> LiveModule<'i> {
    /// Walks all objects once for their signature and sizes.
    pub fn survey(
        registry: &'i Registry,
        tokens: &'i Tokens,
        build_id: &BuildId,
        path: &'i [u8],
    ) -> Self {
        let mut record = ModuleRecord::new_zeroed();
        record.identity.abi = ABI_GCOV;
        record.identity.build_id_length = build_id.length.min(build_id.bytes.len()) as u32;
        record.identity.build_id = build_id.bytes;
        record.path_length = path.len() as u32;
        record.strings_length = record.path_length;
        let mut signature = Signature::new();
        registry.visit(tokens, &mut |part| {
            survey_part(part, &mut record, &mut signature);
            true
        });
        record.identity.signature = signature.value();
        Self { registry, tokens, path, record }
    }

    /// The largest arc counter now.
    pub fn run_max(&self) -> i64 {
        let mut largest = 0;
        self.visit(&mut |part| {
            if let Part::Array(Array { kind: Kind::ARCS, counters, .. }) = part {
                for counter in *counters {
                    largest = largest.max(counter.load(Ordering::Relaxed));
                }
            }
            true
        });
        largest
    }

    /// Writes everything but the counts, under the given sums.
    pub fn write_head<S: Sink<Error = Errno>>(
        &self,
        sums: Sums,
        writer: &mut Writer<'_, S>,
    ) -> Result<(), Errno> {
        let record = ModuleRecord { sums, ..self.record };
        writer.put_record(SectionKind::Module, &record)?;
        writer.put(SectionKind::Strings, self.path)?;
        self.try_visit(&mut |part| match part {
            Part::Object(object) => writer.put(SectionKind::Strings, object.path().to_bytes()),
            _ => Ok(()),
        })?;
        let mut path_offset = self.path.len() as u32;
        self.try_visit(&mut |part| match part {
            Part::Object(object) => {
                let record = object_record(object, path_offset);
                path_offset = path_offset.wrapping_add(record.path_length);
                writer.put_record(SectionKind::Objects, &record)
            }
            _ => Ok(()),
        })?;
        let (mut left, mut odd) = (0usize, false);
        self.try_visit(&mut |part| match part {
            Part::Function(function) => {
                left = function.kinds();
                odd = left % 2 != 0;
                writer.put_record(SectionKind::Functions, &function.record())
            }
            Part::Array(array) => {
                left = left.wrapping_sub(1);
                let number = array.counters.len() as u32;
                match left {
                    0 if odd => writer.put_record(SectionKind::Functions, &[number, 0]),
                    _ => writer.put_record(SectionKind::Functions, &number),
                }
            }
            Part::Object(_) => Ok(()),
        })
    }

    /// Writes the counts since `copies`, added to those of `older`, whose next sections must be the
    /// counts of the same module.
    pub fn write_counts<S: Sink<Error = Errno>, R: Source<Error = Errno>>(
        &self,
        mut copies: Copies<'_>,
        mut older: Option<&mut Reader<'_, R>>,
        writer: &mut Writer<'_, S>,
    ) -> Result<(), Problem> {
        let mut place: usize = 0;
        self.try_visit::<Problem>(&mut |part| {
            let Part::Array(&Array { rule, counters, .. }) = part else { return Ok(()) };
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
            Ok(())
        })?;
        let mut place: usize = 0;
        self.try_visit::<Problem>(&mut |part| {
            let Part::Array(array) = part else { return Ok(()) };
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
            Ok(())
        })
    }

    /// Remembers the counts as written, without writing them.
    pub fn write_off(&self, mut copies: Copies<'_>) {
        let (mut place, mut site_place): (usize, usize) = (0, 0);
        self.visit(&mut |part| {
            let Part::Array(array) = part else { return true };
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
            true
        });
    }

    /// Sets the counters back whose rule is one of `rules`.
    pub fn zero(&self, rules: &[Rule]) {
        self.visit(&mut |part| {
            let Part::Array(array) = part else { return true };
            if rules.contains(&array.rule) {
                array.sites().for_each(|live| live.reset());
                let counters = array.counters.iter().filter(|_| array.rule != Rule::TopN);
                counters.for_each(|live| live.store(0, Ordering::Relaxed));
            }
            true
        });
    }

    fn visit(&self, visit: &mut dyn FnMut(Part<'_>) -> bool) {
        self.registry.visit(self.tokens, visit);
    }

    fn try_visit<E>(&self, visit: &mut dyn FnMut(Part<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut result = Ok(());
        self.visit(&mut |part| {
            result = visit(part);
            result.is_ok()
        });
        result
    }
}

fn survey_part(part: Part<'_>, record: &mut ModuleRecord, signature: &mut Signature) {
    let ModuleRecord { identity, strings_length, .. } = record;
    match part {
        Part::Object(object) => {
            let entry = object_record(object, 0);
            signature.object(&entry, object.path().to_bytes());
            identity.objects = identity.objects.wrapping_add(1);
            identity.functions = identity.functions.wrapping_add(entry.functions);
            *strings_length = strings_length.wrapping_add(entry.path_length);
        }
        Part::Function(function) => signature.function(&function.record()),
        Part::Array(array) => {
            signature.word(array.counters.len() as u32);
            match array.rule {
                Rule::TopN => identity.sites += array.sites().count() as u64,
                _ => identity.counters += array.counters.len() as u64,
            }
        }
    }
}

fn object_record(object: &Object, path_offset: u32) -> ObjectRecord {
    ObjectRecord {
        version: object.version().0,
        stamp: object.stamp(),
        checksum: object.checksum(),
        functions: object.function_count() as u32,
        rules: object.rules().0,
        path_offset,
        path_length: object.path().to_bytes().len() as u32,
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
