//! Finds the notes of a dump's objects, and paths that have moved.

use std::ffi;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::input::read_regular;
use crate::cli::terminal::error::Error;
use crate::cli::terminal::message::say;
use crate::cli::terminal::progress::Progress;
use crate::cli::terminal::visible::visible;
use crate::convert::gcov::gcda::Build;
use crate::formats::gcno::Notes;
use crate::formats::words::WordError;
use crate::profile::Profile;
use crate::raw::dump::{Dump, Module, Object};

/// Where notes and sources are.
#[derive(Clone, Debug, Args)]
pub struct Places {
    /// Look for .gcno files below DIR first. For the recorded path /a/b/c.gcno these are DIR/a/b/c.gcno, DIR/b/c.gcno
    /// and DIR/c.gcno
    #[arg(long, value_name = "DIR")]
    notes: Vec<PathBuf>,
    /// Replace OLD with NEW at the beginning of recorded paths, to find notes, sources and programs that have moved.
    /// The output has the new paths
    #[arg(long, value_name = "OLD=NEW", value_parser = path_map)]
    path_map: Vec<Move>,
}

/// An OLD=NEW.
#[derive(Clone, Debug)]
struct Move {
    old: Vec<u8>,
    new: Vec<u8>,
    /// Whether any path began with OLD. Copies share it.
    is_used: Arc<AtomicBool>,
}

impl Move {
    /// The path with NEW in place of OLD, if it begins with whole folders of OLD.
    fn of(&self, path: &[u8]) -> Option<Vec<u8>> {
        let rest = path.strip_prefix(self.old.as_slice())?;
        let whole = rest.is_empty() || rest.starts_with(b"/") || self.old.ends_with(b"/");
        whole.then(|| {
            self.is_used.store(true, Ordering::Relaxed);
            [&*self.new, rest].concat()
        })
    }
}

fn path_map(text: &str) -> std::result::Result<Move, String> {
    let (old, new) = text.split_once('=').ok_or("expected OLD=NEW")?;
    Ok(Move { old: old.into(), new: new.into(), is_used: Arc::default() })
}

/// What gives objects notes.
pub const NOTES_HINT: &str =
    "compile with -ftest-coverage, or name the folder of the notes with --notes DIR";

/// The longest path of any system.
const LONGEST_PATH: usize = 4096;

/// Why an object has no notes.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The file that should have them.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// Whether the file exists but comes from another compilation of the source.
    pub is_other_compilation: bool,
}

impl Missing {
    fn new(file: impl Into<PathBuf>, what: impl ToString) -> Self {
        Self { file: file.into(), what: what.to_string(), is_other_compilation: false }
    }
}

impl Places {
    /// A path with the first fitting prefix replaced.
    pub fn moved(&self, path: &[u8]) -> Vec<u8> {
        self.path_map.iter().find_map(|moved| moved.of(path)).unwrap_or_else(|| path.to_owned())
    }

    /// Warns of each `--path-map` that has replaced nothing.
    pub fn warn_of_unused(&self) {
        let unused = |moved: &&Move| !moved.is_used.load(Ordering::Relaxed);
        for Move { old, new, .. } in self.path_map.iter().filter(unused) {
            let [old, new] = [old, new].map(|path| visible(&String::from_utf8_lossy(path)));
            say(format_args!("--path-map {old}={new}: no path begins with {old}"));
        }
    }

    /// The named places of notes.
    pub fn folders(&self) -> &[PathBuf] {
        &self.notes
    }

    /// The same without the named places of notes.
    pub fn without_notes(self) -> Self {
        Self { notes: Vec::new(), ..self }
    }

    /// Whether any places of notes are named.
    pub const fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Whether any paths have moved.
    pub const fn moves_files(&self) -> bool {
        !self.path_map.is_empty()
    }

    /// Maps the names of a profile's source files to their new paths. The profile of a dump already has the new names.
    pub fn move_files(&self, profile: &mut Profile) {
        if self.moves_files() {
            profile.rename_files(|path| self.moved(path));
        }
    }

