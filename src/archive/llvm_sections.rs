//! Where LLVM's sections are in this image.

use core::ffi::c_int;

use crate::runtime::abi::llvm::{Bounds, Sections};

#[allow(unsafe_code)]
mod shim {
    use core::ffi::c_int;

    unsafe extern "C" {
        /// In `runtime-c/llvm.c`.
        pub safe fn countersink_llvm_bound(section: c_int, end: c_int) -> *const u8;
        /// In `runtime-c/llvm.c`.
        pub safe fn countersink_llvm_version() -> u64;
    }
}

/// The bounds of a section, by its number in `runtime-c/llvm.c`.
pub fn bounds(section: c_int) -> Bounds {
    let bound = |end| shim::countersink_llvm_bound(section, end).expose_provenance();
    bound(0)..bound(1)
}

/// All sections. Nothing is known of the image around them.
pub fn sections() -> Sections {
    Sections::at(|section| bounds(section as c_int), shim::countersink_llvm_version())
}
