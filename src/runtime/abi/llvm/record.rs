//! One function record. [`crate::raw::llvm::version`] has the table.
#![allow(unsafe_code)]

use super::sections::{Sections, holds};
use crate::raw::llvm::Layout;

const POINTER: usize = size_of::<usize>();
const NUMBER: usize = 4;

/// A function record in the image.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    address: usize,
    layout: Layout,
}

/// Distance from the start of a record to its pointers behind the counters', in pointers.
const fn pointers(layout: Layout) -> usize {
    match layout {
        Layout::V7 | Layout::V8 => 1,
        Layout::V9 | Layout::V10 => 2,
        Layout::V11 => 3,
    }
}

/// Where the pointer to the function is.
const fn function(layout: Layout) -> usize {
    16 + pointers(layout) * POINTER
}

/// Where the pointer to the slots of sites is.
pub const fn slots(layout: Layout) -> usize {
    function(layout) + POINTER
}

const fn number(layout: Layout) -> usize {
    slots(layout) + POINTER
}

/// Kinds of sites that a record has numbers of.
const fn site_kinds(layout: Layout) -> usize {
    if matches!(layout, Layout::V10 | Layout::V11) { 3 } else { 2 }
}

const fn bitmap_bytes(layout: Layout) -> Option<usize> {
    let sites = number(layout) + NUMBER;
    match layout {
        Layout::V7 | Layout::V8 => None,
        Layout::V9 => Some(sites + 4),
        // In version 11 a field of 16 bits fills the gap.
        Layout::V10 | Layout::V11 => Some(sites + 8),
    }
}

/// Bytes from the start of a record to that of the next.
pub const fn stride(layout: Layout) -> usize {
    let end = match bitmap_bytes(layout) {
        Some(bytes) => bytes + NUMBER,
        None => number(layout) + NUMBER + 4,
    };
    end.next_multiple_of(8)
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(stride(Layout::V7) == 48 && stride(Layout::V8) == 48);
    assert!(stride(Layout::V9) == 64 && stride(Layout::V10) == 64);
    assert!(stride(Layout::V11) == 72);
};

impl Record {
    /// Takes the place of a record.
    ///
    /// # Safety
    ///
    /// Memory of a record's size must be readable there as long as the value is used, and 8-byte aligned.
    pub const unsafe fn new(address: usize, layout: Layout) -> Self {
        Self { address, layout }
    }

    /// Name reference.
    #[inline(always)]
    pub fn name_ref(&self) -> u64 {
        self.field(0)
    }

    /// Hash of the control flow.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        self.field(8)
    }

    /// Address of the counters.
    #[inline(always)]
    pub fn counters(&self) -> usize {
        let pointer: usize = self.field(16);
        match self.layout {
            Layout::V7 => pointer,
            _ => self.address.wrapping_add(pointer),
        }
    }

    /// Number of counters, the time of the first call included.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.field::<u32>(number(self.layout)) as usize
    }

    /// Address of the bitmap.
    #[inline(always)]
    pub fn bitmap(&self) -> usize {
        self.address.wrapping_add(self.field(function(self.layout) - POINTER))
    }

    /// Bytes of the bitmap.
    #[inline(always)]
    pub fn bitmap_bytes(&self) -> usize {
        bitmap_bytes(self.layout).map_or(0, |place| self.field::<u32>(place) as usize)
    }

    /// Address of the function, 0 if nobody takes it.
    #[inline(always)]
    pub fn function(&self) -> usize {
        self.field(function(self.layout))
    }

    /// Address of the slots of its sites, 0 if there are none.
    #[inline(always)]
    pub fn slots(&self) -> usize {
        self.field(slots(self.layout))
    }

    /// Number of sites of a kind.
    #[inline(always)]
    pub fn sites(&self, kind: usize) -> usize {
        if kind >= site_kinds(self.layout) {
            return 0;
        }
        let place = number(self.layout) + NUMBER + 2 * kind;
        usize::from(self.field::<u16>(place))
    }

    /// Number of all sites.
    pub fn all_sites(&self) -> usize {
        (0..site_kinds(self.layout)).map(|kind| self.sites(kind)).sum()
    }

    /// Whether everything that it leads to is where it must be in an image with these sections.
    pub fn fits(&self, sections: &Sections) -> bool {
        let bytes = self.number().checked_mul(sections.counter_size());
        let counters = self.counters();
        let bitmap = self.bitmap_bytes();
        let slots = self.slots();
        let slot_bytes = self.all_sites() * 8;
        bytes.is_some_and(|bytes| bytes > 0 && holds(&sections.counters, counters, bytes))
            && (sections.counter_size() == 1 || counters.is_multiple_of(8))
            && (bitmap == 0 || holds(&sections.bitmaps, self.bitmap(), bitmap))
            && (slots == 0 || holds(&sections.slots, slots, slot_bytes))
            && (slots.is_multiple_of(POINTER) && self.padding() == 0)
    }

    /// What must be 0: a gap of 2 bytes in version 10, of 4 in version 9.
    fn padding(&self) -> u32 {
        match self.layout {
            Layout::V10 => u32::from(self.field::<u16>(number(self.layout) + NUMBER + 6)),
            Layout::V9 => self.field(stride(self.layout) - 4),
            _ => 0,
        }
    }

    #[inline(always)]
    fn field<T: Copy>(&self, offset: usize) -> T {
        let place = core::ptr::with_exposed_provenance::<T>(self.address.wrapping_add(offset));
        // SAFETY: callers ask for plain numbers at offsets of the record, which `new` promised. A field of 8
        // bytes may have an alignment of 4 on 32 bits.
        unsafe { place.read_unaligned() }
    }
}
