//! Writes a text.

use alloc::vec::Vec;
use core::cmp::Reverse;
use hashbrown::HashMap;

use super::lines::decimal;
use super::{EXTERNAL, HEADERS, MOST_VALUES};
use crate::counters::{Function, Profile, Site, ValueKind, Variant, name_ref};

/// Why a profile cannot be written: no reader would take it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A name that is empty, has an end of a line in it, begins with `#` or `:`, or is a number, with or without
    /// `$` before it: readers would take it for something else.
    #[error("the name \"{}\" cannot be written", .0.escape_ascii())]
    Name(Vec<u8>),
    /// A name with a comma in it, in a trace.
    #[error("the name \"{}\" cannot be in a trace", .0.escape_ascii())]
    NameInTrace(Vec<u8>),
    /// A function without counters.
    #[error("{} has no counters", .0.escape_ascii())]
    NoCounters(Vec<u8>),
}

/// The text of a profile.
pub fn encode(profile: &Profile) -> Result<Vec<u8>, EncodeError> {
    let mut text = Text::new(profile, &[], Order::Canonical)?;
    text.header(profile.variant);
    if profile.variant.has(Variant::TEMPORAL) {
        text.traces(profile)?;
    }
    let mut functions: Vec<&Function> = profile.functions.iter().collect();
    functions.sort_by(|a, b| (&a.name, a.hash).cmp(&(&b.name, b.hash)));
    for function in functions {
        text.function(function)?;
    }
    Ok(text.bytes)
}

/// The text of some functions, without a header. Functions and values keep their order. `profile` and `targets` may
/// have the names of their targets.
pub fn functions<'p>(
    profile: &'p Profile,
    targets: &'p [Vec<u8>],
    functions: impl Iterator<Item = &'p Function>,
) -> Result<Vec<u8>, EncodeError> {
    let mut text = Text::new(profile, targets, Order::AsTheyCome)?;
    for function in functions {
        text.function(function)?;
    }
    Ok(text.bytes)
}

fn is_writable(name: &[u8]) -> bool {
    let begins_well = name.first().is_some_and(|byte| !b"#:".contains(byte));
    let is_number = decimal(name.strip_prefix(b"$").unwrap_or(name)).is_some();
    begins_well && !is_number && !name.iter().any(|byte| b"\r\n".contains(byte))
}

struct Text<'p> {
    /// Names of functions and virtual tables, by their numbers.
    names: HashMap<u64, &'p [u8]>,
    values: Order,
    bytes: Vec<u8>,
}

/// The order of the values of a site.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The larger count first.
    Canonical,
    AsTheyCome,
}

impl<'p> Text<'p> {
    fn new(
        profile: &'p Profile,
        targets: &'p [Vec<u8>],
        values: Order,
    ) -> Result<Self, EncodeError> {
        let mut names = HashMap::new();
        let functions = profile.functions.iter().map(|function| &function.name);
        for name in functions.chain(&profile.vtables).chain(targets) {
            if !is_writable(name) {
                return Err(EncodeError::Name(name.clone()));
            }
            names.insert(name_ref(name), &name[..]);
        }
        Ok(Self { names, values, bytes: Vec::new() })
    }

    fn header(&mut self, variant: Variant) {
        for (comment, name, bits) in HEADERS {
            if bits == Variant::IR && variant.has(Variant::CONTEXT_SENSITIVE) {
                self.lines(&[b"# CS", comment.as_bytes(), b"\n:cs", name.as_bytes()]);
            } else if variant.has(bits) {
                self.lines(&[b"# ", comment.as_bytes(), b"\n:", name.as_bytes()]);
            }
        }
    }

