//! One flush.

use super::progress::Progress;
use crate::raw::reader::{Damage, Reader};
use crate::raw::writer::{Buffer, Writer};
use crate::runtime::abi::Instrumented;
use crate::runtime::baseline::Baseline;
use crate::runtime::counts::Found;
use crate::runtime::merge::merge;
use crate::runtime::module::LiveModule;
use crate::runtime::problem::Problem;
use crate::runtime::replace::{FileSink, FileSource, Names, Rewrite};
use crate::runtime::sys::{Errno, File};

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
    pub damage: Damage,
    /// Id of the live file that holds the counts, 0 if none, and of the one that was added before.
    pub id: u64,
    pub before: u64,
}

impl<I: Instrumented> Rewrite for Flush<'_, I> {
    fn rewrite(&mut self, old: Option<&File>, new: &File) -> Result<(), Problem> {
        let Self { live, progress, dropped, maximum, baseline, read, write, damage, id, before } =
            self;
        let mut sums = |found: &Found| {
            *maximum = progress.maximum(found);
            progress.sums(*maximum, *dropped)
        };
        let writer = Writer::new(FileSink(Some(new)), write);
        let mut older = old.map(|old| Reader::new(FileSource(old), read));
        let result = merge(live, &mut sums, baseline.copies(), older.as_mut(), writer, *id);
        if let Some(older) = older {
            *damage = older.damage();
        }
        *before = result?;
        Ok(())
    }

    #[cfg(feature = "live")]
    fn before_rename(&mut self, names: &mut Names) -> Result<(), Errno> {
        match (self.id, self.before) {
            (0, _) | (_, 0) => Ok(()),
            (_, before) => crate::runtime::live::settle(&names.target, before, &mut names.other),
        }
    }

    #[cfg(not(feature = "live"))]
    fn before_rename(&mut self, _names: &mut Names) -> Result<(), Errno> {
        Ok(())
    }

    fn damage(&self) -> Damage {
        self.damage
    }
}
