//! Addresses of functions and of virtual tables, and the numbers of their names.

use alloc::vec::Vec;

use super::image::Image;
use crate::counters::ValueKind;

/// What the addresses among the values of an image stand for.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Addresses and names of functions, sorted.
    functions: Vec<(u64, u64)>,
    /// Start, end and name of virtual tables, sorted.
    vtables: Vec<(u64, u64, u64)>,
}

impl Targets {
    /// Collects them.
    pub fn of(image: &Image<'_>) -> Self {
        let (machine, layout) = (image.header.machine, &image.layout);
        let mut functions: Vec<_> = image
            .records()
            .map(|bytes| (machine.pointer_at(bytes, layout.function), machine.u64_at(bytes, 0)))
            .filter(|&(address, _)| address != 0)
            .collect();
        functions.sort_unstable();
        let mut vtables: Vec<_> = image
            .vtables()
            .map(|bytes| {
                let start = machine.pointer_at(bytes, 8);
                let size = machine.u32_at(bytes, 8 + machine.pointer);
                (start, start.saturating_add(size.into()), machine.u64_at(bytes, 0))
            })
            .filter(|&(start, end, _)| start < end)
            .collect();
        vtables.sort_unstable();
        Self { functions, vtables }
    }

    /// What a value of this kind is outside of the image: the number of a name, 0 for an unknown address. Sizes
    /// remain as they are.
    pub fn value(&self, kind: ValueKind, value: u64) -> u64 {
        match kind {
            ValueKind::MemorySize => value,
            ValueKind::IndirectCall => {
                let place = self.functions.partition_point(|&(address, _)| address < value);
                let found = self.functions.get(place).filter(|&&(address, _)| address == value);
                found.map_or(0, |&(_, name)| name)
            }
            ValueKind::VirtualTable => {
                let place = self.vtables.partition_point(|&(start, ..)| start <= value);
                let found = place.checked_sub(1).map(|place| self.vtables[place]);
                found.filter(|&(_, end, _)| value < end).map_or(0, |(.., name)| name)
            }
        }
    }
}
