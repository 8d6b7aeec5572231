//! `countersink fold`.
//!
//! Keeps to the runtime's rules, since programs may start and end meanwhile. Whoever holds the lock of
//! `FILE.part` replaces the dump, and whoever holds the lock of a live file owns it. The dump's END section
//! tells which live file was added last. So each is added exactly once, wherever this or another process is
//! interrupted.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::cli::inputs::input::read_regular;
use crate::cli::inputs::live_files::{directory, dump_of, number_beside};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::Rights;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::say;
use crate::convert::number::Number;
use crate::raw::dump::Dump;
use crate::raw::layout::MAGIC;
use crate::raw::live;

/// The longest wait for the lock of a dump.
const PATIENCE: Duration = Duration::from_secs(60);
/// Rights of a file while it is made ready.
const PRIVATE: u32 = 0o600;
/// Others may write to the folder, and put a link there.
const NO_LINK: i32 = OFlags::NOFOLLOW.bits().cast_signed();
const PAUSE: Duration = Duration::from_millis(2);

/// Add to dumps what killed programs have left in live files
///
/// A program with live counters (`flags --live`) that does not come to its end leaves FILE.live.N. The
/// next start of the same build adds it to FILE; this does so now, of any build, exactly once, whoever
/// else is at it. Files of processes that still run are left to them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink fold prog.csraw
  countersink convert prog.csraw -o prog.afdo")]
pub struct Fold {
    /// Dumps, which need not be there yet, with live files beside them
    #[arg(value_name = "FILE", required = true)]
    dumps: Vec<PathBuf>,
}

/// What became of the live files of a dump.
#[derive(Default)]
struct Folded {
    added: usize,
    /// Number of those whose processes still run.
    running: usize,
    /// Number of those that are no live files, or damaged.
    wrong: usize,
}

impl Fold {
    pub fn run(&self) -> Result<Outcome> {
        let mut outcome = Outcome::Done;
        for dump in &self.dumps {
            let target = target(dump);
            if number_beside(&target) == 0 && !is_dump(&target) {
                if let Some(owner) = dump_of(dump) {
                    let what = format!("a live file; name the dump that it is of, {owner}");
                    return Err(Error::about(dump, what));
                }
                return Err(Error::about(dump, "neither a dump nor has it live files beside it"));
            }
            let Folded { added, running, wrong } = fold(&target)?;
            if wrong > 0 {
                outcome = Outcome::Found;
            }
            let running = match running {
                0 => String::new(),
                more => format!(", {more} of running processes left to them"),
            };
            let added = Number(added as u64, "live file");
            say(format_args!("{}: {added} added{running}", dump.display()));
        }
        Ok(outcome)
    }
}

fn is_dump(path: &Path) -> bool {
    let mut magic = [0; 6];
    let file = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    file.is_ok() && magic == MAGIC[..6]
}

/// The dump itself, behind a symbolic link, even if it is not there yet.
fn target(dump: &Path) -> PathBuf {
    match (fs::canonicalize(dump), fs::read_link(dump)) {
        (Ok(target), _) => target,
        (_, Ok(link)) => dump.parent().unwrap_or(Path::new("")).join(link),
        _ => dump.to_owned(),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".");
    path.push(suffix);
    path.into()
}

fn fold(target: &Path) -> Result<Folded> {
    let mut folded = Folded::default();
    for number in 0..live::MOST_FILES {
        let path = with_suffix(target, &format!("live.{number}"));
        match open_to_own(&path, false) {
            Ok(Taken::Missing) => {}
            Ok(Taken::Others) => folded.running += 1,
            Ok(Taken::Ours(file)) => match LiveFile::read(path, number, file) {
                Ok(left) => folded.added += usize::from(add(left, target)?),
                Err(error) => folded.tell(&error),
            },
            Err(error) => folded.tell(&error),
        }
    }
    Ok(folded)
}

impl Folded {
    /// Reports a bad file. It does not stop the others.
    fn tell(&mut self, error: &Error) {
        self.wrong += 1;
        say(error);
    }
}

/// A file that is to be ours alone.
enum Taken {
    Ours(File),
    Others,
    Missing,
}

/// Opens and locks a file.
fn open_to_own(path: &Path, create: bool) -> Result<Taken> {
    let found = fs::symlink_metadata(path);
    if found.is_ok_and(|found| !found.is_file()) {
        return Err(Error::about(path, "not a regular file"));
    }
    let mut options = File::options();
    options.read(true).write(true).custom_flags(NO_LINK);
    let made = match create {
        true => options.clone().create_new(true).mode(PRIVATE).open(path),
        false => Err(ErrorKind::AlreadyExists.into()),
    };
    let opened = match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => options.open(path),
        made => made,
    };
    let file = match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Taken::Missing),
        result => result.about(path)?,
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) if is_named(&file, path) => Ok(Taken::Ours(file)),
        // Another process has just renamed or removed it.
        Ok(()) => Ok(Taken::Missing),
        Err(Errno::WOULDBLOCK) => Ok(Taken::Others),
        Err(error) => Err(Error::about(path, error)),
    }
}

fn is_named(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(opened), Ok(named)) => identity(opened) == identity(named),
        _ => false,
    }
}

