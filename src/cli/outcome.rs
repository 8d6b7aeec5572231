//! How a command ended: the exit status.

/// How a command ended that ran to its end, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Done.
    Done = 0,
    /// Done, and something was found.
    Found = 1,
    /// Something could not be done, and this was reported.
    Failed = 2,
}
