//! The functions of an object.
#![allow(unsafe_code)]

use crate::runtime::atomic::AtomicI64;

use super::record::{Record, layout};
use super::{Array, Object, Sections, array};
use crate::raw::head::{Head, NumbersWriter};
use crate::raw::kind::Kind;
use crate::raw::layout::Word;
use crate::raw::llvm::kind::{
    BITMAP, COVERED, EXECUTIONS, INDIRECT_CALL, MEMORY_SIZE, TIME, VIRTUAL_TABLE,
};
use crate::raw::llvm::{FunctionRecord, Version, plain};
use crate::raw::site::LISTED_SITE;
use crate::runtime::abi::{self, Row, Shift};

/// One function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub(super) record: Record,
    pub(super) sections: &'static Sections,
    pub(super) shift: Shift,
    numbers: Numbers,
}

impl Function {
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

/// What a function's head begins with.
#[inline(always)]
fn fixed_head(record: &Record, sections: &Sections) -> FunctionRecord {
    let offset = sections.offset(record.function()).unwrap_or(0).into();
    let (name_ref, hash) = (record.name_ref(), record.hash());
    FunctionRecord { name_ref, hash, offset, reserved: 0, flags: 0 }
}

/// The head of a function in a row; `None` if it has other counters than of executions.
#[inline(always)]
fn plain_head(record: &Record, sections: &Sections) -> Option<[Word; plain::HEAD]> {
    let has_times = record.time_counters(sections) > 0;
    let is_plain = !has_times && !sections.has_single_bytes() && record.has_only_counters();
    plain::head(&fixed_head(record, sections), record.number()).filter(|_| is_plain)
}

impl abi::Function for Function {
    type Array = Array;

    #[inline(always)]
    fn put_head(&self, room: &mut Head) -> usize {
        let mut numbers = NumbersWriter::behind(FunctionRecord::BEFORE_NUMBERS);
        let mut left = self.numbers.kinds;
        while let Some(kind) = next_kind(&mut left) {
            let is_site = matches!(kind, INDIRECT_CALL | MEMORY_SIZE | VIRTUAL_TABLE);
            let each = if is_site { LISTED_SITE as u32 } else { 1 };
            numbers.add(kind, self.numbers.of_kind(kind).wrapping_mul(each), room);
        }
        fixed_head(&self.record, self.sections).finish(numbers, room)
    }

    #[inline(always)]
    fn agree(place: usize, word: &mut Word, other: &Word) -> bool {
        if place != FunctionRecord::OFFSET {
            return word == other;
        }
        let [one, other] = [*word, *other].map(u64::from_ne_bytes);
        *word = FunctionRecord::known_offset(one, other).to_ne_bytes();
        true
    }

    #[inline(always)]
    fn arrays(&self) -> impl Iterator<Item = Array> {
        self.kinds()
    }

    #[inline(always)]
    fn executions(&self) -> &'static [AtomicI64] {
        array::slice(self.record.counters(), self.numbers.counters as usize, self.shift)
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

    /// The record of the next function. At least one must be left.
    #[inline(always)]
    fn record(&self) -> Record {
        // SAFETY: the object has as many records as are left, which fit its layout. All callers have seen one.
        unsafe { Record::new(self.next, self.version) }
    }
}

/// Records and counters lie behind each other, so the processor fetches them by itself.
impl abi::Functions for Functions {
    const HAS_ROWS: bool = true;

    #[inline(always)]
    fn put_row(&mut self, room: &mut [Word]) -> Option<Row> {
        let (first, heads) = room.split_first_mut()?;
        let (mut row, mut end, mut together) = (0usize, 0, true);
        let start = self.next;
        for free in heads.as_chunks_mut().0.iter_mut().take(plain::MOST_FUNCTIONS.min(self.left)) {
            let record = self.record();
            let Some(head) = plain_head(&record, self.sections) else { break };
            *free = head;
            let counters = record.counters();
            together &= row == 0 || counters == end;
            end = counters.wrapping_add(record.number().wrapping_mul(8));
            row = row.wrapping_add(1);
            self.next = self.next.wrapping_add(layout(self.version).stride);
        }
        if row == 0 {
            return None;
        }
        *first = (row as u64).to_ne_bytes();
        let words = row.wrapping_mul(plain::HEAD).wrapping_add(1);
        self.left = self.left.wrapping_sub(row);
        let counters = Self { next: start, ..*self }.record().counters();
        let number = end.wrapping_sub(counters) / 8;
        let counters = together.then(|| array::slice(counters, number, self.shift));
        Some(Row { functions: row, words, counters })
    }
}

impl Iterator for Functions {
    type Item = Function;

    #[inline(always)]
    fn next(&mut self) -> Option<Function> {
        self.left = self.left.checked_sub(1)?;
        let record = self.record();
        self.next = self.next.wrapping_add(layout(self.version).stride);
        let Self { sections, shift, .. } = *self;
        Some(Function { record, sections, shift, numbers: Numbers::of(&record, sections) })
    }
}
