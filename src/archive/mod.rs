//! The symbols of the archives, compiled only into them.
//!
//! What GCC's instrumentation calls, what programs may call, and which of both are hidden. Everything
//! is one call into [`crate::runtime`]; the symbols that stable Rust cannot define are in `runtime-c`.
//!
//! Visibility is libgcov's: what belongs to one image (registration, merge functions, the time
//! counter, fork and exec wrappers) is hidden, so that every image uses its own; the profilers and
//! what programs call is not.

mod gcov;
#[cfg_attr(feature = "runtime", path = "hosted.rs")]
#[cfg_attr(not(feature = "runtime"), path = "bare.rs")]
mod system;
