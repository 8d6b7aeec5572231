//! Where `convert --to gcda` may write. A dump names the files, and a dump may come from anybody.
//!
//! Only files that have the name of a `.gcda` file are written, and only such files are replaced, which keep their
//! owner and their rights. Links in place of a file are not followed. A prefix is a wall: a path that leads out of it
//! by `..` is refused, and so is one through a link below it.
//!
//! Others may write below the prefix, and exchange what a name stands for between a look at it and its use. So the
//! folders below the prefix are opened one in another, no link among them, and all that is done with a file is
//! done in the open folder.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::prelude::v1::*;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::output::Rights;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::names::text;
use crate::convert::gcov::gcda::place;

/// The first bytes of such files, of machines with either order of bytes.
const MAGICS: [&[u8]; 2] = [b"gcda", b"adcg"];

/// A file that may be written.
pub struct Place {
    /// A folder that the user or the compiler has named, links followed.
    base: PathBuf,
    /// Folders below it, no links followed.
    below: PathBuf,
    name: OsString,
}

impl Place {
    /// The place of an object's file, see [`place`], if it may be written there.
    pub fn of(recorded: &[u8], prefix: Option<&[u8]>, strip: usize) -> Result<Self> {
        let recorded_as = || text(recorded);
        let file = PathBuf::from(OsStr::from_bytes(&place(recorded, prefix, strip)));
        if file.extension().is_none_or(|extension| extension != "gcda") {
            return Err(Error::about(recorded_as(), "expected a name that ends in .gcda"));
        }
        let wall = match prefix {
            None if strip == 0 => return Ok(Self::in_folder(&file, Path::new(""))),
            prefix => Path::new(OsStr::from_bytes(prefix.unwrap_or(b"."))),
        };
        let rest = file.strip_prefix(wall).map(Path::to_owned).unwrap_or_default();
        let Some(rest) = without_dots(&rest) else {
            let what = format!("{} is recorded, which leads out of this folder", recorded_as());
            return Err(Error::about(wall, what));
        };
        let below = rest.parent().unwrap_or(Path::new(""));
        Ok(Self { base: wall.to_owned(), ..Self::in_folder(&rest, below) })
    }

    fn in_folder(file: &Path, below: &Path) -> Self {
        let named = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = named.unwrap_or(Path::new("."));
        let name = file.file_name().unwrap_or_default().to_owned();
        Self { base: folder.to_owned(), below: below.to_owned(), name }
    }

    /// Its path, for messages.
    pub fn path(&self) -> PathBuf {
        self.base.join(&self.below).join(&self.name)
    }

    /// Opens the folder of the file. Makes folders that are missing.
    fn folder(&self) -> Result<OwnedFd> {
        const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
        let open = || openat(CWD, &self.base, FOLDER, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) => {
                fs::create_dir_all(&self.base).about(&self.base)?;
                open()
            }
            opened => opened,
        };
        let mut folder = opened.map_err(std::io::Error::from).about(&self.base)?;
        let mut path = self.base.clone();
        for name in &self.below {
            path.push(name);
            let open = || openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
            let opened = match open() {
                Err(Errno::NOENT) => match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => open(),
                    Err(error) => Err(error),
                },
                opened => opened,
            };
            folder = match opened {
                Err(Errno::NOTDIR | Errno::LOOP) if is_link(&folder, name) => {
                    return Err(Error::about(path, "is a link, which may lead out of the prefix"));
                }
                opened => opened.map_err(std::io::Error::from).about(&path)?,
            };
        }
        Ok(folder)
    }

    /// The rights of the file that is there; refuses what is no `.gcda` file. An empty file has nothing to lose.
    fn old(&self, folder: &OwnedFd) -> Result<Option<Rights>> {
        let refused = |what| Err(Error::about(self.path(), what));
        let found = match statat(folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            found => found.map_err(std::io::Error::from).about(self.path())?,
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => return refused("is a link; --to gcda does not follow it"),
            FileType::Directory => return refused("is a directory"),
            _ => return refused("is there, and is no file"),
        }
        // By now it may be something else, a pipe for instance.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(folder, &self.name, flags, Mode::empty());
        let file = File::from(file.map_err(std::io::Error::from).about(self.path())?);
        let found = file.metadata().about(self.path())?;
        if !found.is_file() {
            return refused("is there, and is no file");
        }
        let mut beginning = Vec::new();
        file.take(4).read_to_end(&mut beginning).about(self.path())?;
        match beginning.is_empty() || MAGICS.contains(&&*beginning) {
            true => Ok(Some(Rights::of(&found))),
            false => refused("0x0: is there, and is no .gcda file; it stays"),
        }
    }
}

fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

/// A file whose bytes are on the disk under another name. Dropping it undoes everything.
pub struct Ready {
    place: Place,
    temporary: OsString,
}

