//! One profile of a file as something to be added, without copies of its counters.
//!
//! ```
//! use countersink::counters::merge::Sum;
//! use countersink::formats::profraw::check::Finding;
//! use countersink::formats::profraw::image::Images;
//! use countersink::formats::profraw::names::Names;
//! use countersink::formats::profraw::summand::Summand;
//!
//! /// Adds all profiles of a file.
//! fn add(file: &[u8], sum: &mut Sum) -> Result<(), Finding> {
//!     let mut known: Option<(_, Names)> = None;
//!     for image in Images::new(file) {
//!         let image = image?;
//!         // Many files of one program need its names once.
//!         if !known.as_ref().is_some_and(|(other, _)| image.same_names(other)) {
//!             let names = image.names()?;
//!             known = Some((image.clone(), names));
//!         }
//!         let Some((_, names)) = &known else { continue };
//!         let summand = Summand::open(&image, names, &mut |_| {})?;
//!         let _ = sum.add_summand(&summand, 1);
//!     }
//!     Ok(())
//! }
//! ```

use alloc::vec::Vec;

use super::check::{Defect, Finding, Tell};
use super::function::{Function, Functions};
use super::image::Image;
use super::names::Names;
use super::targets::Targets;
use crate::counters::merge::{self, View};
use crate::counters::{Trace, Value, ValueKind, Variant};

/// A profile of more functions does not keep them, but reads them again: they would need as much memory as the file.
const KEPT: usize = 4096;

/// A profile whose functions have been checked.
#[derive(Clone, Debug)]
pub struct Summand<'i> {
    /// How the program was instrumented. Change it to add what else could not be added.
    pub variant: Variant,
    image: &'i Image<'i>,
    names: &'i Names,
    /// All functions, unless there are too many.
    kept: Vec<Function<'i>>,
    /// Whether functions without a name are left out.
    has_nameless: bool,
    targets: Targets,
    binary_ids: Vec<&'i [u8]>,
    vtables: Names,
    trace: Option<Trace>,
}

impl<'i> Summand<'i> {
    /// Reads the functions, and reports tolerable defects.
    pub fn open(image: &'i Image<'_>, names: &'i Names, tell: Tell<'_>) -> Result<Self, Finding> {
        let (mut has_nameless, mut has_targets, mut calls) = (false, false, Vec::new());
        let number = image.records().len();
        let mut kept = Vec::with_capacity(if number > KEPT { 0 } else { number });
        let mut tell = |finding: Finding| {
            has_nameless |= matches!(finding.defect, Defect::UnknownName(_));
            tell(finding);
        };
        for function in image.functions(names, &mut tell) {
            let function = function?;
            has_targets = has_targets || self::has_targets(&function);
            if function.first_call != 0 {
                calls.push((function.first_call, function.name_ref));
            }
            if number <= KEPT {
                kept.push(function);
            }
        }
        let targets = if has_targets { Targets::of(image) } else { Targets::default() };
        Ok(Self {
            variant: image.header.variant,
            image,
            names,
            kept,
            has_nameless,
            targets,
            binary_ids: image.binary_ids().collect::<Result<_, _>>()?,
            vtables: image.vtable_names()?,
            trace: trace(calls),
        })
    }
}

/// Whether there are values that are addresses.
fn has_targets(function: &Function<'_>) -> bool {
    let mut kinds = [ValueKind::IndirectCall, ValueKind::VirtualTable].into_iter();
    kinds.any(|kind| function.values.sites(kind).any(|site| site.len() > 0))
}

/// The functions in the order of their first calls, which are given with their times.
fn trace(mut calls: Vec<(u64, u64)>) -> Option<Trace> {
    calls.sort_unstable();
    let functions: Vec<u64> = calls.into_iter().map(|(_, name)| name).collect();
    (!functions.is_empty()).then_some(Trace { weight: 1, functions })
}

impl merge::Summand for Summand<'_> {
    type Function<'a>
        = Counted<'a>
    where
        Self: 'a;

    fn variant(&self) -> Variant {
        self.variant
    }

    fn functions(&self) -> impl Iterator<Item = Counted<'_>> {
        let (names, targets) = (self.names, &self.targets);
        let again = Functions::again(self.image, self.has_nameless.then_some(names));
        let again = again.take(if self.kept.is_empty() { usize::MAX } else { 0 });
        let functions = self.kept.iter().cloned().chain(again.map_while(Result::ok));
        functions.map(move |function| Counted { function, names, targets })
    }

    fn binary_ids(&self) -> impl Iterator<Item = &[u8]> {
        self.binary_ids.iter().copied()
    }

    fn vtables(&self) -> impl Iterator<Item = &[u8]> {
        self.vtables.iter()
    }

    fn traces(&self) -> impl Iterator<Item = Trace> {
        self.trace.iter().cloned()
    }

    fn runs(&self) -> u64 {
        self.trace.iter().count() as u64
    }
}

/// A function, and what its name and its targets are.
#[derive(Clone, Debug)]
pub struct Counted<'a> {
    /// It may lack its name.
    function: Function<'a>,
    names: &'a Names,
    targets: &'a Targets,
}

impl View for Counted<'_> {
    fn name(&self) -> &[u8] {
        self.names.get(self.function.name_ref).unwrap_or_default()
    }

    fn name_ref(&self) -> u64 {
        self.function.name_ref
    }

    fn is_named(&self, _: &[u8], name_ref: u64) -> bool {
        self.function.name_ref == name_ref
    }

    fn hash(&self) -> u64 {
        self.function.hash
    }

    fn counters(&self) -> impl ExactSizeIterator<Item = u64> {
        self.function.counters.clone()
    }

    fn words(&self) -> Option<&[[u8; 8]]> {
        self.function.counters.words()
    }

    fn bitmap(&self) -> impl ExactSizeIterator<Item = u8> {
        self.function.bitmap.iter().copied()
    }

    fn number_of_sites(&self, kind: ValueKind) -> usize {
        self.function.values.sites(kind).len()
    }

    fn sites(&self, kind: ValueKind, visit: &mut dyn FnMut(&mut dyn Iterator<Item = Value>)) {
        for site in self.function.values.sites(kind) {
            let known =
                |value: Value| Value { value: self.targets.value(kind, value.value), ..value };
            visit(&mut site.map(known));
        }
    }
}
