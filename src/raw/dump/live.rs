//! From a live file to the dump that its process would have written.

use alloc::vec::Vec;
use core::ops::Range;

use zerocopy::FromBytes;

use super::{Dump, Module, SiteSpan};
use crate::raw::gcov::record::FIXED_SITE;
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::Sums;
use crate::raw::live::{Header, MAGIC, START};
use crate::raw::llvm::{self, Target};
use crate::raw::merge::{Pair, SITE_LIMIT};
use crate::raw::reader::{Damage, Defect, Part};
use crate::raw::site::LISTED_SITE;
use crate::raw::site::{Shape, count, total_and_error};

impl Dump {
    /// Reads a live file. If its process is still running, these are the counts of now. The result has no
    /// module if the counts have been added to a dump.
    pub fn parse_live(bytes: &[u8]) -> Result<Self, Damage> {
        let (header, _) = Header::read_from_prefix(bytes)
            .map_err(|_| Damage { offset: 0, defect: Defect::NotADump })?;
        if header.magic != MAGIC {
            return Err(Damage { offset: 0, defect: Defect::NotADump });
        }
        if header.is_settled(|offset| word(bytes, offset)) {
            return Ok(Self::default());
        }
        let end = START.saturating_add(header.length);
        let table = end.saturating_add(header.dump_length);
        let offset = bytes.len() as u64;
        let cut = |part, missing: u64| {
            let expected = u32::try_from(missing).unwrap_or(u32::MAX);
            Damage { offset, defect: Defect::Truncated { part, expected, found: 0 } }
        };
        let dump = bytes.get(end as usize..table as usize);
        let dump = dump.ok_or_else(|| cut(Part::LIVE_DUMP, table.saturating_sub(offset)))?;
        let mut dump = Self::parse(dump)?;
        let table = bytes.get(table as usize..).unwrap_or_default();
        let memory = Memory { bytes, address: header.address, image: header.image };
        for module in &mut dump.modules {
            module.refill(&memory, table).ok_or_else(|| cut(Part::LIVE_COUNTERS, 8))?;
        }
        Ok(dump)
    }
}

fn word(bytes: &[u8], offset: u64) -> Option<u64> {
    let offset = usize::try_from(offset).ok()?;
    let word = bytes.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_ne_bytes(word.try_into().ok()?))
}

/// The file, and the address that its counters had.
struct Memory<'f> {
    bytes: &'f [u8],
    address: u64,
    image: [u64; 2],
}