    fn traces(&mut self, profile: &Profile) -> Result<(), EncodeError> {
        // An empty line would be skipped.
        let traces = || profile.traces.iter().filter(|trace| !trace.functions.is_empty());
        let number = traces().count() as u64;
        self.lines(&[b":temporal_prof_traces\n# Num Temporal Profile Traces:"]);
        self.number(number, b"\n");
        self.lines(&[b"# Temporal Profile Trace Stream Size:"]);
        self.number(profile.traced_runs.max(number), b"\n");
        for trace in traces() {
            self.lines(&[b"# Weight:"]);
            self.number(trace.weight, b"\n");
            for function in &trace.functions {
                let name = self.names.get(function).copied().unwrap_or_default();
                if name.contains(&b',') {
                    return Err(EncodeError::NameInTrace(name.to_vec()));
                }
                self.bytes.extend_from_slice(name);
                self.bytes.push(b',');
            }
            self.bytes.push(b'\n');
        }
        self.bytes.push(b'\n');
        Ok(())
    }

    fn function(&mut self, function: &Function) -> Result<(), EncodeError> {
        if function.counters.is_empty() {
            return Err(EncodeError::NoCounters(function.name.clone()));
        }
        self.lines(&[&function.name, b"\n# Func Hash:"]);
        self.number(function.hash, b"\n# Num Counters:\n");
        self.number(function.counters.len() as u64, b"\n# Counter Values:\n");
        for &counter in &function.counters {
            self.number(counter, b"\n");
        }
        self.bitmap(&function.bitmap);
        let kinds = function.values.iter().filter(|sites| !sites.is_empty()).count();
        if kinds > 0 {
            self.lines(&[b"# Num Value Kinds:"]);
            self.number(kinds as u64, b"\n");
        }
        for kind in ValueKind::ALL {
            self.sites(kind, &function.values[kind as usize]);
        }
        self.bytes.push(b'\n');
        Ok(())
    }

    fn bitmap(&mut self, bitmap: &[u8]) {
        if bitmap.is_empty() {
            return;
        }
        self.lines(&[b"# Num Bitmap Bytes:"]);
        self.bytes.push(b'$');
        self.number(bitmap.len() as u64, b"\n# Bitmap Byte Values:\n");
        for &byte in bitmap {
            let digit = |half: u8| b"0123456789abcdef"[usize::from(half & 15)];
            self.bytes.extend_from_slice(b"0x");
            if byte > 15 {
                self.bytes.push(digit(byte >> 4));
            }
            self.bytes.extend([digit(byte), b'\n']);
        }
        self.bytes.push(b'\n');
    }

    fn sites(&mut self, kind: ValueKind, sites: &[Site]) {
        if sites.is_empty() {
            return;
        }
        let name: &[u8] = match kind {
            ValueKind::IndirectCall => b"IPVK_IndirectCallTarget",
            ValueKind::MemorySize => b"IPVK_MemOPSize",
            ValueKind::VirtualTable => b"IPVK_VTableTarget",
        };
        self.lines(&[b"# ValueKind = ", name, b":"]);
        self.number(kind as u64, b"\n# NumValueSites:\n");
        self.number(sites.len() as u64, b"\n");
        for site in sites {
            self.site(kind, site);
        }
    }

    fn site(&mut self, kind: ValueKind, site: &Site) {
        let mut values = site.values.clone();
        if self.values == Order::Canonical {
            values.sort_by_key(|value| Reverse(value.count));
        }
        values.truncate(MOST_VALUES);
        self.number(values.len() as u64, b"\n");
        for value in values {
            match kind {
                ValueKind::MemorySize => self.number(value.value, b""),
                _ => {
                    let name = self.names.get(&value.value).copied().unwrap_or(EXTERNAL);
                    self.bytes.extend_from_slice(name);
                }
            }
            self.bytes.push(b':');
            self.number(value.count, b"\n");
        }
    }

    /// Writes these parts and ends the line.
    fn lines(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.bytes.push(b'\n');
    }

    /// Writes a number, and what follows it.
    fn number(&mut self, mut number: u64, behind: &[u8]) {
        let mut digits = [0; 20];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[start..]);
        self.bytes.extend_from_slice(behind);
    }
}
