//! The objects of one image.
//!
//! They are recognised when somebody first asks for them: most programs with many functions end before, and none
//! should start later for it.
#![allow(unsafe_code)]

use crate::runtime::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use core::cell::UnsafeCell;
use core::ptr::NonNull;

#[cfg(not(feature = "runtime"))]
use super::Array;
use super::record::{Record, layout};
use super::site::{Slot, slots_from_nodes};
use super::{Bounds, Object, Sections};
use crate::raw::llvm::Version;
#[cfg(not(feature = "runtime"))]
use crate::runtime::bare::visit;
use crate::runtime::counters::nodes::Nodes;

/// Most objects of an image. Linkers put what one compiler made behind each other, library by library. A board has no
/// room for many.
const MOST_OBJECTS: usize = if cfg!(feature = "runtime") { 64 } else { 8 };

/// What is known of an image.
pub struct Registry {
    stage: AtomicU8,
    sections: UnsafeCell<Sections>,
    objects: [Entry; MOST_OBJECTS],
    number: AtomicUsize,
    /// Bytes of records with a layout that nobody knows.
    unknown: AtomicUsize,
    /// Where records have the pointer to the slots, if all have it at one place; 0 if that is not known.
    slots: AtomicUsize,
    /// Bounds of the functions that have no offset in the image; [`NONE_ELSEWHERE`] if there are none, 0 if that is not
    /// known.
    elsewhere: [AtomicUsize; 2],
}

/// No function ends here.
const NONE_ELSEWHERE: usize = 1;

/// An [`Object`].
struct Entry {
    start: AtomicUsize,
    number: AtomicUsize,
    version: AtomicU8,
}

/// Steps of [`Registry::stage`].
const EMPTY: u8 = 0;
const BEGINNING: u8 = 1;
const BEGUN: u8 = 2;
const RECOGNISING: u8 = 3;
const RECOGNISED: u8 = 4;

// SAFETY: `sections` is written once, before `stage` is BEGUN, by whoever has made that BEGINNING.
unsafe impl Sync for Registry {}

impl Registry {
    /// No image yet.
    pub const fn new() -> Self {
        Self {
            stage: AtomicU8::new(EMPTY),
            sections: UnsafeCell::new(Sections::NONE),
            objects: [const {
                Entry {
                    start: AtomicUsize::new(0),
                    number: AtomicUsize::new(0),
                    version: AtomicU8::new(0),
                }
            }; MOST_OBJECTS],
            number: AtomicUsize::new(0),
            unknown: AtomicUsize::new(0),
            slots: AtomicUsize::new(0),
            elsewhere: [const { AtomicUsize::new(0) }; 2],
        }
    }

    /// Takes an image's sections. Only the first call does anything; says whether this is the one.
    ///
    /// # Safety
    ///
    /// They must be what the linker says, and stay as long as the value.
    pub unsafe fn begin(&'static self, sections: impl FnOnce() -> Sections) -> bool {
        let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
        if self.stage.compare_exchange(EMPTY, BEGINNING, yes, no).is_err() {
            return false;
        }
        // SAFETY: nobody reads it before BEGUN, and nobody else writes it.
        unsafe { self.sections.get().write(sections()) };
        self.stage.store(BEGUN, Ordering::Release);
        true
    }

