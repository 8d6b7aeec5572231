//! Parts of a version 4 profile, each for one compilation, in the version that its gcc reads.
//!
//! gcc reads all of a profile for every source. A part has what one compilation may look up, and leads to the same
//! object file. The rules, found by comparing objects:
//!
//! * gcc 10 to 15 look functions up by name alone, so the part has the functions of these names from all sources.
//! * gcc 16 and 17 also compare the base name of the file. They scale counts and decide what is hot by the summary,
//!   so the part has that of the whole profile, but for the numbers that they do not use. They add up what other
//!   functions have inlined: see [`slice`](crate::formats::afdo_v4::slice).
//! * gcc 16 and 17 turn the order of first executions into ranks, and a function split off gets the rank behind its
//!   function's. So the part keeps some of the gaps between ranks, or all of them ([`Order`]).
//! * Other names and files in the string tables change nothing.
//!
//! A compilation looks up what its source and the files that it includes declare. The preprocessed source tells these
//! files, and by its [`Identifiers`] which of their functions it has at all; the rest of a large header's functions
//! are those of other compilations. There is one exception to the same object file: gcc 10 to 15 give a function
//! without counts those of another source's function of the same name, and the part does not have these. A catalogue
//! in the folder of parts spares reading the rest of the profile.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use etcetera::BaseStrategy;
// A profile has thousands of sources, whose names are all looked up for each part.
use hashbrown::HashSet;
use rustix::fs::FlockOperation;
use sha2::{Digest, Sha256};

use super::output;
use crate::cli::compilers::identifiers::{self, Identifiers, base_name};
use crate::cli::inputs::input::{Format, Input, warnings};
use crate::cli::inputs::missing::missing;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::formats::afdo_v1_v3::encode::{Encoded, encode_part};
use crate::formats::afdo_v1_v3::names::{Names, Namesake, OfWhole};
use crate::formats::afdo_v1_v3::rules::Rules;
use crate::formats::afdo_v4;
use crate::formats::afdo_v4::catalogue::{self, Catalogue, Listed, Store};
use crate::formats::afdo_v4::slice::{Order, Slice};
use crate::profile::{Cutoff, Profile, Summary};

/// A profile to cut parts from.
pub struct Whole {
    path: PathBuf,
    file: File,
    catalogue: Catalogue<Pages>,
    /// The paths of its sources. That of unknown ones is empty.
    paths: Vec<Vec<u8>>,
}

