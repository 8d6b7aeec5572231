//! The way through all counters, in the order of a dump.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use core::sync::atomic::Ordering;

use super::{Array, Function, Info, Object, Shift, Tokens};
use crate::raw::gcov::{Kind, Rules};

/// A part of an image.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// An object, before its functions.
    Object(Object),
    /// A function, before its counters.
    Function(Function),
    /// The counters of one kind of a function.
    Array(Array),
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
    /// Number of functions that have been given, and the address of the last.
    functions: usize,
    function: *const u8,
    /// The kind to look at next, and how many of those before it are in use.
    kind: Kind,
    place: u8,
}

/// Behind the last kind.
const NO_MORE: Kind = Kind(Rules::SLOTS as u8);

impl Parts {
    /// The parts of the registered objects from `first` on.
    #[inline(never)]
    pub(super) fn starting_at(
        first: Option<NonNull<Info>>,
        tokens: Option<&'static Tokens>,
    ) -> Self {
        let (object, function) = (None, core::ptr::null());
        let (shift, functions) = (Shift::default(), 0);
        Self { shift, tokens, next: first, object, functions, function, kind: NO_MORE, place: 0 }
    }

    /// The same with counters that are elsewhere.
    pub fn with(self, shift: Shift) -> Self {
        Self { shift, ..self }
    }

    /// The parts of one object, which need not be registered.
    pub fn of(object: &Object) -> Self {
        Self { object: Some(*object), ..Self::starting_at(None, None) }
    }

    fn next_array(&mut self, object: &Object) -> Option<Part> {
        while self.kind < NO_MORE {
            let kind = self.kind;
            self.kind.0 += 1;
            if let Some(rule) = object.rules().rule(kind) {
                let place = usize::from(self.place);
                self.place += 1;
                let function = Function::new(self.function, object);
                return Some(Part::Array(
                    function.array(place, kind, rule, object).with(self.shift),
                ));
            }
        }
        None
    }

    fn next_function(&mut self, object: &Object) -> Option<Part> {
        if self.functions >= object.function_count() {
            return None;
        }
        self.function = object.function(self.functions);
        self.functions += 1;
        (self.kind, self.place) = (Kind(0), 0);
        Some(Part::Function(Function::new(self.function, object)))
    }

    fn next_object(&mut self) -> Option<Part> {
        loop {
            let info = self.next?;
            // SAFETY: everything in the list was registered, and objects stay with their image.
            self.next = NonNull::new(unsafe { info.as_ref() }.next().load(Ordering::Acquire));
            // SAFETY: as above.
            if let Ok(object) = unsafe { Object::new(info, self.tokens?) } {
                (self.object, self.functions, self.kind) = (Some(object), 0, NO_MORE);
                return Some(Part::Object(object));
            }
        }
    }
}

impl Iterator for Parts {
    type Item = Part;

    #[inline(never)]
    fn next(&mut self) -> Option<Part> {
        if let Some(object) = self.object {
            let part = self.next_array(&object).or_else(|| self.next_function(&object));
            if part.is_some() {
                return part;
            }
        }
        self.next_object()
    }
}
