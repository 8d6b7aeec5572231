//! Puts a new file in the place of an old one. At every instant one of them is there, whole.
//!
//! The new bytes go to `FILE.part` in the same directory, which then gets the name. That file is also the
//! lock: whoever holds its `flock`, and finds the name still on it, alone reads and replaces `FILE`. A killed
//! process leaves at most this one file, locked by nobody, and the next process removes it. A `FILE.part`
//! that is not ours is left alone. Nothing ever writes to what was once `FILE`.
//!
//! `FILE.part` is for its owner alone until the moment before it gets the name, so nobody else can hold its lock. Where
//! several users share a directory, each waits until the name is free. What stands still there, and may be
//! locked by somebody who is not writing it, is moved out of the way. Whoever waits in vain puts the counts into a file
//! with a name of its own. `docs/src/design/rights.md` has these rules.
//!
//! Nothing waits for the disk here. But when a new file is renamed over another, file systems begin to write
//! it out, so that after a power cut there is one or the other. Processes that end one upon the other would
//! spend most of their time on that: each file is written to the disk, and each process waits until the file
//! before is gone from it. They exchange the two names instead, which makes no file system write. Such a file
//! may be empty after a power cut, up to the half minute that it stays in memory.
//!
//! A file that cannot be merged is set aside: renamed to `FILE.aside-` and its inode number. If another file has
//! that name, copied there for instance, a number follows. No file is replaced so.

use super::lock::Pauses;
use super::message::{Line, decimal, hexadecimal};
use super::output_path::Path;
use super::problem::{
    ANY_LINK, FOREIGN, FOREIGN_DIRECTORY, FOREIGN_LINK, NOT_OURS, Problem, SECOND_NAME,
};
use super::sys::{self, Access, Errno, Facts, File, Kind, PRIVATE};
use crate::raw::layout::MAGIC;
use crate::raw::reader::{Damage, Defect, Source};
use crate::raw::writer::Sink;

/// The longest wait for other processes, in microseconds.
const PATIENCE: u32 = 30_000_000;
/// After so long, in microseconds, a `FILE.part` that others could lock and nobody has written is in the way.
const STILL: u32 = 3_000_000;
/// No file is so.
const FREE: [u64; 3] = [u64::MAX; 3];
/// Most attempts to get the lock: many more than pauses within our patience, as others may get it first.
const MOST_ATTEMPTS: u32 = 20_000;
/// A file no older than this, in nanoseconds, means that several processes end together.
const TOGETHER: u64 = 1_000_000_000;
/// The file name of a user who wants no counts.
const NOWHERE: &[u8] = b"/dev/null";
/// Rights that the owner needs to go on with a file that a killed process has left.
const OWNER: u32 = PRIVATE;
/// Rights that a dump can have, and those of them for others than its group.
const ANY: u32 = 0o666;
const NOT_OF_GROUP: u32 = 0o606;
/// Rights of group and others to write, and the mark of directories where only owners may rename files.
const WRITABLE: u32 = 0o022;
const STICKY: u32 = 0o1000;
/// The number of root.
const ROOT: u32 = 0;
/// As many links as the kernel follows.
const MOST_LINKS: u32 = 40;
/// Longest name in a directory, and room for what is appended when a file is set aside.
const LONGEST_NAME: usize = 255;
const ASIDE: usize = 7 + 20 + 3;
/// Most names for a file that is set aside, so that the last number has two digits.
const MOST_ASIDE: u64 = 100;

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
    /// Why the counts went to a file of their own, if they did.
    pub elsewhere: Option<Errno>,
    /// What that file's name ends with; 0 before there is one.
    pub end: u64,
}