/// Which functions a compilation may look up.
pub enum Lookups<'l> {
    /// Those whose names its preprocessed source has.
    Text(&'l Identifiers),
    /// Those of the files with these base names.
    Files(&'l HashSet<Vec<u8>>),
    /// All of them.
    All,
}

impl Whole {
    /// Opens a profile. Its catalogue is in the folder, or made there.
    pub fn open(path: &Path, folder: &Path) -> Result<Self> {
        let wrong = |error| missing(path, error);
        // Opening a pipe would wait for a writer.
        let found = fs::metadata(path).map_err(wrong)?;
        if !found.is_file() {
            return Err(Error::about(
                path,
                "is not a regular file; parts are read out of the middle",
            ));
        }
        let file = File::open(path).map_err(wrong)?;
        check_magic(path, &file)?;
        let place = folder.join(catalogue_name(&found));
        let catalogue = match kept(&place) {
            Some(catalogue) => catalogue,
            None => Self::make(path, &place)?,
        };
        let paths = catalogue.paths();
        Ok(Self { path: path.to_owned(), file, catalogue, paths })
    }

    /// Makes the catalogue, one process at a time. Where it cannot be kept, it is made again and again.
    fn make(path: &Path, place: &Path) -> Result<Catalogue<Pages>> {
        let lock = lock(&place.with_extension("lock"));
        if let Some(catalogue) = kept(place) {
            return Ok(catalogue);
        }
        let input = Input::read(path)?;
        let (bytes, findings) =
            catalogue::make(&input.bytes, identifiers::key).about(&input.name)?;
        input.warn(&warnings(&findings));
        let _ = output::replace(place, &bytes);
        drop(lock);
        let made = Catalogue::of(Pages::of_bytes(bytes));
        made.ok_or_else(|| Error::about(path, "is too large for a catalogue"))
    }

    /// Whether some source has this base name, or nobody knows the sources at all.
    pub fn has_source(&self, name: &[u8]) -> bool {
        let mut known = self.known_paths().peekable();
        known.peek().is_none() || known.any(|path| base_name(path) == name)
    }

    /// The paths of its known sources.
    pub fn known_paths(&self) -> impl Iterator<Item = &[u8]> {
        self.paths.iter().map(Vec::as_slice).filter(|path| !path.is_empty())
    }

    /// The file of the part with these functions; `None` if there are none.
    pub fn part(
        &self,
        lookups: &Lookups<'_>,
        rules: Rules,
        order: Order,
    ) -> Result<Option<Encoded>> {
        let chosen = self.chosen(lookups, rules.names);
        let part = self.profile(&chosen, rules.names, order)?;
        if part.functions.is_empty() {
            return Ok(None);
        }
        let namesakes = self.namesakes(&part, rules.names);
        let namesakes = namesakes.iter().map(|Listed { name, source, inlined, .. }| Namesake {
            name,
            path: &self.paths[*source],
            inlined: *inlined,
        });
        let namesakes: Vec<Namesake<'_>> = namesakes.collect();
        let own = part.symbols.files().map(|file| part.symbols.path(file));
        let paths = match rules.names {
            Names::WithFiles => {
                self.with_base_names_of(own.chain(namesakes.iter().map(|other| other.path)))
            }
            _ => Vec::new(),
        };
        let summary = as_gcc_uses_it(self.catalogue.summary());
        let of_whole = OfWhole { summary, paths, namesakes };
        self.catalogue.store().check().about(&self.path)?;
        encode_part(&part, &of_whole, rules).about(&self.path).map(Some)
    }

    /// The symbols that the compilation may look up, by their places in the catalogue, ascending.
    fn chosen(&self, lookups: &Lookups<'_>, names: Names) -> Vec<usize> {
        let has = |path: &[u8]| match lookups {
            Lookups::Files(files) => files.contains(base_name(path)),
            Lookups::Text(identifiers) => identifiers.come_from(path),
            Lookups::All => true,
        };
        let may_define = |listed: &Listed| match lookups {
            Lookups::Text(identifiers) => identifiers.may_define(&listed.name),
            _ => true,
        };
        let is_declaring =
            |source: &usize| self.paths[*source].is_empty() || has(&self.paths[*source]);
        let sources = (0..self.paths.len()).filter(is_declaring);
        let declared = sources.flat_map(|source| self.catalogue.declared(source));
        let declared: Vec<Listed> = declared.filter(may_define).collect();
        let others = self.of_same_names(declared.iter().map(|listed| &*listed.name), names);
        let path_of =
            |listed: &Listed| self.paths.get(listed.source).map_or(&[][..], Vec::as_slice);
        let shared = match names {
            Names::WithFiles => self.shared_base_names(others.iter().map(path_of)),
            _ => HashSet::new(),
        };
        let is_one = |listed: &Listed| {
            names != Names::WithFiles || shared.contains(base_name(path_of(listed)))
        };
        let others = others.iter().filter(|other| is_one(other));
        let mut chosen: Vec<usize> = others.map(|listed| listed.symbol).collect();
        chosen.extend(declared.iter().map(|listed| listed.symbol));
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// The symbols of all sources that the reader takes for one of these names.
    fn of_same_names<'n>(&self, of: impl Iterator<Item = &'n [u8]>, names: Names) -> Vec<Listed> {
        let called: HashSet<&[u8]> = of.map(|name| names.of(name)).collect();
        let keys: HashSet<u64> = called.iter().map(|name| identifiers::key(name)).collect();
        let near = keys.into_iter().flat_map(|key| self.catalogue.with_key(key));
        near.filter(|listed| called.contains(names.of(&listed.name))).collect()
    }

    /// The functions that gcc 16 is given other names for, because a function of the part has theirs.
    fn namesakes(&self, part: &Profile, names: Names) -> Vec<Listed> {
        if names != Names::WithFiles {
            return Vec::new();
        }
        let used = part.used_symbols();
        let own = part.symbols.iter().filter(|symbol| used[symbol.index()]);
        self.of_same_names(own.map(|symbol| part.symbols.name(symbol)), names)
    }

    /// The paths of known sources with the base names of these files. gcc 16 cannot tell such files apart.
    fn with_base_names_of<'f>(&self, files: impl Iterator<Item = &'f [u8]>) -> Vec<&[u8]> {
        let bases: HashSet<&[u8]> = files.map(base_name).collect();
        self.known_paths().filter(|path| bases.contains(base_name(path))).collect()
    }

    /// Those base names of these files that several sources have: gcc 16 knows functions there by name alone.
    fn shared_base_names<'f>(&self, files: impl Iterator<Item = &'f [u8]>) -> HashSet<&[u8]> {
        let paths = self.with_base_names_of(files);
        let mut bases: Vec<&[u8]> = paths.into_iter().map(base_name).collect();
        bases.sort_unstable();
        let pairs = bases.windows(2).filter(|pair| pair[0] == pair[1]);
        pairs.map(|pair| pair[0]).collect()
    }

    fn profile(&self, chosen: &[usize], names: Names, order: Order) -> Result<Profile> {
        let mut slice = Slice::new(&self.catalogue, &self.paths);
        for (symbol, section) in self.sections(chosen.iter().copied())? {
            slice.add(symbol, &section).about(&self.path)?;
        }
        if names == Names::WithFiles {
            let is_chosen = |symbol: usize| chosen.binary_search(&symbol).is_ok();
            let holders = chosen.iter().flat_map(|&symbol| self.catalogue.holders(symbol));
            let mut holders: Vec<usize> = holders.filter(|&holder| !is_chosen(holder)).collect();
            holders.sort_unstable();
            holders.dedup();
            for (symbol, section) in self.sections(holders.into_iter())? {
                slice.add_inlined(symbol, &section, &is_chosen).about(&self.path)?;
            }
        }
        let mut part = slice.finish();
        if names == Names::WithFiles {
            self.catalogue.keep_order(&mut part, order);
        }
        Ok(part)
    }

    /// The sections of these symbols' counts. What lies close together is read at once.
    fn sections(&self, symbols: impl Iterator<Item = usize>) -> Result<Vec<(usize, Vec<u8>)>> {
        /// Bytes between two sections that cost less than a further call of the system.
        const GAP: u64 = 16 << 10;
        let places = symbols.filter_map(|symbol| Some((symbol, self.catalogue.section(symbol)?)));
        let mut places: Vec<_> = places.collect();
        places.sort_by_key(|(_, place)| place.start);
        let mut sections = Vec::with_capacity(places.len());
        for near in places.chunk_by(|(_, a), (_, b)| b.start <= a.end.saturating_add(GAP)) {
            let start = near[0].1.start;
            let end = near.iter().map(|(_, place)| place.end).max().unwrap_or(start);
            let mut bytes = vec![0; (end - start) as usize];
            self.file.read_exact_at(&mut bytes, start).about(&self.path)?;
            for (symbol, place) in near {
                let (from, to) = ((place.start - start) as usize, (place.end - start) as usize);
                sections.push((*symbol, bytes[from..to].to_vec()));
            }
        }
        Ok(sections)
    }
}

