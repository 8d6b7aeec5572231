//! The on-target half: what is linked into instrumented programs.
//!
//! `src/archive` and `runtime-c` export the C symbols; everything they do is here, and can be compiled and tested
//! on any host without defining a single `__gcov_*` symbol. From the bottom up:
//!
//! | module | concern |
//! |---|---|
//! | [`sys`] | the operating system |
//! | [`abi`] | the compilers' structures in memory |
//! | `atomic` | the atomic types of the counters, as two 32-bit halves on processors without 64-bit atomics |
//! | [`counters`] | what the profilers do |
//! | [`baseline`] | the counts already written, so that counting can continue after a flush |
//! | [`identity`] | the build of this image |
//! | [`module`] | the image as a module of a raw dump: everything but the counts |
//! | [`counts`] | the live counters since the last flush, added to older ones |
//! | [`merge`] | the live module and an existing dump become one dump |
//! | [`output_path`] | which file |
//! | [`replace`] | lock, temporary file, rename |
//! | [`message`] | the one line on standard error |
//! | [`live`] | counters that are in a file from the start |
//! | [`lock`] | one flush at a time in a process |
//! | [`image_table`] | where the values of each image lie, if counters are live |
//! | [`image`] | the state of one executable or shared object; dump, reset, flush, exit |
//! | [`chain`] | all images of a process |
//! | [`process`] | fork and exec |
//! | [`signals`] | signals that end a program |
//! | [`bare`] | a whole dump for programs without an operating system |
//! | [`retained`] | the counters of such a program that survive a warm reset |
//! | [`stream`] | one object's counters as a `.gcda` stream, for programs without files |
//!
//! # Rules
//!
//! No heap, not even indirectly: memory is static, or mapped once if counting must continue after a flush. No
//! panic path (`tests/archive.rs` looks at the symbols). No call into libc except `fork`, `exec*`,
//! `secure_getenv`, `getauxval`, the memory functions, and those that register what runs at `fork`, `quick_exit` and
//! signals. No thread waits for a lock without limit, or for a lock that it holds itself, so a flush may come
//! from a signal handler. The exit status, `errno` and the program's files stay untouched, and a failed write
//! sends no signal. Silent when all is well; otherwise one line.
//!
//! Functions have `#[inline(always)]` if both families of compilers use them, but a program of one family has a
//! single caller. Standing alone they cost such a program half a kilobyte.

pub mod abi;
pub(crate) mod atomic;
pub mod bare;
#[cfg(feature = "runtime")]
pub mod baseline;
#[cfg(feature = "runtime")]
pub mod chain;
pub mod counters;
#[cfg(feature = "runtime")]
pub mod counts;
#[cfg(feature = "runtime")]
pub mod identity;
#[cfg(feature = "runtime")]
pub mod image;
#[cfg(feature = "runtime")]
pub mod image_table;
#[cfg(feature = "runtime")]
pub mod live;
#[cfg(feature = "runtime")]
pub mod lock;
#[cfg(feature = "runtime")]
pub mod merge;
#[cfg(feature = "runtime")]
pub mod message;
pub mod module;
#[cfg(feature = "runtime")]
pub mod output_path;
#[cfg(feature = "runtime")]
pub mod problem;
#[cfg(feature = "runtime")]
pub mod process;
#[cfg(feature = "runtime")]
pub mod replace;
pub mod retained;
#[cfg(feature = "runtime")]
pub mod signals;
pub mod stream;
#[cfg(feature = "runtime")]
pub mod sys;
