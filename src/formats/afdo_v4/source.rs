//! The sources of a file: their paths, and where their symbols are.

use core::ops::Range;

use super::check::{Defect, Finding};
use super::number::Input;

/// A source file, and where its symbols are.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Its path, empty for the unknown one.
    pub path: &'a [u8],
    /// The ids of the symbols that it declares.
    pub ids: Range<u32>,
    pub(super) offset: u64,
    pub(super) string_table: u32,
    pub(super) symbol_names: u32,
}

/// Decodes the entry of a source.
pub(super) fn source<'a>(input: &mut Input<'a>) -> Result<Source<'a>, Finding> {
    let offset = input.offset();
    let length = input.u32()?;
    let path = match input.take(length as usize)? {
        [path @ .., 0] if !path.contains(&0) => path,
        _ => return input.error(offset, Defect::FileName),
    };
    let (string_table, symbol_names) = (input.u32()?, input.u32()?);
    let ids = input.u32()?..input.u32()?;
    Ok(Source { path, ids, offset, string_table, symbol_names })
}
