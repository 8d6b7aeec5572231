//! Writes a raw dump section by section through a fixed buffer.
//!
//! It knows sections and their checksums; the caller decides what goes into them. If the buffer is large
//! enough, it writes in blocks ([`BLOCK`]): a section ends where a block does, or a little later.

use zerocopy::{Immutable, IntoBytes};

use super::layout::{
    BLOCK, EndRecord, FileHeader, MAX_SECTION, SectionHeader, SectionKind, Word, checksum,
};
#[cfg(feature = "alloc")]
use super::layout::{Machine, Order};

/// Where the bytes of a dump go.
pub trait Sink {
    /// Why it could not take them.
    type Error;
    /// Takes all of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

impl<S: Sink + ?Sized> Sink for &mut S {
    type Error = S::Error;

    fn write(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        (**self).write(bytes)
    }
}

/// Buffer of a [`Writer`] that writes block after block. With a smaller one, which must hold a MODULE
/// section, it writes each section by itself.
pub type Buffer = [u8; MAX_SECTION];

const HEADER: usize = size_of::<SectionHeader>();

/// Collects payload of one kind at a time and emits it as sections.
pub struct Writer<'b, S, const N: usize = MAX_SECTION> {
    sink: S,
    buffer: &'b mut [u8; N],
    /// Kind of the section at hand.
    kind: SectionKind,
    /// Where that section begins in the buffer. The bytes before it belong to the same block.
    start: usize,
    /// Bytes of the buffer in use, the room for the section's header included.
    used: usize,
    /// The section ends when this much of the buffer is in use.
    full: usize,
    sequence: u32,
    modules: u32,
}

