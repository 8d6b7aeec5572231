//! Profiles for `callgrind_annotate` and KCachegrind. This module writes them, and does not read them.
//!
//! The file is text. The first use of a name or path gives it a number, `(1) name`; later uses have only the number.
//! So a name may begin with a bracket.
//!
//! | line | contents |
//! |---|---|
//! | `# callgrind format` | the first line |
//! | `version: 1`, `creator:`, `positions: line` | |
//! | `events: Executions` | the name of the only event |
//! | `summary: N` | all executions |
//! | `fl=`, `fn=` | file and name of the function that the next lines belong to |
//! | `fi=`, `fe=` | the file of an inlined body, and the function's own file again |
//! | `LINE COUNT` | executions of a line |
//! | `cfi=`, `cfn=` | file and name of a called function |
//! | `calls=N LINE` | number of calls, and the line that declares the called function |
//! | `LINE COST` | behind `calls=`: the line of the call, and the executions in the calls |
//!
//! The counts of an inlined body belong to the function around it: the format has no other place for them. The
//! executions in the calls of a target are estimates: the target's own executions, times the share of these calls in
//! its head count. If the line of a declaration is unknown, lines are distances from it.
//!
//! Source: "Callgrind Format Specification" of the Valgrind manual.

pub mod encode;
