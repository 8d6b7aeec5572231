//! The order of functions for linkers. This module writes it, and does not read it.
//!
//! The file is text with a symbol per line, in the order in which runs first called the functions. lld reads it with
//! `--symbol-ordering-file`, gold with `--section-ordering-file` if each line is a section (`.text.main`). Functions
//! without a time of their first call are left out, and the linker puts them behind the others. The same symbol is
//! there once.
//!
//! Source: `man ld.lld`.

pub mod encode;
