//! Cobertura's XML, version 4: coverage of source files, which code-review services and CI servers read.
//!
//! | element | contents |
//! |---|---|
//! | `coverage` | totals and shares, as all elements below it but lines |
//! | `sources/source` | the folder that names of files start from |
//! | `packages/package` | a folder, its path with `.` for `/` |
//! | `classes/class` | a file |
//! | `methods/method` | a function; `lines` has its first line with its executions |
//! | `lines/line` | number, `hits`; with branches `condition-coverage`, and in `conditions` the share of each branch, type `jump`, and of the outcomes of each condition, type `mcdc` |
//!
//! A file outside the folder keeps its whole path. Bytes that are no text of XML become U+FFFD. The time is given by
//! the caller, so that a report can be made again.
//!
//! Source: `coverage-04.dtd`, which Cobertura publishes.

pub mod encode;
