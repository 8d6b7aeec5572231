//! A file to be added to others. It is read once from end to end, and only its symbols are kept.

use alloc::vec;
use alloc::vec::Vec;

use super::check::{Defect, Finding, Findings};
use super::decode::is_loss;
use super::open::Opened;
use super::records::{Record, What};
use crate::profile::{Audit, Position};

/// A file to be added.
pub struct File<'a> {
    pub(super) opened: Opened<'a>,
    pub(super) weight: u64,
    /// Which symbols the functions use, by index.
    pub(super) used: Vec<bool>,
    /// Whether any of its positions has a discriminator.
    pub has_discriminators: bool,
    /// Defects that were tolerated.
    pub findings: Findings,
}

impl<'a> File<'a> {
    /// Opens a file whose counts are multiplied by `weight`. Reads all of it once. The first defect that
    /// cannot be tolerated is an error.
    pub fn open(bytes: &'a [u8], weight: u64) -> Result<Self, Finding> {
        let mut findings = Findings::default();
        let opened = Opened::open(bytes, &mut |finding| _ = findings.note(finding))?;
        let used = vec![false; opened.symbols.iter().count()];
        let mut file = Self { opened, weight, used, has_discriminators: false, findings };
        file.scan();
        match file.findings.fatal() {
            Some(finding) => Err(finding),
            None => Ok(file),
        }
    }

    /// Bytes of its names, which are in memory.
    pub const fn name_bytes(&self) -> usize {
        self.opened.symbols.name_bytes()
    }

    /// Reads all functions, and notes which symbols they use.
    fn scan(&mut self) {
        let Self { opened, used, has_discriminators, findings, .. } = self;
        let mut note = |finding| _ = findings.note(finding);
        let (mut audit, mut counts) = (Audit::new(&opened.summary), Vec::new());
        for info in &opened.infos {
            used[info.symbol.index()] = true;
            let mut order = Order::default();
            counts.clear();
            opened.records(info, &mut note, |records, tell| {
                audit.function(records.head_count);
                while let Some(record) = records.next_or_tell(tell) {
                    let record = record?;
                    *has_discriminators |= record.position.discriminator != 0;
                    order.see(&record);
                    match record.what {
                        What::Count(count) => counts.push(count),
                        What::Target { symbol: id, .. } | What::Inlined(id) => {
                            used[opened.symbol(record.offset, id)?.index()] = true;
                        }
                    }
                }
                Ok(())
            });
            if order.is_canonical {
                counts.iter().for_each(|&count| audit.count(count));
                continue;
            }
            // Repeated records count as one; all other defects have been told.
            let mut note_twice = |finding: Finding| {
                if finding.defect == Defect::DuplicateLocation {
                    note(finding);
                }
            };
            let function = opened.function(info, &mut note_twice).unwrap_or_default();
            function.body.for_each_record(&mut |record| {
                record.count.into_iter().for_each(|count| audit.count(count));
            });
        }
        let is_right = audit.is_right();
        if !is_right && !findings.iter().any(is_loss) {
            findings.note(Finding { offset: opened.summary_offset, defect: Defect::Summary });
        }
    }
}

/// Whether a function's records are in canonical order. If so, none is repeated.
struct Order {
    is_canonical: bool,
    /// The last record of the function and of each open body.
    last: Vec<Option<Key>>,
}

/// Position, kind and symbol of a record.
type Key = (Position, u8, u32);

impl Default for Order {
    fn default() -> Self {
        Self { is_canonical: true, last: Vec::new() }
    }
}

impl Order {
    fn see(&mut self, record: &Record) {
        let (kind, symbol) = match record.what {
            What::Count(_) => (0, 0),
            What::Target { symbol, .. } => (1, symbol),
            What::Inlined(symbol) => (2, symbol),
        };
        let key = Some((record.position, kind, symbol));
        self.last.resize(record.depth + 1, None);
        self.is_canonical &= self.last[record.depth] < key;
        self.last[record.depth] = key;
    }
}
