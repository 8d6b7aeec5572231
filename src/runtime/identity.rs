//! The build that the archive was linked into: its build-id and its path.
#![allow(unsafe_code)]

use core::ptr::NonNull;

use object::NativeEndian as Endian;
#[cfg(target_pointer_width = "32")]
use object::elf::{
    FileHeader32 as FileHeader, NoteHeader32 as NoteHeader, ProgramHeader32 as ProgramHeader,
};
#[cfg(target_pointer_width = "64")]
use object::elf::{
    FileHeader64 as FileHeader, NoteHeader64 as NoteHeader, ProgramHeader64 as ProgramHeader,
};
use object::elf::{NT_GNU_BUILD_ID, PF_R, PF_W, PF_X, PT_LOAD, PT_NOTE};
use object::pod;

use super::output_path::{Path, without_deleted};
use super::sys::{self, Access};
use crate::raw::checksum::crc32;
use crate::raw::layout::BuildId;

/// The ELF header of a loaded image.
#[derive(Clone, Copy, Debug)]
pub struct Start(NonNull<u8>);

// SAFETY: what it points to is mapped for all threads and written by none.
unsafe impl Send for Start {}

/// Every image is mapped in pages of at least this size, the ELF header in the first.
const PAGE: usize = 4096;

impl Start {
    /// Takes the place of an ELF header.
    ///
    /// # Safety
    ///
    /// `header` must be the ELF header of a loaded image, at the start of a page, and the image
    /// must stay loaded as long as the value is used.
    pub const unsafe fn new(header: NonNull<u8>) -> Self {
        Self(header)
    }

    /// The build-id among the image's notes.
    pub fn build_id(self) -> Option<BuildId> {
        // SAFETY: the page that starts with the ELF header is mapped and is not written.
        let page = unsafe { core::slice::from_raw_parts(self.0.as_ptr(), PAGE) };
        let segments = segments(page)?;
        let mut notes = segments.iter().filter(|segment| segment.p_type.get(Endian) == PT_NOTE);
        notes.find_map(|note| {
            let (start, length) = loaded(segments, note)?;
            // SAFETY: a loaded segment has its start.
            let start = unsafe { self.0.as_ptr().add(start) };
            // SAFETY: a loaded segment has these bytes, and nobody writes notes.
            build_id_in(unsafe { core::slice::from_raw_parts(start, length) })
        })
    }

    /// A checksum of the image's code, which differs between builds.
    pub fn code_checksum(self) -> u32 {
        // SAFETY: as for `build_id`.
        let page = unsafe { core::slice::from_raw_parts(self.0.as_ptr(), PAGE) };
        let Some(segments) = segments(page) else { return 0 };
        let is_code = |segment: &&ProgramHeader<Endian>| {
            segment.p_type.get(Endian) == PT_LOAD
                && segment.p_flags.get(Endian) & (PF_R | PF_W | PF_X) == PF_R | PF_X
        };
        let mut checksum = 0u32;
        for segment in segments.iter().filter(is_code) {
            let Some((start, length)) = loaded(segments, segment) else { continue };
            // SAFETY: a loaded segment has its start.
            let start = unsafe { self.0.as_ptr().add(start) };
            // SAFETY: a loaded segment has these bytes, which may be read, and nobody writes them.
            let code = unsafe { core::slice::from_raw_parts(start, length) };
            checksum = checksum.rotate_left(1) ^ crc32(code);
        }
        checksum
    }
}

fn segments(image: &[u8]) -> Option<&[ProgramHeader<Endian>]> {
    let (header, _) = pod::from_bytes::<FileHeader<Endian>>(image).ok()?;
    let table = image.get(usize::try_from(header.e_phoff.get(Endian)).ok()?..)?;
    let (segments, _) = pod::slice_from_bytes(table, header.e_phnum.get(Endian).into()).ok()?;
    Some(segments)
}

/// Where notes lie in memory, from the ELF header, and their length. Linker scripts may put them behind other
/// segments, where their place in memory is not that in the file.
fn loaded(
    segments: &[ProgramHeader<Endian>],
    note: &ProgramHeader<Endian>,
) -> Option<(usize, usize)> {
    let (start, length) = (note.p_vaddr.get(Endian), note.p_filesz.get(Endian));
    let end = start.checked_add(length)?;
    let mut loads = segments.iter().filter(|segment| segment.p_type.get(Endian) == PT_LOAD);
    let header = loads.clone().find(|load| load.p_offset.get(Endian) == 0)?.p_vaddr.get(Endian);
    loads.find(|load| {
        let first = load.p_vaddr.get(Endian);
        first <= start
            && first.checked_add(load.p_filesz.get(Endian)).is_some_and(|behind| end <= behind)
    })?;
    Some((start.checked_sub(header)?.try_into().ok()?, length.try_into().ok()?))
}

