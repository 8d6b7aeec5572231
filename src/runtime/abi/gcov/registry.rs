//! The objects of one image, in the order in which their constructors ran.
//!
//! A list through the word that every `gcov_info` keeps for the runtime, so that no number of
//! objects is too large. It only grows: an image comes and goes as a whole.
#![allow(unsafe_code)]

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::{Info, Object, Part, Tokens};

/// All registered objects.
pub struct Registry {
    first: AtomicPtr<Info>,
    last: AtomicPtr<Info>,
    length: AtomicUsize,
}

impl Registry {
    /// No objects.
    pub const fn new() -> Self {
        Self {
            first: AtomicPtr::new(null_mut()),
            last: AtomicPtr::new(null_mut()),
            length: AtomicUsize::new(0),
        }
    }

    /// Appends an object. Called from constructors, which the loader runs one after the other; a
    /// signal handler may walk the list meanwhile.
    ///
    /// # Safety
    ///
    /// `info` must be what [`Object::new`] accepts, and not be registered yet.
    pub unsafe fn push(&self, info: NonNull<Info>) {
        let last = self.last.swap(info.as_ptr(), Ordering::AcqRel);
        // SAFETY: `last` was registered before, and objects stay as long as their image.
        let link = match unsafe { last.as_ref() } {
            Some(last) => last.next(),
            None => &self.first,
        };
        link.store(info.as_ptr(), Ordering::Release);
        self.length.fetch_add(1, Ordering::Release);
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Visits every object, function and array of counters, in the order of a dump, until `visit`
    /// says `false`.
    pub fn visit(&self, tokens: &Tokens, visit: &mut dyn FnMut(Part<'_>) -> bool) {
        for object in self.objects(tokens) {
            if !object.visit(visit) {
                return;
            }
        }
    }

    /// The objects, oldest first.
    fn objects(&self, tokens: &Tokens) -> impl Iterator<Item = Object> {
        let mut next = self.first.load(Ordering::Acquire);
        core::iter::from_fn(move || {
            let info = NonNull::new(next)?;
            // SAFETY: everything in the list was registered, and objects stay with their image.
            next = unsafe { info.as_ref() }.next().load(Ordering::Acquire);
            Some(info)
        })
        .filter_map(|info| {
            // SAFETY: as above.
            unsafe { Object::new(info, tokens) }.ok()
        })
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}
