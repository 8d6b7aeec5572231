//! No live counters: the archive contains nothing of them.

use crate::runtime::counters::nodes::Nodes;

/// The live file of an image.
#[derive(Debug, Default)]
pub struct Live;

impl Live {
    /// None.
    pub const fn new() -> Self {
        Self
    }

    /// Whether the counters are in a file.
    pub const fn is_active(&self) -> bool {
        false
    }

    /// Id of the file, 0 if there is none.
    pub const fn id(&self) -> u64 {
        0
    }

    /// The counts have been added.
    pub fn finish(&mut self, _nodes: Option<&Nodes>) {}
}