/// Walks notes: a header, the name and the description, each padded to 4 bytes.
fn build_id_in(mut notes: &[u8]) -> Option<BuildId> {
    loop {
        let (header, rest) = pod::from_bytes::<NoteHeader<Endian>>(notes).ok()?;
        let name = header.n_namesz.get(Endian) as usize;
        let description = header.n_descsz.get(Endian) as usize;
        let (name, rest) = take_padded(rest, name)?;
        let (description, rest) = take_padded(rest, description)?;
        if name == b"GNU\0" && header.n_type.get(Endian) == NT_GNU_BUILD_ID {
            return Some(BuildId::from(description));
        }
        notes = rest;
    }
}

fn take_padded(bytes: &[u8], length: usize) -> Option<(&[u8], &[u8])> {
    Some((bytes.get(..length)?, bytes.get(length.checked_next_multiple_of(4)?..)?))
}

/// Writes the path of the image that `address` belongs to into `path`; nothing if the system does not tell.
/// `buffer` is for lines of the system's table of mappings.
pub fn image_path(address: usize, buffer: &mut [u8], path: &mut Path) {
    path.clear();
    let Ok(maps) = sys::open(c"/proc/self/maps", Access::Read) else { return };
    // Linux from 6.11 on answers for one mapping, which takes a tenth of the time.
    if let Ok(length) = sys::mapped_file(&maps, address, buffer) {
        let _ = path.push(without_deleted(buffer.get(..length).unwrap_or_default()));
        return;
    }
    while let Ok(read) = sys::read(&maps, buffer) {
        let read = buffer.get(..read).unwrap_or_default();
        let complete = read.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let lines = read.get(..complete).unwrap_or_default();
        if let Some(found) = lines.split(|&b| b == b'\n').find_map(|l| mapping_at(l, address)) {
            let _ = path.push(found);
            return;
        }
        // The next read begins with the rest of the last line.
        if complete == 0 || sys::step_back(&maps, read.len().wrapping_sub(complete)).is_err() {
            return;
        }
    }
}

/// The path in a line `start-end rights offset device inode   path`, if `address` lies in that range.
fn mapping_at(line: &[u8], address: usize) -> Option<&[u8]> {
    let dash = line.iter().position(|&byte| byte == b'-')?;
    let (start, rest) = line.split_at_checked(dash)?;
    let rest = rest.get(1..)?;
    let (end, _) = rest.split_at_checked(rest.iter().position(|&byte| byte == b' ')?)?;
    if !(hexadecimal(start)?..hexadecimal(end)?).contains(&address) {
        return None;
    }
    let path = line.get(line.iter().position(|&byte| byte == b'/')?..)?;
    Some(without_deleted(path))
}

fn hexadecimal(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0usize, |value, &digit| {
        Some(value << 4 | char::from(digit).to_digit(16)? as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_program_finds_itself() {
        let mut path = Path::new();
        // A buffer much smaller than the table, so that lines are carried over.
        image_path(image_path as *const () as usize, &mut [0; 512], &mut path);
        let own = std::env::current_exe().unwrap();
        assert_eq!(std::str::from_utf8(path.bytes()).unwrap(), own.to_str().unwrap());
    }

    #[test]
    fn build_id_as_readelf_prints_it() {
        unsafe extern "C" {
            static __ehdr_start: u8;
        }
        let path = std::env::current_exe().unwrap();
        // SAFETY: the linker puts it at the ELF header of the test program, which stays.
        let start = unsafe { Start::new(NonNull::from(&__ehdr_start)) };
        let found = start.build_id().unwrap();
        let printed = std::process::Command::new("readelf").arg("-n").arg(path).output().unwrap();
        let printed = std::string::String::from_utf8(printed.stdout).unwrap();
        let id: std::string::String =
            found.bytes.iter().take(found.length).map(|byte| std::format!("{byte:02x}")).collect();
        assert!(printed.contains(&id), "{id} not in {printed}");
    }
}
