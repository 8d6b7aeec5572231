//! An image with counters in a file from the start, see [`crate::runtime::live`].

use core::sync::atomic::Ordering;

use super::Image;
use super::flush::Flush;
use super::progress::Progress;
use super::state::State;
use crate::raw::layout::ModuleRecord;
use crate::raw::live::MOST_FILES;
use crate::runtime::abi::Instrumented;
use crate::runtime::baseline::Baseline;
use crate::runtime::live::{LeftOver, Numbers, Region};
use crate::runtime::message::Line;
use crate::runtime::module::{LiveModule, Objects};
use crate::runtime::problem::Problem;
use crate::runtime::replace::{Names, Rewrite, replace};
use crate::runtime::sys::{self, Errno, File, QuietWrites};

/// Which left-over files to look for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sweep {
    /// All that there may be.
    All,
    /// Those before the first free number: earlier children have left them.
    First,
}

impl<I: Instrumented> Image<I> {
    /// Puts the counters into a file when all objects are registered, and adds what other processes have left
    /// behind. If that is impossible, says so; counts are then written at the end.
    pub fn go_live(&self, region: Option<Region>) {
        if sys::has_more_rights() {
            let mut line = Line::about(b"live counters");
            line.text(
                b"not in a program with more rights than its starter; they are written at the end",
            )
            .print();
            return;
        }
        let Ok(mut state) = self.state() else { return };
        let _quiet = QuietWrites::new(0);
        state.region = region;
        state.find_path(self);
        if let Err(error) = state.go_live(self, Sweep::All) {
            let mut line = Line::about(state.names.target.bytes());
            line.text(b"counters are not live: ");
            match error {
                Errno::NOSYS => line.text(b"linked without live.ld"),
                Errno::RANGE => line.text(b"not all compiled with -fdata-sections"),
                error => line.error(error),
            };
            line.text(b"; they are written at the end").print();
        }
    }
}

impl State {
    fn go_live(&mut self, image: &Image<impl Instrumented>, sweep: Sweep) -> Result<(), Errno> {
        let record = self.origin.survey(image).record;
        let target = self.target.ok_or(Errno::INVAL)?;
        target.expand(record.identity.signature, &mut self.names.target)?;
        let (Some(region), Some(nodes)) = (self.region, image.member.nodes()) else {
            return Err(Errno::NOSYS);
        };
        if !self.names.prepare()? {
            return Ok(());
        }
        // Where the directory tells which files are there, the others need no look-up by name.
        let mut there = match sweep {
            Sweep::All => {
                Numbers::beside(&self.names.target, &mut self.names.other, &mut self.read)
            }
            Sweep::First => None,
        };
        let candidates = there.unwrap_or(Numbers::ALL);
        for number in (0..MOST_FILES).filter(|&number| candidates.has(number)) {
            let exists = self.add_left_over(image, region, record, number);
            if let Some(there) = there.as_mut().filter(|_| !exists) {
                there.remove(number);
            }
            if !exists && sweep == Sweep::First {
                break;
            }
        }
        let Self { origin, names, write, live, .. } = self;
        let module = LiveModule { objects: origin.objects(image), record };
        let taken = there.unwrap_or(Numbers::NONE);
        live.begin(region, &module, nodes, &names.target, &taken, write)?;
        image.member.is_live.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Adds the counts of a live file that no process has. Says whether there is a file of this number, or
    /// was until now.
    fn add_left_over(
        &mut self,
        image: &Image<impl Instrumented>,
        region: Region,
        record: ModuleRecord,
        number: u64,
    ) -> bool {
        let Self { origin, names, read, write, .. } = self;
        let (target, scratch) = (&names.target, &mut names.other);
        let identity = &record.identity;
        let Some(left) = LeftOver::open(target, number, scratch, region, identity) else {
            return sys::facts_at(scratch.c_str()).is_ok();
        };
        let objects = Objects { shift: left.shift(), ..origin.objects(image) };
        left.relocate(&objects);
        let flush = Flush {
            live: &LiveModule { objects, record },
            progress: &Progress::new(),
            dropped: image.member.nodes().map_or(0, |nodes| left.dropped(nodes)),
            maximum: 0,
            baseline: &mut Baseline::new(),
            read,
            write,
            id: left.id(),
        };
        let mut adoption = Adoption { left: &left, flush };
        if let Ok(()) | Err(Problem::System(Errno::ALREADY)) =
            replace(names, false, true, &mut adoption)
        {
            left.finish(&names.target, number, &mut names.other);
        }
        true
    }

    /// Forgets what was counted since the last flush. A reader of the file must not find it there.
    pub(super) fn set_back(&mut self, image: &Image<impl Instrumented>) {
        let objects = self.origin.objects(image);
        let Some((flushed, _)) = self.baseline.copies() else { return self.reset(image) };
        if let Some(nodes) = image.member.nodes() {
            nodes.reset_indexes();
        }
        objects.set_back(&flushed);
    }

    /// Puts the counters into a file again after a dump has taken them out of one.
    pub(super) fn live_again(&mut self, image: &Image<impl Instrumented>) {
        if self.live.is_mapped() && !self.live.is_active() {
            let _ = self.go_live(image, Sweep::First);
        }
    }

    /// Gives the live file a name beside the dump that is the target now.
    pub(super) fn move_live(&mut self, image: &Image<impl Instrumented>) -> Result<(), Errno> {
        let Self { origin, names, live, .. } = self;
        let signature = origin.survey(image).record.identity.signature;
        self.target.ok_or(Errno::INVAL)?.expand(signature, &mut names.target)?;
        if !names.prepare()? {
            return Err(Errno::INVAL);
        }
        live.follow(&names.target, &mut names.other)
    }

    /// In a child, while its counters are still its parent's.
    pub(super) fn leave_live(&mut self, image: &Image<impl Instrumented>) -> Result<(), Errno> {
        let Some(region) = self.region.filter(|_| self.live.is_mapped()) else { return Ok(()) };
        self.live.leave_to_parent(region, image.member.nodes())?;
        // A child that cannot have a file of its own writes at its end.
        let _ = self.go_live(image, Sweep::First);
        Ok(())
    }
}

/// A flush of what a process has left behind.
struct Adoption<'f, I> {
    left: &'f LeftOver,
    flush: Flush<'f, I>,
}

impl<I: Instrumented> Rewrite for Adoption<'_, I> {
    fn rewrite(
        &mut self,
        old: Option<&File>,
        new: &File,
        names: &mut Names,
    ) -> Result<(), Problem> {
        // Somebody may have settled it before this process got the lock of the dump.
        if self.left.is_settled()? {
            return Err(Errno::ALREADY.into());
        }
        self.flush.rewrite(old, new, names)
    }
}
