//! The counters of a program without an operating system, and memory for the values of its sites.
#![allow(unsafe_code)]

use crate::runtime::bare::BareImage;
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::topn::Owner;
use crate::runtime::retained::Retained;

/// The image. There is only one.
pub static IMAGE: BareImage = BareImage::new();

/// A linker script finds it by its section. Where none does, the program's start sets it to zero like all else.
#[cfg_attr(not(target_family = "wasm"), unsafe(link_section = ".bss.countersink_retained"))]
pub static RETAINED: Retained = Retained::new();

unsafe extern "C" {
    /// The memory for nodes that the program was linked with: its own, or else that of `runtime-c/nodes.c`, or of this
    /// module.
    static mut countersink_region: [u64; 0];
    /// Its size in bytes.
    static countersink_region_size: usize;
}

// The default memory of a program in Rust, as `runtime-c/nodes.c` has it for programs in C: for 1536 values, and
// indexes for 8 sites. Weak, so that the program may have its own.
#[cfg(all(not(countersink_archive), not(target_family = "wasm")))]
core::arch::global_asm!(
    ".pushsection .bss.countersink_region,\"aw\",%nobits",
    ".weak countersink_region",
    ".balign 8",
    "countersink_region:",
    ".skip 41088",
    ".popsection",
    ".pushsection .rodata.countersink_region_size,\"a\",%progbits",
    ".weak countersink_region_size",
    ".balign 8",
    "countersink_region_size:",
    // The second half of a 64-bit word, or nothing that anybody reads.
    ".long 41088",
    ".long 0",
    ".popsection",
);

/// WebAssembly has no weak symbols in stable Rust, and memory is no concern there.
#[cfg(all(not(countersink_archive), target_family = "wasm"))]
mod region {
    #[unsafe(export_name = "countersink_region")]
    static REGION: [core::sync::atomic::AtomicU64; SIZE / 8] =
        [const { core::sync::atomic::AtomicU64::new(0) }; SIZE / 8];
    #[unsafe(export_name = "countersink_region_size")]
    static REGION_SIZE: usize = SIZE;
    const SIZE: usize = 41088;
}

hide! {
    countersink_region
    countersink_region_size
}

/// Where profilers find room for values.
pub fn nodes() -> &'static Nodes {
    &IMAGE.nodes
}

/// The owner of every site: there is no other image. A site asks before it takes its first node, so this is where
/// the memory for nodes comes in. Programs that count no values need neither, and their linker drops both.
pub fn owner(_address: usize) -> Owner {
    give_nodes();
    Owner::Here
}

/// Gives the nodes the memory that the program was linked with, unless they have some.
pub fn give_nodes() {
    if !IMAGE.nodes.is_given() {
        let memory = (&raw mut countersink_region).cast();
        // SAFETY: a constant.
        let bytes = unsafe { countersink_region_size };
        // SAFETY: nobody else uses that memory, and it starts zero.
        unsafe { IMAGE.nodes.give(memory, bytes) };
    }
}
