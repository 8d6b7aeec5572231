//! All images of a process that the dynamic linker lets see each other.
//!
//! Every image carries its own copy of the archive and its own state. They meet in one exported variable, the
//! [`Chain`]. The dynamic linker gives the same variable to the executable, to the libraries it was linked
//! with, and to plugins if the executable exports it, as the link flags of `countersink flags` make it do.
//! (Otherwise a plugin has a chain of its own, as it has with libgcov.) What concerns the whole process, a
//! flush, a dump, a fork, goes from image to image under the chain's lock.
#![allow(unsafe_code)]

use core::ffi::c_int;
use core::ops::Range;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use super::abi::Instrumented;
use super::counters::nodes::Nodes;
use super::image::{Image, Member};
use super::image_table::ImageTable;
use super::lock::Lock;
use super::message::{Line, decimal};
use super::output_path::OutputPath;
use super::sys::{self, Errno, QuietWrites, error_of};

/// Version of [`Link`], [`Operation`], [`ImageTable`] with the nodes they lead to, and [`OutputPath`]. Images with
/// another version do not join.
const REVISION: u32 = 7;

/// The images, newest first, and the lock for all of them.
#[repr(C)]
pub struct Chain {
    /// 0 before the first image: memory that is all zero takes no space in files.
    revision: AtomicU32,
    first: AtomicPtr<Link>,
    lock: Lock,
    /// Error number of the image that was asked last, 0 if it met none. The next image need not try as hard,
    /// nor say the same again.
    error: AtomicI32,
    /// Signals on which the user wants counts written. They wait while a flush runs.
    signals: AtomicU64,
    /// While a thread forks, [`FORKING`] and the signals that the thread blocked before; else 0.
    forking: AtomicU64,
    images: ImageTable,
    /// Where all images write their counts.
    place: OutputPath,
    /// Whether a child that nobody announced was told of.
    told_child: AtomicU32,
}

/// `SIGKILL`, which nobody can block.
const FORKING: u64 = 1 << 8;

/// One image in the chain.
#[repr(C)]
pub struct Link {
    next: AtomicPtr<Link>,
    member: &'static Member,
    /// The image itself, for `operate` alone.
    image: *const (),
    operate: extern "C" fn(*const (), u32, c_int) -> c_int,
    /// Where the image writes its counts in a chain of another release.
    place: &'static OutputPath,
    /// Gives the name of the image's function at an address, as a number; 0 if there is none. NULL if the
    /// image does not know names.
    find: Option<Find>,
}

/// See [`Link::with_names`].
pub type Find = extern "C" fn(usize) -> u64;

/// What can be asked of every image.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'p> {
    /// [`Image::dump`].
    Dump,
    /// [`Image::reset`].
    Reset,
    /// [`Image::flush`].
    Flush,
    /// [`Image::discard`].
    Discard,
    /// [`Image::suspend`].
    Suspend,
    /// [`Image::resume`].
    Resume,
    /// [`Image::become_child`]. The flag says whether this is certainly a child.
    BecomeChild(bool),
    /// Another file, by its pattern: [`OutputPath::set_pattern`], and then [`Image::follow`].
    SetPattern(&'p [u8]),
    /// [`Image::leave`].
    Leave,
    /// [`Image::end`].
    End,
}

impl Operation<'_> {
    const fn number(self) -> u32 {
        match self {
            Self::Dump => 0,
            Self::Reset => 1,
            Self::Flush => 2,
            Self::Discard => 3,
            Self::Suspend => 4,
            Self::Resume => 5,
            Self::BecomeChild(false) => 6,
            Self::BecomeChild(true) => 7,
            Self::SetPattern(_) => 8,
            Self::Leave => 9,
            Self::End => 10,
        }
    }
}

// SAFETY: the image is shared by all threads, and stays as long as the link.
unsafe impl Sync for Link {}

impl Link {
    /// The link of an image.
    pub const fn new<I: Instrumented>(
        image: &'static Image<I>,
        place: &'static OutputPath,
    ) -> Self {
        Self {
            next: AtomicPtr::new(null_mut()),
            member: &image.member,
            image: core::ptr::from_ref(image).cast(),
            operate: operate::<I>,
            place,
            find: None,
        }
    }

    /// The same of an image that can name its functions.
    pub const fn with_names(self, find: Find) -> Self {
        Self { find: Some(find), ..self }
    }

