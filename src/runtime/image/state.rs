//! What only one flush of an image at a time may touch, and how its counts are written.

use super::Image;
use super::flush::Flush;
use super::progress::{Progress, Stage};
use crate::raw::gcov::Rule;
use crate::raw::layout::MAX_SECTION;
use crate::raw::reader::Reader;
use crate::raw::writer::{Buffer, Writer};
use crate::runtime::abi::{Instrumented, Shift};
use crate::runtime::baseline::Baseline;
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::identity::{self, Start};
use crate::runtime::live::Live;
use crate::runtime::message::{Line, decimal};
use crate::runtime::module::{LiveModule, Objects};
use crate::runtime::output_path::{Path, Target};
use crate::runtime::problem::Problem;
use crate::runtime::replace::{FileSink, FileSource, Names, replace};
use crate::runtime::sys::Errno;

const ALL: &[Rule] = &[Rule::Add, Rule::TopN, Rule::Ior, Rule::Time, Rule::Saturate, Rule::Bytes];
/// Writing a value twice does no harm under these rules, so no baseline takes it off.
const IDEMPOTENT: &[Rule] = &[Rule::Ior, Rule::Time, Rule::Bytes];

/// Everything that only one flush at a time may touch.
pub struct State {
    pub origin: Origin,
    pub progress: Progress,
    /// Number of the error that was told last, 0 if none.
    pub told: i32,
    /// Whether it was told that records are of an unknown version.
    pub told_unknown: bool,
    /// `None` before the image has begun.
    pub target: Option<Target>,
    pub names: Names,
    pub baseline: Baseline,
    pub live: Live,
    #[cfg(feature = "live")]
    pub region: Option<crate::runtime::live::Region>,
    pub read: Buffer,
    pub write: Buffer,
}

/// What the image is.
pub struct Origin {
    pub start: Option<Start>,
    pub path: Path,
}

/// Why counts are written. This decides what follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// Counting goes on: a later flush must tell old counts from new ones.
    Flush,
    /// The same before the process ends without destructors.
    Leave,
    /// Nothing more is written, or only after a reset.
    Close,
}

impl State {
    pub const fn new() -> Self {
        Self {
            origin: Origin { start: None, path: Path::new() },
            progress: Progress::new(),
            told: 0,
            told_unknown: false,
            target: None,
            names: Names::new(),
            baseline: Baseline::new(),
            live: Live::new(),
            #[cfg(feature = "live")]
            region: None,
            read: [0; MAX_SECTION],
            write: [0; MAX_SECTION],
        }
    }

    /// Writes the counts. If that fails, says so in one line on standard error.
    pub fn write_out(
        &mut self,
        image: &Image<impl Instrumented>,
        occasion: Occasion,
    ) -> Result<(), Errno> {
        self.find_path(image);
        let result = self.write_counts(image, occasion);
        if result.is_ok() && image.objects.unknown() > 0 {
            self.tell_unknown(image.objects.unknown());
        }
        if let (Ok(()), Some(error)) = (&result, self.names.elsewhere) {
            self.tell_elsewhere(occasion, error);
            // The next image need not wait as long.
            return Err(error);
        }
        result.map_err(|problem| self.complain(image, occasion, problem))
    }

    /// Says where the counts are, as they could not be added to the others.
    #[cold]
    #[inline(never)]
    fn tell_elsewhere(&mut self, occasion: Occasion, error: Errno) {
        if self.is_news(occasion, error) {
            let mut line = Line::about(self.names.target.bytes());
            line.text(b"the counts are here, as the file without the last ending ");
            let is_busy = error == Errno::BUSY;
            let why: &[u8] = if is_busy { b"was in use for too long" } else { b"may not be read" };
            line.text(why).print();
        }
    }

    /// Remembers what is told. If flushes fail again and again, the first failure is told, and again at the end.
    fn is_news(&mut self, occasion: Occasion, error: Errno) -> bool {
        let number = error.raw_os_error();
        occasion != Occasion::Flush || core::mem::replace(&mut self.told, number) != number
    }

    /// Says once which functions are not in the file.
    #[cold]
    #[inline(never)]
    fn tell_unknown(&mut self, bytes: usize) {
        if !self.told_unknown {
            self.told_unknown = true;
            let mut line = Line::about(self.names.target.bytes());
            line.text(&decimal(bytes as u64))
                .text(b" bytes of function records are of an unknown version; their counts are left out")
                .print();
        }
    }

