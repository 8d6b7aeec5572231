//! The symbols of the archives, compiled only into them.
//!
//! They are what GCC's instrumentation calls and what programs may call. Each is one call into
//! [`crate::runtime`]. `runtime-c` has the symbols that stable Rust cannot define.
//!
//! Visibility is libgcov's. What belongs to one image is hidden, so that every image uses its own:
//! registration, merge functions, the time counter, and the wrappers of fork and exec. The profilers and the
//! calls for programs are visible.

mod gcov;
#[cfg(feature = "runtime")]
mod llvm;
mod llvm_buffer;
#[cfg(feature = "runtime")]
mod llvm_interface;
pub(crate) mod llvm_sections;
#[cfg(not(any(feature = "runtime", target_arch = "x86_64", target_family = "wasm")))]
mod memory;
#[cfg(not(all(feature = "runtime", target_arch = "x86_64")))]
mod panic;
#[cfg_attr(feature = "runtime", path = "hosted.rs")]
#[cfg_attr(not(feature = "runtime"), path = "bare.rs")]
mod system;
