//! The way through all counters, in the order of a dump.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use core::sync::atomic::Ordering;

use super::{Array, Arrays, Function, Info, Object, Shift, Tokens};

/// A part of an image.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// An object, before its functions.
    Object(Object),
    /// A function.
    Function(Function),
}

/// The parts of objects, one after the other.
///
/// A state machine and not nested iterators, which would be compiled anew for each use, a third of
/// the archive's code, and take stack that a program without an operating system may not have.
#[derive(Clone, Debug)]
pub struct Parts {
    shift: Shift,
    tokens: Option<&'static Tokens>,
    /// The object after the current one.
    next: Option<NonNull<Info>>,
    object: Option<Object>,
    /// Number of functions that have been given.
    functions: u32,
}

impl Parts {
    /// The parts of the registered objects from `first` on.
    #[inline(never)]
    pub(super) fn starting_at(
        first: Option<NonNull<Info>>,
        tokens: Option<&'static Tokens>,
    ) -> Self {
        Self { shift: Shift::default(), tokens, next: first, object: None, functions: 0 }
    }

    /// The same with counters that are elsewhere.
    pub fn with(self, shift: Shift) -> Self {
        Self { shift, ..self }
    }

    /// The arrays of all functions.
    pub fn arrays(self) -> AllArrays {
        AllArrays { parts: self, arrays: None }
    }

    /// Goes on with the next object.
    pub fn skip_functions(&mut self) {
        self.functions = u32::MAX;
    }

    /// The parts of one object, which need not be registered.
    pub fn of(object: &Object) -> Self {
        Self { object: Some(*object), ..Self::starting_at(None, None) }
    }

    #[inline(always)]
    fn next_function(&mut self) -> Option<Part> {
        let object = self.object.as_ref()?;
        if self.functions as usize >= object.function_count() {
            return None;
        }
        let function = object.function(self.functions as usize);
        self.functions += 1;
        Some(Part::Function(Function::new(function, object, self.shift)))
    }

    fn next_object(&mut self) -> Option<Part> {
        loop {
            let info = self.next?;
            // SAFETY: everything in the list was registered, and objects stay with their image.
            self.next = NonNull::new(unsafe { info.as_ref() }.next().load(Ordering::Acquire));
            // SAFETY: as above.
            if let Ok(object) = unsafe { Object::new(info, self.tokens?) } {
                (self.object, self.functions) = (Some(object), 0);
                return Some(Part::Object(object));
            }
        }
    }
}

impl Iterator for Parts {
    type Item = Part;

    #[inline(never)]
    fn next(&mut self) -> Option<Part> {
        match self.next_function() {
            None => self.next_object(),
            part => part,
        }
    }
}

/// See [`Parts::arrays`]. Slower than a loop over functions and one over the arrays of each.
#[derive(Clone, Debug)]
pub struct AllArrays {
    parts: Parts,
    arrays: Option<Arrays>,
}

impl Iterator for AllArrays {
    type Item = Array;

    #[inline(never)]
    fn next(&mut self) -> Option<Array> {
        loop {
            if let Some(array) = self.arrays.as_mut().and_then(Iterator::next) {
                return Some(array);
            }
            if let Part::Function(function) = self.parts.next()? {
                self.arrays = Some(function.arrays());
            }
        }
    }
}