    /// Reads the files that may hold the notes of objects with this recorded path: the first with each of the `stamps`,
    /// or if there is none, the first of all. Also returns the files' names. An error about a file that exists says
    /// more than an error about a missing file.
    fn read(
        &self,
        recorded: &[u8],
        stamps: &[u32],
    ) -> std::result::Result<Vec<(PathBuf, Vec<u8>)>, Missing> {
        if recorded.len() > LONGEST_PATH {
            let file = display(&recorded[..64]).join("...");
            return Err(Missing::new(file, "the recorded path is no path of a file"));
        }
        let mut open = stamps.to_vec();
        let (mut fitting, mut other) = (Vec::new(), None);
        let (mut missing, mut unreadable) = (None, None);
        for file in self.candidates(recorded) {
            match read_regular(&file) {
                Ok(bytes) => {
                    let before = open.len();
                    open.retain(|&stamp| !has_stamp(&bytes, stamp));
                    if open.len() < before {
                        fitting.push((file, bytes));
                    } else {
                        other.get_or_insert((file, bytes));
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    missing.get_or_insert(Missing::new(file, "no such file"));
                }
                Err(error) => _ = unreadable.get_or_insert(Missing::new(file, error)),
            }
            if open.is_empty() {
                break;
            }
        }
        if fitting.is_empty() {
            fitting.extend(other);
        }
        match unreadable.or(missing) {
            Some(why) if fitting.is_empty() => Err(self.no_folder().unwrap_or(why)),
            None if fitting.is_empty() => Err(Missing::new("", "no path")),
            _ => Ok(fitting),
        }
    }

    /// A named place of notes that is no folder.
    fn no_folder(&self) -> Option<Missing> {
        let place = self.notes.iter().find(|place| !place.is_dir())?;
        Some(Missing::new(place, "no such folder, but --notes names it"))
    }

    /// The file that may hold the notes of the object with this recorded path, if there is one.
    pub fn find(&self, recorded: &[u8]) -> Option<PathBuf> {
        self.candidates(recorded).into_iter().find(|file| file.is_file())
    }

    /// The place of the build of an object that the notes fit, if there are any.
    pub fn fitting(&self, recorded: &[u8], builds: &[Build<'_>]) -> Option<usize> {
        let stamps: Vec<u32> = builds.iter().map(Build::stamp).collect();
        let files = self.read(recorded, &stamps).ok()?;
        let mut notes = files.iter().filter_map(|(_, bytes)| Notes::decode(bytes).ok());
        notes.find_map(|notes| builds.iter().rposition(|build| build.fits(&notes)))
    }

    /// Reads the object file next to the notes. Returns the file's name, too.
    pub fn read_object(&self, object: &Object) -> Option<(PathBuf, Vec<u8>)> {
        let mut beside =
            self.candidates(&object.path).into_iter().map(|path| path.with_extension("o"));
        beside.find_map(|path| read_regular(&path).ok().map(|bytes| (path, bytes)))
    }

    /// Paths where the notes may be: under `--notes` and in archives, with ever fewer leading directories of the
    /// recorded path, and next to the recorded data file.
    fn candidates(&self, recorded: &[u8]) -> Vec<PathBuf> {
        let recorded = notes_path(&self.moved(recorded));
        let plain = demangled(&recorded).or_else(|| below_folder(&recorded));
        let plain = plain.map(|path| self.moved(&path)).map(path_of);
        let recorded = path_of(recorded);
        let mut candidates = Vec::new();
        for directory in self.notes.iter().chain(&super::tarball::folders()) {
            for path in plain.iter().chain([&recorded]) {
                let parts: Vec<&OsStr> = path.iter().filter(|part| *part != "/").collect();
                for skipped in 0..parts.len() {
                    candidates.push(directory.join(parts[skipped..].iter().collect::<PathBuf>()));
                }
            }
        }
        candidates.push(recorded);
        candidates.extend(plain);
        candidates
    }
}

/// Whether the third word of a file is this stamp, in either byte order.
fn has_stamp(notes: &[u8], stamp: u32) -> bool {
    let word = notes.get(8..12);
    word == Some(&stamp.to_le_bytes()) || word == Some(&stamp.to_be_bytes())
}

fn notes_path(data: &[u8]) -> Vec<u8> {
    let stem = data.strip_suffix(b".gcda").unwrap_or(data);
    [stem, b".gcno"].concat()
}

/// The original path of a file name that `-fprofile-dir` has mangled: `#` means `/`, and `^` means `..`.
fn demangled(path: &[u8]) -> Option<Vec<u8>> {
    let name = path.rsplit(|&byte| byte == b'/').next().filter(|name| name.contains(&b'#'))?;
    let parts = name.split(|&byte| byte == b'#');
    let parts: Vec<&[u8]> = parts.map(|part| if part == b"^" { b".." } else { part }).collect();
    Some(parts.join(b"/".as_slice()))
}

/// The own path of a file in a folder that -fprofile-generate or -fprofile-dir names, if the object's name was
/// absolute: the compiler writes the folder, a slash and the name.
fn below_folder(path: &[u8]) -> Option<Vec<u8>> {
    let place = memchr::memmem::rfind(path, b"//").filter(|&place| place > 0)?;
    Some(path[place + 1..].to_vec())
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    ffi::OsString::from_vec(bytes).into()
}

/// Notes, or what is wrong with them.
type Decoded<'n> = std::result::Result<Notes<'n>, WordError>;

/// The notes of a dump's objects.
pub struct Found<'n> {
    /// The notes that are used, each once.
    pub notes: Vec<Notes<'n>>,
    /// For each object of each module: the index of its notes, if it has any.
    pub chosen: Vec<Vec<Option<usize>>>,
    /// Why other objects have none.
    pub missing: Vec<Missing>,
}

/// A file that may be notes.
type NotesFile = (PathBuf, Vec<u8>);

/// The objects with one recorded path, in all modules of a dump.
pub struct Copies<'d> {
    path: &'d [u8],
    objects: Vec<(&'d Module, &'d Object)>,
}