    /// What other images may know of the image.
    pub fn member(&self) -> &'static Member {
        self.member
    }

    fn ask(&self, operation: Operation<'_>, known_error: i32) -> Result<(), Errno> {
        match (self.operate)(self.image, operation.number(), known_error) {
            error if error < 0 => Err(error_of(error)),
            _ => Ok(()),
        }
    }
}

impl Chain {
    /// No images.
    pub const fn new() -> Self {
        Self {
            revision: AtomicU32::new(0),
            first: AtomicPtr::new(null_mut()),
            lock: Lock::new(),
            error: AtomicI32::new(0),
            signals: AtomicU64::new(0),
            forking: AtomicU64::new(0),
            images: ImageTable::new(),
            place: OutputPath::new(),
            told_child: AtomicU32::new(0),
        }
    }

    /// Every image calls this first. The first image decides how the chain is laid out.
    pub fn meet(&self) {
        let (yes, no) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.revision.compare_exchange(0, REVISION, yes, no);
    }

    /// Where an image writes its counts.
    pub fn place<'c>(&'c self, link: &'c Link) -> &'c OutputPath {
        if self.is_known() { &self.place } else { link.place }
    }

    /// Whether the chain has no image that could have asked for signals.
    pub fn is_empty(&self) -> bool {
        self.first.load(Ordering::Relaxed).is_null()
    }

    /// The signals on which counts are written.
    pub fn signals(&self) -> u64 {
        self.signals.load(Ordering::Relaxed)
    }

    /// Says on which signals counts are written.
    pub fn set_signals(&self, signals: u64) {
        self.signals.store(signals, Ordering::Relaxed);
    }

    /// Adds an image. If nobody gives up the lock, the image stays alone and writes its counts at its own
    /// end.
    #[inline(always)]
    pub fn join(&self, link: &'static Link) {
        if !self.is_known() {
            return;
        }
        if let Ok(_guard) = self.lock.acquire() {
            link.next.store(self.first.load(Ordering::Relaxed), Ordering::Relaxed);
            self.first.store(core::ptr::from_ref(link).cast_mut(), Ordering::Release);
        }
    }

    /// Says where an image is, and which nodes belong to it.
    pub fn add_home(&self, image: Range<usize>, nodes: &'static Nodes, is_live: bool) {
        if self.is_known()
            && let Ok(_guard) = self.lock.acquire()
        {
            self.images.add(image, nodes, is_live);
        }
    }

