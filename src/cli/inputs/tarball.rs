//! Tar archives in place of input files: what boards and CI jobs send. What is in them is as below a folder.
//!
//! The dumps, profiles, counters, notes and objects of an archive, by the ends of their names, are unpacked into a
//! temporary folder, because notes are found beside counters by path. Other files are not: an archive may hold a whole
//! build. [`remove_all`] removes the folder when the command ends.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::prelude::v1::*;
use std::sync::{Mutex, PoisonError};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, Header};
use tempfile::TempDir;

use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;

/// Where an archive's first header has its magic number.
const MAGIC_PLACE: usize = 257;
const MAGIC: &[u8] = b"ustar";
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Enough to recognise an archive, also a compressed one.
const BEGINNING: u64 = 4096;
/// First bytes of other compressed files, and what they are.
const OTHERS: [(&[u8], &str); 3] =
    [(b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2")];

/// Files by the ends of their names: counters, notes, objects, dumps and profiles.
const WANTED: [&str; 10] =
    ["gcda", "gcno", "o", "csraw", "profraw", "profdata", "proftext", "afdo", "gcov", "prof"];

/// The folders that were made, and in each the one that has the archive's name and files.
static UNPACKED: Mutex<Vec<(TempDir, PathBuf)>> = Mutex::new(Vec::new());

/// Removes the unpacked files.
pub fn remove_all() {
    UNPACKED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// The folders that have the files of archives. Notes are looked for there, too.
pub fn folders() -> Vec<PathBuf> {
    let unpacked = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
    unpacked.iter().map(|(_, inside)| inside.clone()).collect()
}

/// The path of an unpacked file in its archive, or nothing if the file is not unpacked.
pub fn inside(file: &Path) -> Option<PathBuf> {
    folders().iter().find_map(|folder| file.strip_prefix(folder).ok().map(Path::to_owned))
}

/// The folder with the files of an archive, or nothing if the file is none.
pub fn unpacked(path: &Path) -> Result<Option<PathBuf>> {
    // What cannot be read is reported by whoever reads it.
    let Some(beginning) = beginning(path) else { return Ok(None) };
    let is_archive =
        |bytes: &[u8]| bytes.get(MAGIC_PLACE..).is_some_and(|at| at.starts_with(MAGIC));
    let open = || File::open(path).map(BufReader::new).about(path);
    if is_archive(&beginning) {
        return unpack(path, open()?).map(Some);
    }
    if beginning.starts_with(&GZIP) {
        let mut start = Vec::new();
        // The end of the beginning is no end of the file, so this is an error.
        let _ = MultiGzDecoder::new(&*beginning).take(BEGINNING).read_to_end(&mut start);
        return match is_archive(&start) {
            true => unpack(path, MultiGzDecoder::new(open()?)).map(Some),
            false => Err(Error::about(path, "0x0: compressed with gzip, and no tar archive")),
        };
    }
    match OTHERS.iter().find(|(start, _)| beginning.starts_with(start)) {
        Some((_, kind)) => {
            let what =
                format!("0x0: compressed with {kind}; unpack it first, or compress it with gzip");
            Err(Error::about(path, what))
        }
        None => Ok(None),
    }
}

/// The first bytes of a file.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let mut beginning = Vec::new();
    let (file, _) = super::input::open_regular(path).ok()?;
    file.take(BEGINNING).read_to_end(&mut beginning).ok()?;
    Some(beginning)
}

/// Unpacks an archive. If it ends too early, the files before that count, and the last one is a damaged file. Behind a
/// damaged header the next good one is looked for.
fn unpack(path: &Path, content: impl Read) -> Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("countersink-").tempdir().about(path)?;
    let name = path.file_name().map_or_else(|| "archive".into(), PathBuf::from);
    let inside = folder.path().join(name);
    std::fs::create_dir(&inside).about(path)?;
    UNPACKED.lock().unwrap_or_else(PoisonError::into_inner).push((folder, inside.clone()));
    let mut content = Blocks { found: None, content, place: 0 };
    let (mut files, mut start) = (0, 0);
    loop {
        let mut archive = Archive::new(content);
        let put = put_all(&mut archive, start, path, &inside, &mut files)?;
        content = archive.into_inner();
        let Err(error) = put else {
            read_to_the_end(&mut content, path);
            break;
        };
        let what = format!("{:#x}: {}", content.place.saturating_sub(BLOCK as u64), cause(&error));
        let is_again = content.find_header();
        if !is_again && files == 0 {
            return Err(Error::about(path, what));
        }
        let left = if is_again { "the files before the next good header" } else { "the rest" };
        warn(path, format!("{what}; left out: {left}"));
        if !is_again {
            break;
        }
        start = content.place - BLOCK as u64;
    }
    Ok(inside)
}

/// Reads what follows the end of the archive: the checksum of a compressed one is there.
fn read_to_the_end(content: &mut Blocks<impl Read>, path: &Path) {
    if let Err(error) = std::io::copy(content, &mut std::io::sink()) {
        let what = "the archive is damaged, so its counts may be wrong";
        warn(path, format!("{:#x}: {}: {what}", content.place, cause(&error)));
    }
}

/// Writes the wanted files up to the first damaged header, and counts them. `start` is where the archive begins.
fn put_all<R: Read>(
    archive: &mut Archive<Blocks<R>>,
    start: u64,
    path: &Path,
    inside: &Path,
    files: &mut usize,
) -> Result<std::io::Result<()>> {
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return Ok(Err(error)),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Ok(Err(error)),
        };
        let place = start + entry.raw_file_position();
        match put(entry, inside) {
            Ok(is_wanted) => *files += usize::from(is_wanted),
            Err(error) if error.kind() == ErrorKind::StorageFull => {
                return Err(Error::about(std::env::temp_dir(), error));
            }
            Err(error) => {
                warn(path, format!("{place:#x}: {}", cause(&error)));
            }
        }
    }
    Ok(Ok(()))
}

