//! Where an image's sections are.

use core::ops::Range;

use crate::raw::llvm::version::variant;
use crate::runtime::counters::lanes::Lanes;

/// The addresses of a section.
pub type Bounds = Range<usize>;

/// The sections of an image, empty where the linker found none, and what the compiler says of all of them.
#[derive(Clone, Debug)]
pub struct Sections {
    /// The image itself.
    pub image: Bounds,
    /// Function records.
    pub data: Bounds,
    /// Counters.
    pub counters: Bounds,
    /// Bitmaps.
    pub bitmaps: Bounds,
    /// Names of functions.
    pub names: Bounds,
    /// Slots of sites.
    pub slots: Bounds,
    /// Heads of sites.
    pub heads: Bounds,
    /// Virtual tables.
    pub tables: Bounds,
    /// Names of virtual tables.
    pub table_names: Bounds,
    /// The version word, 0 if no object has it.
    pub version: u64,
    /// An address in the image's text.
    pub text: usize,
    /// Gives the name of a function that has no offset here, as a number; 0 if it has none.
    pub name_elsewhere: Option<fn(usize) -> u64>,
    /// Forgets such names: images come and go.
    pub forget_names: Option<fn()>,
    /// Gives what tells builds apart where neither records nor a build-id do.
    pub code_checksum: Option<fn() -> u32>,
    /// Where some threads count.
    pub lanes: Option<&'static Lanes>,
}

impl Sections {
    /// What an image without instrumentation has.
    pub const NONE: Self = Self {
        image: 0..0,
        data: 0..0,
        counters: 0..0,
        bitmaps: 0..0,
        names: 0..0,
        slots: 0..0,
        heads: 0..0,
        tables: 0..0,
        table_names: 0..0,
        version: 0,
        text: 0,
        name_elsewhere: None,
        forget_names: None,
        code_checksum: None,
        lanes: None,
    };

    /// The sections at these bounds, by their numbers in `runtime-c/llvm.c`. Nothing is known of the image around them.
    #[inline(always)]
    pub fn at(bounds: impl Fn(usize) -> Bounds, version: u64) -> Self {
        Self {
            data: bounds(0),
            counters: bounds(1),
            bitmaps: bounds(2),
            names: bounds(3),
            slots: bounds(4),
            heads: bounds(5),
            tables: bounds(6),
            table_names: bounds(7),
            version,
            ..Self::NONE
        }
    }

    /// The offset of an address from the start of the image; `None` if it is elsewhere, or the linker does not tell
    /// where the image is.
    #[inline(always)]
    pub fn offset(&self, address: usize) -> Option<u32> {
        let is_here = self.image.start != 0 && self.image.contains(&address);
        address.wrapping_sub(self.image.start).try_into().ok().filter(|_| is_here)
    }

    /// The upper half of the version word: how the objects were instrumented.
    #[inline(always)]
    pub const fn variant(&self) -> u32 {
        (self.version >> 32) as u32
    }

    /// Whether counters are bytes.
    #[inline(always)]
    pub const fn has_single_bytes(&self) -> bool {
        self.variant() & variant::SINGLE_BYTE != 0
    }

    /// Whether the first counter of a function is the time of its first call.
    #[inline(always)]
    pub const fn is_temporal(&self) -> bool {
        self.variant() & variant::TEMPORAL != 0
    }

    /// Bytes of a counter.
    #[inline(always)]
    pub const fn counter_size(&self) -> usize {
        if self.has_single_bytes() { 1 } else { 8 }
    }

    /// Counters that the time of the first call takes.
    #[inline(always)]
    pub const fn time_counters(&self) -> usize {
        if self.is_temporal() { 8 / self.counter_size() } else { 0 }
    }
}

/// Whether a section holds these bytes.
pub fn holds(section: &Bounds, start: usize, length: usize) -> bool {
    let end = start.checked_add(length);
    start >= section.start && end.is_some_and(|end| end <= section.end)
}
