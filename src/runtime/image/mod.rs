//! The state of one image, an executable or shared object that carries the archive, and the operations on all
//! its counts: dump, reset, flush, exit.
//!
//! Two ways of writing stand side by side. libgcov's ([`Image::dump`], [`Image::reset`]): a dump
//! writes everything and closes the image until the next reset; counts in between are lost.
//! Ours ([`Image::flush`], [`Image::discard`]): only what is new is written, and counting goes on.

mod flush;
#[cfg(feature = "live")]
mod live;
mod progress;
mod state;

use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};

use spin::{Mutex, MutexGuard};

use self::progress::Stage;
use self::state::{Occasion, State};
use super::abi::Instrumented;
use super::counters::nodes::Nodes;
use super::identity::Start;
use super::output_path::Target;
use super::sys::{self, Errno};

/// One image, or what one family of compilers has laid out in it. All zero at first, so that its fixed regions
/// take no space in files.
pub struct Image<I> {
    /// Its objects.
    pub objects: I,
    /// What other images may know of it.
    pub member: Member,
    state: Mutex<State>,
}

/// What the images of a process know of each other.
pub struct Member {
    /// Nodes of its top-N sites, NULL before [`Image::begin`].
    nodes: AtomicPtr<Nodes>,
    /// The process the counts belong to.
    process: AtomicU32,
    /// Number of an error that another image has just met and told; 0 if none has.
    known_error: AtomicI32,
    /// Whether its counters are in a file.
    is_live: AtomicBool,
}

impl Member {
    const fn new() -> Self {
        Self {
            nodes: AtomicPtr::new(null_mut()),
            process: AtomicU32::new(0),
            known_error: AtomicI32::new(0),
            is_live: AtomicBool::new(false),
        }
    }

    /// Whether the counts belong to the calling process. They do not if it is a child that shares the memory
    /// or was made behind our back. An image without counts is everybody's.
    pub fn is_own_process(&self) -> bool {
        let process = self.process.load(Ordering::Relaxed);
        process == sys::process() || process == 0
    }

    /// Where the values of its sites are.
    #[allow(unsafe_code)]
    pub fn nodes(&self) -> Option<&'static Nodes> {
        // SAFETY: NULL or set by `begin` from a reference that stays.
        unsafe { self.nodes.load(Ordering::Acquire).as_ref() }
    }

    /// Whether its counters are in a file, which a child that nobody announced shares.
    pub fn is_live(&self) -> bool {
        self.is_live.load(Ordering::Relaxed)
    }

    fn dropped(&self) -> u64 {
        self.nodes().map_or(0, Nodes::dropped)
    }

    /// Tells which error another image has just met; 0 if none.
    pub fn set_known_error(&self, number: i32) {
        self.known_error.store(number, Ordering::Relaxed);
    }

    fn is_known(&self, error: Errno) -> bool {
        self.known_error.load(Ordering::Relaxed) == error.raw_os_error()
    }
}

impl<I: Instrumented> Image<I> {
    /// An image with these objects.
    pub const fn new(objects: I) -> Self {
        Self { objects, member: Member::new(), state: Mutex::new(State::new()) }
    }

    /// Every image calls this before its first object is registered. Asks `user` for a pattern if this is the
    /// first image of the process.
    pub fn begin<'u>(
        &self,
        nodes: &'static Nodes,
        start: Option<Start>,
        target: Target,
        user: impl FnOnce() -> Option<&'u [u8]>,
    ) {
        let member = &self.member;
        member.nodes.store(core::ptr::from_ref(nodes).cast_mut(), Ordering::Release);
        member.process.store(sys::process(), Ordering::Relaxed);
        let Some(mut state) = self.state.try_lock() else { return };
        state.origin.start = start;
        state.target = Some(target);
        target.place.begin(user, &mut state.names.other);
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
        self.write_new(Occasion::Flush)
    }

    fn write_new(&self, occasion: Occasion) -> Result<(), Errno> {
        let mut state = self.state()?;
        match state.progress.stage {
            // The counts are in their file and will be added once. A reset goes back to here.
            _ if state.live.is_active() => state.remember(self),
            // The image is still being loaded.
            _ if self.objects.is_empty() => Ok(()),
            Stage::Counting => state.write_out(self, occasion),
            Stage::Dumped | Stage::Suspended | Stage::Ended => Ok(()),
        }
    }

    /// Forgets what was counted since the last flush. Counting goes on.
    pub fn discard(&self) -> Result<(), Errno> {
        self.state()?.discard(self);
        Ok(())
    }

    /// Before an exec without memory for a flush: writes everything and closes the image.
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

    /// Before the process ends without destructors: flushes, but removes a live file as any other end does.
    pub fn leave(&self) -> Result<(), Errno> {
        let is_live = self.state()?.live.is_active();
        if is_live { self.end() } else { self.write_new(Occasion::Leave) }
    }

    /// Writes everything for the last time.
    pub fn end(&self) -> Result<(), Errno> {
        self.close(Stage::Ended)
    }

    /// Makes the image that of a child process that has just been forked. Its counts start at zero; the
    /// parent writes its own.
    ///
    /// Each image's hook may ask this, so it may come twice. Only the first is `certain`. The others look at
    /// the process id, and a child in a new namespace may have the same id as its parent.
    pub fn become_child(&self, certain: bool) -> Result<(), Errno> {
        if self.member.is_own_process() && !certain {
            return Ok(());
        }
        let mut state = self.state_in_child()?;
        self.member.process.store(sys::process(), Ordering::Relaxed);
        state.baseline.forget();
        state.names.end = 0;
        #[cfg(feature = "live")]
        state.leave_live(self)?;
        state.reset(self);
        state.progress.begin_run();
        Ok(())
    }

    /// Whether a dump has closed the image.
    pub fn is_dumped(&self) -> bool {
        self.state().is_ok_and(|state| state.progress.stage == Stage::Dumped)
    }

    /// Closes the image without writing anything.
    pub fn close_silently(&self) -> Result<(), Errno> {
        self.state()?.progress.stage = Stage::Dumped;
        Ok(())
    }

    /// Says which file the counts go to.
    pub fn name_file<T>(&self, tell: impl FnOnce(&CStr) -> T) -> Result<T, Errno> {
        let mut state = self.state()?;
        let target = state.target.ok_or(Errno::INVAL)?;
        let signature = state.origin.survey(self).record.identity.signature;
        target.expand(signature, &mut state.names.other)?;
        Ok(tell(state.names.other.c_str()))
    }

    /// The place has changed: live counters go where they will be added.
    pub fn follow(&self) -> Result<(), Errno> {
        #[cfg(feature = "live")]
        {
            let mut state = self.state()?;
            // From one file system to another there is no single step: a kill in between loses the counts.
            if state.live.is_active() && state.move_live(self).is_err() {
                state.live.finish(self.member.nodes());
                state.live_again(self);
            }
        }
        Ok(())
    }

    fn close(&self, stage: Stage) -> Result<(), Errno> {
        let mut state = self.state()?;
        if state.progress.stage != Stage::Counting || self.objects.is_empty() {
            return Ok(());
        }
        if state.live.is_active() {
            // Nothing has been written yet.
            state.baseline.forget();
        }
        state.progress.stage = stage;
        let result = state.write_out(self, Occasion::Close);
        if result.is_ok() {
            state.live.finish(self.member.nodes());
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
