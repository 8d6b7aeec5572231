//! Programs without an operating system that rustc or clang instruments: firmware, kernels, WebAssembly.
//!
//! A program that depends on this crate with the feature `bare`, and on a target without an operating system, has the
//! symbols of LLVM's profile runtime, and asks for its counts here. It needs no archive; for a board, `-Tcountersink.x`
//! places its sections:
//!
//! ```ignore
//! countersink::bare::write_text(|line| uart.write_all(line))?;
//! ```
//!
//! `countersink extract` finds the lines in a log of the serial line. Programs in C take the archive
//! `libcountersink_rt_bare.a` instead, which has gcc's symbols, too, and the same calls in C.
//!
//! | module | concern |
//! |---|---|
//! | `image` | the counters of the program, and memory for the values of sites |
//! | `llvm` | what LLVM's instrumentation calls |
//! | `linker` | where LLVM's sections are |
//! | `wasm` | what the host of a WebAssembly module calls |
//!
//! Not here: how a dump is written ([`crate::runtime::bare`]), and what programs in C call (`src/archive`).

pub(crate) mod image;
#[cfg(not(countersink_archive))]
pub(crate) mod linker;
pub(crate) mod llvm;
#[cfg(all(target_family = "wasm", not(countersink_archive)))]
mod wasm;

use crate::raw::writer::Sink;
use crate::runtime::bare::{Family, Status, Stopped};
use image::{IMAGE, RETAINED};

/// Why a dump is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error<E> {
    /// Another one is being written, as when an interrupt asks for a dump during a dump.
    Busy,
    /// The closure has returned this.
    Closure(E),
}

/// Why a buffer has no dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfilled {
    /// Another dump is being written.
    Busy,
    /// The buffer is too small; a dump takes this many bytes.
    TooSmall(usize),
}

/// A closure that takes the bytes of a dump, and the error with which it has ended the dump.
struct Closure<F, E> {
    take: F,
    error: Option<E>,
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> Sink for Closure<F, E> {
    type Error = Status;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Status> {
        (self.take)(bytes).map_err(|error| {
            self.error = Some(error);
            1
        })
    }
}

impl<F, E> Closure<F, E> {
    fn result(self, written: Result<(), Stopped>) -> Result<(), Error<E>> {
        match (written, self.error) {
            (_, Some(error)) => Err(Error::Closure(error)),
            (Err(_), None) => Err(Error::Busy),
            (Ok(()), None) => Ok(()),
        }
    }
}

fn family(number: usize) -> Option<&'static dyn Family> {
    (number == 0).then_some(llvm::FAMILY)
}

/// Writes a dump of the counts since the start, or since the last [`reset`], in pieces of at most 256 bytes. It takes
/// at most 1 KiB of stack, that of the closure not counted. Interrupts may go on counting.
pub fn write<E>(take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), Error<E>> {
    let mut closure = Closure { take, error: None };
    let written = IMAGE.write(family, RETAINED.starts(), &mut closure);
    closure.result(written)
}

/// The same as lines of text, for a serial line that others write to, too. Each line has a checksum, and is one call of
/// the closure.
pub fn write_text<E>(take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), Error<E>> {
    let mut closure = Closure { take, error: None };
    let written = IMAGE.write_text(family, RETAINED.starts(), &mut closure);
    closure.result(written)
}

/// Puts a dump into a buffer and gives its length.
pub fn fill(buffer: &mut [u8]) -> Result<usize, Unfilled> {
    let mut needed = 0usize;
    let take = |bytes: &[u8]| {
        let free = buffer.get_mut(needed..).unwrap_or_default();
        free.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        needed = needed.wrapping_add(bytes.len());
        Ok::<(), ()>(())
    };
    write(take).map_err(|_| Unfilled::Busy)?;
    if needed > buffer.len() { Err(Unfilled::TooSmall(needed)) } else { Ok(needed) }
}

/// How many bytes a dump would take now, 0 while one is being written. Until then, sites of values may meet new ones.
pub fn size() -> usize {
    match fill(&mut []) {
        Ok(size) | Err(Unfilled::TooSmall(size)) => size,
        Err(Unfilled::Busy) => 0,
    }
}

/// Sets all counters to zero.
pub fn reset() {
    IMAGE.reset(|number| (number == 0).then_some(llvm::RESETTABLE));
    RETAINED.set_starts(1);
    llvm::reset_time();
}