impl<'d> Copies<'d> {
    /// All objects of a dump.
    pub fn all(dump: &'d Dump) -> Vec<Self> {
        let modules = dump.modules.iter();
        let objects =
            modules.flat_map(|module| module.objects.iter().map(move |object| (module, object)));
        let (mut all, mut places) = (Vec::<Self>::new(), HashMap::new());
        for (module, object) in objects {
            let place = *places.entry(&*object.path).or_insert(all.len());
            if place == all.len() {
                all.push(Self { path: &object.path, objects: Vec::new() });
            }
            all[place].objects.push((module, object));
        }
        all
    }

    fn read(&self, places: &Places) -> std::result::Result<Vec<NotesFile>, Missing> {
        let mut stamps: Vec<u32> = self.objects.iter().map(|(_, object)| object.stamp).collect();
        let mut seen = HashSet::with_capacity(stamps.len());
        stamps.retain(|&stamp| seen.insert(stamp));
        places.read(self.path, &stamps)
    }

    /// Passes each of their notes to `take`, with the objects that it is about. Gives why others have none.
    pub fn with_notes(
        &self,
        places: &Places,
        mut take: impl FnMut(&Notes<'_>, &[(&Module, &Object)]),
    ) -> Vec<Missing> {
        let files = match self.read(places) {
            Ok(files) => files,
            Err(why) => return vec![why; self.objects.len()],
        };
        let decoded: Vec<_> = files.iter().map(|(_, bytes)| Notes::decode(bytes)).collect();
        let all: Vec<usize> = (0..files.len()).collect();
        let (mut missing, mut of_notes) = (Vec::new(), vec![Vec::new(); files.len()]);
        for &(module, object) in &self.objects {
            match fitting(object, &all, &files, &decoded) {
                Ok(place) => of_notes[place].push((module, object)),
                Err(why) => missing.push(why),
            }
        }
        for (notes, objects) in decoded.iter().zip(&of_notes) {
            if let (Ok(notes), [_, ..]) = (notes, &**objects) {
                take(notes, objects);
            }
        }
        missing
    }
}

/// The files that may be notes of a dump's objects.
pub struct Files<'d> {
    dump: &'d Dump,
    /// Each file once.
    files: Vec<NotesFile>,
    /// Indexes of files, by the recorded paths of objects.
    places: HashMap<&'d [u8], std::result::Result<Vec<usize>, Missing>>,
}

