//! An object's counters as a `.gcda` stream, for programs without files.
//!
//! Unlike a file the stream has no OBJECT_SUMMARY, and nothing is merged or locked. It equals what libgcov's
//! `__gcov_info_to_gcda` gives, for `gcov-tool merge-stream`.

use super::atomic::Ordering;
use core::convert::Infallible;
use core::ffi::CStr;

use super::abi::gcov::{Array, Object};
use super::abi::{Array as _, Shift};
use super::counters::topn::LiveSite;
use crate::formats::gcda::FILE_NAME_MAGIC;
use crate::formats::gcda::encode::{Encoder, TopN, Words};
use crate::raw::gcov::Version;
use crate::raw::kind::Rule;
use crate::raw::merge::Pair;

/// Takes the stream.
pub trait Bytes {
    /// Takes the next bytes.
    fn take(&mut self, bytes: &[u8]);
}

struct WordsOf<B>(B);

impl<B: Bytes> Words for WordsOf<B> {
    type Error = Infallible;

    fn word(&mut self, word: u32) -> Result<(), Infallible> {
        self.0.take(&word.to_ne_bytes());
        Ok(())
    }
}

impl TopN for LiveSite<'_> {
    fn total(&self) -> i64 {
        LiveSite::total_and_error(self, LiveSite::pairs(self).map(|pair| pair.count).sum()).0
    }

    fn pairs(&self) -> impl Iterator<Item = Pair> {
        LiveSite::pairs(self)
    }
}

/// The version word in a file-name record: that of the first release that reads such records.
const FILE_NAME_VERSION: Version = Version(u32::from_be_bytes(*b"B30*"));

/// Streams the file name that a stream of counters belongs to.
pub fn file_name(name: &CStr, bytes: impl Bytes) {
    let Ok(()) = name_record(name, WordsOf(bytes));
}

fn name_record<B: Bytes>(name: &CStr, mut words: WordsOf<B>) -> Result<(), Infallible> {
    let name = name.to_bytes_with_nul();
    words.word(FILE_NAME_MAGIC)?;
    words.word(FILE_NAME_VERSION.0)?;
    words.word(name.len() as u32)?;
    words.0.take(name);
    Ok(())
}

/// Streams an object's counters.
pub fn object(object: &Object, bytes: impl Bytes) {
    let Ok(()) = records(object, WordsOf(bytes));
}

fn records<W: Words>(object: &Object, words: W) -> Result<(), W::Error> {
    let (version, stamp, checksum) = (object.version(), object.stamp(), object.checksum());
    let mut encoder = Encoder::new(words, version, stamp, checksum)?;
    for function in object.functions(Shift::default()) {
        if encoder.function(&function.record())? {
            function.counted().try_for_each(|array| counters(&array, &mut encoder))?;
        }
    }
    encoder.finish().map(drop)
}

fn counters<W: Words>(array: &Array, encoder: &mut Encoder<W>) -> Result<(), W::Error> {
    if array.rule == Rule::TopN {
        return encoder.sites(array.kind, array.sites());
    }
    let values = array.counters.iter().map(|counter| counter.load(Ordering::Relaxed));
    encoder.counters(array.kind, values)
}
