//! The values of a function's sites.

use super::Machine;
use super::check::Defect;
use crate::counters::{Value, ValueKind};

/// The values of one function, as they stand in the file.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    machine: Machine,
    /// By kind.
    kinds: [SiteValues<'a>; ValueKind::ALL.len()],
}

/// The values of sites of one kind. An iterator over the sites, each an iterator over its values.
#[derive(Clone, Copy, Debug)]
pub struct SiteValues<'a> {
    machine: Machine,
    /// Number of values of each site.
    numbers: &'a [u8],
    /// Values and counts of all sites.
    pairs: &'a [u8],
}

impl<'a> Values<'a> {
    /// No sites.
    pub(super) const fn none(machine: Machine) -> Self {
        let none = SiteValues { machine, numbers: &[], pairs: &[] };
        Self { machine, kinds: [none; 3] }
    }

    /// Reads the block of one function, whose size is already known to be that of `block`.
    pub(super) fn read(block: &'a [u8], machine: Machine, kinds: usize) -> Result<Self, Defect> {
        let mut values = Self::none(machine);
        let mut at = 8;
        let mut next_kind = 0;
        for _ in 0..machine.u32_at(block, 4) {
            let rest = block.get(at..).unwrap_or_default();
            let kind = machine.u32_at(rest, 0);
            if rest.len() >= 8 && (kind < next_kind || kind as usize >= kinds) {
                return Err(Defect::ValueKind(kind));
            }
            let (sites, size) = values.kind(rest, at, block.len())?;
            values.kinds[kind as usize] = sites;
            next_kind = kind + 1;
            at += size;
        }
        match at == block.len() {
            true => Ok(values),
            false => Err(Defect::Values { expected: block.len() as u64, found: at as u64 }),
        }
    }

    /// Reads the values of one kind, at `at` of a block of `size` bytes. Gives their size, too.
    fn kind(
        &self,
        bytes: &'a [u8],
        at: usize,
        size: usize,
    ) -> Result<(SiteValues<'a>, usize), Defect> {
        let outside = |end: u64| Defect::Values { expected: size as u64, found: at as u64 + end };
        if bytes.len() < 8 {
            return Err(outside(8));
        }
        let sites = u64::from(self.machine.u32_at(bytes, 4));
        let head = (8 + sites).next_multiple_of(8);
        if head > bytes.len() as u64 {
            return Err(outside(head));
        }
        let numbers = &bytes[8..8 + sites as usize];
        let pairs: usize = numbers.iter().map(|&number| usize::from(number)).sum();
        let end = head as usize + 16 * pairs;
        let Some(pairs) = bytes.get(head as usize..end) else { return Err(outside(end as u64)) };
        Ok((SiteValues { machine: self.machine, numbers, pairs }, end))
    }

    /// Numbers of sites, by kind.
    pub(super) fn sites_by_kind(&self) -> [usize; ValueKind::ALL.len()] {
        self.kinds.map(|sites| sites.numbers.len())
    }

    /// Number of sites of all kinds.
    pub(super) fn all_sites(&self) -> u64 {
        self.sites_by_kind().iter().map(|&number| number as u64).sum()
    }

    /// The sites of a kind.
    pub const fn sites(&self, kind: ValueKind) -> SiteValues<'a> {
        self.kinds[kind as usize]
    }
}

impl<'a> Iterator for SiteValues<'a> {
    type Item = Pairs<'a>;

    fn next(&mut self) -> Option<Pairs<'a>> {
        let (&number, numbers) = self.numbers.split_first()?;
        let (pairs, rest) = self.pairs.split_at_checked(16 * usize::from(number))?;
        (self.numbers, self.pairs) = (numbers, rest);
        Some(Pairs { machine: self.machine, pairs })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.numbers.len(), Some(self.numbers.len()))
    }
}

impl ExactSizeIterator for SiteValues<'_> {}

/// The values of one site. Targets are addresses.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    machine: Machine,
    pairs: &'a [u8],
}

impl Iterator for Pairs<'_> {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let (pair, rest) = self.pairs.split_first_chunk::<16>()?;
        self.pairs = rest;
        let (value, count) = (self.machine.u64_at(pair, 0), self.machine.u64_at(pair, 8));
        Some(Value { value, count })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let number = self.pairs.len() / 16;
        (number, Some(number))
    }
}

impl ExactSizeIterator for Pairs<'_> {}