/// Copies bytes to where there is room for them. `copy_from_slice` would leave a panic path, and there may be
/// no C library to call.
fn copy(from: &[u8], to: &mut [u8]) {
    if cfg!(any(feature = "alloc", feature = "runtime")) {
        let _ = from.write_to_prefix(to);
    } else {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}

impl<'b, S: Sink, const N: usize> Writer<'b, S, N> {
    /// Bytes of a block; 0 if sections are written by themselves.
    const BLOCK: usize = {
        assert!(N <= MAX_SECTION, "a section must not be longer than readers take");
        if N < MAX_SECTION { 0 } else { BLOCK }
    };

    /// Starts a dump: the file header goes to `sink` with the first section.
    pub fn new(sink: S, buffer: &'b mut [u8; N]) -> Self {
        let start = if Self::BLOCK > 0 { size_of::<FileHeader>() } else { 0 };
        if start > 0 {
            let _ = FileHeader::NATIVE.write_to_prefix(buffer);
        }
        let (used, full) = Self::begin_at(start);
        Self { sink, buffer, kind: SectionKind::Module, start, used, full, sequence: 0, modules: 0 }
    }

    /// The same, with a header of programs of this machine. Only for buffers of [`MAX_SECTION`].
    #[cfg(feature = "alloc")]
    pub fn of_machine(self, machine: Machine) -> Self {
        let mut header = FileHeader { pointer_width: machine.pointer_width, ..*FileHeader::NATIVE };
        if machine.order != Order::NATIVE {
            header.order = header.order.swap_bytes();
        }
        if Self::BLOCK > 0 {
            let _ = header.write_to_prefix(self.buffer);
        }
        self
    }

    /// How much of the buffer is in use when a section begins here, and when it is full.
    fn begin_at(start: usize) -> (usize, usize) {
        let used = start.wrapping_add(HEADER);
        let full = if Self::BLOCK > 0 { Self::BLOCK.max(used.wrapping_add(1)) } else { N };
        (used, full)
    }

    /// Whether the section at hand has a payload.
    fn is_begun(&self) -> bool {
        self.used > self.start.wrapping_add(HEADER)
    }

    /// Appends bytes to the current stream of `kind`, or starts one.
    pub fn put(&mut self, kind: SectionKind, bytes: &[u8]) -> Result<(), S::Error> {
        self.switch(kind)?;
        self.append(bytes)
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<(), S::Error> {
        while !bytes.is_empty() {
            // The stream goes on in the next section, so this one must not be padded.
            let whole = self.used.next_multiple_of(size_of::<Word>());
            if self.used >= self.full && self.used == whole {
                self.emit()?;
            }
            let end = if self.used < self.full { N } else { whole };
            let Some(free) = self.buffer.get_mut(self.used..end) else { break };
            let length = free.len().min(bytes.len());
            let (now, later) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
            copy(now, free);
            self.used += length;
            bytes = later;
        }
        Ok(())
    }

    /// Appends a section of `kind` that has this number in another dump. If it has the same number here, its
    /// checksum is right already.
    pub fn put_section(
        &mut self,
        kind: SectionKind,
        (section, number): (&[u8], u32),
    ) -> Result<(), S::Error> {
        self.switch(kind)?;
        let is_begun = self.is_begun();
        let end = self.start.wrapping_add(section.len());
        match self.buffer.get_mut(self.start..end) {
            Some(place) if !is_begun && self.sequence == number => copy(section, place),
            _ => return self.append(section.get(HEADER..).unwrap_or_default()),
        }
        self.end_section(end)
    }

    /// Appends a record of a fixed layout.
    #[inline(always)]
    pub fn put_record(
        &mut self,
        kind: SectionKind,
        record: &(impl IntoBytes + Immutable),
    ) -> Result<(), S::Error> {
        self.put(kind, record.as_bytes())
    }

    /// Appends one 64-bit word. The current stream must be made of words.
    // Where stacks are short it stays a function.
    #[cfg_attr(feature = "runtime", inline(always))]
    pub fn put_word(&mut self, kind: SectionKind, word: i64) -> Result<(), S::Error> {
        loop {
            let (words, _) = self.buffer.as_chunks_mut();
            if kind == self.kind
                && self.used < self.full
                && let Some(free) = words.get_mut(self.used / size_of::<Word>())
            {
                *free = word.to_ne_bytes();
                self.used += size_of::<Word>();
                return Ok(());
            }
            self.emit()?;
            self.kind = kind;
        }
    }

    /// Room for at least `least` words of a stream of words. `least` must be no more than a section holds,
    /// and no more than a section may exceed a block. [`Writer::fill`] makes words in the room part of the
    /// stream.
    #[inline(always)]
    pub fn room(&mut self, kind: SectionKind, least: usize) -> Result<&mut [Word], S::Error> {
        let full = match Self::BLOCK {
            0 => N.wrapping_sub(least.wrapping_mul(size_of::<Word>())).wrapping_add(1),
            _ => self.full,
        };
        if kind != self.kind || self.used >= full {
            self.emit()?;
            self.kind = kind;
        }
        let Some(free) = self.buffer.get_mut(self.used..) else { return Ok(&mut []) };
        Ok(free.as_chunks_mut().0)
    }

    /// Says that this many words have been put into the room.
    #[inline(always)]
    pub fn fill(&mut self, words: usize) {
        self.used = self.used.wrapping_add(words.wrapping_mul(size_of::<Word>()));
    }

    /// Ends the dump and gives the sink back.
    pub fn finish(self) -> Result<S, S::Error> {
        self.finish_with(0)
    }

    /// The same, with the id of a live file.
    pub fn finish_with(mut self, added: u64) -> Result<S, S::Error> {
        self.end_with(added)?;
        Ok(self.sink)
    }

    /// Ends the dump. Nothing may follow.
    pub fn end(&mut self) -> Result<(), S::Error> {
        self.end_with(0)
    }

    /// Ends the dump, with the id of a live file.
    pub fn end_with(&mut self, added: u64) -> Result<(), S::Error> {
        let end = EndRecord { modules: self.modules.into(), added };
        self.put_record(SectionKind::End, &end)?;
        self.emit()?;
        match self.buffer.get(..self.start) {
            None | Some([]) => Ok(()),
            Some(rest) => self.sink.write(rest),
        }
    }

    /// Emits what is buffered of another kind. Every module record opens a section of its own.
    fn switch(&mut self, kind: SectionKind) -> Result<(), S::Error> {
        if kind != self.kind || kind == SectionKind::Module {
            self.emit()?;
            self.kind = kind;
            self.modules = self.modules.wrapping_add(u32::from(kind == SectionKind::Module));
        }
        Ok(())
    }

    /// Ends the section at hand, if there is anything in it.
    fn emit(&mut self) -> Result<(), S::Error> {
        if !self.is_begun() {
            return Ok(());
        }
        let end = self.used.next_multiple_of(8).min(N);
        if let Some(padding) = self.buffer.get_mut(self.used..end) {
            padding.iter_mut().for_each(|byte| *byte = 0);
        }
        let (start, sequence) = (self.start, self.sequence);
        let Some(section) = self.buffer.get_mut(start..end) else { return Ok(()) };
        let length = section.len().wrapping_sub(HEADER) as u32;
        let mut header = SectionHeader { crc: 0, kind: self.kind as u32, length, sequence };
        let _ = header.write_to_prefix(section);
        header.crc = checksum(section);
        let _ = header.write_to_prefix(section);
        self.end_section(end)
    }

    /// The section at hand ends at this place of the buffer and is whole. Begins the next one.
    fn end_section(&mut self, end: usize) -> Result<(), S::Error> {
        if Self::BLOCK == 0 && self.sequence == 0 {
            self.sink.write(FileHeader::NATIVE.as_bytes())?;
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.start = end;
        if end >= Self::BLOCK {
            let length = if Self::BLOCK > 0 { Self::BLOCK } else { end };
            let (block, beyond) = self.buffer.split_at_mut_checked(length).unwrap_or_default();
            self.sink.write(block)?;
            self.start = end.wrapping_sub(length);
            copy(beyond.get(..self.start).unwrap_or_default(), block);
        }
        (self.used, self.full) = Self::begin_at(self.start);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;
    use std::vec::Vec;

    use super::*;
    use crate::raw::reader::Reader;

    /// The bytes, and the length of each block.
    #[derive(Default)]
    struct Blocks(Vec<u8>, Vec<usize>);

    impl Sink for Blocks {
        type Error = Infallible;

        fn write(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
            self.0.extend_from_slice(bytes);
            self.1.push(bytes.len());
            Ok(())
        }
    }

    /// Strings of one length, then words of another kind, several at a time.
    fn written(first: usize, string: usize, second: usize, at_once: usize) -> Blocks {
        let mut buffer = [0; MAX_SECTION];
        let mut writer = Writer::new(Blocks::default(), &mut buffer);
        for string in [1].repeat(8 * first).chunks(string) {
            let Ok(()) = writer.put(SectionKind::Strings, string);
        }
        for _ in 0..second {
            let Ok(()) = writer.put_word(SectionKind::Objects, i64::from_ne_bytes([2; 8]));
        }
        for _ in 0..20_000 / at_once {
            let Ok(room) = writer.room(SectionKind::Functions, at_once);
            room[..at_once].fill([3; 8]);
            writer.fill(at_once);
        }
        let Ok(blocks) = writer.finish();
        blocks
    }

    /// Sections begin and end everywhere, also just before the end of a block and behind it.
    #[test]
    fn blocks_of_one_length_with_all_that_was_put() {
        for distance in 0..12 {
            for (at_once, string) in [(1, 1000), (7, 1001), (131, 3), (5, 70_001)] {
                let first = BLOCK / 8 - 4 - distance + 5 * BLOCK * (string / 70_001);
                let Blocks(bytes, blocks) = written(first, string, 3, at_once);
                assert!(blocks.split_last().unwrap().1.iter().all(|&length| length == BLOCK));
                let mut buffer = [0; MAX_SECTION];
                let mut reader = Reader::new(&bytes[..], &mut buffer);
                reader.start().unwrap();
                let mut found = [0; 3];
                loop {
                    let section = reader.next_section().unwrap();
                    let kind = match section.kind {
                        SectionKind::End => break,
                        SectionKind::Strings => 0,
                        SectionKind::Objects => 1,
                        _ => 2,
                    };
                    assert!(reader.payload().iter().all(|&byte| byte == kind + 1));
                    found[usize::from(kind)] += reader.payload().len() / 8;
                }
                assert_eq!(found, [first, 3, 20_000 / at_once * at_once]);
            }
        }
    }
}
