//! Profiles for speedscope. This module writes them, and does not read them.
//!
//! The file is JSON with these fields:
//!
//! | field | contents |
//! |---|---|
//! | `$schema` | the address of the schema |
//! | `exporter`, `name` | the tool, and the file |
//! | `activeProfileIndex` | 0 |
//! | `shared.frames` | `name`, `file` and `line` of each function |
//! | `profiles` | one of `type` `sampled`, with `name`, `unit` `none`, `startValue` 0 and `endValue`, the sum of all weights |
//! | `profiles.samples` | stacks of a function and the functions inlined into it, the outermost first, as indexes of frames |
//! | `profiles.weights` | executions of each stack |
//!
//! Source: `file-format-schema.json` of speedscope 1.25.

pub mod encode;
