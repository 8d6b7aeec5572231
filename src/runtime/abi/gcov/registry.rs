//! The objects of one image, in the order in which their constructors ran.
//!
//! They form a list through the word that every `gcov_info` keeps for the runtime, so there is no limit on
//! their number. The list only grows: an image comes and goes as a whole.
#![allow(unsafe_code)]

use crate::runtime::atomic::{AtomicPtr, AtomicUsize, Ordering};
use core::ptr::{NonNull, null_mut};

use super::{Array, Arrays, Functions, Info, Object, Tokens};
use crate::runtime::abi::Shift;

/// All registered objects.
pub struct Registry {
    first: AtomicPtr<Info>,
    last: AtomicPtr<Info>,
    length: AtomicUsize,
    tokens: AtomicPtr<Tokens>,
}

impl Registry {
    /// No objects.
    pub const fn new() -> Self {
        Self {
            first: AtomicPtr::new(null_mut()),
            last: AtomicPtr::new(null_mut()),
            length: AtomicUsize::new(0),
            tokens: AtomicPtr::new(null_mut()),
        }
    }

    /// Appends an object. Constructors call this, and the loader runs them one after the other. A signal
    /// handler may walk the list meanwhile.
    ///
    /// # Safety
    ///
    /// `info` must be what [`super::Object::new`] accepts, and not be registered yet.
    pub unsafe fn push(&self, info: NonNull<Info>, tokens: &'static Tokens) {
        self.tokens.store(core::ptr::from_ref(tokens).cast_mut(), Ordering::Release);
        let last = self.last.swap(info.as_ptr(), Ordering::AcqRel);
        // SAFETY: `last` was registered before, and objects stay as long as their image.
        let link = match unsafe { last.as_ref() } {
            Some(last) => last.next(),
            None => &self.first,
        };
        link.store(info.as_ptr(), Ordering::Release);
        self.length.fetch_add(1, Ordering::Release);
    }

    /// Whether the last registered object is of the same compiler. If so, nothing more need be looked up for
    /// this one. Programs start with thousands of objects.
    ///
    /// # Safety
    ///
    /// `info` must be what [`super::Object::new`] accepts.
    pub unsafe fn knows(&self, info: NonNull<Info>) -> bool {
        let last = self.last.load(Ordering::Acquire);
        // SAFETY: it was registered, and objects stay as long as their image.
        let last = unsafe { last.as_ref() };
        // SAFETY: promised by the caller.
        last.is_some_and(|last| last.version() == unsafe { info.as_ref() }.version())
    }

    /// Whether an object is registered.
    pub fn contains(&self, info: NonNull<Info>) -> bool {
        let mut next = self.first.load(Ordering::Acquire);
        while let Some(registered) = NonNull::new(next) {
            if registered == info {
                return true;
            }
            // SAFETY: everything in the list was registered, and objects stay with their image.
            next = unsafe { registered.as_ref() }.next().load(Ordering::Acquire);
        }
        false
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every object, in the order of a dump.
    pub fn registered(&self) -> Registered {
        let next = NonNull::new(self.first.load(Ordering::Acquire));
        Registered { next, tokens: self.tokens() }
    }

    /// What the objects say of merging; `None` while there are none.
    pub fn tokens(&self) -> Option<&'static Tokens> {
        // SAFETY: NULL or set by `push` from a reference that stays.
        unsafe { self.tokens.load(Ordering::Acquire).as_ref() }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

/// The registered objects, one after the other.
#[derive(Clone, Debug)]
pub struct Registered {
    next: Option<NonNull<Info>>,
    tokens: Option<&'static Tokens>,
}

impl Registered {
    /// The arrays of all functions. Their counters may be elsewhere, at a distance of `shift`.
    pub fn arrays(self, shift: Shift) -> AllArrays {
        AllArrays { objects: self, functions: None, arrays: None, shift }
    }
}

impl Iterator for Registered {
    type Item = Object;

    #[inline(never)]
    fn next(&mut self) -> Option<Object> {
        loop {
            let info = self.next?;
            // SAFETY: everything in the list was registered, and objects stay with their image.
            self.next = NonNull::new(unsafe { info.as_ref() }.next().load(Ordering::Acquire));
            // SAFETY: as above.
            if let Ok(object) = unsafe { Object::new(info, self.tokens?) } {
                return Some(object);
            }
        }
    }
}

/// See [`Registered::arrays`]. Smaller but slower than nested loops over objects, functions and arrays.
#[derive(Clone, Debug)]
pub struct AllArrays {
    objects: Registered,
    functions: Option<Functions>,
    arrays: Option<Arrays>,
    shift: Shift,
}

impl Iterator for AllArrays {
    type Item = Array;

    #[inline(never)]
    fn next(&mut self) -> Option<Array> {
        loop {
            if let Some(array) = self.arrays.as_mut().and_then(Iterator::next) {
                return Some(array);
            }
            match self.functions.as_mut().and_then(Iterator::next) {
                Some(function) => self.arrays = Some(function.counted()),
                None => self.functions = Some(self.objects.next()?.functions(self.shift)),
            }
        }
    }
}
