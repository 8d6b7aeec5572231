//! What can be added: the model, and what readers see in the bytes of files.

use alloc::vec::Vec;

use crate::counters::{Function, Profile, Trace, Value, ValueKind, Variant, name_ref};

/// Something that has the functions of a profile.
pub trait Summand {
    /// A function.
    type Function<'a>: View
    where
        Self: 'a;

    /// How the program was instrumented.
    fn variant(&self) -> Variant;
    /// Its functions, in the order of the file.
    fn functions(&self) -> impl Iterator<Item = Self::Function<'_>>;
    /// Build-ids of the images.
    fn binary_ids(&self) -> impl Iterator<Item = &[u8]>;
    /// Names of virtual tables.
    fn vtables(&self) -> impl Iterator<Item = &[u8]>;
    /// Temporal profile traces.
    fn traces(&self) -> impl Iterator<Item = Trace>;
    /// Number of runs that the traces were chosen from.
    fn runs(&self) -> u64;
}

/// A function of a summand.
pub trait View {
    /// Its name.
    fn name(&self) -> &[u8];
    /// The MD5 of its name, see [`name_ref`].
    fn name_ref(&self) -> u64;
    /// Whether this is its name, and the MD5 of it. Only one of them needs to be compared.
    fn is_named(&self, name: &[u8], name_ref: u64) -> bool;
    /// Hash of its control flow.
    fn hash(&self) -> u64;
    /// Its counters.
    fn counters(&self) -> impl ExactSizeIterator<Item = u64>;
    /// Its counters, little-endian, if they stand so in memory. They are added faster.
    fn words(&self) -> Option<&[[u8; 8]]> {
        None
    }
    /// Its MC/DC bitmap.
    fn bitmap(&self) -> impl ExactSizeIterator<Item = u8>;
    /// Number of its value sites of a kind.
    fn number_of_sites(&self, kind: ValueKind) -> usize;
    /// Visits its sites of a kind, each with its values.
    fn sites(&self, kind: ValueKind, visit: &mut dyn FnMut(&mut dyn Iterator<Item = Value>));
}

impl Summand for Profile {
    type Function<'a> = &'a Function;

    fn variant(&self) -> Variant {
        self.variant
    }

    fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter()
    }

    fn binary_ids(&self) -> impl Iterator<Item = &[u8]> {
        self.binary_ids.iter().map(Vec::as_slice)
    }

    fn vtables(&self) -> impl Iterator<Item = &[u8]> {
        self.vtables.iter().map(Vec::as_slice)
    }

    fn traces(&self) -> impl Iterator<Item = Trace> {
        self.traces.iter().cloned()
    }

    fn runs(&self) -> u64 {
        Self::runs(self)
    }
}

impl View for &Function {
    fn name(&self) -> &[u8] {
        &self.name
    }

    fn name_ref(&self) -> u64 {
        name_ref(&self.name)
    }

    fn is_named(&self, name: &[u8], _: u64) -> bool {
        self.name == name
    }

    fn hash(&self) -> u64 {
        self.hash
    }

    fn counters(&self) -> impl ExactSizeIterator<Item = u64> {
        self.counters.iter().copied()
    }

    fn bitmap(&self) -> impl ExactSizeIterator<Item = u8> {
        self.bitmap.iter().copied()
    }

    fn number_of_sites(&self, kind: ValueKind) -> usize {
        self.values[kind as usize].len()
    }

    fn sites(&self, kind: ValueKind, visit: &mut dyn FnMut(&mut dyn Iterator<Item = Value>)) {
        for site in &self.values[kind as usize] {
            visit(&mut site.values.iter().copied());
        }
    }
}
