//! The functions of an object.
#![allow(unsafe_code)]

use super::record::{Record, layout};
use super::{Array, Object, Sections, array};
use crate::raw::head::{Head, NumbersWriter};
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::Word;
use crate::raw::llvm::kind::{
    BITMAP, COVERED, EXECUTIONS, INDIRECT_CALL, MEMORY_SIZE, TIME, VIRTUAL_TABLE,
};
use crate::raw::llvm::{FunctionRecord, Version};
use crate::raw::site::LISTED_SITE;
use crate::runtime::abi::{self, Shift, Whole};

/// One function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub(super) record: Record,
    pub(super) sections: &'static Sections,
    pub(super) shift: Shift,
    numbers: Numbers,
}

impl Function {
    /// What its head begins with.
    #[inline(always)]
    fn fixed_head(&self) -> FunctionRecord {
        let offset = match self.record.function() {
            0 => 0,
            address => address.wrapping_sub(self.sections.image.start) as u64,
        };
        let (name_ref, hash) = (self.record.name_ref(), self.record.hash());
        FunctionRecord { name_ref, hash, offset, reserved: 0, flags: 0 }
    }

    /// The counters, kind by kind.
    #[inline(always)]
    pub fn kinds(self) -> Arrays {
        Arrays { left: self.numbers.kinds, function: self }
    }
}

/// The counters of a function, kind by kind.
#[derive(Clone, Debug)]
pub struct Arrays {
    function: Function,
    left: u32,
}

impl Iterator for Arrays {
    type Item = Array;

    #[inline(always)]
    fn next(&mut self) -> Option<Array> {
        let kind = next_kind(&mut self.left)?;
        let number = self.function.numbers.of_kind(kind);
        Some(Array::new(&self.function, kind, number as usize))
    }
}

/// How many counters of each kind a function has, or sites. Found once and without loops: most functions have one
/// kind or two, and large programs have many functions.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    counters: u32,
    bitmap: u32,
    /// 16 bits for each kind of sites.
    sites: u64,
    /// A bit for each kind that there are any of.
    kinds: u32,
}

/// The first kind of sites. The others follow it.
const FIRST_SITE: u8 = INDIRECT_CALL.0;

const _: () = assert!(MEMORY_SIZE.0 == FIRST_SITE + 1 && VIRTUAL_TABLE.0 == FIRST_SITE + 2);

impl Numbers {
    #[inline(always)]
    fn of(record: &Record, sections: &Sections) -> Self {
        let times = record.time_counters(sections);
        let counters = record.number().wrapping_sub(times) as u32;
        let (bitmap, sites) = (record.bitmap_bytes() as u32, record.sites());
        let bit = |is_there: bool, kind: Kind| if is_there { kind.bit() } else { 0 };
        let kind = if sections.has_single_bytes() { COVERED } else { EXECUTIONS };
        let mut kinds = bit(counters > 0, kind) | bit(bitmap > 0, BITMAP) | bit(times > 0, TIME);
        let [first, second, third] = sites.map(|number| number as u64);
        let sites = first | second << 16 | third << 32;
        if sites > 0 {
            kinds |= bit(first > 0, INDIRECT_CALL);
            kinds |= bit(second > 0, MEMORY_SIZE) | bit(third > 0, VIRTUAL_TABLE);
        }
        Self { counters, bitmap, sites, kinds }
    }

    #[inline(always)]
    fn of_kind(&self, kind: Kind) -> u32 {
        match kind {
            EXECUTIONS | COVERED => self.counters,
            BITMAP => self.bitmap,
            TIME => 1,
            Kind(site) => (self.sites >> (16 * (site.wrapping_sub(FIRST_SITE) & 3))) as u16 as u32,
        }
    }
}

/// Takes the lowest kind out of some, a bit for each.
#[inline(always)]
fn next_kind(left: &mut u32) -> Option<Kind> {
    if *left == 0 {
        return None;
    }
    let kind = Kind(left.trailing_zeros() as u8);
    *left &= left.wrapping_sub(1);
    Some(kind)
}

impl abi::Function for Function {
    type Array = Array;
    const CAN_BE_WHOLE: bool = true;

    #[inline(always)]
    fn put_head(&self, room: &mut Head) -> usize {
        let mut numbers = NumbersWriter::behind(FunctionRecord::WORDS);
        let mut left = self.numbers.kinds;
        while let Some(kind) = next_kind(&mut left) {
            let is_site = matches!(kind, INDIRECT_CALL | MEMORY_SIZE | VIRTUAL_TABLE);
            let each = if is_site { LISTED_SITE as u32 } else { 1 };
            numbers.add(kind, self.numbers.of_kind(kind).wrapping_mul(each), room);
        }
        self.fixed_head().finish(numbers, room)
    }

    #[inline(always)]
    fn arrays(&self) -> impl Iterator<Item = Array> {
        self.kinds()
    }

    #[inline(always)]
    fn put_whole(&self, room: &mut [Word]) -> Option<Whole> {
        if self.numbers.kinds != EXECUTIONS.bit() {
            return None;
        }
        let mut numbers = NumbersWriter::behind(FunctionRecord::WORDS);
        let head: &mut Head = room.first_chunk_mut()?;
        numbers.add(EXECUTIONS, self.numbers.counters, head);
        let head = self.fixed_head().finish(numbers, head);
        let counters = self.numbers.counters as usize;
        let words = room.get_mut(head..)?.get_mut(..counters)?;
        let live = array::slice(self.record.counters(), counters, self.shift);
        let largest = abi::load_words(live, words);
        Some(Whole { head, counters, largest, rule: Rule::Saturate })
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
        let Self { sections, shift, .. } = *self;
        Some(Function { record, sections, shift, numbers: Numbers::of(&record, sections) })
    }
}