impl Memory<'_> {
    fn word(&self, offset: u64) -> Option<i64> {
        word(self.bytes, offset).map(|word| word as i64)
    }

    /// Eight bytes of a kind of LLVM's, from an offset on, at most `left`.
    fn packed(&self, kind: Kind, offset: u64, left: usize) -> Option<i64> {
        let offset = usize::try_from(offset).ok()?;
        let bytes = self.bytes.get(offset..offset.checked_add(left.min(8))?)?;
        let mut word = [0; 8];
        for (to, &from) in word.iter_mut().zip(bytes) {
            *to = if kind == llvm::kind::COVERED { u8::from(from == 0) } else { from };
        }
        Some(i64::from_ne_bytes(word))
    }

    /// The site that the slot at this offset leads to, an empty one without slot.
    fn slot(&self, kind: Kind, offset: u64, pairs: &mut Vec<Pair>) -> Option<SiteSpan> {
        let start = pairs.len();
        let head = if offset == 0 { 0 } else { self.word(offset)? };
        let Some(distance) = (head as u64).checked_sub(self.address) else {
            return Some(SiteSpan { total: 0, error: 0, pairs: start..start });
        };
        let site = self.site(START.checked_add(distance)?, pairs)?;
        for pair in &mut pairs[start..] {
            pair.value = match kind {
                llvm::kind::INDIRECT_CALL => self.target(pair.value as u64),
                // Only the process knew its virtual tables.
                llvm::kind::VIRTUAL_TABLE => 0,
                _ => pair.value,
            };
        }
        Some(site)
    }

    /// The value that stands for an address of the process.
    fn target(&self, address: u64) -> i64 {
        let [start, end] = self.image;
        let is_here = start != 0 && (start..end).contains(&address);
        let offset =
            Some(address.wrapping_sub(start)).filter(|&offset| is_here && offset >> 32 == 0);
        offset.map_or(Target::Unknown, Target::Here).to_value()
    }

    /// The site with its counters at this offset.
    fn site(&self, offset: u64, pairs: &mut Vec<Pair>) -> Option<SiteSpan> {
        let word = |place: u64| self.word(offset.checked_add(8 * place)?);
        let (first, shape, head) = (word(0)?, Shape(word(1)?), word(2)?);
        let start = pairs.len();
        pairs.extend(self.pairs(head as u64));
        let span: Range<usize> = start..pairs.len();
        let counts = pairs[span.clone()].iter().fold(0i64, |sum, p| sum.saturating_add(p.count));
        let (total, error) = total_and_error(first, shape, counts);
        Some(SiteSpan { total, error, pairs: span })
    }

    /// The values of a site with its list at this address.
    fn pairs(&self, mut address: u64) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        for _ in 0..SITE_LIMIT {
            let Some(offset) = address.checked_sub(self.address) else { break };
            let node = START.saturating_add(offset);
            let field = |place: u64| self.word(node.saturating_add(8 * place));
            let (Some(value), Some(word), Some(next)) = (field(0), field(1), field(2)) else {
                break;
            };
            let count = count(word);
            match pairs.iter_mut().find(|known| known.value == value) {
                _ if count == 0 => {}
                Some(known) => known.count = known.count.saturating_add(count),
                None => pairs.push(Pair { value, count }),
            }
            address = next as u64;
        }
        pairs
    }
}

impl Module {
    /// Takes all counts from where they were in the process.
    fn refill(&mut self, memory: &Memory<'_>, table: &[u8]) -> Option<()> {
        let mut offsets = table.chunks_exact(8).map(|word| word.try_into().map(u64::from_ne_bytes));
        let (mut counters, mut sites, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        let mut largest = 0;
        let is_llvm = self.is_llvm();
        for object in &self.objects {
            let stride = if object.version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE };
            for function in self.functions.get(object.functions.clone())? {
                for (kind, rule, number) in function.kinds(&self.numbers) {
                    // Kinds that an LLVM function lacks have no place.
                    if is_llvm && number == 0 {
                        continue;
                    }
                    let offset = offsets.next()?.ok()?;
                    let place = |size: usize, index: usize| {
                        offset.checked_add((size as u64).checked_mul(index as u64)?)
                    };
                    if rule == Rule::TopN {
                        for index in 0..number {
                            sites.push(match is_llvm {
                                true if offset == 0 => memory.slot(kind, 0, &mut pairs)?,
                                true => memory.slot(kind, place(8, index)?, &mut pairs)?,
                                false => memory.site(place(8 * stride, index)?, &mut pairs)?,
                            });
                        }
                        continue;
                    }
                    for index in 0..rule.words(number) {
                        let at = place(8, index)?;
                        let value = match (is_llvm, rule) {
                            (_, Rule::Bytes) => memory.packed(kind, at, number - 8 * index)?,
                            (true, Rule::Time) => memory.packed(kind, at, 8)?,
                            _ => memory.word(at)?,
                        };
                        // All ones stand for "never" where counters are bytes.
                        let is_never = is_llvm && rule == Rule::Time && value == -1;
                        counters.push(if is_never { 0 } else { value });
                        largest = if kind == Kind::ARCS { value.max(largest) } else { largest };
                    }
                }
            }
        }
        (self.counters, self.sites, self.pairs) = (counters, sites, pairs);
        self.sums = Sums { runs: 1, sum_max: largest as u64, dropped: 0 };
        Some(())
    }
}