impl Names {
    /// No names yet.
    pub const fn new() -> Self {
        let damage = Damage { offset: 0, defect: Defect::Empty };
        let (target, part, other) = (Path::new(), Path::new(), Path::new());
        Self { target, part, other, damage, elsewhere: None, end: 0 }
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

/// Replaces the target. If others do not give it up, or it may not be read, replaces a file of this process's own
/// beside it, unless the counts are safe in a live file.
///
/// An `impatient` caller knows that another image has waited for the lock in vain.
pub fn replace(
    names: &mut Names,
    impatient: bool,
    is_live: bool,
    rewrite: &mut dyn Rewrite,
) -> Result<(), Problem> {
    names.elsewhere = None;
    names.find_target()?;
    if names.target.bytes() == NOWHERE {
        return Ok(());
    }
    let (mut locked, mut new) = match names.lock(if impatient { 0 } else { PATIENCE }) {
        Err(Errno::BUSY) if !is_live => names.go_elsewhere(Errno::BUSY)?,
        result => result?,
    };
    loop {
        let result = names.rewrite_locked(&locked, rewrite).and_then(|old| {
            let mode = names.finish(&locked, new, old.as_ref());
            names.put_in_place(old.as_ref(), &new)?;
            // The next process had to be able to open it under its other name.
            if mode & OWNER != OWNER {
                let _ = sys::set_mode(&locked, mode);
            }
            Ok(old)
        });
        if result.is_err() {
            names.remove_part(&new);
        }
        sys::unlock(&locked);
        match result {
            Err(Problem::System(Errno::ACCESS)) if !is_live && names.may_not_read() => {
                (locked, new) = names.go_elsewhere(Errno::ACCESS)?;
            }
            // Only now the old file goes: closing it may wait for the disk.
            result => return result.map(drop),
        }
    }
}

/// The file to be replaced.
struct Old {
    file: File,
    facts: Facts,
}

/// What has the name `FILE.part`.
enum Part {
    /// A new file that we have locked.
    Ours(File, Facts),
    /// A file that somebody may be writing.
    Held(Facts),
    /// Nothing any more.
    Gone,
}

impl Names {
    /// Writes the new file, which is empty; gives the old one, if there is one.
    fn rewrite_locked(
        &mut self,
        new: &File,
        rewrite: &mut dyn Rewrite,
    ) -> Result<Option<Old>, Problem> {
        let Some(old) = open_old(&self.target)? else {
            return rewrite.rewrite(None, new, self).map(|()| None);
        };
        match rewrite.rewrite(Some(&old.file), new, self) {
            Err(Problem::Damaged) => {
                self.set_aside(old.facts.identity.1)?;
                sys::rewind(new)?;
                rewrite.rewrite(None, new, self)?;
            }
            result => result?,
        }
        Ok(Some(old))
    }

    /// Gives the finished file the owner and the rights of the old one if both have one owner, or else the usual
    /// rights; gives the rights that it is to have in the end.
    fn finish(&mut self, new: &File, facts: Facts, old: Option<&Old>) -> u32 {
        let mode = match old.map(|old| old.facts) {
            _ if sys::has_more_rights() => PRIVATE,
            Some(old) if old.owner == facts.owner || sys::set_owner(new, old.owner).is_ok() => {
                old.mode & ANY
            }
            Some(old) if old.owner.0 == facts.owner.0 => old.mode & NOT_OF_GROUP,
            _ => self.usual_mode() | OWNER,
        };
        if mode | OWNER != facts.mode {
            let _ = sys::set_mode(new, mode | OWNER);
        }
        mode
    }

    #[inline(never)]
    fn usual_mode(&mut self) -> u32 {
        let _ = set_directory(&mut self.other, &self.target);
        sys::usual_mode(self.other.c_str()).unwrap_or(PRIVATE)
    }

    /// Gives the new file its name. If the old file is recent, the two exchange names.
    ///
    /// The old file is locked until its descriptor closes, so that nobody who finds it under the temporary
    /// name takes it for theirs. If this process is killed before it has removed the old file, the next
    /// process must be able to open it.
    fn put_in_place(&self, old: Option<&Old>, new: &Facts) -> Result<(), Errno> {
        let (part, target) = (self.part.c_str(), self.target.c_str());
        // Whoever took us for gone has moved it away.
        if !is_named(&self.part, new)? {
            return Err(Errno::BUSY);
        }
        if let Some(Old { file, facts }) = old
            && sys::nanoseconds().abs_diff(facts.modified) < TOGETHER
            && facts.mode & OWNER == OWNER
            && sys::facts_at(part).is_ok_and(|new| new.owner == facts.owner)
            && sys::try_lock(file).is_ok()
            && sys::exchange(part, target).is_ok()
        {
            sys::remove(part);
            return Ok(());
        }
        sys::rename(part, target)
    }

    /// Removes the file that was to be the new one, if the name is still its.
    fn remove_part(&self, new: &Facts) {
        if is_named(&self.part, new) != Ok(false) {
            sys::remove(self.part.c_str());
        }
    }

    /// Makes the directories above the target, for other files beside it; `false` if no file is wanted.
    #[cfg(feature = "live")]
    pub fn prepare(&mut self) -> Result<bool, Errno> {
        self.find_target()?;
        if self.target.bytes() == NOWHERE {
            return Ok(false);
        }
        if let Ok(facts) = sys::facts_at(self.target.c_str()) {
            return facts.must_be_a_file().map(|()| true);
        }
        self.part.set(self.target.bytes())?;
        self.make_directories().map(|()| true)
    }

    /// Makes and locks `FILE.part`, an empty file.
    fn lock(&mut self, patience: u32) -> Result<(File, Facts), Errno> {
        self.part.set(self.target.bytes())?;
        self.part.push(b".part")?;
        let mut pauses = Pauses::within(patience);
        let (mut seen, mut since) = (FREE, 0);
        for _ in 0..MOST_ATTEMPTS {
            let held = match self.take_part() {
                Ok(Part::Ours(file, facts)) => return Ok((file, facts)),
                Ok(Part::Held(facts)) => facts,
                Ok(Part::Gone) => continue,
                Err(Errno::NOLCK) => return self.part_without_lock(),
                Err(error) => return Err(error),
            };
            let now = [held.identity.1, held.size, held.modified];
            if seen != now {
                (seen, since) = (now, pauses.waited());
            }
            let is_still = pauses.waited().saturating_sub(since) >= STILL;
            if is_still && !is_private(&held) {
                self.clear_away(&held)?;
            } else if !pauses.pause() {
                return Err(Errno::BUSY);
            }
        }
        Err(Errno::BUSY)
    }

    /// Makes and locks `FILE.part` if nobody else has it. [`Errno::NOLCK`] if there are no locks.
    fn take_part(&mut self) -> Result<Part, Errno> {
        // First without the wish to make it, which would take the directory's lock each time that somebody waits.
        let (file, is_made) = match self.open_part() {
            Ok((Some(file), _)) => (file, false),
            Ok((None, facts)) => return Ok(Part::Held(facts)),
            Err(Errno::NOENT) => match self.make_part() {
                Err(Errno::EXIST) => return Ok(Part::Gone),
                result => (result?, true),
            },
            Err(error) => return Err(error),
        };
        match sys::try_lock(&file) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return sys::facts(&file).map(Part::Held),
            Err(_) => {
                sys::remove(self.part.c_str());
                return Err(Errno::NOLCK);
            }
        }
        let facts = sys::facts(&file)?;
        // If the last owner renamed or removed it in between, the next one is a new file.
        if !is_named(&self.part, &facts)? {
            return Ok(Part::Gone);
        }
        // What a killed process has left may once have been `FILE`, which others may read, or have another name.
        // Some file systems know no rights, so one that we have just made may have more.
        if facts.size > 0 || facts.links > 1 || !(is_made || is_private(&facts)) {
            return match self.remove_left(&facts) {
                // Where only owners may remove files, it stays in the way.
                Err(_) if facts.owner.0 != sys::user() => Ok(Part::Held(facts)),
                result => result.map(|()| Part::Gone),
            };
        }
        Ok(Part::Ours(file, facts))
    }

    fn remove_left(&self, left: &Facts) -> Result<(), Errno> {
        sys::remove(self.part.c_str());
        if is_named(&self.part, left)? { Err(Errno::PERM) } else { Ok(()) }
    }

    fn make_part(&mut self) -> Result<File, Errno> {
        match sys::open(self.part.c_str(), Access::Create) {
            Err(Errno::NOENT) => {
                self.make_directories()?;
                sys::open(self.part.c_str(), Access::Create)
            }
            result => result,
        }
    }

    /// Opens a `FILE.part` that is there. No file if we may not open it.
    fn open_part(&self) -> Result<(Option<File>, Facts), Errno> {
        // Otherwise somebody else's directory, link, device or pipe would be removed in the end.
        let is_other = |error| matches!(error, Errno::ISDIR | Errno::LOOP | Errno::NXIO);
        let not_ours = |error| if is_other(error) { NOT_OURS } else { error };
        let file = match sys::open(self.part.c_str(), Access::Change) {
            Ok(file) => file,
            Err(Errno::ACCESS) => {
                let facts = sys::facts_at(self.part.c_str())?;
                facts.must_be_a_file().map_err(|_| NOT_OURS)?;
                return Ok((None, facts));
            }
            Err(error) => return Err(not_ours(error)),
        };
        let facts = sys::facts(&file)?;
        facts.must_be_a_file().map_err(not_ours)?;
        // Ours is empty, the start of a dump from a killed process, or zeros from a system that went down.
        let mut start = [0; MAGIC.len()];
        if facts.size > 0 {
            sys::read(&file, &mut start)?;
        }
        let is_dump = [0, u64::from_ne_bytes(MAGIC)].contains(&u64::from_ne_bytes(start));
        if !is_dump {
            return Err(NOT_OURS);
        }
        Ok((Some(file), facts))
    }

    /// Takes a `FILE.part` away that stands still: our own that others may have locked, or another user's.
    #[cold]
    #[inline(never)]
    fn clear_away(&mut self, held: &Facts) -> Result<(), Errno> {
        let Self { part, other: aside, .. } = self;
        match rename_aside(part, held.identity.1, aside) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(()),
            // Where only owners may rename files, it stays in the way.
            Err(_) => return Err(Errno::BUSY),
        }
        // Whoever was faster may have made a new one, which is not in the way.
        if !is_named(aside, held)? {
            return sys::rename_to_free(aside.c_str(), part.c_str());
        }
        if held.owner.0 == sys::user() {
            sys::remove(aside.c_str());
            return Ok(());
        }
        let mut line = Line::about(part.bytes());
        line.text(b"another user's, and nobody writes it; set aside as ")
            .text(aside.bytes())
            .print();
        Ok(())
    }

