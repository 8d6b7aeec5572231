//! Collapsed stacks, for flame graphs. This module writes them, and does not read them.
//!
//! The file is text with a line per stack. A stack has a function and the functions inlined into it:
//!
//! | part | contents |
//! |---|---|
//! | names | the outermost function first, with `;` between them |
//! | a blank | |
//! | number | executions, decimal |
//!
//! The format has no escapes. In names `;` becomes `:`, and control characters become `\x` with two digits. A name may
//! contain blanks: the number follows the last blank. Functions of the same name in several files have the last part
//! of the file's path behind the name.
//!
//! Source: `stackcollapse-perf.pl` and `flamegraph.pl` of Brendan Gregg's FlameGraph, and their documentation.

pub mod encode;
