//! Puts a new file in the place of an old one. At every instant one of them is there, whole.
//!
//! The new bytes go to `FILE.part` in the same directory, which then gets the name. That file is also the
//! lock: whoever holds its `flock`, and finds the name still on it, alone reads and replaces `FILE`. A killed
//! process leaves at most this one file, locked by nobody, and the next process removes it. A `FILE.part`
//! that is not ours is left alone. Nothing ever writes to what was once `FILE`.
//!
//! Nothing waits for the disk here. But when a new file is renamed over another, file systems begin to write
//! it out, so that after a power cut there is one or the other. Processes that end one upon the other would
//! spend most of their time on that: each file is written to the disk, and each process waits until the file
//! before is gone from it. They exchange the two names instead, which makes no file system write. Such a file
//! may be empty after a power cut, up to the half minute that it stays in memory.
//!
//! A file that cannot be merged is set aside: renamed to `FILE.aside-` and its inode number. No other file of
//! the directory can have got that name the same way.

use super::lock::Pauses;
use super::message::{Line, decimal};
use super::place::Path;
use super::problem::Problem;
use super::sys::{self, Access, Errno, Facts, File, Kind};
use crate::raw::layout::MAGIC;
use crate::raw::reader::{Damage, Defect, Source};
use crate::raw::writer::Sink;

/// The longest wait for other processes, in microseconds.
const PATIENCE: u32 = 30_000_000;
/// A file no older than this, in nanoseconds, means that several processes end together.
const TOGETHER: u64 = 1_000_000_000;
/// The file name of a user who wants no counts.
const NOWHERE: &[u8] = b"/dev/null";
/// Rights that the owner needs to go on with a file that a killed process has left.
const OWNER: u32 = 0o600;
/// As many links as the kernel follows.
const MOST_LINKS: u32 = 40;
/// Longest name in a directory, and room for what is appended when a file is set aside.
const LONGEST_NAME: usize = 255;
const ASIDE: usize = 7 + 20;

/// A file as a source of a dump.
#[derive(Clone, Copy)]
pub struct FileSource<'f>(pub &'f File);

impl Source for FileSource<'_> {
    type Error = Errno;

    fn read(&mut self, into: &mut [u8]) -> Result<usize, Errno> {
        sys::read(self.0, into)
    }
}

/// A file as the sink of a dump, or nothing.
#[derive(Clone, Copy)]
pub struct FileSink<'f>(pub Option<&'f File>);

impl Sink for FileSink<'_> {
    type Error = Errno;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.0.map_or(Ok(()), |file| sys::write(file, bytes))
    }
}

/// The paths of a replacement. They are long, and a signal handler's stack may be short, so they live with
/// the image.
#[derive(Debug)]
pub struct Names {
    /// The file to be replaced.
    pub target: Path,
    part: Path,
    /// Room for another path.
    pub other: Path,
    /// What was wrong with the old file, see [`Rewrite`].
    pub damage: Damage,
}

impl Names {
    /// No names yet.
    pub const fn new() -> Self {
        let damage = Damage { offset: 0, defect: Defect::Empty };
        Self { target: Path::new(), part: Path::new(), other: Path::new(), damage }
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::new()
    }
}

/// What becomes of the old file.
pub trait Rewrite {
    /// Writes the new file from the old one, and does what must be done before it takes its place. There is no old
    /// one if it is missing or was set aside. [`Problem::Damaged`] leaves in `names` what was wrong with it, and
    /// the next call has no old file.
    fn rewrite(&mut self, old: Option<&File>, new: &File, names: &mut Names)
    -> Result<(), Problem>;
}

/// Replaces the target.
///
/// An `impatient` caller knows that another image has waited for the lock in vain.
pub fn replace(
    names: &mut Names,
    impatient: bool,
    rewrite: &mut dyn Rewrite,
) -> Result<(), Problem> {
    names.follow_links()?;
    if names.target.bytes() == NOWHERE {
        return Ok(());
    }
    let (locked, new) = names.lock(if impatient { 0 } else { PATIENCE })?;
    let result = names.rewrite_locked(&locked, new, rewrite).and_then(|old| {
        names.put_in_place(old.as_ref())?;
        Ok(old)
    });
    match &result {
        Ok(Some(Old { facts, .. })) if facts.mode & OWNER != OWNER => {
            let _ = sys::set_mode(&locked, facts.mode);
        }
        Ok(_) => {}
        Err(_) => sys::remove(names.part.c_str()),
    }
    sys::unlock(&locked);
    // Only now the old file goes: closing it may wait for the disk.
    result.map(drop)
}

