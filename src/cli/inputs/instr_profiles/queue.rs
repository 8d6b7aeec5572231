//! Files that wait to be read, in their order. Small ones are read as soon as they are opened, several at a time.
//!
//! There may be thousands. So nobody looks a path up only to learn how large its file is: the open file says so.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rayon::prelude::*;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::retry_on_intr;

use crate::cli::inputs::input::Input;
use crate::cli::inputs::missing::missing;
use crate::cli::terminal::error::{Context, Result};

/// Most files in memory at a time.
const FILES: usize = 64;
/// Most bytes of them, unless it is one file.
const BYTES: u64 = 4 << 20;
/// A file of more bytes is not read when it is opened.
const SMALL: u64 = BYTES / FILES as u64;

/// What becomes of directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directories {
    /// They are errors.
    Refused,
    /// All regular files in them and below are read, sorted by name.
    Opened,
}

/// A file that is to be read, and the factor for its counts.
#[derive(Clone, Debug)]
pub struct Listed {
    /// `-` is standard input.
    pub path: PathBuf,
    pub weight: u64,
}

/// A file of the queue.
pub struct Queued {
    file: Listed,
    content: Content,
}

/// How far a file has been read.
enum Content {
    Unopened,
    Directory,
    /// Open, but large; or of a length that nobody knows, which is 0 here. `None` is standard input.
    Unread(Option<File>, u64),
    Read(Box<Result<Input>>),
}

/// The files that nobody has taken.
pub struct Queue {
    files: VecDeque<Queued>,
    directories: Directories,
}

impl Queued {
    fn unopened(file: Listed) -> Self {
        Self { file, content: Content::Unopened }
    }

    /// What is in the file. Reads it, unless that has been done.
    pub fn input(self) -> (Listed, Result<Input>) {
        let input = match self.content {
            Content::Read(input) => *input,
            Content::Unread(Some(file), length) => of_open(&self.file.path, file, length),
            _ => Input::read(&self.file.path),
        };
        (self.file, input)
    }

    fn read(self) -> Self {
        let (file, input) = self.input();
        Self { file, content: Content::Read(Box::new(input)) }
    }

    fn open(&mut self, directories: Directories) {
        let path = &self.file.path;
        if matches!(self.content, Content::Unopened) {
            self.content = Content::of(path, directories)
                .unwrap_or_else(|error| Content::Read(Box::new(Err(missing(path, error)))));
        }
    }

    /// How many bytes it needs in memory. Where nobody knows the length, there may be too many.
    fn bytes(&self) -> u64 {
        match &self.content {
            Content::Unread(_, 0) => BYTES + 1,
            Content::Unread(_, length) => *length,
            Content::Read(input) => {
                input.as_ref().as_ref().map_or(0, |input| input.bytes.len() as u64)
            }
            Content::Unopened | Content::Directory => 0,
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.content, Content::Read(_) | Content::Unread(..))
    }
}

impl Content {
    /// What a path leads to.
    fn of(path: &Path, directories: Directories) -> std::io::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Unread(None, 0));
        }
        // Opening a pipe waits for its writer, which may write to another pipe of the queue first.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        let found = file.metadata()?;
        if found.is_dir() && directories == Directories::Opened {
            return Ok(Self::Directory);
        }
        let length = if found.is_file() { found.len() } else { 0 };
        Ok(match found.is_file() && length <= SMALL {
            true => Self::Read(Box::new(Input::of_open(path, file, length))),
            false => Self::Unread(Some(file), length),
        })
    }
}

impl Queue {
    /// A queue of these files. `first` is the first one, if it has been read.
    pub fn new(files: Vec<Listed>, first: Option<Input>, directories: Directories) -> Self {
        let mut files: VecDeque<Queued> = files.into_iter().map(Queued::unopened).collect();
        if let (Some(file), Some(first)) = (files.front_mut(), first) {
            file.content = Content::Read(Box::new(Ok(first)));
        }
        Self { files, directories }
    }

    /// The next files that are passed on together; none at the end. They have been read, unless it is one large file.
    pub fn take(&mut self) -> Result<Vec<Queued>> {
        while self.files.front().is_some_and(|file| !file.is_open()) {
            let (files, directories) = (self.files.make_contiguous(), self.directories);
            let number = files.len().min(FILES);
            files[..number].par_iter_mut().for_each(|file| file.open(directories));
            self.open_directory()?;
        }
        let mut sum = 0;
        let fits = |file: &&Queued| {
            sum += file.bytes();
            file.is_open() && sum <= BYTES
        };
        let number = self.files.iter().take(FILES).take_while(fits).count().max(1);
        let files: Vec<Queued> = self.files.drain(..number.min(self.files.len())).collect();
        let are_small = files.iter().map(Queued::bytes).sum::<u64>() <= BYTES;
        // A large file is read when its turn has come: the one before it may still be in memory.
        Ok(if are_small { files.into_par_iter().map(Queued::read).collect() } else { files })
    }

    /// Puts the entries of a directory in its place, if it is the first one.
    fn open_directory(&mut self) -> Result<()> {
        let is_directory = |file: &Queued| matches!(file.content, Content::Directory);
        if !self.files.front().is_some_and(is_directory) {
            return Ok(());
        }
        let Some(directory) = self.files.pop_front() else { return Ok(()) };
        let Listed { path, weight } = directory.file;
        for path in entries(&path)?.into_iter().rev() {
            self.files.push_front(Queued::unopened(Listed { path, weight }));
        }
        Ok(())
    }
}

/// Reads a file that was opened without waiting.
fn of_open(path: &Path, file: File, length: u64) -> Result<Input> {
    if length == 0 {
        wait_for_writer(&file).map_err(|error| missing(path, error.into()))?;
    }
    Input::of_open(path, file, length)
}

/// Waits until a pipe can be read: before its writer comes, it seems to be at its end.
fn wait_for_writer(file: &File) -> rustix::io::Result<()> {
    fcntl_setfl(file, OFlags::empty())?;
    retry_on_intr(|| poll(&mut [PollFd::new(file, PollFlags::IN)], None)).map(drop)
}

/// These files, and all files of these directories and below. None is read.
pub fn all_files(given: Vec<Listed>) -> Result<Vec<Listed>> {
    let mut files = Vec::new();
    for Listed { path, weight } in given {
        if path.as_os_str() != "-" && std::fs::metadata(&path).about(&path)?.is_dir() {
            let entries = entries(&path)?.into_iter().map(|path| Listed { path, weight });
            files.extend(all_files(entries.collect())?);
        } else {
            files.push(Listed { path, weight });
        }
    }
    Ok(files)
}

/// The files and directories in a directory, sorted by name, as well as links to such. Others may never end: GNU make
/// leaves pipes in directories for temporary files, for instance.
fn entries(path: &Path) -> Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).about(path)? {
        let entry = entry.about(path)?;
        // The directory mostly says what it is; only a link must be followed.
        let mut kind = entry.file_type().about(path)?;
        if kind.is_symlink() {
            let Ok(target) = std::fs::metadata(entry.path()) else { continue };
            kind = target.file_type();
        }
        if kind.is_file() || kind.is_dir() {
            entries.push(entry.path());
        }
    }
    entries.sort();
    Ok(entries)
}
