//! The sections by the linker's symbols, which are not weak: WebAssembly has no weak symbols in stable Rust.
//!
//! So a program must have records, counters and names, or it does not link. Bitmaps and the slots of sites may be
//! anywhere in memory, the heads of sites are nodes, and nothing tells how the objects were instrumented: counters of
//! one byte and times of first calls are not for it.
#![allow(unsafe_code)]

use crate::runtime::abi::llvm::Sections;

unsafe extern "C" {
    #[link_name = "__start___llvm_prf_data"]
    static DATA: [u8; 0];
    #[link_name = "__stop___llvm_prf_data"]
    static DATA_END: [u8; 0];
    #[link_name = "__start___llvm_prf_cnts"]
    static COUNTERS: [u8; 0];
    #[link_name = "__stop___llvm_prf_cnts"]
    static COUNTERS_END: [u8; 0];
    #[link_name = "__start___llvm_prf_names"]
    static NAMES: [u8; 0];
    #[link_name = "__stop___llvm_prf_names"]
    static NAMES_END: [u8; 0];
}

/// The sections. Nothing is known of what else is in memory.
pub fn sections() -> Sections {
    let address = |place: *const [u8; 0]| place.expose_provenance();
    let bounds = |start, end| address(start)..address(end);
    Sections {
        data: bounds(&raw const DATA, &raw const DATA_END),
        counters: bounds(&raw const COUNTERS, &raw const COUNTERS_END),
        names: bounds(&raw const NAMES, &raw const NAMES_END),
        bitmaps: 0..usize::MAX,
        slots: 0..usize::MAX,
        ..Sections::NONE
    }
}
