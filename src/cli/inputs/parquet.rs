//! Tables in Parquet files as inputs in place of dumps and profiles. [`crate::formats::parquet`] knows their columns.

use std::fs::File;
use std::path::Path;
use std::prelude::v1::*;

use super::format::Format;
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::message::warn;
use crate::convert::number::Number;
use crate::formats::afdo_v4::encode::{Encoding, encode};
use crate::formats::parquet::{self, Content, Limited};

/// Reads a table. Gives its sum as the bytes of a dump, or of a profile of version 4.
pub fn read(name: &Path, file: File) -> Result<(Format, Vec<u8>)> {
    sum_of(name, parquet::decode_and_note(file).about(name)?)
}

/// Reads a table from bytes, such as those of a pipe.
pub fn read_bytes(name: &Path, bytes: Vec<u8>) -> Result<(Format, Vec<u8>)> {
    sum_of(name, parquet::decode_and_note(bytes::Bytes::from(bytes)).about(name)?)
}

fn sum_of(name: &Path, (content, limited): (Content, Limited)) -> Result<(Format, Vec<u8>)> {
    let (sum, limit) = match content {
        Content::Dump(dump) => {
            ((Format::Dump, dump.to_bytes()), "LLVM's stop at this number, others wrap as in gcc")
        }
        Content::Profile(profile) => {
            let bytes = encode(&profile, Encoding::Normal).about(name)?;
            ((Format::V4, bytes), "they stop at this number")
        }
    };
    if let Some(first) = limited.first {
        let counts = Number(limited.number, "count");
        warn(name, format_args!("{first}; {counts} too large: {limit}"));
    }
    Ok(sum)
}