/// A live file that no process has.
struct LiveFile {
    path: PathBuf,
    number: u64,
    file: File,
    /// Its content. Its process is gone, so only the id may change.
    counts: Dump,
}

impl LiveFile {
    fn read(path: PathBuf, number: u64, mut file: File) -> Result<Self> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).about(&path)?;
        let counts = match live::is_begun(&bytes) {
            true => Dump::default(),
            false => Dump::parse_live(&bytes).about(&path)?,
        };
        Ok(Self { path, number, file, counts })
    }

    /// Its id as it is now, with its number; 0 if it has been added.
    fn id(&self) -> Result<u64> {
        if self.counts.modules.is_empty() {
            return Ok(0);
        }
        let mut id = [0; 8];
        match self.file.read_exact_at(&mut id, live::ID) {
            // It was cut short before anything was counted.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
            result => result.about(&self.path).map(|()| match u64::from_ne_bytes(id) {
                0 => 0,
                id => live::renumbered(id, self.number),
            }),
        }
    }

    /// Removes the file after its counts have been added to the dump.
    fn remove(&self) -> Result<()> {
        settle(&self.file).and_then(|()| fs::remove_file(&self.path)).about(&self.path)
    }
}

/// Takes a live file's id from it, so that nobody adds it any more.
fn settle(file: &File) -> std::io::Result<()> {
    file.write_all_at(&0u64.to_ne_bytes(), live::ID)
}

/// Whether a file is empty, or left by a killed process: the start of a dump, or zeros if the whole system
/// went down. Somebody else's file must not be emptied.
fn is_left_over(part: &File) -> std::io::Result<bool> {
    let mut start = [0; MAGIC.len()];
    match part.read_exact_at(&mut start, 0) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(part.metadata()?.len() == 0),
        read => read.map(|()| start == MAGIC || start == [0; MAGIC.len()]),
    }
}

/// The right to replace the dump, and the file that will replace it.
struct Part {
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl Part {
    fn lock(target: &Path) -> Result<Self> {
        let path = with_suffix(target, "part");
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match open_to_own(&path, true)? {
                Taken::Ours(file) if !is_left_over(&file).about(&path)? => {
                    return Err(Error::about(path, "not ours, and where the dump is made ready"));
                }
                Taken::Ours(file) => return Ok(Self { path, file, renamed: false }),
                Taken::Missing => {}
                Taken::Others => std::thread::sleep(PAUSE),
            }
        }
        Err(Error::about(path, "another process has it locked"))
    }

    fn replace(&mut self, target: &Path, bytes: &[u8]) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all(bytes)?;
        self.give_rights(target)?;
        fs::rename(&self.path, target)?;
        self.renamed = true;
        Ok(())
    }
}

impl Part {
    /// The owner and the rights of the old dump, or else the usual rights of a new file.
    fn give_rights(&self, target: &Path) -> std::io::Result<()> {
        let old = fs::symlink_metadata(target).map(|old| Rights::of_dump(&old));
        if old.is_ok_and(|old| old.give(&self.file).is_ok()) {
            return Ok(());
        }
        let usual = tempfile::Builder::new().make_in(directory(target), |path| {
            File::options().write(true).create_new(true).mode(0o666).open(path)
        })?;
        let mode = usual.as_file().metadata()?.mode();
        self.file.set_permissions(fs::Permissions::from_mode(mode | PRIVATE))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Adds a live file to the dump and removes it. Says whether there was anything to add.
fn add(mut left: LiveFile, target: &Path) -> Result<bool> {
    let mut part = Part::lock(target)?;
    // Read under the lock: until then others may add it.
    let id = left.id()?;
    if id == 0 {
        left.remove()?;
        return Ok(false);
    }
    let mut dump = match read_regular(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => Dump::default(),
        old => match old.about(target)? {
            empty if empty.is_empty() => Dump::default(),
            old => whole(Dump::parse(&old).about(target)?, target)?,
        },
    };
    let is_new = dump.last_live != id;
    if is_new {
        let counts = std::mem::take(&mut left.counts);
        dump.merge(counts);
        settle_before(target, dump.last_live)?;
        dump.last_live = id;
        part.replace(target, &dump.to_bytes()).about(target)?;
    }
    left.remove()?;
    Ok(is_new)
}

/// A dump of which nothing is left out: what is written in its place would lack that.
fn whole(dump: Dump, target: &Path) -> Result<Dump> {
    match dump.left_out.first() {
        Some(left) => Err(Error::about(target, left.damage)),
        None => Ok(dump),
    }
}

/// Takes the id from the live file that was added before, if it is still there: the dump is about to forget
/// that id.
fn settle_before(target: &Path, id: u64) -> Result<()> {
    let path = with_suffix(target, &format!("live.{}", id % live::MOST_FILES));
    let mut options = File::options();
    let open = options.read(true).write(true).custom_flags(NO_LINK).open(&path);
    let Ok(file) = open else { return Ok(()) };
    let mut found = [0; 8];
    let is_it = file.read_exact_at(&mut found, live::ID).is_ok()
        && live::is_same(u64::from_ne_bytes(found), id);
    if id != 0 && is_it { settle(&file).about(path) } else { Ok(()) }
}