    /// Where the file system has no locks, every process writes a file under its own name, and the last to
    /// rename wins.
    #[cold]
    #[inline(never)]
    fn part_without_lock(&mut self) -> Result<(File, Facts), Errno> {
        self.part.set(self.target.bytes())?;
        self.part.push(b".")?;
        self.part.push(&decimal(u64::from(sys::process())))?;
        self.part.push(b".part")?;
        let file = match self.make_part() {
            Err(Errno::EXIST) => {
                let (_, left) = self.open_part()?;
                if !is_private(&left) {
                    return Err(NOT_OURS);
                }
                self.remove_left(&left)?;
                self.make_part()?
            }
            result => result?,
        };
        let facts = sys::facts(&file)?;
        Ok((file, facts))
    }

    /// Goes on to a target of this process's own.
    #[cold]
    #[inline(never)]
    fn go_elsewhere(&mut self, why: Errno) -> Result<(File, Facts), Errno> {
        if self.end == 0 {
            self.end = u64::from(sys::process()) << 40 ^ sys::nanoseconds();
        }
        self.target.push(b".")?;
        self.target.push(&hexadecimal(self.end, 16))?;
        self.elsewhere = Some(why);
        self.part_without_lock()
    }

    /// Whether the target is another user's and private.
    #[cold]
    fn may_not_read(&self) -> bool {
        let target = sys::open(self.target.c_str(), Access::Read);
        self.elsewhere.is_none() && target.is_err_and(|error| error == Errno::ACCESS)
    }