    /// Says why counts were not written.
    // A line takes 1 KiB, which must not lie below a flush: stacks of signal handlers may be short.
    #[cold]
    #[inline(never)]
    fn complain(
        &mut self,
        image: &Image<impl Instrumented>,
        occasion: Occasion,
        problem: Problem,
    ) -> Errno {
        // Damage is set aside before it gets here.
        let Problem::System(error) = problem else { return Errno::ILSEQ };
        let consequence: &[u8] = match occasion {
            Occasion::Flush => b"; the counts stay in memory",
            _ if self.live.is_active() => b"; the counts wait in a live file",
            Occasion::Leave | Occasion::Close => b"; the counts of this run are lost",
        };
        if self.is_news(occasion, error) && !image.member.is_known(error) {
            let mut line = Line::about(self.names.target.bytes());
            line.text(b"not written: ").error(error).text(consequence).print();
        }
        error
    }

    pub fn find_path(&mut self, image: &Image<impl Instrumented>) {
        if self.origin.path.bytes().is_empty() {
            // Data may lie in memory that has no name.
            identity::image_path(image.objects.text(), &mut self.read, &mut self.origin.path);
        }
    }

    pub fn write_counts(
        &mut self,
        image: &Image<impl Instrumented>,
        occasion: Occasion,
    ) -> Result<(), Problem> {
        let Self { origin, progress, target, names, baseline, read, write, .. } = self;
        let id = self.live.id();
        let live = &origin.survey(image);
        let target = target.ok_or(Errno::INVAL)?;
        target.expand(live.record.identity.signature, &mut names.target)?;
        if occasion != Occasion::Close {
            baseline.prepare(image.objects.len(), || live.objects.totals())?;
        }
        let (maximum, dropped) = (0, image.member.dropped());
        let impatient = image.member.is_known(Errno::BUSY);
        let mut flush = Flush { live, progress, dropped, maximum, baseline, read, write, id };
        replace(names, impatient, id != 0, &mut flush)?;
        let maximum = flush.maximum;
        baseline.commit();
        progress.count(maximum, dropped);
        Ok(())
    }

    pub fn reset(&mut self, image: &Image<impl Instrumented>) {
        // What a flush has marked is not in the file yet.
        #[cfg(feature = "live")]
        if self.live.is_active() && self.baseline.copies().is_some() {
            return self.set_back(image);
        }
        if self.progress.stage != Stage::Ended {
            self.origin.objects(image).zero(ALL);
            image.member.nodes().into_iter().for_each(Nodes::reset_indexes);
            self.baseline.forget();
            self.progress.reset(image.member.dropped());
            #[cfg(feature = "live")]
            self.live_again(image);
        }
    }

    /// A flush to nowhere.
    pub fn discard(&mut self, image: &Image<impl Instrumented>) {
        #[cfg(feature = "live")]
        if self.live.is_active() {
            return self.set_back(image);
        }
        if self.progress.stage != Stage::Counting || self.remember(image).is_err() {
            return self.reset(image);
        }
        self.origin.objects(image).zero(IDEMPOTENT);
        self.progress.dropped = image.member.dropped();
    }

    /// Marks all counts as written, as they are now.
    pub fn remember(&mut self, image: &Image<impl Instrumented>) -> Result<(), Errno> {
        let Self { origin, baseline, write, .. } = self;
        let live = origin.survey(image);
        baseline.prepare(image.objects.len(), || live.objects.totals())?;
        let mut writer = Writer::new(FileSink(None), write);
        let older = None::<&mut Reader<'_, FileSource<'_>>>;
        let _ = live.objects.write_functions(baseline.copies(), older, &mut writer);
        baseline.commit();
        Ok(())
    }
}

impl Origin {
    pub fn survey<'i, I: Instrumented>(&'i self, image: &'i Image<I>) -> LiveModule<'i, I> {
        let build_id = self.start.and_then(|start| start.build_id()).unwrap_or_default();
        LiveModule::survey(self.objects(image), &build_id)
    }

    pub fn objects<'i, I>(&'i self, image: &'i Image<I>) -> Objects<'i, I> {
        let (path, shift) = (self.path.bytes(), Shift::default());
        Objects { registry: &image.objects, path, shift }
    }
}
