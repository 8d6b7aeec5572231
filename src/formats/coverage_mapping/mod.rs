//! LLVM's coverage mapping, versions 4 to 7: the regions of the source that each counter of a function counts. clang
//! writes it with `-fcoverage-mapping`, rustc with `-Cinstrument-coverage`, into two sections of every object. The
//! linker joins the sections of all objects, and no program loads them. This module reads the mapping;
//! `crate::convert::llvm` applies counts to it.
//!
//! Numbers are in the byte order of the machine, or unsigned LEB128.
//!
//! **`__llvm_covmap`**, one header and its file names per object, at multiples of 8:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | 0; before version 4 the number of records |
//! | 4 | 4 | bytes of the file names |
//! | 8 | 4 | 0; before version 4 the bytes of the mappings |
//! | 12 | 4 | version - 1 |
//! | 16 | | file names |
//!
//! **File names**: number, length in bytes, length of the bytes compressed by zlib or 0 if they are not, then for each
//! name its length and its bytes. From version 6 on, the first name is the folder in which the compiler ran, and other
//! names may be relative to it.
//!
//! **`__llvm_covfun`**, one record per function, at multiples of 8:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | [number of the name](crate::counters::name_ref) |
//! | 8 | 4 | bytes of the mapping |
//! | 12 | 8 | hash of the control flow, 0 if the object does not use the function |
//! | 20 | 8 | reference to the file names: the first 8 bytes of the MD5 of their stored bytes |
//! | 28 | | the mapping |
//!
//! **Mapping**, all LEB128:
//!
//! | field | |
//! |---|---|
//! | files | number, then for each file its index in the file names. Regions refer to a file by its place in this list |
//! | expressions | number, then two [counters](Counter) each |
//! | regions | for each file: number, then the regions |
//! | a region | kind and count, see below; distance of the first line from that of the region before; first column; distance of the last line from the first; last column |
//!
//! The low two bits of a counter are its kind, the other bits a number:
//!
//! | kind | counter |
//! |---|---|
//! | 0 | none |
//! | 1 | the counter with this number |
//! | 2, 3 | the difference, or the sum, of the expression with this number |
//!
//! A region begins with such a counter. If it is none and bit 2 is set, the region is an expansion of the file with
//! the number in the higher bits. If it is none and bit 2 is clear, the higher bits are the kind of the region:
//!
//! | kind | region |
//! |---|---|
//! | 0 | code that never runs |
//! | 2 | code that the preprocessor skipped |
//! | 4 | a branch; two counters follow: taken, not taken |
//! | 5 | a decision; its index in the bitmap and its number of conditions follow |
//! | 6 | a condition; two counters and three numbers of conditions follow |
//!
//! The highest of the 32 bits of the last column marks a gap between regions. If first and last column are 0, the
//! region covers whole lines.
//!
//! Sources: LLVM's documentation of the format, and the sections that clang 13 to 16, 19 and 22 and rustc 1.95 write.

pub mod check;
mod counter;
pub mod decode;
mod file_names;
mod numbers;
mod region;

pub use counter::{Counter, Expression, Expressions};
pub use decode::{Function, Mapping, Sections};
pub use region::{Condition, Kind, Place, Region};
