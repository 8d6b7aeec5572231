//! The record of a function, and where its counters are.

use super::{Layout, Machine};

/// The fields of a record.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Number of its name.
    pub name: u64,
    /// Hash of its control flow.
    pub hash: u64,
    /// Pointer to its counters.
    pub counters: u64,
    /// Offset of its bitmap.
    pub bitmap: u64,
    /// Number of its counters.
    pub counters_number: u32,
    /// Bytes of its bitmap.
    pub bitmap_bytes: u32,
    /// Numbers of its sites, by kind.
    pub sites: [u16; 3],
}

impl Record {
    /// Takes the fields out of the bytes of a record.
    pub fn read(bytes: &[u8], layout: &Layout, machine: Machine, kinds: usize) -> Self {
        // The usual machine is known when this is compiled: reading a number asks nothing.
        match machine {
            Machine::X86_64 => Self::fields(bytes, layout, Machine::X86_64, kinds),
            other => Self::fields(bytes, layout, other, kinds),
        }
    }

    #[inline(always)]
    fn fields(bytes: &[u8], layout: &Layout, machine: Machine, kinds: usize) -> Self {
        let mut sites = [0; 3];
        for (kind, number) in sites.iter_mut().enumerate().take(kinds) {
            *number = machine.u16_at(bytes, layout.sites + 2 * kind);
        }
        Self {
            name: machine.u64_at(bytes, 0),
            hash: machine.u64_at(bytes, 8),
            counters: machine.pointer_at(bytes, layout.counters),
            bitmap: layout.bitmap.map_or(0, |at| machine.pointer_at(bytes, at)),
            counters_number: machine.u32_at(bytes, layout.counters_number),
            bitmap_bytes: layout.bitmap_bytes.map_or(0, |at| machine.u32_at(bytes, at)),
            sites,
        }
    }

    /// Whether the function has value sites.
    pub fn has_sites(&self) -> bool {
        self.sites != [0; 3]
    }

    /// Number of value sites of all kinds.
    pub fn all_sites(&self) -> u64 {
        self.sites.iter().map(|&number| u64::from(number)).sum()
    }
}
