//! What a board brings: its start, a way to print, and a place for the dump.
//!
//! | target | board of QEMU | start | the dump |
//! |---|---|---|---|
//! | `thumb*` | mps2-an385, mps2-an386, mps2-an505 | cortex-m-rt | a file of the host, by semihosting |
//! | `riscv32*`, `riscv64*` | virt | riscv-rt | the same |
//! | `aarch64-unknown-none` | virt | `aarch64.rs` | the same |
//! | `x86_64-unknown-none` | a PC | `x86_64.rs` | text on the serial line |
//! | Linux | none | std | as LLVM's own runtime writes it |

#[cfg(all(target_arch = "aarch64", target_os = "none"))]
mod aarch64;
#[cfg_attr(not(target_os = "none"), path = "host.rs")]
#[cfg_attr(all(target_os = "none", target_arch = "x86_64"), path = "x86_64.rs")]
#[cfg_attr(all(target_os = "none", not(target_arch = "x86_64")), path = "semihosted.rs")]
mod this;

pub use this::{exit, print, write_dump};