/// The file to be replaced.
struct Old {
    file: File,
    facts: Facts,
    /// Whether the new file has the same owner.
    has_heir: bool,
}

impl Names {
    /// Writes the new file, which is empty; gives the old one, if there is one.
    fn rewrite_locked(
        &mut self,
        new: &File,
        new_facts: Facts,
        rewrite: &mut dyn Rewrite,
    ) -> Result<Option<Old>, Problem> {
        let Some((old, facts)) = open_old(&self.target)? else {
            return rewrite.rewrite(None, new, self).map(|()| None);
        };
        // Keeps owner and rights as far as allowed. The next process must be able to open what a killed one
        // leaves.
        let has_heir = new_facts.owner == facts.owner || sys::set_owner(new, facts.owner).is_ok();
        if new_facts.mode != facts.mode | OWNER {
            let _ = sys::set_mode(new, facts.mode | OWNER);
        }
        match rewrite.rewrite(Some(&old), new, self) {
            Err(Problem::Damaged) => {
                self.set_aside(facts.identity.1)?;
                sys::rewind(new)?;
                rewrite.rewrite(None, new, self)?;
            }
            result => result?,
        }
        Ok(Some(Old { file: old, facts, has_heir }))
    }

    /// Gives the new file its name. If the old file is recent, the two exchange names.
    ///
    /// The old file is locked until its descriptor closes, so that nobody who finds it under the temporary
    /// name takes it for theirs. If this process is killed before it has removed the old file, the next
    /// process must be able to open it.
    fn put_in_place(&self, old: Option<&Old>) -> Result<(), Errno> {
        let (part, target) = (self.part.c_str(), self.target.c_str());
        if let Some(Old { file, facts, has_heir: true }) = old
            && sys::nanoseconds().abs_diff(facts.modified) < TOGETHER
            && facts.mode & OWNER == OWNER
            && sys::try_lock(file).is_ok()
            && sys::exchange(part, target).is_ok()
        {
            sys::remove(part);
            return Ok(());
        }
        sys::rename(part, target)
    }

    /// Makes the directories above the target, for other files beside it; `false` if no file is wanted.
    #[cfg(feature = "live")]
    pub fn prepare(&mut self) -> Result<bool, Errno> {
        self.follow_links()?;
        if self.target.bytes() == NOWHERE {
            return Ok(false);
        }
        if let Ok(facts) = sys::facts_at(self.target.c_str()) {
            return facts.must_be_a_file().map(|()| true);
        }
        self.part.set(self.target.bytes())?;
        self.make_directories().map(|()| true)
    }

    /// Opens and locks `FILE.part`, an empty file.
    fn lock(&mut self, patience: u32) -> Result<(File, Facts), Errno> {
        self.part.set(self.target.bytes())?;
        self.part.push(b".part")?;
        let mut pauses = Pauses::within(patience);
        let mut file = self.open_part()?;
        loop {
            match sys::try_lock(&file) {
                // If the last owner renamed or removed it in between, the next one is a new file.
                Ok(()) => match sys::facts(&file)? {
                    facts if !is_named(&self.part, &facts) => {}
                    facts if facts.size == 0 => return Ok((file, facts)),
                    _ => self.remove_left(&file)?,
                },
                Err(Errno::WOULDBLOCK | Errno::INTR) if !pauses.pause() => return Err(Errno::BUSY),
                Err(Errno::WOULDBLOCK | Errno::INTR) if still_named(&self.part, &file) => continue,
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(_) => return self.part_without_lock(),
            }
            file = self.open_part()?;
        }
    }

    /// Removes a `FILE.part` that a killed process has left. It may once have been `FILE`, and others may
    /// read it.
    fn remove_left(&self, file: &File) -> Result<(), Errno> {
        sys::remove(self.part.c_str());
        if still_named(&self.part, file) { Err(Errno::PERM) } else { Ok(()) }
    }

    /// Where the file system has no locks, every process writes a file under its own name, and the last to
    /// rename wins.
    #[inline(always)]
    fn part_without_lock(&mut self) -> Result<(File, Facts), Errno> {
        self.part.set(self.target.bytes())?;
        self.part.push(b".")?;
        self.part.push(&decimal(u64::from(sys::process())))?;
        self.part.push(b".part")?;
        let file = self.open_part()?;
        sys::rewind(&file)?;
        let facts = sys::facts(&file)?;
        Ok((file, facts))
    }

