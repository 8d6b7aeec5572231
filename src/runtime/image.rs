//! The state of one image, an executable or shared object that carries the archive, and what can be
//! done with all its counts: dump, reset, flush, exit.
//!
//! Two ways of writing stand side by side. libgcov's ([`Image::dump`], [`Image::reset`]): a dump
//! writes everything and closes the image until the next reset; what is counted in between is lost.
//! Ours ([`Image::flush`], [`Image::discard`]): only what is new is written, and counting goes on.

#[cfg(feature = "live")]
mod live;

use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};

use spin::{Mutex, MutexGuard};

use super::abi::gcov::{Registry, Shift};
use super::baseline::Baseline;
use super::counters::nodes::Nodes;
use super::identity::{self, Start};
use super::live::Live;
use super::merge::{Problem, merge};
use super::message::Line;
use super::module::{LiveModule, Objects};
use super::place::{Path, Place};
use super::replace::{FileSink, FileSource, Names, Rewrite, replace};
use super::sys::{self, Errno, File};
use crate::raw::gcov::Rule;
use crate::raw::layout::{MAX_SECTION, Sums};
use crate::raw::reader::{Damage, Defect, Reader};
use crate::raw::writer::{Buffer, Writer};

const ALL: &[Rule] = &[Rule::Add, Rule::TopN, Rule::Ior, Rule::Time];
/// Rules under which writing a value twice does no harm, so that no baseline takes it off.
const IDEMPOTENT: &[Rule] = &[Rule::Ior, Rule::Time];

/// One image. All zero at first, so that its fixed regions take no space in files.
pub struct Image {
    /// Its objects.
    pub objects: Registry,
    /// Nodes of its top-N sites, NULL before [`Image::begin`].
    nodes: AtomicPtr<Nodes>,
    /// The process the counts belong to.
    process: AtomicU32,
    /// Number of an error that another image has met just before, and told; 0 if none has.
    known_error: AtomicI32,
    state: Mutex<State>,
}

/// Everything that only one flush at a time may touch.
struct State {
    origin: Origin,
    progress: Progress,
    /// Number of the error that was told last, 0 if none.
    told: i32,
    place: Place,
    names: Names,
    baseline: Baseline,
    live: Live,
    #[cfg(feature = "live")]
    region: Option<super::live::Region>,
    read: Buffer,
    write: Buffer,
}

/// What the image is.
struct Origin {
    start: Option<Start>,
    path: Path,
}

/// What has been done with its counts in this process.
struct Progress {
    stage: Stage,
    /// Whether the file has counted this run.
    counted: bool,
    /// Largest arc counter already in the file's sum.
    maximum: i64,
    /// A dump, or an exec that failed, has been this run for libgcov: what follows it, in children,
    /// too, is neither another run nor a larger maximum.
    run_is_over: bool,
    /// Dropped events already in the file.
    dropped: u64,
}

/// Whether counts are still to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Counting,
    /// Closed by a dump, until the next reset.
    Dumped,
    /// Closed by a dump before an exec, which resets it if it fails.
    Suspended,
    /// The image's destructors have run.
    Ended,
}

/// Why counts are written, which decides what follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// Counting goes on: what is written must be told from what comes.
    Flush,
    /// Nothing is written any more, or only after a reset.
    Close,
}

impl Image {
    /// An image without objects.
    pub const fn new() -> Self {
        Self {
            objects: Registry::new(),
            nodes: AtomicPtr::new(null_mut()),
            process: AtomicU32::new(0),
            known_error: AtomicI32::new(0),
            state: Mutex::new(State::new()),
        }
    }

    /// To be called before the image's first object is registered. `pattern` is the user's choice
    /// of a file.
    pub fn begin(&self, nodes: &'static Nodes, start: Option<Start>, pattern: Option<&[u8]>) {
        self.nodes.store(core::ptr::from_ref(nodes).cast_mut(), Ordering::Release);
        self.process.store(sys::process(), Ordering::Relaxed);
        let Some(mut state) = self.state.try_lock() else { return };
        state.origin.start = start;
        state.place.start_here();
        if let Some(Err(error)) = pattern.map(|pattern| state.place.set_pattern(pattern)) {
            let mut line = Line::about(b"COUNTERSINK_FILE");
            line.error(error).text(b"; the default file name is used").print();
        }
    }

    /// Whether the calling process is the one the counts belong to, and not a child that shares the
    /// memory or was made behind our back. An image without counts is everybody's.
    pub fn is_own_process(&self) -> bool {
        let process = self.process.load(Ordering::Relaxed);
        process == sys::process() || process == 0
    }

