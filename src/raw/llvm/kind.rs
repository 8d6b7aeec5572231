//! LLVM's counter kinds.

use crate::raw::kind::{Kind, Rule, Rules};

/// Executions.
pub const EXECUTIONS: Kind = Kind(0);
/// Bytes that say whether a block was executed: 1 if it was.
pub const COVERED: Kind = Kind(1);
/// MC/DC bitmaps: a bit for each combination of conditions that occurred.
pub const BITMAP: Kind = Kind(2);
/// Targets of indirect calls.
pub const INDIRECT_CALL: Kind = Kind(4);
/// Sizes of memory operations.
pub const MEMORY_SIZE: Kind = Kind(5);
/// Virtual tables.
pub const VIRTUAL_TABLE: Kind = Kind(6);
/// Order of first execution.
pub const TIME: Kind = Kind(7);

/// Kinds of sites, in LLVM's order.
pub const SITES: [Kind; 3] = [INDIRECT_CALL, MEMORY_SIZE, VIRTUAL_TABLE];

/// All kinds with their rules.
pub const RULES: Rules = Rules(0)
    .with(EXECUTIONS, Rule::Saturate)
    .with(COVERED, Rule::Bytes)
    .with(BITMAP, Rule::Bytes)
    .with(INDIRECT_CALL, Rule::TopN)
    .with(MEMORY_SIZE, Rule::TopN)
    .with(VIRTUAL_TABLE, Rule::TopN)
    .with(TIME, Rule::Time);
