//! A whole dump for programs without an operating system, through a callback.
//!
//! Nothing is merged, locked or remembered: a dump holds what was counted since the start or the last reset, as one
//! run. All calls down to the callback together use at most 528 bytes of stack for gcc's objects and 1 KiB for LLVM's
//! (`bare.rs` in `tests/runtime` and `tests/llvm_runtime` measures it), so sections are small and a site's values are
//! written one by one. Interrupts may count during a dump.

use spin::Mutex;
use zerocopy::FromZeros;

use super::abi::{Array, ArrayOf, Function, Instrumented, Shift};
use super::counters::nodes::Nodes;
use super::counters::topn::LiveSite;
use super::module::Objects;
use super::retained::Room;
use crate::raw::head::Head;
use crate::raw::kind::Kind;
use crate::raw::layout::{ModuleRecord, SectionKind, SumsRecord, Word};
use crate::raw::merge::Pair;
use crate::raw::site::SiteHead;
use crate::raw::text::Lines;
use crate::raw::writer::{Sink, Writer};

/// Header and payload of a section.
const SECTION: usize = 256;

/// What a program's callback returns: 0 if it took the bytes, anything else to end the dump.
pub type Status = i32;

/// Where the bytes of a dump go.
type Output<'o> = dyn Sink<Error = Status> + 'o;

/// A writer of small sections.
pub type To<'b, 'o> = Writer<'b, &'o mut Output<'o>, SECTION>;

/// An image without files: what its families of compilers share.
pub struct BareImage {
    /// Nodes of its top-N sites.
    pub nodes: Nodes,
    /// Memory of the one dump that is being written.
    work: Mutex<Work>,
}

/// What a dump needs besides the stack.
struct Work {
    section: [u8; SECTION],
    module: Module,
}

/// What the module at hand needs.
pub struct Module {
    record: ModuleRecord,
    head: Head,
    /// Sums of the counts.
    found: SumsRecord,
    /// Of the program, for all modules.
    starts: u32,
    /// Events lost, as far as no module has told them.
    dropped: u64,
}

/// Why a dump is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Another one is being written.
    Busy,
    /// The program's callback has returned this.
    Sink(Status),
}

/// Counters, nodes or the mark are outside the memory to be retained, or a dump is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced;

/// The objects of one family of compilers. A program reaches each family through a pointer alone, so that it does not
/// carry the code of a family that it has no objects of.
pub trait Family: Sync {
    /// Whether there are no objects.
    fn is_empty(&self) -> bool;

    /// Walks all objects once for their identity.
    fn survey(&self, module: &mut Module);

    /// Writes what stands before the functions.
    fn write_names(&self, module: &Module, writer: &mut To<'_, '_>) -> Result<(), Status>;

    /// Writes the functions with their counts.
    fn write_functions(&self, module: &mut Module, writer: &mut To<'_, '_>) -> Result<(), Status>;
}

/// What a reset needs of the objects of a family, and memory that outlives one. By itself, as most programs write dumps
/// and do nothing else.
pub trait Resettable: Sync {
    /// Sets all counters back.
    fn reset(&self);

    /// Whether all counters are in the memory to be retained. Adds their places to the signature.
    fn is_retained(&self, room: &mut Room) -> bool;

    /// Finds out which nodes and indexes are in use in memory that was retained, the largest numbers of each. `None`
    /// if a site leads to anything else.
    fn take_over(&self, nodes: &Nodes, used: &mut [usize; 2]) -> Option<()>;
}

/// The families that an image may have.
const FAMILIES: usize = 2;

/// Gives each family of an image that it has, by number. A function, as a list would take stack.
pub type Families = fn(usize) -> Option<&'static dyn Family>;

/// The same for resets.
pub type ResettableFamilies = fn(usize) -> Option<&'static dyn Resettable>;

pub(super) fn each(families: ResettableFamilies) -> impl Iterator<Item = &'static dyn Resettable> {
    (0..FAMILIES).filter_map(families)
}

impl BareImage {
    /// An image without objects.
    pub const fn new() -> Self {
        let record = zerocopy::transmute!([0u8; size_of::<ModuleRecord>()]);
        let found = zerocopy::transmute!([0u8; size_of::<SumsRecord>()]);
        let (section, head) = ([0; SECTION], zerocopy::transmute!([0u8; size_of::<Head>()]));
        let work = Work { section, module: Module { record, head, found, starts: 0, dropped: 0 } };
        Self { nodes: Nodes::new(), work: Mutex::new(work) }
    }