    /// The sections; `None` before [`Registry::begin`].
    #[inline(always)]
    pub fn sections(&self) -> Option<&'static Sections> {
        if self.stage.load(Ordering::Acquire) < BEGUN {
            return None;
        }
        // SAFETY: written, and never again; only a static can begin.
        Some(unsafe { &*self.sections.get() })
    }

    /// The objects. None while another thread, or the code below a signal handler, recognises them.
    pub fn recognised(&self) -> impl Iterator<Item = (Object, &'static Sections)> {
        let sections = self.sections();
        if let Some(sections) = sections {
            self.recognise(sections);
        }
        let number = match self.stage.load(Ordering::Acquire) {
            RECOGNISED => self.number.load(Ordering::Relaxed),
            _ => 0,
        };
        self.objects.iter().take(number).filter_map(move |entry| {
            let start = entry.start.load(Ordering::Relaxed);
            let number = entry.number.load(Ordering::Relaxed);
            let version = Version::from_number(entry.version.load(Ordering::Relaxed).into())?;
            Some((Object { start, number, version }, sections?))
        })
    }

    /// Bounds of the functions that have no offset in the image, once they have been set.
    pub(super) fn known_elsewhere(&self) -> Option<Bounds> {
        let [start, end] = &self.elsewhere;
        match end.load(Ordering::Acquire) {
            0 => None,
            NONE_ELSEWHERE => Some(0..0),
            end => Some(start.load(Ordering::Relaxed)..end),
        }
    }

    /// Sets these bounds and gives them back.
    pub(super) fn set_elsewhere(&self, bounds: Bounds) -> Bounds {
        let [start, end] = &self.elsewhere;
        start.store(bounds.start, Ordering::Relaxed);
        end.store(bounds.end.max(NONE_ELSEWHERE), Ordering::Release);
        bounds
    }

    /// Bytes of records with a layout that nobody knows.
    pub fn unknown(&self) -> usize {
        self.unknown.load(Ordering::Relaxed)
    }

    /// Gives the function with its record at this address slots, if it has sites, and none yet.
    ///
    /// # Safety
    ///
    /// `record` must be a record of this image.
    pub unsafe fn give_slots(&self, record: usize, nodes: &'static Nodes) {
        let Some(version) = self.version(record) else { return };
        // SAFETY: promised by the caller, and the record has this layout.
        let record = unsafe { Record::new(record, version) };
        let number = record.all_sites();
        if record.slots() != 0 || number == 0 {
            return;
        }
        if let Some(slots) = slots_from_nodes(number, nodes) {
            // SAFETY: as many slots, which stay.
            unsafe { record.give_slots(slots.expose_provenance()) };
        }
    }

    /// Whether the slots of all sites lead to heads or nodes, as in memory that a reset has left alone. Raises `used`
    /// to the number of the last node.
    #[cfg(not(feature = "runtime"))]
    pub fn slots_lead_to_heads(&self, nodes: &Nodes, used: &mut usize) -> bool {
        let lead = |array: &Array| array.leads_to_heads(nodes, used);
        visit(self, &mut { lead })
    }

    #[inline(never)]
    fn recognise(&self, sections: &Sections) {
        let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
        if self.stage.compare_exchange(BEGUN, RECOGNISING, yes, no).is_err() {
            return;
        }
        let mut entries = self.objects.iter();
        let (mut at, mut number, mut unknown) = (sections.data.start, 0usize, 0usize);
        let mut same = None;
        while at < sections.data.end {
            let entry = Object::at(at, sections).and_then(|object| Some((entries.next()?, object)));
            let Some((entry, object)) = entry else {
                // Records begin at multiples of 8.
                at = at.wrapping_add(8);
                unknown = unknown.wrapping_add(8);
                continue;
            };
            entry.start.store(object.start, Ordering::Relaxed);
            entry.number.store(object.number, Ordering::Relaxed);
            entry.version.store(object.version as u8, Ordering::Relaxed);
            let place = layout(object.version).values;
            same = Some(if same.is_none_or(|same| same == place) { place } else { 0 });
            number = number.wrapping_add(1);
            at = object.end();
        }
        let padding = unknown <= 8 && number > 0;
        self.unknown.store(if padding { 0 } else { unknown }, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        self.slots.store(same.filter(|_| padding || unknown == 0).unwrap_or(0), Ordering::Relaxed);
        self.stage.store(RECOGNISED, Ordering::Release);
    }

    /// The slot of a site of the function with its record at this address, if all records are known to have
    /// their slots at one place. No more work than that: programs spend their time here.
    ///
    /// # Safety
    ///
    /// `record` must be a record of this image and `site` the number of one of its sites.
    #[inline(always)]
    pub unsafe fn known_slot(&self, record: usize, site: u32) -> Option<&'static Slot> {
        match self.slots.load(Ordering::Relaxed) {
            0 => None,
            // SAFETY: promised by the caller.
            place => unsafe { slot_at(record.wrapping_add(place), site) },
        }
    }

    /// The slot of a site of the function with its record at this address.
    ///
    /// # Safety
    ///
    /// As for [`Registry::known_slot`].
    pub unsafe fn slot(&self, record: usize, site: u32) -> Option<&'static Slot> {
        let place = self.find_slots(record)?;
        // SAFETY: promised by the caller.
        unsafe { slot_at(record.wrapping_add(place), site) }
    }

    /// The record at this address; `None` if there is none.
    pub fn record(&self, address: usize) -> Option<Record> {
        let version = self.version(address)?;
        // SAFETY: an object of this image has it, in this layout.
        Some(unsafe { Record::new(address, version) })
    }

    /// Where the record at this address has the pointer to its slots.
    fn find_slots(&self, record: usize) -> Option<usize> {
        Some(layout(self.version(record)?).values)
    }

    /// The version of the record at this address.
    #[inline(never)]
    fn version(&self, record: usize) -> Option<Version> {
        let holds = |object: &Object| (object.start..object.end()).contains(&record);
        let object = self.recognised().map(|(object, _)| object).find(holds)?;
        Some(object.version)
    }
}

/// The slot of a site, from the place of the pointer to all slots of its function.
///
/// # Safety
///
/// A record of this image must have that pointer there, and a site of this number.
#[inline(always)]
unsafe fn slot_at(place: usize, site: u32) -> Option<&'static Slot> {
    let pointer = core::ptr::with_exposed_provenance_mut(place);
    // SAFETY: promised by the caller. Another thread may be giving the record slots.
    let slots = unsafe { AtomicPtr::<Slot>::from_ptr(pointer) }.load(Ordering::Acquire);
    // SAFETY: promised by the caller.
    let slot = unsafe { NonNull::new(slots)?.add(site as usize) };
    // SAFETY: promised by the caller, too.
    Some(unsafe { slot.as_ref() })
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}