    #[allow(unsafe_code)]
    fn nodes(&self) -> Option<&'static Nodes> {
        // SAFETY: NULL or set by `begin` from a reference that stays.
        unsafe { self.nodes.load(Ordering::Acquire).as_ref() }
    }

    fn dropped(&self) -> u64 {
        self.nodes().map_or(0, Nodes::dropped)
    }

    /// Tells which error another image has met just before; 0 if none.
    pub fn set_known_error(&self, number: i32) {
        self.known_error.store(number, Ordering::Relaxed);
    }

    fn is_known(&self, error: Errno) -> bool {
        self.known_error.load(Ordering::Relaxed) == error.raw_os_error()
    }

    /// Writes all counts and closes the image until a reset, like libgcov's dump.
    pub fn dump(&self) -> Result<(), Errno> {
        self.close(Stage::Dumped)
    }

    /// Sets all counters to zero and opens the image again, like libgcov's reset.
    pub fn reset(&self) -> Result<(), Errno> {
        self.state()?.reset(self);
        Ok(())
    }

    /// Writes what was counted since the last flush. Counting goes on.
    pub fn flush(&self) -> Result<(), Errno> {
        let mut state = self.state()?;
        match state.progress.stage {
            // They are in their file, and will be added once; a reset goes back to here.
            _ if state.live.is_active() => state.remember(self),
            Stage::Counting => state.write_out(self, Occasion::Flush),
            Stage::Dumped | Stage::Suspended | Stage::Ended => Ok(()),
        }
    }

    /// Forgets what was counted since the last flush. Counting goes on.
    pub fn discard(&self) -> Result<(), Errno> {
        self.state()?.discard(self);
        Ok(())
    }

    /// Before an exec that has no memory for a flush: writes everything and closes the image.
    pub fn suspend(&self) -> Result<(), Errno> {
        self.close(Stage::Suspended)
    }

    /// After an exec that failed: opens the image again if [`Image::suspend`] has closed it.
    pub fn resume(&self) -> Result<(), Errno> {
        let mut state = self.state()?;
        state.progress.run_is_over = true;
        if state.progress.stage == Stage::Suspended {
            state.reset(self);
        }
        Ok(())
    }

    /// Writes everything for the last time.
    pub fn end(&self) -> Result<(), Errno> {
        self.close(Stage::Ended)
    }

    /// Makes the image the one of a child process that has just been forked: its counts start at
    /// zero, the parent's are the parent's to write.
    ///
    /// May be asked twice, by the hook of each image. Only the first is `certain`; the others look at
    /// the process's number, which a child in a new namespace may have in common with its parent.
    pub fn become_child(&self, certain: bool) -> Result<(), Errno> {
        if self.is_own_process() && !certain {
            return Ok(());
        }
        let mut state = self.state_in_child()?;
        self.process.store(sys::process(), Ordering::Relaxed);
        #[cfg(feature = "live")]
        state.leave_live(self)?;
        state.reset(self);
        state.progress.begin_run();
        Ok(())
    }

    /// Takes another file; an empty pattern stands for the default.
    pub fn set_pattern(&self, pattern: &[u8]) -> Result<(), Errno> {
        let mut state = self.state()?;
        state.place.set_pattern(pattern)?;
        // Live counters go where they will be added.
        #[cfg(feature = "live")]
        if state.live.is_active() {
            state.live.finish();
            state.live_again(self);
        }
        Ok(())
    }

    fn close(&self, stage: Stage) -> Result<(), Errno> {
        let mut state = self.state()?;
        if state.progress.stage != Stage::Counting {
            return Ok(());
        }
        if state.live.is_active() {
            // Nothing has been written yet.
            state.baseline.forget();
        }
        state.progress.stage = stage;
        let result = state.write_out(self, Occasion::Close);
        if result.is_ok() {
            state.live.finish();
        }
        state.progress.run_is_over = true;
        result
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, Errno> {
        self.state.try_lock().ok_or(Errno::BUSY)
    }

    #[allow(unsafe_code)]
    fn state_in_child(&self) -> Result<MutexGuard<'_, State>, Errno> {
        if let Some(state) = self.state.try_lock() {
            return Ok(state);
        }
        // SAFETY: this memory is the copy of a parent that forked while one of its threads had the
        // state. That thread does not exist here, and the chain's lock keeps others from this line.
        unsafe { self.state.force_unlock() };
        self.state()
    }
}

impl Default for Image {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    const fn new() -> Self {
        Self {
            origin: Origin { start: None, path: Path::new() },
            progress: Progress {
                stage: Stage::Counting,
                counted: false,
                maximum: 0,
                run_is_over: false,
                dropped: 0,
            },
            told: 0,
            place: Place::new(),
            names: Names::new(),
            baseline: Baseline::new(),
            live: Live::new(),
            #[cfg(feature = "live")]
            region: None,
            read: [0; MAX_SECTION],
            write: [0; MAX_SECTION],
        }
    }

    /// Writes the counts, and says in one line on standard error if that was not possible.
    fn write_out(&mut self, image: &Image, occasion: Occasion) -> Result<(), Errno> {
        self.find_path(image);
        self.write_counts(image, occasion).map_err(|problem| {
            // Damage is set aside before it gets here.
            let Problem::System(error) = problem else { return Errno::ILSEQ };
            let consequence: &[u8] = match occasion {
                Occasion::Flush => b"; the counts stay in memory",
                _ if self.live.is_active() => b"; the counts wait in a live file",
                Occasion::Close => b"; the counts of this run are lost",
            };
            // Of flushes that fail again and again the first is told, and the end.
            let number = error.raw_os_error();
            let is_news = occasion == Occasion::Close || self.told != number;
            self.told = number;
            if is_news && !image.is_known(error) {
                let mut line = Line::about(self.names.target.bytes());
                line.text(b"not written: ").error(error).text(consequence).print();
            }
            error
        })
    }