/// The blocks of an archive.
struct Blocks<R> {
    /// A header that was found, as far as it has not been read.
    found: Option<Cursor<[u8; BLOCK]>>,
    content: R,
    /// Number of bytes that were read.
    place: u64,
}

/// The size of a header, and of what the content of a file is a multiple of.
const BLOCK: usize = 512;

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if let Some(found) = &mut self.found {
            match found.read(into)? {
                0 => self.found = None,
                some => return Ok(some),
            }
        }
        let some = self.content.read(into)?;
        self.place += some as u64;
        Ok(some)
    }
}

impl<R: Read> Blocks<R> {
    /// Goes on to the next good header. Says whether there is one that can be read.
    fn find_header(&mut self) -> bool {
        self.found = None;
        let mut block = [0; BLOCK];
        let mut begun = (self.place % BLOCK as u64) as usize;
        loop {
            if self.read_exact(&mut block[begun..]).is_err() {
                return false;
            }
            if begun == 0 && is_header(&block) {
                self.found = Some(Cursor::new(block));
                return true;
            }
            begun = 0;
        }
    }
}

/// Whether a block has the magic and the checksum of a header.
fn is_header(block: &[u8; BLOCK]) -> bool {
    const CHECKSUM: Range<usize> = 148..156;
    let blank = |(place, &byte): (usize, &u8)| match CHECKSUM.contains(&place) {
        true => u32::from(b' '),
        false => byte.into(),
    };
    let sum: u32 = block.iter().enumerate().map(blank).sum();
    block[MAGIC_PLACE..].starts_with(MAGIC)
        && Header::from_byte_slice(block).cksum().is_ok_and(|expected| expected == sum)
}

/// The first cause of an error. The others name only temporary files.
fn cause(error: &std::io::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Larger files are no counters, notes or profiles. A few bytes of an archive may stand for them.
const LARGEST: u64 = 1 << 30;

/// Writes a file of the archive, if it is wanted.
fn put(mut entry: Entry<'_, impl Read>, inside: &Path) -> std::io::Result<bool> {
    let path = entry.path()?.into_owned();
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_wanted = match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse | EntryType::Link => {
            extension.is_some_and(|extension| WANTED.contains(&extension))
        }
        // The kernel links from its counters to the notes of its build.
        EntryType::Symlink => extension == Some("gcno"),
        _ => false,
    };
    // A path that leaves the folder is not written.
    let stays = path.components().all(|part| part != Component::ParentDir);
    if !is_wanted {
        return Ok(false);
    }
    let refused = |why| Err(std::io::Error::other(format!("{}: {why}", path.display())));
    match (stays, entry.size()) {
        (false, _) => refused("a path out of the archive; left out"),
        (true, LARGEST..) => refused("more than 1 GiB; left out"),
        (true, _) => entry.unpack_in(inside),
    }
}