    /// Makes the missing directories above the file. A process with more rights than its starter makes none: its
    /// starter chooses their rights.
    fn make_directories(&mut self) -> Result<(), Errno> {
        if sys::has_more_rights() {
            return Err(Errno::NOENT);
        }
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

    /// Goes on to the file itself while the target is a symbolic link, if this user or root has made it.
    fn find_target(&mut self) -> Result<(), Errno> {
        if sys::has_more_rights() {
            self.must_lie_safely()?;
        }
        for _ in 0..MOST_LINKS {
            match sys::facts_at(self.target.c_str()) {
                Ok(facts) if facts.kind == Kind::Link => {}
                Ok(_) | Err(Errno::NOENT) => return Ok(()),
                Err(error) => return Err(error),
            }
            let Self { target, part: link, other, .. } = self;
            // The link that is read is the one that has been looked at, whatever has its name by now.
            let opened = sys::open(target.c_str(), Access::Itself)?;
            must_count(&sys::facts(&opened)?)?;
            link.read_open_link(&opened);
            other.clear();
            if !link.bytes().starts_with(b"/") {
                other.push(target.directory())?;
            }
            other.push(link.bytes())?;
            target.set(other.bytes())?;
        }
        Err(Errno::LOOP)
    }

    /// Whether nobody but those whose rights we have can put another directory in the place of the target's, or of one
    /// above it. The starter of a set-group-ID program is its user, so only root's directories will do there.
    #[cold]
    fn must_lie_safely(&mut self) -> Result<(), Errno> {
        let Self { target, other, .. } = self;
        let path = target.bytes();
        let trusted = if sys::has_other_user() { sys::user() } else { ROOT };
        let is_ours = |facts: &Facts| [ROOT, trusted].contains(&facts.owner.0);
        // Where only owners may rename, what is ours stays.
        let is_closed = |facts: &Facts| facts.mode & WRITABLE == 0 || facts.mode & STICKY != 0;
        let slashes = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/');
        for (place, _) in slashes {
            other.set(path.get(..place.max(1)).unwrap_or_default())?;
            let facts = sys::facts_at(other.c_str())?;
            match facts.kind {
                Kind::Directory if is_ours(&facts) && is_closed(&facts) => {}
                Kind::Directory => return Err(FOREIGN_DIRECTORY),
                Kind::Link => return Err(ANY_LINK),
                _ => return Err(Errno::NOTDIR),
            }
        }
        Ok(())
    }

    /// Renames a file that cannot be merged, and says so.
    // A function, so that the line does not lie below every flush.
    #[cold]
    #[inline(never)]
    fn set_aside(&mut self, inode: u64) -> Result<(), Errno> {
        let Self { target, other: aside, damage, .. } = self;
        rename_aside(target, inode, aside)?;
        let mut line = Line::about(target.bytes());
        line.text(damage.defect.summary()).text(b" at ").offset(damage.offset);
        line.text(b"; the file was set aside as ").text(aside.bytes()).print();
        Ok(())
    }
}

/// Appends `.aside-` and the inode to a file's name, and a number if another file has that name already; gives the new
/// name.
#[cold]
#[inline(never)]
fn rename_aside(file: &Path, inode: u64, aside: &mut Path) -> Result<(), Errno> {
    // Keeps as much of a long name as leaves room for the rest.
    let (path, directory) = (file.bytes(), file.directory().len());
    let end = path.len().min(directory.saturating_add(LONGEST_NAME - ASIDE));
    for number in 0..MOST_ASIDE {
        aside.set(path.get(..end).unwrap_or(path))?;
        aside.push(b".aside-")?;
        aside.push(&decimal(inode))?;
        if number > 0 {
            aside.push(b".")?;
            aside.push(&decimal(number))?;
        }
        match sys::rename_to_free(file.c_str(), aside.c_str()) {
            Err(Errno::EXIST) => {}
            result => return result,
        }
    }
    Err(Errno::BUSY)
}

fn open_old(target: &Path) -> Result<Option<Old>, Errno> {
    let file = match sys::open(target.c_str(), Access::Read) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error),
    };
    let facts = sys::facts(&file)?;
    facts.must_be_a_file()?;
    if sys::has_more_rights() && facts.owner.0 != sys::user() {
        return Err(FOREIGN);
    }
    if sys::has_more_rights() && facts.links > 1 {
        return Err(SECOND_NAME);
    }
    // An empty file holds nothing to lose; it counts as missing.
    Ok((facts.size > 0).then_some(Old { file, facts }))
}

