//! What the simulated processes have noted in shared memory: how far each has come. `program.c` writes it.

pub const PROCESSES: usize = 64;
const OPERATIONS: usize = 120;
const SLOT: usize = 5 * 4 + OPERATIONS;
pub const BYTES: usize = PROCESSES * SLOT;

/// What one process has noted.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub started: bool,
    /// Number of operations that it has done.
    pub done: usize,
    /// Its process id.
    pub process: u32,
    /// How it ended, if its parent has waited for it.
    pub status: Option<i32>,
    results: Vec<u8>,
}

impl Entry {
    /// Whether a fault has struck in an operation.
    pub fn struck(&self, operation: usize) -> bool {
        self.results[operation] & 1 != 0
    }

    /// Whether an operation has failed.
    pub fn failed(&self, operation: usize) -> bool {
        self.results[operation] & 2 != 0
    }
}

/// Reads the whole ledger.
pub fn read(bytes: &[u8]) -> Vec<Entry> {
    let entry = |slot: &[u8]| {
        let word = |place: usize| u32::from_ne_bytes(slot[4 * place..][..4].try_into().unwrap());
        Entry {
            started: word(0) != 0,
            done: word(1) as usize,
            process: word(2),
            status: (word(3) != 0).then_some(word(4) as i32),
            results: slot[20..].to_vec(),
        }
    };
    bytes.chunks_exact(SLOT).map(entry).collect()
}
