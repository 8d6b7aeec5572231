//! One flush.

use super::progress::Progress;
use crate::raw::reader::Reader;
use crate::raw::writer::{Buffer, Writer};
use crate::runtime::abi::Instrumented;
use crate::runtime::baseline::Baseline;
use crate::runtime::counts::Found;
use crate::runtime::merge::merge;
use crate::runtime::module::LiveModule;
use crate::runtime::problem::Problem;
use crate::runtime::replace::{FileSink, FileSource, Names, Rewrite};
use crate::runtime::sys::File;

/// One flush: adds the live counts to the old file's.
pub struct Flush<'f, I> {
    pub live: &'f LiveModule<'f, I>,
    /// What was written before, and events dropped until now.
    pub progress: &'f Progress,
    pub dropped: u64,
    /// The largest arc counter found. The next flush starts from it.
    pub maximum: i64,
    pub baseline: &'f mut Baseline,
    pub read: &'f mut Buffer,
    pub write: &'f mut Buffer,
    /// Id of the live file that holds the counts, 0 if none.
    pub id: u64,
}

impl<I: Instrumented> Rewrite for Flush<'_, I> {
    fn rewrite(
        &mut self,
        old: Option<&File>,
        new: &File,
        names: &mut Names,
    ) -> Result<(), Problem> {
        let Self { live, progress, dropped, maximum, baseline, read, write, id } = self;
        let mut sums = |found: &Found| {
            *maximum = progress.maximum(found);
            progress.sums(*maximum, *dropped)
        };
        let writer = Writer::new(FileSink(Some(new)), write);
        let mut older = old.map(|old| Reader::new(FileSource(old), read));
        let result = merge(live, &mut sums, baseline.copies(), older.as_mut(), writer, *id);
        if let Some(older) = older {
            names.damage = older.damage();
        }
        settle(*id, result?, names)
    }
}

/// Settles the live file that was added before the one with this id.
#[cfg(feature = "live")]
fn settle(id: u64, before: u64, names: &mut Names) -> Result<(), Problem> {
    if id != 0 && before != 0 {
        crate::runtime::live::settle(&names.target, before, &mut names.other)?;
    }
    Ok(())
}

/// There are no live files.
#[cfg(not(feature = "live"))]
fn settle(_id: u64, _before: u64, _names: &mut Names) -> Result<(), Problem> {
    Ok(())
}