    /// The nodes of the image that owns the counter at this address. Looks among `all` images or only among
    /// those with live counters.
    pub fn nodes_at(&self, address: usize, all: bool) -> Option<&'static Nodes> {
        if self.is_known() { self.images.find(address, all) } else { None }
    }

    /// Writes an image's counts for the last time and takes it out of the chain.
    #[inline(always)]
    pub fn leave(&self, link: &'static Link) {
        // Also in a child that came from an unannounced fork: it closes this library, and another may take
        // its place.
        if self.is_known() {
            link.member.nodes().into_iter().for_each(|nodes| self.images.remove(nodes));
        }
        if !link.member.is_own_process() {
            return self.tell_child(link);
        }
        let _quiet = QuietWrites::new(self.signals());
        if !self.is_known() {
            let _ = link.ask(Operation::End, 0);
            return;
        }
        // No lock means `exit` in the handler of a fault on top of a flush. That flush stays undone, but
        // other images can still be written.
        let guard = self.lock.acquire();
        let result = link.ask(Operation::End, self.error.load(Ordering::Relaxed));
        self.error.store(number_of(result), Ordering::Relaxed);
        if guard.is_ok() {
            self.unlink(link);
        }
    }

    /// Says that the counts of a child are not kept: nobody can tell them from those that its parent had before, if
    /// nobody looked when the child was made. Live counters are the parent's own, and kept.
    #[cold]
    #[inline(never)]
    fn tell_child(&self, link: &'static Link) {
        let is_first = !self.is_known() || self.told_child.swap(1, Ordering::Relaxed) == 0;
        if is_first && !link.member.is_live() {
            let mut line = Line::about(b"a child");
            line.text(b"process ").text(&decimal(u64::from(sys::process())));
            line.text(
                b" was made by clone or a system call; its counts are not kept without `flags --wrap-exit`",
            )
            .print();
        }
    }

    /// Asks every image in turn, or only `own` in a chain of another release. Returns the first error, but
    /// still asks the other images.
    ///
    /// [`Errno::CHILD`] in a child of `vfork` or of a fork that nobody announced: the counts, and all this
    /// memory, belong to its parent.
    pub fn for_all(&self, own: &'static Link, operation: Operation<'_>) -> Result<(), Errno> {
        if !own.member.is_own_process() && !matches!(operation, Operation::BecomeChild(_)) {
            return Err(Errno::CHILD);
        }
        let _quiet = QuietWrites::new(self.signals());
        let _guard = if self.is_known() { Some(self.lock.acquire()?) } else { None };
        if let Operation::SetPattern(pattern) = operation {
            self.place(own).set_pattern(pattern)?;
        }
        if !self.is_known() {
            return own.ask(operation, 0);
        }
        let mut result = Ok(());
        let mut next = self.first.load(Ordering::Acquire);
        while let Some(link) = NonNull::new(next) {
            // SAFETY: images take themselves out of the chain, under its lock, before they go.
            let link = unsafe { link.as_ref() };
            result = result.and(link.ask(operation, number_of(result)));
            next = link.next.load(Ordering::Acquire);
        }
        result
    }

    /// The name of the function at an address, as a number; 0 if no image knows it. For the holder of the lock.
    pub fn name_at(&self, address: usize) -> u64 {
        let mut next = self.first.load(Ordering::Acquire);
        while self.is_known()
            && let Some(link) = NonNull::new(next)
        {
            // SAFETY: as in `for_all`.
            let link = unsafe { link.as_ref() };
            match link.find.map_or(0, |find| find(address)) {
                0 => next = link.next.load(Ordering::Acquire),
                name => return name,
            }
        }
        0
    }

    /// Before a fork: no flush may be half done in the child's copy of the memory, and no handler may
    /// count there what is then taken for its parent's.
    pub fn before_fork(&self) {
        if self.is_known()
            && let Ok(guard) = self.lock.acquire()
        {
            guard.keep();
            self.forking.store(sys::block_signals(0) | FORKING, Ordering::Relaxed);
        }
    }

    /// After a fork, in the parent, also if the fork failed.
    pub fn after_fork_parent(&self) {
        if let Some(blocked) = self.end_fork() {
            self.lock.release_own();
            sys::unblock_signals(blocked);
        }
    }

    /// After a fork, in the child.
    pub fn after_fork_child(&self, own: &'static Link) {
        let blocked = self.end_fork();
        if self.is_known() {
            self.lock.release_inherited();
        }
        let _ = self.for_all(own, Operation::BecomeChild(blocked.is_some()));
        if let Some(blocked) = blocked {
            sys::unblock_signals(blocked);
        }
    }

    /// The signals that were blocked before [`Chain::before_fork`], for the first who asks.
    fn end_fork(&self) -> Option<u64> {
        let forking = if self.is_known() { self.forking.swap(0, Ordering::Relaxed) } else { 0 };
        (forking & FORKING != 0).then_some(forking)
    }

    /// Whether the chain is laid out as this release knows it.
    fn is_known(&self) -> bool {
        self.revision.load(Ordering::Relaxed) == REVISION
    }

    fn unlink(&self, gone: &'static Link) {
        let gone_place = core::ptr::from_ref(gone).cast_mut();
        let mut place = &self.first;
        while let Some(link) = NonNull::new(place.load(Ordering::Relaxed)) {
            if link.as_ptr() == gone_place {
                place.store(gone.next.load(Ordering::Relaxed), Ordering::Release);
                return;
            }
            // SAFETY: as in `for_all`.
            place = &unsafe { link.as_ref() }.next;
        }
    }
}

impl Default for Chain {
    fn default() -> Self {
        Self::new()
    }
}

/// The number of an error, 0 if there is none.
fn number_of(result: Result<(), Errno>) -> c_int {
    result.map_or_else(Errno::raw_os_error, |()| 0)
}

/// Does what an [`Operation`] asks, by its [`Operation::number`]; 0 or a negative error number.
extern "C" fn operate<I: Instrumented>(
    image: *const (),
    operation: u32,
    known_error: c_int,
) -> c_int {
    // SAFETY: `Link::new` has put both together, from a reference that stays.
    let image = unsafe { &*image.cast::<Image<I>>() };
    image.member.set_known_error(known_error);
    let result = match operation {
        0 => image.dump(),
        1 => image.reset(),
        2 => image.flush(),
        3 => image.discard(),
        4 => image.suspend(),
        5 => image.resume(),
        6 | 7 => image.become_child(operation == 7),
        8 => image.follow(),
        9 => image.leave(),
        10 => image.end(),
        _ => Err(Errno::INVAL),
    };
    number_of(result).wrapping_neg()
}
