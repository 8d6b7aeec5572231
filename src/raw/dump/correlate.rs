//! Gives a module the functions that its program keeps in its file alone.

use core::fmt;
use core::mem;
use core::ops::Range;

use super::{Function, Module, Object};
use crate::raw::checksum::crc32;
use crate::raw::gcov::FunctionRecord;
use crate::raw::kind::Kind;
use crate::raw::llvm::kind::{BITMAP, COVERED, EXECUTIONS, RULES, TIME};
use crate::raw::llvm::version::variant;
use crate::raw::llvm::{self, CorrelatedFunction};

/// A function with counters that the module does not have: its program is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The last counter that the function needs.
    pub expected: u64,
    /// How many the module has.
    pub found: u64,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, found } = self;
        write!(
            f,
            "expected a program with {found} counters, found a function with number {expected}"
        )
    }
}

impl core::error::Error for Outside {}

impl Module {
    /// Whether one function stands for all of them, see [`llvm::correlated`].
    pub fn is_correlated(&self) -> bool {
        self.correlated_object().is_some()
    }

    /// The object with this function.
    pub fn correlated_object(&self) -> Option<&Object> {
        let [record] = &*self.llvm else { return None };
        let object = self.objects.iter().find(|object| object.functions == (0..1))?;
        ((record.name_ref, record.hash) == (0, 0)).then_some(object)
    }

    /// Whether some objects of the image were compiled so and others not. Memory says nothing of the functions of the
    /// former. Only where debug information correlates, the first object of the link may tell.
    pub fn is_partly_correlated(&self) -> bool {
        let is_so = |object: &Object| object.stamp & variant::DEBUG_INFO_CORRELATION != 0;
        !self.llvm.is_empty() && !self.is_correlated() && self.objects.iter().any(is_so)
    }

    /// Bytes of all counters of a module for which [`Module::is_correlated`] holds, bitmaps not among them.
    pub fn correlated_counter_bytes(&self) -> u64 {
        let Some(whole) = self.function(0) else { return 0 };
        let words = whole.counters(EXECUTIONS).len() + whole.counters(TIME).len();
        (words * 8 + whole.bytes(COVERED).len()) as u64
    }

    /// Whether times of first calls cannot be told from the counters: those of several runs have been added up, and
    /// bytes only say that they are there.
    pub fn has_lost_times(&self) -> bool {
        self.correlated_object().is_some_and(|object| {
            let is_single = object.stamp & variant::SINGLE_BYTE != 0;
            object.stamp & variant::TEMPORAL != 0 && (is_single || self.sums.runs > 1)
        })
    }

    /// The module with its functions, in place of the one that stands for them; `names` are theirs, as compilers
    /// store them. Another module stays as it is.
    pub fn correlate(
        mut self,
        functions: &[CorrelatedFunction],
        names: &[u8],
    ) -> Result<Self, Outside> {
        let Some(object) = self.correlated_object().cloned() else { return Ok(self) };
        let Some(whole) = self.function(0) else { return Ok(self) };
        let is_single = object.stamp & variant::SINGLE_BYTE != 0;
        let (times, has_times) = match object.stamp & variant::TEMPORAL {
            0 => (0, false),
            _ => (if is_single { 8 } else { 1 }, !self.has_lost_times()),
        };
        let (bytes, bitmap) = (whole.bytes(COVERED), whole.bytes(BITMAP));
        let words = mem::take(&mut self.counters);
        let counters = if is_single { &[][..] } else { words.as_slice() };
        self.functions.clear();
        self.llvm.clear();
        self.numbers.clear();
        for function in functions {
            let CorrelatedFunction { counters: range, .. } = function;
            let time = if range.len() > times { range.start..range.start + times } else { 0..0 };
            let executed = range.start + time.len()..range.end;
            let mut to = self.begin(function);
            if is_single {
                to.bytes(COVERED, &bytes, executed)?;
            } else {
                to.words(EXECUTIONS, counters, executed)?;
            }
            to.bytes(BITMAP, &bitmap, function.bitmap.clone())?;
            if has_times && !time.is_empty() {
                to.words(TIME, counters, time)?;
            }
        }
        self.name_functions(names);
        Ok(self)
    }

    /// Begins a function without counters.
    fn begin(&mut self, function: &CorrelatedFunction) -> Parts<'_> {
        let (name_ref, hash) = (function.name_ref, function.hash);
        self.llvm.push(llvm::FunctionRecord { name_ref, hash, ..llvm::FunctionRecord::default() });
        self.functions.push(Function {
            record: FunctionRecord { ident: 0, lineno_checksum: 0, cfg_checksum: 0, flags: 0 },
            rules: RULES,
            numbers: self.numbers.len(),
            counters: self.counters.len(),
            sites: 0,
        });
        Parts(self)
    }

    /// Makes the functions those of the object, with these names.
    fn name_functions(&mut self, names: &[u8]) {
        let number = self.functions.len();
        let object = self.objects.iter_mut().find(|object| object.functions == (0..1));
        if let Some(object) = object {
            (object.path, object.checksum) = (names.to_vec(), crc32(names));
            object.stamp &= !variant::DEBUG_INFO_CORRELATION;
            object.functions = 0..number;
        }
        self.record.identity.functions = number as u32;
    }
}

/// The last function of a module, which gets counters.
struct Parts<'m>(&'m mut Module);

impl Parts<'_> {
    /// Adds counters of a kind, if there are any.
    fn words(&mut self, kind: Kind, all: &[i64], range: Range<usize>) -> Result<(), Outside> {
        let number = range.len();
        self.0.counters.extend(part(all, range)?);
        self.note(kind, number);
        Ok(())
    }

    /// Adds counters of a kind of bytes, if there are any.
    fn bytes(&mut self, kind: Kind, all: &[u8], range: Range<usize>) -> Result<(), Outside> {
        let part = part(all, range)?;
        self.0.counters.extend(part.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            i64::from_ne_bytes(word)
        }));
        self.note(kind, part.len());
        Ok(())
    }

    fn note(&mut self, kind: Kind, number: usize) {
        let (Some(function), Some(record)) = (self.0.functions.last_mut(), self.0.llvm.last_mut())
        else {
            return;
        };
        if number > 0 {
            function.record.flags |= kind.bit();
            record.flags |= kind.bit();
            self.0.numbers.push(number as u32);
        }
    }
}

fn part<T>(all: &[T], range: Range<usize>) -> Result<&[T], Outside> {
    let (expected, found) = (range.end as u64, all.len() as u64);
    all.get(range).ok_or(Outside { expected, found })
}
