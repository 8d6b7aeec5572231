//! Output files, written as a whole or not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use tempfile::TempPath;

use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::print::{Fill, print, print_with};
use crate::cli::terminal::visible::visible;
use crate::raw::writer::Sink;

/// Whether output may be shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// For people.
    Text,
    /// Not for terminals.
    Binary,
}

const STDOUT: u32 = 1;
/// As many links as the system follows.
const MOST_LINKS: usize = 40;

/// The destination of a dump or a `.gcda` file.
pub struct Out<'w>(pub &'w mut dyn Write);

impl Sink for Out<'_> {
    type Error = std::io::Error;

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes)
    }
}

/// Writes to a file, or to standard output for `-` or none.
pub fn write(path: Option<&Path>, bytes: &[u8], content: Content) -> Result<()> {
    write_with(path, content, &|out| out.write_all(bytes))
}

/// The same, part by part.
pub fn write_with(path: Option<&Path>, content: Content, fill: Fill<'_>) -> Result<()> {
    match path {
        Some(path) if path.as_os_str() != "-" && descriptor(path) != Some(STDOUT) => {
            keep_source(path)?;
            Ready::new(path, fill)?.put()
        }
        _ if content == Content::Binary && std::io::stdout().is_terminal() => {
            Err(Error::new("binary output to a terminal; choose a file with -o FILE"))
        }
        _ if std::io::stdout().is_terminal() => {
            let mut bytes = Vec::new();
            fill(&mut bytes).map_err(Error::new)?;
            print(for_terminal(&bytes).as_bytes())
        }
        _ => print_with(fill),
    }
}

/// Ends of the names of sources, which nobody makes again.
const SOURCES: [&str; 25] = [
    "c", "cc", "cpp", "cxx", "c++", "C", "h", "hh", "hpp", "hxx", "inc", "inl", "tcc", "rs", "m",
    "mm", "d", "go", "f", "f90", "F90", "adb", "ads", "S", "y",
];

/// Refuses to replace a source file, by the end of its name.
fn keep_source(path: &Path) -> Result<()> {
    let end = path.extension().and_then(|end| end.to_str());
    match end.is_some_and(|end| SOURCES.contains(&end)) && path.is_file() {
        true => Err(Error::about(path, "is a source file by its name; write to another place")),
        false => Ok(()),
    }
}

/// Text without what a terminal would act on: a file may have names that move the cursor, or worse. In files and pipes
/// the names stay as they are, for the programs that read them.
fn for_terminal(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let is_white = |letter| matches!(letter, '\n' | '\t');
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(is_white) {
        let line = part.trim_end_matches(is_white);
        shown += &visible(line);
        shown += &part[line.len()..];
    }
    shown
}

/// The number of this process's open file that a path such as `/dev/stdout` or `/dev/fd/3` means.
fn descriptor(path: &Path) -> Option<u32> {
    let open = fs::canonicalize("/proc/self/fd").ok()?;
    let mut path = path.to_owned();
    // Does not follow links to the end: an open file looks like a link to the name it was opened by.
    for _ in 0..MOST_LINKS {
        let directory = directory(&path).canonicalize().ok()?;
        if directory == open {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = directory.join(fs::read_link(&path).ok()?);
    }
    None
}

/// Replaces a file by another in one step, and makes missing directories. Replaces the target of a symbolic
/// link, not the link. Writes to devices, pipes and files that are open already.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    Ready::new(path, &|out| out.write_all(bytes))?.put()
}

/// A file whose bytes are on the disk under another name, or still to be written to a device. Dropping it
/// undoes everything.
pub struct Ready {
    path: PathBuf,
    bytes: Bytes,
}

enum Bytes {
    /// A file in the directory of the file to be replaced.
    Beside(TempPath),
    /// Bytes for what cannot be replaced: a device, a file that is open already, or the missing target of a
    /// link.
    Here(Vec<u8>),
}

impl Ready {
    /// Does everything that is likely to fail.
    pub fn new(path: &Path, fill: Fill<'_>) -> Result<Self> {
        // Where there are many files, most are plain or new.
        if fs::symlink_metadata(path).map_or(true, |found| found.is_file()) {
            return Self::beside(path.to_owned(), fill);
        }
        let is_open = descriptor(path).is_some();
        match (fs::canonicalize(path), fs::metadata(path)) {
            (_, Ok(found)) if found.is_dir() => Err(Error::about(path, "is a directory")),
            (Ok(target), Ok(found)) if found.is_file() && !is_open => Self::beside(target, fill),
            _ => {
                let mut bytes = Vec::new();
                fill(&mut bytes).about(path)?;
                Ok(Self { path: path.to_owned(), bytes: Bytes::Here(bytes) })
            }
        }
    }

    fn beside(path: PathBuf, fill: Fill<'_>) -> Result<Self> {
        let directory = directory(&path);
        let old = fs::metadata(&path).ok().map(|found| Rights::of(&found));
        let mut options = File::options();
        options.write(true).create_new(true).mode(old.map_or(0o666, |old| old.mode));
        // tempfile's own ways to create and write give errors with a file name that nobody knows.
        let create =
            || tempfile::Builder::new().make_in(directory, |temporary| options.open(temporary));
        let mut file = match create() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(directory).about(directory)?;
                create()
            }
            created => created,
        }
        .about(&path)?;
        fill(file.as_file_mut()).about(&path)?;
        // Who may not give it to the old one's owner keeps it.
        let _ = old.map(|old| old.give(file.as_file()));
        Ok(Self { path, bytes: Bytes::Beside(file.into_temp_path()) })
    }

    /// Puts the file in its place.
    pub fn put(self) -> Result<()> {
        match self.bytes {
            Bytes::Beside(file) => file.persist(&self.path).map_err(|error| error.error),
            Bytes::Here(bytes) => File::options()
                .append(true)
                .create(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(&bytes)),
        }
        .about(&self.path)
    }
}

/// The directory of a file, which need not exist yet.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// Whom a file belongs to, and who may do what with it.
#[derive(Clone, Copy)]
pub struct Rights {
    user: u32,
    group: u32,
    mode: u32,
}

impl Rights {
    /// Those of a file.
    pub fn of(found: &fs::Metadata) -> Self {
        Self { user: found.uid(), group: found.gid(), mode: found.mode() & 0o777 }
    }

    /// Those that a dump can have: its owner reads and writes it, and nobody executes it.
    pub fn of_dump(found: &fs::Metadata) -> Self {
        let all = Self::of(found);
        Self { mode: all.mode & 0o666 | 0o600, ..all }
    }

    /// Gives them to another file. An error if the owner is another user, and only root may give files away. A group
    /// that is not the old one gets no rights.
    pub fn give(self, file: &File) -> std::io::Result<()> {
        let new = Self::of(&file.metadata()?);
        let mut mode = self.mode;
        if (new.user, new.group) != (self.user, self.group)
            && let Err(error) = fchown(file, Some(self.user), Some(self.group))
        {
            if new.user != self.user {
                return Err(error);
            }
            mode &= 0o707;
        }
        file.set_permissions(fs::Permissions::from_mode(mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on() {
        let text = "f\x1b[2J\t\u{9b}1m\n\nm\u{fc}ller\r\n".as_bytes();
        assert_eq!(for_terminal(text), "f\\x1b[2J\t\\u{9b}1m\n\nm\u{fc}ller\\x0d\n");
        assert_eq!(for_terminal(b"\x9b"), "\u{fffd}");
    }
}
