//! Checks the sizes that pages claim, before the crate reserves memory for them. The crate reads everything else.
//!
//! A page has a header, and behind it its bytes, often compressed. The header is a structure of Thrift's compact
//! protocol:
//!
//! | field | content |
//! |---|---|
//! | 1 | kind of the page |
//! | 2 | bytes of the decompressed page |
//! | 3 | bytes of the page in the file |
//! | others | skipped |
//!
//! A field begins with a byte. Its upper four bits are the distance from the last field's number, or 0 if the number
//! follows. Its lower four bits are the type. A 0 ends a structure.
//!
//! Sources: the Parquet format's `parquet.thrift`, and the Thrift compact protocol's specification.

use std::io::{self, ErrorKind, Read};
use std::prelude::v1::*;

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

use super::check::Defect;
use crate::formats::leb128;

/// Snappy decompresses 3 bytes to at most 64.
const MOST_GROWTH: u64 = 22;
/// Bytes that every page may claim.
const LEAST_CLAIM: u64 = 1 << 12;
/// Deepest nesting of structures. Headers of pages have three levels.
const DEEPEST: u32 = 8;
/// Most bytes of a header. The smallest and the largest value take most of them.
const LONGEST_HEADER: u64 = 16 << 20;

/// Compares the sizes that the pages of a column chunk claim with their bytes in the file.
pub fn check<R: ChunkReader>(source: &R, chunk: &ColumnChunkMetaData) -> Result<(), Defect> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let start = start.min(chunk.data_page_offset());
    let sizes = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    let Some((start, size)) = sizes else { return Err(damaged("a negative place")) };
    let end = start.checked_add(size).filter(|&end| end <= source.len());
    let Some(end) = end else { return Err(damaged("a column beyond the end of the file")) };
    let mut at = start;
    while at < end {
        let read = source.get_read(at).map_err(|error| damaged(&error.to_string()))?;
        let mut header = Header { read: read.take((end - at).min(LONGEST_HEADER)), used: 0 };
        let (whole, stored) = header.sizes().map_err(|error| damaged(&error.to_string()))?;
        let most = stored.saturating_mul(MOST_GROWTH).saturating_add(LEAST_CLAIM);
        if whole > most {
            return Err(Defect::Large { found: whole, most });
        }
        at = at.saturating_add(header.used).saturating_add(stored);
    }
    Ok(())
}

fn damaged(what: &str) -> Defect {
    Defect::Parquet(what.to_owned())
}

struct Header<R> {
    read: R,
    used: u64,
}

impl<R: Read> Header<R> {
    /// Bytes of the page, decompressed and in the file.
    fn sizes(&mut self) -> io::Result<(u64, u64)> {
        let (mut number, mut sizes) = (0i64, [None; 4]);
        loop {
            let head = self.byte()?;
            if head == 0 {
                break;
            }
            number = match head >> 4 {
                0 => zigzag(self.number()?),
                distance => number + i64::from(distance),
            };
            match (usize::try_from(number), head & 15) {
                (Ok(field @ 2..=3), 5) => sizes[field] = Some(zigzag(self.number()?)),
                (_, kind) => self.skip(kind, DEEPEST)?,
            }
        }
        let size = |field: usize| sizes[field].and_then(|size: i64| u64::try_from(size).ok());
        size(2).zip(size(3)).ok_or_else(|| wrong("a page without sizes"))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.read.read_exact(&mut byte)?;
        self.used += 1;
        Ok(byte[0])
    }

    fn number(&mut self) -> io::Result<u64> {
        leb128::read(|| self.byte())?.ok_or_else(|| wrong("a number that does not end"))
    }

    /// Skips a value of this type.
    fn skip(&mut self, kind: u8, deepest: u32) -> io::Result<()> {
        let deeper = deepest.checked_sub(1).ok_or_else(|| wrong("a header that does not end"))?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            4..=6 => self.number().map(drop),
            7 => self.bytes(8),
            8 => {
                let length = self.number()?;
                self.bytes(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let number = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                // Each element takes at least one byte.
                let number = number.min(LONGEST_HEADER);
                (0..number).try_for_each(|_| match head & 15 {
                    1 | 2 => self.byte().map(drop),
                    kind => self.skip(kind, deeper),
                })
            }
            12 => loop {
                match self.byte()? {
                    0 => return Ok(()),
                    head => {
                        if head >> 4 == 0 {
                            self.number()?;
                        }
                        self.skip(head & 15, deeper)?;
                    }
                }
            },
            _ => Err(wrong("a header with an unknown type")),
        }
    }

    fn bytes(&mut self, number: u64) -> io::Result<()> {
        self.used += number;
        match io::copy(&mut self.read.by_ref().take(number), &mut io::sink())? {
            found if found == number => Ok(()),
            _ => Err(ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

const fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
