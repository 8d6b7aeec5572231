//! Reads whole files into the model.
//!
//! Strict about structure. If the rest of a file still makes sense, a defect is reported, and reading goes on: a
//! function without a name is left out.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Findings, Tell};
use super::function::Function;
use super::image::{Image, Images};
use super::names::Names;
use super::targets::Targets;
use super::{Machine, Version, Word};
use crate::counters::{self, Profile, Site, Trace, Value, ValueKind, Variant};

/// What a file says, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The version of the file.
    pub version: Version,
    /// The machine that wrote it.
    pub machine: Machine,
    /// Defects that were tolerated.
    pub findings: Findings,
}

/// Reads a file; the first defect that cannot be tolerated is an error.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Finding> {
    decode_and_tell(bytes, &mut |_| {})
}

/// Reads a file as [`decode`] does, and reports each defect as soon as it is found. The first one that cannot be
/// tolerated is an error.
pub fn decode_and_tell(bytes: &[u8], tell: &mut dyn FnMut(Finding)) -> Result<Decoded, Finding> {
    let mut findings = Findings::default();
    let mut note = |finding| {
        tell(finding);
        findings.note(finding);
    };
    let mut reader = Reader::default();
    let first = Image::read(bytes, 0)?;
    for image in Images::new(bytes) {
        let image = image?;
        reader.variant(&first, &image, &mut note)?;
        reader.image(&image, &mut note)?;
    }
    let profile = reader.finish();
    let (version, machine) = (first.header.version, first.header.machine);
    Ok(Decoded { profile, version, machine, findings })
}

#[derive(Default)]
struct Reader {
    profile: Profile,
    /// Times of first calls, and names.
    calls: Vec<(u64, u64)>,
}

impl Reader {
    /// Adds the variant of an image. The machine and the version of all images must be the same.
    fn variant(
        &mut self,
        first: &Image<'_>,
        image: &Image<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Finding> {
        let (own, other) = (&first.header, &image.header);
        let offset = image.start() as u64;
        if (own.machine, own.version) != (other.machine, other.version) {
            return Err(Finding { offset, defect: Defect::Mixed });
        }
        if own.variant != other.variant {
            tell(Finding { offset, defect: Defect::Variant });
        }
        let (expected, found) = (other.version.kinds() as u64 - 1, other.get(Word::LastKind));
        if expected != found {
            tell(Finding { offset, defect: Defect::LastKind { expected, found } });
        }
        let kept = if own.variant.has(Variant::IR) == other.variant.has(Variant::IR) {
            self.profile.variant.0 | other.variant.0
        } else {
            self.profile.variant.0 | own.variant.0
        };
        self.profile.variant = Variant(kept);
        Ok(())
    }

    fn image(&mut self, image: &Image<'_>, tell: Tell<'_>) -> Result<(), Finding> {
        for id in image.binary_ids() {
            let id = id?;
            if !self.profile.binary_ids.iter().any(|known| known == id) {
                self.profile.binary_ids.push(id.to_vec());
            }
        }
        for name in image.vtable_names()?.iter() {
            self.profile.vtables.push(name.to_vec());
        }
        self.functions(image, &image.names()?, tell)
    }

    fn functions(
        &mut self,
        image: &Image<'_>,
        names: &Names,
        tell: Tell<'_>,
    ) -> Result<(), Finding> {
        let targets = Targets::of(image);
        for function in image.functions(names, tell) {
            let function = function?;
            if function.first_call != 0 {
                self.calls.push((function.first_call, function.name_ref));
            }
            self.profile.functions.push(owned(&function, &targets));
        }
        Ok(())
    }

    fn finish(mut self) -> Profile {
        if !self.calls.is_empty() {
            self.calls.sort_unstable();
            let functions = self.calls.into_iter().map(|(_, name)| name).collect();
            self.profile.traces.push(Trace { weight: 1, functions });
        }
        self.profile
    }
}

/// A function for the model.
fn owned(function: &Function<'_>, targets: &Targets) -> counters::Function {
    let values = ValueKind::ALL.map(|kind| {
        let site = |pairs: super::Pairs<'_>| {
            let known = |value: Value| Value { value: targets.value(kind, value.value), ..value };
            Site { values: pairs.map(known).collect() }
        };
        function.values.sites(kind).map(site).collect()
    });
    counters::Function {
        name: function.name.to_vec(),
        hash: function.hash,
        counters: function.counters.clone().collect(),
        bitmap: function.bitmap.to_vec(),
        values,
    }
}
