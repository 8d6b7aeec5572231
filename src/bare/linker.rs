//! Where LLVM's sections are in a program without an operating system.
//!
//! Elsewhere than in WebAssembly they are in a table:
//!
//! | word | content |
//! |---|---|
//! | 0 to 15 | start and end of a section each, in the order of [`sections`]; 0 where the program has no such section |
//! | 16 | address of the version word, 0 if no object has one |
//!
//! The linker fills the table in. Its symbols are weak: most programs do not have all sections.
//!
//! WebAssembly has no weak symbols in stable Rust. So a program must have records, counters and names, or it does not
//! link. Bitmaps and the slots of sites may be anywhere in memory, the heads of sites are nodes, and nothing tells
//! how the objects were instrumented: counters of one byte and times of first calls are not for it.
//!
//! Not here: the table of the archives, which is in C (`runtime-c/llvm.c`), as stable Rust has no weak symbols but in
//! assembly.
#![allow(unsafe_code)]

use crate::runtime::abi::llvm::Sections;

#[cfg(not(target_family = "wasm"))]
pub use table::sections;
#[cfg(target_family = "wasm")]
pub use wasm::sections;

#[cfg(not(target_family = "wasm"))]
mod table {
    use super::*;

    const WORDS: usize = 17;

    #[cfg(target_pointer_width = "64")]
    macro_rules! word {
        () => {
            ".quad "
        };
    }
    #[cfg(target_pointer_width = "32")]
    macro_rules! word {
        () => {
            ".long "
        };
    }

    /// A table of weak symbols.
    macro_rules! table {
    ($section:literal: $($symbol:literal)*) => {
        core::arch::global_asm!(
            $(concat!(".weak ", $symbol), concat!(".hidden ", $symbol),)*
            $section,
            ".balign 8",
            ".globl countersink_llvm_table",
            ".hidden countersink_llvm_table",
            "countersink_llvm_table:",
            $(concat!(word!(), $symbol),)*
            ".popsection",
        );
    };
}

    macro_rules! table_of_llvm {
        ($section:literal) => {
            table! { $section:
                "__start___llvm_prf_data" "__stop___llvm_prf_data"
                "__start___llvm_prf_cnts" "__stop___llvm_prf_cnts"
                "__start___llvm_prf_bits" "__stop___llvm_prf_bits"
                "__start___llvm_prf_names" "__stop___llvm_prf_names"
                "__start___llvm_prf_vals" "__stop___llvm_prf_vals"
                "__start___llvm_prf_vnds" "__stop___llvm_prf_vnds"
                "__start___llvm_prf_vtab" "__stop___llvm_prf_vtab"
                "__start___llvm_prf_vns" "__stop___llvm_prf_vns"
                "__llvm_profile_raw_version"
            }
        };
    }

    // A program whose place is chosen at its start has its addresses filled in then, so they cannot be constants.
    // Programs for boards have no such start.
    #[cfg(target_arch = "x86_64")]
    table_of_llvm! { ".pushsection .data.rel.ro.countersink_llvm_table,\"aw\",%progbits" }
    #[cfg(not(target_arch = "x86_64"))]
    table_of_llvm! { ".pushsection .rodata.countersink_llvm_table,\"a\",%progbits" }

    unsafe extern "C" {
        /// Above.
        static countersink_llvm_table: [usize; WORDS];
    }

    /// The sections. Nothing is known of the image around them, so sites of values lead to functions by their names.
    pub fn sections() -> Sections {
        // SAFETY: the linker has filled it in, and nobody changes it.
        let [bounds @ .., version] = unsafe { &countersink_llvm_table };
        let bounds = |number: usize| match bounds.as_chunks().0.get(number) {
            Some(&[start, end]) => expose(start)..expose(end),
            None => 0..0,
        };
        let version = core::ptr::with_exposed_provenance::<u64>(*version);
        Sections {
            data: bounds(0),
            counters: bounds(1),
            bitmaps: bounds(2),
            names: bounds(3),
            slots: bounds(4),
            heads: bounds(5),
            tables: bounds(6),
            table_names: bounds(7),
            // SAFETY: the symbol is of such a word, or NULL.
            version: unsafe { version.as_ref() }.map_or(0, |version| *version),
            ..Sections::NONE
        }
    }

    /// The address of something that the linker has placed.
    fn expose(address: usize) -> usize {
        core::ptr::with_exposed_provenance::<u8>(address).expose_provenance()
    }
}

#[cfg(target_family = "wasm")]
mod wasm {
    use super::*;

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
}
