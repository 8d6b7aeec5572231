//! Images whose function records are in their files alone (`-profile-correlate`).
//!
//! Memory has their counters and bitmaps, and nothing that says where those of a function begin. So one record, made
//! here, stands for all of them. It has neither a name nor a hash; the tool puts the functions in its place
//! ([`crate::raw::llvm::CorrelatedFunction`]).

use core::sync::atomic::{AtomicU32, Ordering};

use super::record::layout;
use super::{Bounds, Sections};
use crate::raw::llvm::{Layout, Version};

/// Bytes of the longest layout.
const LONGEST: usize = Layout::of(Version::V11, 8).stride;

/// Room for the record of all counters of an image. It must stay as long as the image.
#[repr(align(8))]
pub struct WholeRecord([AtomicU32; LONGEST / 4]);

impl WholeRecord {
    /// No record yet.
    pub const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; LONGEST / 4])
    }

    /// Where the records of these sections are, or if there are only counters, the one that stands for them.
    ///
    /// Does not give sections: a resolver of functions may come here before `memcpy` has been resolved.
    pub fn records(&'static self, sections: &Sections) -> Bounds {
        let Sections { data, counters, bitmaps, .. } = sections;
        if !data.is_empty() || counters.is_empty() {
            return data.start..data.end;
        }
        let version = Version::from_number(sections.version as u32).unwrap_or(Version::V10);
        let layout = layout(version);
        let start = self.0.as_ptr().expose_provenance();
        let base = if version.has_addresses() { 0 } else { start };
        let number = counters.len().checked_div(sections.counter_size()).unwrap_or(0) as u32;
        self.put(layout.counters, &counters.start.wrapping_sub(base).to_ne_bytes());
        self.put(layout.counters_number, &number.to_ne_bytes());
        if let (Some(bitmap), Some(bytes)) = (layout.bitmap, layout.bitmap_bytes) {
            self.put(bitmap, &bitmaps.start.wrapping_sub(base).to_ne_bytes());
            self.put(bytes, &(bitmaps.len() as u32).to_ne_bytes());
        }
        start..start.wrapping_add(layout.stride)
    }

    /// Puts bytes at an offset, both multiples of 4.
    fn put(&self, at: usize, bytes: &[u8]) {
        let words = self.0.get(at / 4..).unwrap_or_default();
        for (word, bytes) in words.iter().zip(bytes.as_chunks().0) {
            word.store(u32::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
    }
}

impl Default for WholeRecord {
    fn default() -> Self {
        Self::new()
    }
}
