//! What the host of a WebAssembly module calls for a dump.
//!
//! ```js
//! const length = exports.countersink_dump();
//! const dump = new Uint8Array(exports.memory.buffer, exports.countersink_dump_place(), length);
//! ```
//!
//! A module has no callback into its host unless it imports one, and no memory to spare: a dump goes into pages behind
//! all others, which stay.
#![allow(unsafe_code)]

use core::arch::wasm32::{memory_grow, memory_size};

use super::size;
use crate::runtime::atomic::{AtomicUsize, Ordering};

const PAGE: usize = 65536;

/// The pages of dumps: where they begin, and their bytes.
static PLACE: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Writes a dump into the module's memory and gives its length, 0 if there is no memory for it.
#[unsafe(no_mangle)]
extern "C" fn countersink_dump() -> usize {
    let [place, room] = &PLACE;
    let needed = size();
    if room.load(Ordering::Relaxed) < needed {
        let pages = needed.div_ceil(PAGE);
        let start = memory_size::<0>().wrapping_mul(PAGE);
        if memory_grow::<0>(pages) == usize::MAX {
            return 0;
        }
        place.store(start, Ordering::Relaxed);
        room.store(pages.wrapping_mul(PAGE), Ordering::Relaxed);
    }
    let start = place.load(Ordering::Relaxed);
    // SAFETY: these pages are the dumps' alone.
    let memory = unsafe {
        core::slice::from_raw_parts_mut(core::ptr::with_exposed_provenance_mut(start), needed)
    };
    super::fill(memory).unwrap_or(0)
}

/// Where the last dump is.
#[unsafe(no_mangle)]
extern "C" fn countersink_dump_place() -> usize {
    PLACE[0].load(Ordering::Relaxed)
}

/// Sets all counters to zero.
#[unsafe(no_mangle)]
extern "C" fn countersink_reset() {
    super::reset();
}
