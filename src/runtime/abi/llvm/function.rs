//! The functions of an object.
#![allow(unsafe_code)]

use super::record::{Record, layout};
use super::{Array, Object, Sections};
use crate::raw::head::{Head, NumbersWriter};
use crate::raw::kind::{Kind, Rule};
use crate::raw::llvm::kind::{BITMAP, COVERED, EXECUTIONS, RULES, SITES, TIME};
use crate::raw::llvm::{FunctionRecord, Version};
use crate::raw::site::LISTED_SITE;
use crate::runtime::abi::{self, Shift};

/// One function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub(super) record: Record,
    pub(super) sections: &'static Sections,
    pub(super) shift: Shift,
}

impl Function {
    /// Number of counters of a kind, of sites for kinds of sites.
    #[inline(always)]
    fn number(&self, kind: Kind) -> usize {
        let times = || self.record.time_counters(self.sections);
        let counters = || self.record.number().wrapping_sub(times());
        match kind {
            EXECUTIONS if !self.sections.has_single_bytes() => counters(),
            COVERED if self.sections.has_single_bytes() => counters(),
            BITMAP => self.record.bitmap_bytes(),
            TIME => usize::from(times() > 0),
            _ => match SITES.iter().position(|&site| site == kind) {
                Some(site) => self.record.sites(site),
                None => 0,
            },
        }
    }

    /// The counters, kind by kind.
    #[inline(always)]
    pub fn kinds(self) -> impl Iterator<Item = Array> {
        RULES.iter().filter_map(move |(kind, _)| match self.number(kind) {
            0 => None,
            number => Some(Array::new(&self, kind, number)),
        })
    }
}

impl abi::Function for Function {
    type Array = Array;

    #[inline(always)]
    fn put_head(&self, room: &mut Head) -> usize {
        let mut numbers = NumbersWriter::behind(FunctionRecord::WORDS);
        for (kind, rule) in RULES.iter() {
            let each = if rule == Rule::TopN { LISTED_SITE } else { 1 };
            numbers.add(kind, self.number(kind).wrapping_mul(each) as u32, room);
        }
        let offset = match self.record.function() {
            0 => 0,
            address => address.wrapping_sub(self.sections.image.start) as u64,
        };
        let (name_ref, hash) = (self.record.name_ref(), self.record.hash());
        FunctionRecord { name_ref, hash, offset, reserved: 0, flags: 0 }.finish(numbers, room)
    }

    #[inline(always)]
    fn arrays(&self) -> impl Iterator<Item = Array> {
        self.kinds()
    }
}

/// The functions of an object.
#[derive(Clone, Debug)]
pub struct Functions {
    next: usize,
    left: usize,
    version: Version,
    sections: &'static Sections,
    shift: Shift,
}

impl Functions {
    pub(super) fn new(object: &Object, sections: &'static Sections, shift: Shift) -> Self {
        Self { next: object.start, left: object.number, version: object.version, sections, shift }
    }
}

/// Records and counters lie behind each other, so the processor fetches them by itself.
impl abi::Functions for Functions {}

impl Iterator for Functions {
    type Item = Function;

    #[inline(always)]
    fn next(&mut self) -> Option<Function> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: the object has as many records, which fit its layout.
        let record = unsafe { Record::new(self.next, self.version) };
        self.next = self.next.wrapping_add(layout(self.version).stride);
        Some(Function { record, sections: self.sections, shift: self.shift })
    }
}
