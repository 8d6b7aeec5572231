//! The sections in a table that the linker fills in:
//!
//! | word | content |
//! |---|---|
//! | 0 to 15 | start and end of a section each, in the order of [`Sections::at`]; 0 where the program has no such section |
//! | 16 | address of the version word, 0 if no object has one |
//!
//! Its symbols are weak: most programs do not have all sections.
#![allow(unsafe_code)]

use crate::runtime::abi::llvm::Sections;

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
    // SAFETY: the symbol is of such a word, or NULL.
    let version = unsafe { version.as_ref() }.map_or(0, |version| *version);
    Sections::at(bounds, version)
}

/// The address of something that the linker has placed.
fn expose(address: usize) -> usize {
    core::ptr::with_exposed_provenance::<u8>(address).expose_provenance()
}