impl Ready {
    /// Does everything that is likely to fail.
    pub fn new(place: Place, fill: &dyn Fn(&mut dyn Write) -> std::io::Result<()>) -> Result<Self> {
        let folder = place.folder()?;
        let old = place.old(&folder)?;
        // What is to have other rights is private until it has them.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let (temporary, mut file) = create(&folder, mode).about(place.path())?;
        let ready = Self { place, temporary };
        fill(&mut file).about(ready.place.path())?;
        if let Some(rights) = old {
            rights.give(&file).map_err(|error| {
                let what = "belongs to another user, and the new one would not";
                let instead = "--prefix writes to another folder";
                Error::about(ready.place.path(), format!("{error}: {what}; {instead}"))
            })?;
        }
        Ok(ready)
    }

    /// Puts the file in its place, and gives its path.
    pub fn put(mut self) -> Result<PathBuf> {
        let folder = self.place.folder()?;
        renameat(&folder, &self.temporary, &folder, &self.place.name)
            .map_err(std::io::Error::from)
            .about(self.place.path())?;
        self.temporary.clear();
        Ok(self.place.path())
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if !self.temporary.is_empty()
            && let Ok(folder) = self.place.folder()
        {
            let _ = unlinkat(&folder, &self.temporary, AtFlags::empty());
        }
    }
}

/// Creates a file under a name that nothing has.
fn create(folder: &OwnedFd, mode: u32) -> std::io::Result<(OsString, File)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".countersink-{}-{number}", std::process::id()));
        match openat(folder, &name, flags, Mode::from_raw_mode(mode)) {
            Err(Errno::EXIST) => {}
            file => return Ok((name, File::from(file?))),
        }
    }
}

/// A relative path without `..`; `None` if it leads out of its folder.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !inside.pop() => return None,
            Component::Normal(name) => inside.push(name),
            _ => {}
        }
    }
    Some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots() {
        for (path, inside) in [
            ("a/../b/./c.gcda", Some("b/c.gcda")),
            ("a/../../a/c.gcda", None),
            ("../c.gcda", None),
            ("//a//c.gcda", Some("a/c.gcda")),
        ] {
            assert_eq!(without_dots(Path::new(path)), inside.map(PathBuf::from), "{path}");
        }
    }

    /// A folder with `box/a/b` in it, where the file is to be, and with `outside`, which has an `a` and a `b`, too.
    fn folders() -> (tempfile::TempDir, PathBuf) {
        let all = tempfile::tempdir().unwrap();
        let prefix = all.path().join("box");
        for folder in ["box/a/b", "outside/b"] {
            fs::create_dir_all(all.path().join(folder)).unwrap();
        }
        (all, prefix)
    }

    fn write(prefix: &Path) -> Result<Ready> {
        let place = Place::of(b"/a/b/c.gcda", Some(prefix.as_os_str().as_bytes()), 0)?;
        Ready::new(place, &|out| out.write_all(b"adcg"))
    }

    fn is_empty(folder: &Path) -> bool {
        fs::read_dir(folder).unwrap().next().is_none()
    }

    /// Somebody puts a link in the place of a folder after the first look at it.
    #[test]
    fn a_folder_becomes_a_link() {
        let (all, prefix) = folders();
        let outside = all.path().join("outside");
        for then_put in [true, false] {
            let ready = write(&prefix).unwrap();
            fs::rename(prefix.join("a"), prefix.join("gone")).unwrap();
            std::os::unix::fs::symlink(&outside, prefix.join("a")).unwrap();
            let told = "box/a: is a link, which may lead out of the prefix";
            match then_put {
                true => assert!(ready.put().unwrap_err().to_string().ends_with(told)),
                false => assert!(write(&prefix).err().unwrap().to_string().ends_with(told)),
            }
            assert!(is_empty(&outside.join("b")));
            fs::remove_file(prefix.join("a")).unwrap();
            fs::rename(prefix.join("gone"), prefix.join("a")).unwrap();
        }
        assert_eq!(write(&prefix).unwrap().put().unwrap(), prefix.join("a/b/c.gcda"));
    }

    /// The same at any moment: somebody exchanges a folder and a link again and again.
    #[test]
    fn a_folder_and_a_link_change_places() {
        let (all, prefix) = folders();
        let outside = all.path().join("outside");
        std::os::unix::fs::symlink(&outside, prefix.join("link")).unwrap();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        let mut results = [0, 0];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (folder, link) = (prefix.join("a"), prefix.join("link"));
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                while !is_done.load(Ordering::Relaxed) {
                    let _ = rustix::fs::renameat_with(CWD, &folder, CWD, &link, flags);
                }
            });
            for _ in 0..2000 {
                let is_put = write(&prefix).and_then(Ready::put).is_ok();
                results[usize::from(is_put)] += 1;
            }
            is_done.store(true, Ordering::Relaxed);
        });
        assert!(is_empty(&outside.join("b")), "{results:?}");
    }

    /// A file keeps its rights, whatever the umask.
    #[test]
    fn rights_of_the_old_file() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let (_all, prefix) = folders();
        let file = write(&prefix).unwrap().put().unwrap();
        for mode in [0o600, 0o666, 0o640, 0o444] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            write(&prefix).unwrap().put().unwrap();
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, mode);
        }
        assert_eq!(fs::read_dir(prefix.join("a/b")).unwrap().count(), 1);
    }
}