/// A summary without the numbers that gcc 16 does not use, which change with any count.
fn as_gcc_uses_it(summary: Summary) -> Summary {
    let cutoffs = summary.cutoffs.into_iter().map(|cutoff| Cutoff { counts: 0, ..cutoff });
    let Summary { max_count, .. } = summary;
    Summary { max_count, cutoffs: cutoffs.collect(), ..Summary::default() }
}

/// An error for anything but version 4.
fn check_magic(path: &Path, file: &File) -> Result<()> {
    let mut beginning = Vec::new();
    file.take(1 << 10).read_to_end(&mut beginning).about(path)?;
    if beginning.starts_with(&afdo_v4::MAGIC) {
        return Ok(());
    }
    let found = Format::of(&beginning).map_or("a file of no known kind", |format| format.name());
    let what = format!(
        "0x0: expected version 4, found {found}; `convert --to v4 --for-gcc GCC` writes it"
    );
    Err(Error::about(path, what))
}

/// The catalogue of a file as it is now, for this release.
fn catalogue_name(found: &fs::Metadata) -> String {
    // Programs can set back the time of the content, but not that of the file.
    let numbers = [
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime() as u64,
        found.mtime_nsec() as u64,
        found.ctime() as u64,
        found.ctime_nsec() as u64,
    ];
    let mut hasher = Sha256::new_with_prefix(env!("CARGO_PKG_VERSION"));
    numbers.iter().for_each(|number| hasher.update(number.to_le_bytes()));
    format!("{}.catalogue", hex(&hasher.finalize()))
}

