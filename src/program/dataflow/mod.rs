//! Follows what registers and slots of the stack hold at each place of a function's machine code.
//!
//! Compilers take the address of a function's counters into a register, spill it, and keep the counters of loops in
//! registers until the loop ends. The address of an indirect call's site goes the same way to the call. So this is a
//! forward data-flow analysis over the control-flow graph:
//!
//! * the lattice is in [`abstract_value`]: a constant, a slot of the stack, the value of a counter, or unknown;
//! * the transfer functions, one for each [`Effect`](crate::program::decode::Effect), are in [`abstract_state`];
//! * [`fixpoint`] goes through the blocks by a worklist in reverse postorder, until nothing becomes less known;
//! * [`state_pool`] has the states at the starts of blocks;
//! * [`findings`] reads increments and calls of sites from the result.
//!
//! [`materialized`] does without any of that: it looks at instructions in the order of memory.

pub mod abstract_state;
pub mod abstract_value;
pub mod findings;
pub mod fixpoint;
pub mod materialized;
pub mod state_pool;
#[cfg(test)]
mod tests;
