//! A counter sink: the library that a program instrumented by gcc, clang or rustc pours its counters into, and the
//! conversion of its dumps into profiles that compilers read.
//!
//! Two halves, one package:
//!
//! * [`runtime`] is compiled into `libcountersink_rt.a`, which programs link instead of libgcov or LLVM's
//!   profile runtime;
//! * [`formats`], [`profile`], [`samples`], [`counters`] and [`convert`] turn its raw dumps into AutoFDO profiles,
//!   `.gcda` files and LLVM's profiles; [`cli`] is the tool `countersink`, which carries the archive inside.
//!
//! To read or write profiles, start at [`formats::afdo_v4`]: its [`decode`](formats::afdo_v4::decode) gives
//! and its [`encode`](formats::afdo_v4::encode) takes a [`profile::Profile`]. Its
//! [`lookup`](formats::afdo_v4::lookup) reads a part of a large file.
//!
//! Firmware in Rust depends on the crate with the feature `bare`, and asks for its counts in [`bare`].
//!
//! Both share [`raw`], the dump between them. Without features the library is `no_std` and needs no
//! heap; the features are explained in `Cargo.toml`.
#![no_std]
// The compiler must not turn loops into calls of a C library that may not be there.
#![cfg_attr(all(countersink_archive, not(feature = "runtime")), no_builtins)]
#![cfg_attr(not(feature = "cli"), allow(rustdoc::broken_intra_doc_links))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "cli", feature = "parquet", test))]
#[macro_use]
extern crate std;

/// Gives symbols hidden visibility, which stable Rust can only in assembly. In WebAssembly, whose assembly is not
/// stable, a symbol that nobody exports is hidden.
#[cfg(any(countersink_archive, feature = "bare"))]
#[allow(unused_macros)]
macro_rules! hide {
    ($($symbol:ident)*) => {
        #[cfg(not(target_family = "wasm"))]
        core::arch::global_asm!($(concat!(".hidden ", stringify!($symbol))),*);
    };
}

#[cfg(countersink_archive)]
mod archive;
#[cfg(all(
    feature = "bare",
    any(
        doc,
        all(
            not(feature = "runtime"),
            any(countersink_archive, target_os = "none", target_family = "wasm")
        )
    )
))]
pub mod bare;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod carry;
#[cfg(feature = "cli")]
#[forbid(unsafe_code)]
pub mod cli;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod convert;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod counters;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod coverage;
#[forbid(unsafe_code)]
pub mod formats;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod placement;
#[cfg(feature = "cli")]
#[forbid(unsafe_code)]
mod pool;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod profile;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod program;
#[forbid(unsafe_code)]
pub mod raw;
#[cfg(feature = "bare")]
pub mod runtime;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod samples;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod staleness;
#[cfg(feature = "alloc")]
#[forbid(unsafe_code)]
pub mod workers;

/// The book's examples in Rust, compiled with the tests.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../docs/src/library.md")]
struct Library;