/// A link counts if this user or root has made it. Whoever owns the directory may be a user who gets at root's files
/// that way. In a process with more rights than its starter no link counts.
fn must_count(link: &Facts) -> Result<(), Errno> {
    match [sys::user(), ROOT].contains(&link.owner.0) {
        _ if sys::has_more_rights() => Err(ANY_LINK),
        true => Ok(()),
        false => Err(FOREIGN_LINK),
    }
}

/// Becomes the directory of a file, behind a link if it is one.
fn set_directory(path: &mut Path, file: &Path) -> Result<(), Errno> {
    let directory = file.directory();
    path.set(if directory.is_empty() { b"./" } else { directory })
}

/// Whether nobody but this user can open or lock a file.
fn is_private(facts: &Facts) -> bool {
    facts.owner.0 == sys::user() && facts.mode & 0o777 == PRIVATE
}

/// Whether a name stands for an open file.
pub fn still_named(part: &Path, file: &File) -> bool {
    sys::facts(file).is_ok_and(|opened| is_named(part, &opened) == Ok(true))
}

/// Whether a name stands for a file. Another error than that nothing has the name says nothing.
fn is_named(part: &Path, opened: &Facts) -> Result<bool, Errno> {
    match sys::facts_at(part.c_str()) {
        Ok(named) => Ok(opened.identity == named.identity),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}