fn kept(place: &Path) -> Option<Catalogue<Pages>> {
    Catalogue::of(Pages::of_file(File::open(place).ok()?)?)
}

/// Waits until nobody else makes the same catalogue.
fn lock(place: &Path) -> Option<File> {
    fs::create_dir_all(place.parent()?).ok()?;
    let file = File::options().write(true).create(true).truncate(false).open(place).ok()?;
    rustix::fs::flock(&file, FlockOperation::LockExclusive).ok()?;
    Some(file)
}

/// Puts a part into the folder, named by its content, so that it is only new where counts are.
pub fn put(part: &Encoded, folder: &Path) -> Result<PathBuf> {
    let place = folder.join(format!("{}.afdo", hex(&Sha256::digest(&part.bytes))));
    // One that was damaged is replaced.
    if !fs::read(&place).is_ok_and(|found| found == part.bytes) {
        output::replace(&place, &part.bytes)?;
    }
    Ok(place)
}

/// The folder for parts: the given one, or one in the user's cache.
pub fn folder(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(given) => std::path::absolute(given).about(given),
        None => {
            let cache = etcetera::choose_base_strategy().map_err(Error::new)?.cache_dir();
            Ok(cache.join("countersink/parts"))
        }
    }
}

/// The first half of a hash.
fn hex(hash: &[u8]) -> String {
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a catalogue: those in use.
struct Pages {
    /// `None` if all bytes are there from the start.
    file: Option<File>,
    length: usize,
    /// By their number.
    pages: RefCell<HashMap<usize, Vec<u8>>>,
    failed: Cell<bool>,
}

/// Bytes that are read at once.
const PAGE: usize = 16 << 10;

impl Pages {
    fn of_file(file: File) -> Option<Self> {
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        Some(Self { file: Some(file), length, pages: RefCell::default(), failed: Cell::default() })
    }

    fn of_bytes(bytes: Vec<u8>) -> Self {
        let pages = bytes.chunks(PAGE).map(<[u8]>::to_vec).enumerate().collect();
        let (file, length, failed) = (None, bytes.len(), Cell::default());
        Self { file, length, pages: RefCell::new(pages), failed }
    }

    /// An error if something could not be read.
    fn check(&self) -> std::result::Result<(), &'static str> {
        if self.failed.get() { Err("its catalogue cannot be read") } else { Ok(()) }
    }

    fn read_page(&self, number: usize) -> Vec<u8> {
        let start = number * PAGE;
        let mut page = vec![0; PAGE.min(self.length - start)];
        let read = self.file.as_ref().map(|file| file.read_exact_at(&mut page, start as u64));
        self.failed.set(self.failed.get() || !matches!(read, Some(Ok(()))));
        page
    }
}

impl Store for Pages {
    fn length(&self) -> usize {
        self.length
    }

    fn read(&self, at: usize, into: &mut [u8]) {
        let mut pages = self.pages.borrow_mut();
        let mut done = 0;
        while done < into.len() {
            let (number, from) = ((at + done) / PAGE, (at + done) % PAGE);
            let page = pages.entry(number).or_insert_with(|| self.read_page(number));
            let taken = (page.len() - from).min(into.len() - done);
            into[done..done + taken].copy_from_slice(&page[from..from + taken]);
            done += taken;
        }
    }
}
