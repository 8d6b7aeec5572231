//! Writes a raw dump section by section through a fixed buffer.
//!
//! Knows sections and their checksums; what goes into them is the caller's.

use zerocopy::{Immutable, IntoBytes};

use super::layout::{
    EndRecord, FileHeader, MAX_SECTION, SectionHeader, SectionKind, Word, checksum,
};

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

/// Buffer of a [`Writer`] that makes sections as large as they may be. Smaller ones do, too, as long as
/// a MODULE section fits.
pub type Buffer = [u8; MAX_SECTION];

const HEADER: usize = size_of::<SectionHeader>();

/// Collects payload of one kind at a time and emits it as sections.
pub struct Writer<'b, S, const N: usize = MAX_SECTION> {
    sink: S,
    buffer: &'b mut [u8; N],
    kind: SectionKind,
    /// Bytes of the buffer in use, the room for the header included.
    used: usize,
    sequence: u32,
    modules: u32,
}

/// Copies bytes to where there is room for them. Not by `copy_from_slice`, which would leave a panic
/// path, nor by a function of the C library where there is none.
fn copy(from: &[u8], to: &mut [u8]) {
    if cfg!(any(feature = "alloc", feature = "runtime")) {
        let _ = from.write_to_prefix(to);
    } else {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
}

impl<'b, S: Sink, const N: usize> Writer<'b, S, N> {
    /// Starts a dump: the file header goes to `sink` with the first section.
    pub fn new(sink: S, buffer: &'b mut [u8; N]) -> Self {
        let kind = SectionKind::Module;
        Self { sink, buffer, kind, used: HEADER, sequence: 0, modules: 0 }
    }

    /// Appends bytes to the current stream of `kind`, or starts one.
    pub fn put(&mut self, kind: SectionKind, bytes: &[u8]) -> Result<(), S::Error> {
        self.switch(kind)?;
        self.append(bytes)
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<(), S::Error> {
        while !bytes.is_empty() {
            if self.used == N {
                self.emit()?;
            }
            let Some(free) = self.buffer.get_mut(self.used..) else { break };
            let length = free.len().min(bytes.len());
            let (now, later) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
            copy(now, free);
            self.used += length;
            bytes = later;
        }
        Ok(())
    }

    /// Appends a section of `kind` that stands, with this number, in another dump. Where it has the same
    /// number here its checksum is right already.
    pub fn put_section(
        &mut self,
        kind: SectionKind,
        (section, number): (&[u8], u32),
    ) -> Result<(), S::Error> {
        self.switch(kind)?;
        if self.used > HEADER || self.sequence == 0 || self.sequence != number {
            return self.append(section.get(HEADER..).unwrap_or_default());
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.sink.write(section)
    }

    /// Appends a record of a fixed layout.
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

    /// Room for words of a stream of them, at least so many; that must be no more than a section holds.
    /// Those put there take part after [`Writer::fill`].
    #[inline(always)]
    pub fn room(&mut self, kind: SectionKind, least: usize) -> Result<&mut [Word], S::Error> {
        let latest = N.wrapping_sub(least.wrapping_mul(size_of::<Word>()));
        if kind != self.kind || self.used > latest {
            self.emit()?;
            self.kind = kind;
        }
        let Some(free) = self.buffer.get_mut(self.used..) else { return Ok(&mut []) };
        Ok(free.as_chunks_mut().0)
    }

    /// So many words have been put into the room.
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
        self.emit()
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

    fn emit(&mut self) -> Result<(), S::Error> {
        if self.used <= HEADER {
            return Ok(());
        }
        if self.sequence == 0 {
            self.sink.write(FileHeader::NATIVE.as_bytes())?;
        }
        let end = self.used.next_multiple_of(8).min(N);
        if let Some(padding) = self.buffer.get_mut(self.used..end) {
            padding.iter_mut().for_each(|byte| *byte = 0);
        }
        let mut header = SectionHeader {
            crc: 0,
            kind: self.kind as u32,
            length: end.wrapping_sub(HEADER) as u32,
            sequence: self.sequence,
        };
        self.set_header(&header);
        header.crc = checksum(self.buffer.get(..end).unwrap_or_default());
        self.set_header(&header);
        self.sequence = self.sequence.wrapping_add(1);
        self.used = HEADER;
        self.sink.write(self.buffer.get(..end).unwrap_or_default())
    }

    fn set_header(&mut self, header: &SectionHeader) {
        let _ = header.write_to_prefix(self.buffer);
    }
}