impl<'d> Files<'d> {
    /// Reads the files.
    pub fn read(dump: &'d Dump, places: &Places) -> Self {
        let copies = Copies::all(dump);
        let progress = Mutex::new(Progress::new(copies.len()));
        let read = |copies: &Copies<'_>| {
            progress.lock().unwrap_or_else(PoisonError::into_inner).step();
            copies.read(places)
        };
        let found: Vec<_> = copies.par_iter().map(read).collect();
        let (mut files, mut known) = (Vec::new(), HashMap::new());
        let mut add = |(path, bytes): NotesFile| {
            *known.entry(path.clone()).or_insert_with(|| {
                files.push((path, bytes));
                files.len() - 1
            })
        };
        let mut add_all = |found: Vec<_>| found.into_iter().map(&mut add).collect();
        let found = found.into_iter().map(|found| found.map(&mut add_all));
        let places = copies.iter().map(|copies| copies.path).zip(found).collect();
        Self { dump, files, places }
    }

    /// Decodes the files, and finds out which object each belongs to.
    pub fn decode(&self) -> Found<'_> {
        let files = self.files.par_iter();
        let decoded: Vec<Decoded<'_>> = files.map(|(_, bytes)| Notes::decode(bytes)).collect();
        let mut missing = Vec::new();
        let mut choose = |object: &Object| {
            let places = self.places[&*object.path].as_ref().map_err(Missing::clone);
            let chosen = places.and_then(|places| fitting(object, places, &self.files, &decoded));
            chosen.map_err(|why| missing.push(why)).ok()
        };
        let modules = self.dump.modules.iter();
        let chosen = modules.map(|module| module.objects.iter().map(&mut choose).collect());
        let mut chosen: Vec<Vec<Option<usize>>> = chosen.collect();
        // Notes that belong to no object would add functions that are not in the program.
        let used: HashSet<usize> = chosen.iter().flatten().flatten().copied().collect();
        let mut numbers = HashMap::with_capacity(used.len());
        let mut notes = Vec::with_capacity(used.len());
        for (place, decoded) in decoded.into_iter().enumerate().filter(|(p, _)| used.contains(p)) {
            numbers.insert(place, notes.len());
            notes.extend(decoded);
        }
        chosen.iter_mut().flatten().flatten().for_each(|place| *place = numbers[place]);
        Found { notes, chosen, missing }
    }
}

/// The index of the notes that come from the same compilation as the object. `places` are those at its recorded path.
fn fitting(
    object: &Object,
    places: &[usize],
    files: &[NotesFile],
    decoded: &[Decoded<'_>],
) -> std::result::Result<usize, Missing> {
    let fits =
        |place: &&usize| decoded[**place].as_ref().is_ok_and(|notes| notes.stamp == object.stamp);
    if let Some(&place) = places.iter().find(fits) {
        return Ok(place);
    }
    let has_its_stamp = |place: &&usize| has_stamp(&files[**place].1, object.stamp);
    // There is one, or else the files would be missing.
    let place = *places.iter().find(has_its_stamp).unwrap_or(&places[0]);
    let (file, _) = &files[place];
    let found = match &decoded[place] {
        Ok(notes) => notes.stamp,
        Err(error) => return Err(Missing::new(file, error)),
    };
    // The stamp is the third word, in both byte orders of the header.
    let what = format!(
        "0x8: stamp: expected {:#010x}, found {found:#010x}: the notes come from another compilation",
        object.stamp
    );
    Err(Missing { is_other_compilation: true, ..Missing::new(file, what) })
}

/// A path for messages and for `--prefix`.
pub fn display(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        Self::about(missing.file, missing.what)
    }
}