    fn open_part(&mut self) -> Result<File, Errno> {
        let file = match sys::open(self.part.c_str(), Access::Create) {
            Err(Errno::NOENT) => {
                self.make_directories()?;
                sys::open(self.part.c_str(), Access::Create)
            }
            result => result,
        };
        // Otherwise somebody else's directory, link, device or pipe would be removed in the end.
        let is_other = |error| matches!(error, Errno::ISDIR | Errno::LOOP | Errno::NXIO);
        let not_ours = |error| if is_other(error) { Errno::EXIST } else { error };
        let file = file.map_err(not_ours)?;
        let facts = sys::facts(&file)?;
        facts.must_be_a_file().map_err(not_ours)?;
        // Ours is empty, the start of a dump from a killed process, or zeros from a system that went down.
        let mut start = [0; MAGIC.len()];
        if facts.size > 0 {
            let length = sys::read(&file, &mut start)?;
            sys::step_back(&file, length)?;
        }
        if ![0, u64::from_ne_bytes(MAGIC)].contains(&u64::from_ne_bytes(start)) {
            return Err(Errno::EXIST);
        }
        if facts.mode & OWNER != OWNER {
            let _ = sys::set_mode(&file, facts.mode | OWNER);
        }
        Ok(file)
    }

    /// Makes the missing directories above the file.
    fn make_directories(&mut self) -> Result<(), Errno> {
        let bytes = self.part.directory();
        let slashes = bytes.iter().enumerate().filter(|&(place, &byte)| byte == b'/' && place > 0);
        for (end, _) in slashes {
            self.other.set(bytes.get(..end).unwrap_or_default())?;
            match sys::make_directory(self.other.c_str()) {
                Ok(()) | Err(Errno::EXIST) => {}
                // A directory further up exists, but is not ours to write.
                Err(_) if sys::facts_at(self.other.c_str()).is_ok() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Goes on to the file itself while the target is a symbolic link.
    pub fn follow_links(&mut self) -> Result<(), Errno> {
        for _ in 0..MOST_LINKS {
            match sys::facts_at(self.target.c_str()) {
                Ok(Facts { kind: Kind::Link, .. }) => {}
                _ => return Ok(()),
            }
            let Self { target, part: link, other, .. } = self;
            link.read_link(target.c_str());
            other.clear();
            if !link.bytes().starts_with(b"/") {
                other.push(target.directory())?;
            }
            other.push(link.bytes())?;
            target.set(other.bytes())?;
        }
        Err(Errno::LOOP)
    }

    /// Renames a file that cannot be merged, and says so.
    // A function, so that the line does not lie below every flush.
    #[cold]
    #[inline(never)]
    fn set_aside(&mut self, inode: u64) -> Result<(), Errno> {
        let Self { target, other: aside, damage, .. } = self;
        // Keeps as much of a long name as leaves room for the rest.
        let (path, directory) = (target.bytes(), target.directory().len());
        let end = path.len().min(directory.saturating_add(LONGEST_NAME - ASIDE));
        aside.set(path.get(..end).unwrap_or(path))?;
        aside.push(b".aside-")?;
        aside.push(&decimal(inode))?;
        sys::rename(target.c_str(), aside.c_str())?;
        let mut line = Line::about(target.bytes());
        line.text(damage.defect.summary()).text(b" at ").offset(damage.offset);
        line.text(b"; the file was set aside as ").text(aside.bytes()).print();
        Ok(())
    }
}

fn open_old(target: &Path) -> Result<Option<(File, Facts)>, Errno> {
    let file = match sys::open(target.c_str(), Access::Read) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error),
    };
    let facts = sys::facts(&file)?;
    facts.must_be_a_file()?;
    // An empty file holds nothing to lose; it counts as missing.
    Ok((facts.size > 0).then_some((file, facts)))
}

/// Whether a name stands for an open file.
pub fn still_named(part: &Path, file: &File) -> bool {
    sys::facts(file).is_ok_and(|opened| is_named(part, &opened))
}

fn is_named(part: &Path, opened: &Facts) -> bool {
    sys::facts_at(part.c_str()).is_ok_and(|named| opened.identity == named.identity)
}
