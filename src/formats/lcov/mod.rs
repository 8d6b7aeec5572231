//! lcov's tracefiles (`.info`): coverage of source files as text, which `genhtml`, editors and code-review services
//! read.
//!
//! A file of the program gives a block of lines:
//!
//! | line | contents |
//! |---|---|
//! | `TN:` | name of the test that executed what follows, of letters, digits and `_`; only where tests are told apart |
//! | `SF:` | path |
//! | `FN:` | for each function: line of its start, name |
//! | `FNDA:` | for each function: executions, name |
//! | `FNF:`, `FNH:` | number of functions, of those executed |
//! | `DA:` | for each line with code: number, executions |
//! | `BRDA:` | for each branch: line, number of its condition in the line, number in the line, times taken or `-` if the condition was never evaluated |
//! | `BRF:`, `BRH:` | number of branches, of those taken |
//! | `MCDC:` | for each outcome of a condition, with lcov 2: line, number of conditions of its decision, `t` or `f`, 1 if it is shown that the decision hangs on it then, else 0, number in the line's decisions of this size, and again |
//! | `MCF:`, `MCH:` | number of these outcomes, of those shown |
//! | `LF:`, `LH:` | number of lines, of those executed |
//! | `end_of_record` | |
//!
//! Control characters in paths and names are spelled out: a terminal would act on them.
//!
//! Sources: `man geninfo` of lcov 1.16 and 2.2, and what `llvm-cov export` and `lcov --capture` write.

pub mod decode;
pub mod encode;