    fn find_path(&mut self, image: &Image) {
        if self.origin.path.bytes().is_empty() {
            // An address in the program text: data may lie in memory that has no name.
            let address = image.objects.tokens().map_or(0, |tokens| tokens.add as usize);
            identity::image_path(address, &mut self.read, &mut self.origin.path);
        }
    }

    fn write_counts(&mut self, image: &Image, occasion: Occasion) -> Result<(), Problem> {
        let Self { origin, progress, place, names, baseline, read, write, .. } = self;
        let (id, before) = (self.live.id(), 0);
        let live = origin.survey(image);
        let signature = live.record.identity.signature;
        place.expand(signature, &mut names.target, &mut names.other)?;
        if occasion == Occasion::Flush {
            baseline.prepare(&live.record.identity)?;
        }
        let (maximum, dropped) = (live.maximum, image.dropped());
        let sums = progress.sums(maximum, dropped);
        let damage = Damage { offset: 0, defect: Defect::Empty };
        let impatient = image.is_known(Errno::BUSY);
        let live = &live;
        let mut flush = Flush { live, sums, baseline, read, write, damage, id, before };
        replace(names, impatient, &mut flush)?;
        baseline.commit();
        progress.count(maximum, dropped);
        Ok(())
    }

    fn reset(&mut self, image: &Image) {
        if self.progress.stage != Stage::Ended {
            self.origin.objects(image).zero(ALL);
            image.nodes().into_iter().for_each(Nodes::reset_indexes);
            self.baseline.forget();
            self.progress.reset(image.dropped());
            #[cfg(feature = "live")]
            self.live_again(image);
        }
    }

    /// A flush to nowhere.
    fn discard(&mut self, image: &Image) {
        #[cfg(feature = "live")]
        if self.live.is_active() {
            return self.set_back(image);
        }
        if self.progress.stage != Stage::Counting || self.remember(image).is_err() {
            return self.reset(image);
        }
        self.origin.objects(image).zero(IDEMPOTENT);
        self.progress.dropped = image.dropped();
    }

    /// Takes all counts as they are now for written.
    fn remember(&mut self, image: &Image) -> Result<(), Errno> {
        let Self { origin, baseline, write, .. } = self;
        let live = origin.survey(image);
        baseline.prepare(&live.record.identity)?;
        let mut writer = Writer::new(FileSink(None), write);
        let older = None::<&mut Reader<'_, FileSource<'_>>>;
        let _ = live.objects.write_counts(baseline.copies(), older, &mut writer);
        baseline.commit();
        Ok(())
    }
}

impl Origin {
    fn survey<'i>(&'i self, image: &'i Image) -> LiveModule<'i> {
        let build_id = self.start.and_then(|start| start.build_id()).unwrap_or_default();
        LiveModule::survey(self.objects(image), &build_id)
    }

    fn objects<'i>(&'i self, image: &'i Image) -> Objects<'i> {
        let (path, shift) = (self.path.bytes(), Shift::default());
        Objects { registry: &image.objects, path, shift }
    }
}

impl Progress {
    /// What a flush now adds to the file's sums.
    fn sums(&self, maximum: i64, dropped: u64) -> Sums {
        let growth = if self.run_is_over { 0 } else { maximum.saturating_sub(self.maximum) };
        Sums {
            runs: u64::from(!self.counted),
            sum_max: growth.max(0) as u64,
            dropped: dropped.saturating_sub(self.dropped),
        }
    }

    fn count(&mut self, maximum: i64, dropped: u64) {
        self.counted = true;
        self.maximum = self.maximum.max(maximum);
        self.dropped = dropped;
    }

    fn reset(&mut self, dropped: u64) {
        self.stage = Stage::Counting;
        self.dropped = dropped;
    }

    /// In a child that has just been forked.
    fn begin_run(&mut self) {
        if !self.run_is_over {
            self.counted = false;
            self.maximum = 0;
        }
    }
}

/// One flush: the live counts into the old file's.
struct Flush<'f> {
    live: &'f LiveModule<'f>,
    sums: Sums,
    baseline: &'f mut Baseline,
    read: &'f mut Buffer,
    write: &'f mut Buffer,
    damage: Damage,
    /// Id of the live file that the counts come from, 0 if none, and of the one that was added
    /// before.
    id: u64,
    before: u64,
}

impl Rewrite for Flush<'_> {
    fn rewrite(&mut self, old: Option<&File>, new: &File) -> Result<(), Problem> {
        let Self { live, sums, baseline, read, write, damage, id, before } = self;
        let writer = Writer::new(FileSink(Some(new)), write);
        let mut older = old.map(|old| Reader::new(FileSource(old), read));
        let result = merge(live, *sums, baseline.copies(), older.as_mut(), writer, *id);
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
            (_, before) => super::live::settle(&names.target, before, &mut names.other),
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