    /// Writes a dump with a module for each family that has objects. `starts` is the number of the program's starts
    /// that the counts come from.
    #[inline(always)]
    pub fn write<'o>(
        &self,
        families: Families,
        starts: u32,
        sink: &'o mut Output<'o>,
    ) -> Result<(), Stopped> {
        let mut work = self.work.try_lock().ok_or(Stopped::Busy)?;
        let Work { section, module } = &mut *work;
        module.starts = starts;
        // All families share the nodes, so the first module tells what was lost.
        module.dropped = self.nodes.dropped();
        let writer = &mut Writer::new(sink, section);
        for number in 0..FAMILIES {
            if let Some(family) = families(number)
                && !family.is_empty()
            {
                write_module(family, module, writer).map_err(Stopped::Sink)?;
            }
        }
        writer.end().map_err(Stopped::Sink)
    }

    /// Writes a dump as lines of text.
    pub fn write_text<'o>(
        &self,
        families: Families,
        starts: u32,
        sink: &'o mut Output<'o>,
    ) -> Result<(), Stopped> {
        let mut lines = Lines::new(sink);
        self.write(families, starts, &mut lines)?;
        lines.finish().map(drop).map_err(Stopped::Sink)
    }

    /// The signature that distinguishes these objects from others. `None` while a dump is being written.
    pub fn signature(&self, families: Families) -> Option<u64> {
        let mut work = self.work.try_lock()?;
        let mut signature = 0u64;
        for family in (0..FAMILIES).filter_map(families) {
            family.survey(&mut work.module);
            signature = signature.rotate_left(1) ^ work.module.record.identity.signature;
        }
        Some(signature)
    }

    /// Sets all counters to zero.
    pub fn reset(&self, families: ResettableFamilies) {
        each(families).for_each(Resettable::reset);
        self.nodes.reset_dropped();
        self.nodes.reset_indexes();
    }
}

impl Default for BareImage {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Instrumented> Family for I {
    fn is_empty(&self) -> bool {
        Instrumented::is_empty(self)
    }

    #[inline(never)]
    fn survey(&self, module: &mut Module) {
        module.record.zero();
        image(self).survey(&mut module.record, &mut module.head);
    }

    #[inline(never)]
    fn write_names(&self, module: &Module, writer: &mut To<'_, '_>) -> Result<(), Status> {
        writer.put_record(SectionKind::Module, &module.record)?;
        image(self).write_names(writer)
    }

    #[inline(never)]
    fn write_functions(&self, module: &mut Module, writer: &mut To<'_, '_>) -> Result<(), Status> {
        let Module { head, found, .. } = module;
        found.zero();
        image(self).write_functions_with(head, writer, |array, to| write_counts(array, found, to))
    }
}

impl<I: Instrumented> Resettable for I {
    fn reset(&self) {
        visit(self, &mut |array| {
            array.reset();
            true
        });
    }

    fn is_retained(&self, room: &mut Room) -> bool {
        visit(self, &mut |array| room.holds(array.place()))
    }

    fn take_over(&self, nodes: &Nodes, used: &mut [usize; 2]) -> Option<()> {
        let leads_to_nodes = visit(self, &mut |array| {
            (0..array.site_count()).filter_map(|index| array.site(index)).all(|site| {
                let Some([node, index]) = site.reach(nodes) else { return false };
                *used = [node.max(used[0]), index.max(used[1])];
                true
            })
        });
        leads_to_nodes.then_some(())
    }
}

fn image<I: Instrumented>(registry: &I) -> Objects<'_, I> {
    Objects { registry, path: b"", shift: Shift::default() }
}

/// Visits all arrays as long as `visit` says so; says whether it always did. One walk for all who need one: each
/// takes half a kilobyte.
#[inline(never)]
pub fn visit<I: Instrumented>(registry: &I, visit: &mut dyn FnMut(&ArrayOf<I>) -> bool) -> bool {
    for functions in registry.objects(Shift::default()) {
        for function in functions {
            for array in function.arrays() {
                if !visit(&array) {
                    return false;
                }
            }
        }
    }
    true
}

/// Calls in a row rather than nested, to save stack.
#[inline(always)]
fn write_module(
    family: &dyn Family,
    module: &mut Module,
    writer: &mut To<'_, '_>,
) -> Result<(), Status> {
    family.survey(module);
    family.write_names(module, writer)?;
    family.write_functions(module, writer)?;
    write_sums(module, writer)
}

#[inline(never)]
fn write_sums(module: &mut Module, writer: &mut To<'_, '_>) -> Result<(), Status> {
    module.found.sums.runs = u64::from(module.starts);
    module.found.sums.dropped = core::mem::take(&mut module.dropped);
    writer.put_record(SectionKind::Sums, &module.found)
}

#[inline(always)]
fn write_counts<A: Array>(
    array: &A,
    found: &mut SumsRecord,
    writer: &mut To<'_, '_>,
) -> Result<(), Status> {
    for place in 0..array.words() {
        let mut word = Word::default();
        let count = array.load(place, core::slice::from_mut(&mut word));
        found.counters = found.counters.wrapping_add(1);
        if array.kind() == Kind::ARCS {
            found.sums.sum_max = found.sums.sum_max.max(count.max(0) as u64);
        }
        writer.put_word(SectionKind::Functions, i64::from_ne_bytes(word))?;
    }
    for index in 0.. {
        let Some(site) = array.site(index) else { break };
        found.sites = found.sites.wrapping_add(1);
        write_site(array, site, writer)?;
    }
    Ok(())
}

/// Writes a site with the number of values that it had at first. Values that an interrupt adds are in the next dump.
#[inline(always)]
fn write_site<A: Array>(
    array: &A,
    site: LiveSite<'_>,
    writer: &mut To<'_, '_>,
) -> Result<(), Status> {
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
        writer.put_word(SectionKind::Functions, array.value(pair.value))?;
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
