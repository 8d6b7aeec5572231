//! One function record, as [`crate::raw::llvm::Layout`] says.
#![allow(unsafe_code)]

use crate::runtime::atomic::{AtomicUsize, Ordering};
use core::ptr::with_exposed_provenance_mut;

use super::sections::{Sections, holds};
use crate::raw::llvm::kind::SITES;
use crate::raw::llvm::{Layout, Version};

const POINTER: usize = size_of::<usize>();

/// A function record in the image.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    address: usize,
    version: Version,
    layout: &'static Layout,
}

/// The layout of a version on this machine.
pub const fn layout(version: Version) -> &'static Layout {
    match version {
        Version::V5 | Version::V7 => &const { Layout::of(Version::V7, POINTER) },
        Version::V8 => &const { Layout::of(Version::V8, POINTER) },
        Version::V9 => &const { Layout::of(Version::V9, POINTER) },
        Version::V10 => &const { Layout::of(Version::V10, POINTER) },
        Version::V11 => &const { Layout::of(Version::V11, POINTER) },
    }
}

impl Record {
    /// Takes the place of a record.
    ///
    /// # Safety
    ///
    /// Memory of a record's size must be readable there as long as the value is used, and 8-byte aligned.
    pub const unsafe fn new(address: usize, version: Version) -> Self {
        Self { address, version, layout: layout(version) }
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
        let pointer: usize = self.field(self.layout.counters);
        match self.version.has_addresses() {
            true => pointer,
            false => self.address.wrapping_add(pointer),
        }
    }

    /// Number of counters, the time of the first call included.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.field::<u32>(self.layout.counters_number) as usize
    }

    /// Counters that the time of the first call takes. Where only entries are marked, clang lays out one byte for
    /// a function, without room for a time, and notes none. The record of all counters, without a name, has those of
    /// all functions among the others.
    #[inline(always)]
    pub fn time_counters(&self, sections: &Sections) -> usize {
        let counters = sections.time_counters();
        if counters > 0 && self.number() > counters && self.name_ref() != 0 { counters } else { 0 }
    }

    /// Address of the bitmap.
    #[inline(always)]
    pub fn bitmap(&self) -> usize {
        let offset = self.layout.bitmap.map_or(0, |place| self.field(place));
        self.address.wrapping_add(offset)
    }

    /// Bytes of the bitmap.
    #[inline(always)]
    pub fn bitmap_bytes(&self) -> usize {
        self.layout.bitmap_bytes.map_or(0, |place| self.field::<u32>(place) as usize)
    }

    /// Address of the function, 0 if nobody takes it.
    #[inline(always)]
    pub fn function(&self) -> usize {
        self.field(self.layout.function)
    }

    /// Address of the slots of its sites, 0 if the compiler laid out none and no value was seen yet.
    #[inline(always)]
    pub fn slots(&self) -> usize {
        self.field(self.layout.values)
    }

    /// Gives the sites slots, unless they have some.
    ///
    /// # Safety
    ///
    /// There must be as many slots as sites, as long as the image stays, and the record must be in the image.
    pub unsafe fn give_slots(&self, slots: usize) {
        let place = self.address.wrapping_add(self.layout.values);
        // SAFETY: the compiler lets the runtime write this pointer, which is aligned as the record is.
        let pointer = unsafe { AtomicUsize::from_ptr(with_exposed_provenance_mut(place)) };
        let _ = pointer.compare_exchange(0, slots, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Number of sites of each kind.
    #[inline(always)]
    pub fn sites(&self) -> [usize; SITES.len()] {
        let site = |kind: usize| usize::from(self.field::<u16>(self.layout.sites + 2 * kind));
        [site(0), site(1), if self.version.kinds() > 2 { site(2) } else { 0 }]
    }

    /// Sets the number of sites of a kind, if there is such a kind.
    ///
    /// # Safety
    ///
    /// The record must be in the image, and nobody may read the number meanwhile.
    pub unsafe fn set_sites(&self, kind: usize, number: u16) {
        if kind >= self.version.kinds() {
            return;
        }
        let place = self.address.wrapping_add(self.layout.sites).wrapping_add(kind.wrapping_mul(2));
        // SAFETY: promised by the caller.
        unsafe { with_exposed_provenance_mut::<u16>(place).write_unaligned(number) };
    }

    /// Bytes to the next record.
    pub const fn length(&self) -> usize {
        self.layout.stride
    }

    /// Number of all sites.
    #[inline(always)]
    pub fn all_sites(&self) -> usize {
        self.sites().into_iter().sum()
    }

    /// Whether it has neither a bitmap nor sites.
    #[inline(always)]
    pub fn has_only_counters(&self) -> bool {
        let third =
            if self.version.kinds() > 2 { self.field::<u16>(self.layout.sites + 4) } else { 0 };
        self.bitmap_bytes() == 0 && self.field::<u32>(self.layout.sites) == 0 && third == 0
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
            && !self.has_bitmap_of_version_9(sections)
    }

    /// Whether the number of virtual tables in version 10 is one of bitmap bytes in version 9. No way to instrument
    /// has both, and without a bitmap the record does not lead to one.
    fn has_bitmap_of_version_9(&self, sections: &Sections) -> bool {
        self.version == Version::V10
            && self.bitmap_bytes() == 0
            && self.sites()[2] > 0
            && holds(&sections.bitmaps, self.bitmap(), 1)
    }

    /// What must be 0: a gap of 2 bytes in version 10, of 4 in version 9.
    fn padding(&self) -> u32 {
        match self.version {
            Version::V10 => u32::from(self.field::<u16>(self.layout.sites + 6)),
            Version::V9 => self.field(self.layout.stride - 4),
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
