//! Input files: dumps and profiles, distinguished by their content.
//!
//! [`format`](mod@super::format) recognises them. What LLVM's profiles say is read in [`super::instr_profiles`].

use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rustix::buffer::spare_capacity;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::format::{PARQUET_MAGIC, unknown};
use super::live_files;
use super::missing::missing;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::convert::number::Number;
use crate::formats::words::Words;
use crate::formats::{
    Findings, Found, Kind, afdo_v1_v3, afdo_v4, afdo_v4_text, llvm_sample, llvm_sample_text,
};
use crate::profile::{Profile, Summary};
use crate::raw::dump::{Dump, Module};
use crate::raw::layout::MAGIC as DUMP_MAGIC;
use crate::raw::live;
use crate::raw::reader::Source;
use crate::samples::Samples;

pub use super::format::Format;

/// A file that has been read.
#[derive(Clone)]
pub struct Input {
    /// Its name for messages.
    pub name: PathBuf,
    /// Its content; only the beginning of a dump that was [opened](Self::open), and nothing of one that was put
    /// together.
    pub bytes: Vec<u8>,
    /// What kind of file it is.
    pub format: Format,
    /// The dump, if it was decoded during reading.
    dump: Option<Dump>,
}

/// A profile that has been read.
pub struct Decoded {
    pub profile: Profile,
    /// The summary as it stands in the file, if there is one.
    pub summary: Option<Summary>,
    /// Defects that were tolerated.
    pub warnings: Vec<String>,
}

/// First bytes of files that belong to a program: ELF files, archives, WebAssembly modules, dumps, and notes in either
/// order of bytes.
const OF_PROGRAMS: [&[u8]; 6] = [b"\x7fELF", b"!<arch>\n", b"\0asm", &DUMP_MAGIC, b"gcno", b"oncg"];

/// Reads a file that a dump names. Anything but a regular file might never end, a pipe for instance, and a file of
/// another kind may be large: only its beginning is read.
pub fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    let (file, length) = open_regular(path)?;
    let mut bytes = Vec::new();
    read_rest(&file, length, &mut bytes, |beginning| {
        OF_PROGRAMS.iter().any(|start| beginning.starts_with(start))
    })?;
    Ok(bytes)
}

/// Opens a file, and nothing but a file: to open a pipe may wait, and to open a device may do something. Also gives its
/// length.
pub fn open_regular(path: &Path) -> std::io::Result<(File, u64)> {
    let length_of = |found: Metadata| match found.is_file() {
        true => Ok(found.len()),
        false => Err(std::io::Error::other("not a regular file")),
    };
    length_of(std::fs::metadata(path)?)?;
    // By now it may be something else.
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(at_once).open(path)?;
    let length = length_of(file.metadata()?)?;
    Ok((file, length))
}

/// Reads the rest of an open file of this length behind the bytes that were read, and asks the system no more than
/// needed: there may be thousands of files. A length of 0 is that of a pipe, or of a file of the system that does not
/// know it. Only the beginning of a file that is not known by it.
fn read_rest(
    mut file: &File,
    length: u64,
    bytes: &mut Vec<u8>,
    is_known: impl Fn(&[u8]) -> bool,
) -> std::io::Result<()> {
    if length == 0 {
        return read_unless_unknown(&mut file, bytes, is_known);
    }
    read_bytes(file, length.min(BEGINNING).saturating_sub(bytes.len() as u64), bytes)?;
    match length.saturating_sub(bytes.len() as u64) {
        left if left > 0 && is_known(bytes) => read_bytes(file, left, bytes),
        _ => Ok(()),
    }
}

/// Reads this number of bytes, or fewer if the file ends before.
pub fn read_bytes(file: &File, length: u64, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let end = bytes.len().saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    bytes.try_reserve_exact(end - bytes.len())?;
    while bytes.len() < end {
        // The standard library would fill the memory with zeros first.
        match rustix::io::read(file, spare_capacity(bytes)) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Enough of a file to recognise any format.
const BEGINNING: u64 = 1 << 16;

/// Reads a file, and goes on only after a beginning that is known. A file may be large, and a device may never end.
fn read_unless_unknown(
    mut file: impl Read,
    bytes: &mut Vec<u8>,
    is_known: impl Fn(&[u8]) -> bool,
) -> std::io::Result<()> {
    file.by_ref().take(BEGINNING).read_to_end(bytes)?;
    if is_known(bytes) {
        file.read_to_end(bytes)?;
    }
    Ok(())
}

/// Whether a file with this beginning is an input.
fn is_input(beginning: &[u8]) -> bool {
    beginning.starts_with(&live::MAGIC) || Format::of(beginning).is_some()
}

/// Standard input can be read only once: nothing follows behind its end.
pub fn refuse_twice<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    match paths.into_iter().filter(|path| path.as_os_str() == "-").count() {
        0 | 1 => Ok(()),
        _ => Err(Error::about(STDIN, "given twice, and can be read only once")),
    }
}

/// Whether two paths lead to one file, under whatever names.
pub fn is_same(a: &Path, b: &Path) -> bool {
    Target::of(a).is(b)
}

/// A file that many others are compared with.
pub struct Target<'p> {
    path: &'p Path,
    /// What is there now, and its name without links.
    found: Option<(Metadata, PathBuf)>,
}

impl<'p> Target<'p> {
    /// The file at this path, which need not exist.
    pub fn of(path: &'p Path) -> Self {
        let found = std::fs::metadata(path).ok();
        Self { path, found: found.and_then(|found| Some((found, path.canonicalize().ok()?))) }
    }

    /// Its path below a folder, without links there, if it is below.
    pub fn below(&self, folder: &Path) -> Option<PathBuf> {
        let (_, real) = self.found.as_ref()?;
        let below = real.strip_prefix(folder.canonicalize().ok()?).ok()?;
        Some(folder.join(below))
    }

    /// Whether another path leads to it, under whatever name.
    pub fn is(&self, other: &Path) -> bool {
        if self.path == other {
            return true;
        }
        let Some((found, real)) = &self.found else { return false };
        // Two names of one file in folders are two files.
        let is_one = |other: Metadata| (other.dev(), other.ino()) == (found.dev(), found.ino());
        std::fs::metadata(other).is_ok_and(is_one)
            && other.canonicalize().is_ok_and(|other| other == *real)
    }
}

/// The name of standard input in messages.
pub const STDIN: &str = "standard input";

/// Reads a file of any content, for instance a log; gives its name for messages, too. `-` is standard input. Devices
/// may never end: bytes that no text has end the reading.
pub fn read(path: &Path) -> Result<(PathBuf, Vec<u8>)> {
    if path.as_os_str() == "-" {
        let is_device = rustix::fs::fstat(std::io::stdin())
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice);
        return Ok((STDIN.into(), read_log(std::io::stdin(), is_device).about(STDIN)?));
    }
    let wrong = |error| missing(path, error);
    let file = File::open(path).map_err(wrong)?;
    let is_device = file.metadata().map_err(wrong)?.file_type().is_char_device();
    Ok((path.to_owned(), read_log(file, is_device).map_err(wrong)?))
}

fn read_log(mut log: impl Read, is_device: bool) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    log.by_ref().take(BEGINNING).read_to_end(&mut bytes)?;
    if is_device && bytes.contains(&0) {
        return Err(std::io::Error::other("0x0: expected text, found what a device gives"));
    }
    log.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A dump that is decoded while it is being read.
struct Stream<'f> {
    /// The bytes that were read to find out what it is.
    beginning: &'f [u8],
    file: &'f File,
}

impl Source for Stream<'_> {
    type Error = std::io::Error;

    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let Ok(mut length) = Source::read(&mut self.beginning, into);
        while length < into.len() {
            match self.file.read(&mut into[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(length)
    }
}

impl Input {
    /// Reads a file; `-` is standard input. Does not map files into memory: that needs unsafe code, and kills
    /// this process if another one cuts the file short.
    pub fn read(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            let mut bytes = Vec::new();
            read_unless_unknown(std::io::stdin(), &mut bytes, is_input).about(STDIN)?;
            return Self::of(STDIN.into(), bytes);
        }
        let wrong = |error| missing(path, error);
        let file = File::open(path).map_err(wrong)?;
        let found = file.metadata().map_err(wrong)?;
        Self::of_open(path, file, if found.is_file() { found.len() } else { 0 })
    }

    /// Reads an open file of this length, which is 0 if nobody knows it. The system is not asked again, which takes
    /// long for thousands of files.
    pub fn of_open(path: &Path, file: File, length: u64) -> Result<Self> {
        let wrong = |error| missing(path, error);
        let mut bytes = Vec::new();
        if cfg!(feature = "parquet") && length > 0 {
            // A table need not be in memory as a whole.
            let beginning = length.min(PARQUET_MAGIC.len() as u64);
            read_bytes(&file, beginning, &mut bytes).map_err(wrong)?;
            if bytes == PARQUET_MAGIC {
                return Self::of_table(path.to_owned(), file);
            }
        }
        read_rest(&file, length, &mut bytes, is_input).map_err(wrong)?;
        Self::of(path.to_owned(), bytes)
    }

    /// Reads a file. Decodes a dump at once, without keeping its bytes.
    pub fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Self::read(path);
        }
        let wrong = |error| missing(path, error);
        let file = File::open(path).map_err(wrong)?;
        let found = file.metadata().map_err(wrong)?;
        let length = if found.is_file() { found.len() } else { 0 };
        // Most files are small, and then this is all of them. A device need not have as much.
        let beginning = if length == 0 { DUMP_MAGIC.len() as u64 } else { length.min(BEGINNING) };
        let mut bytes = Vec::new();
        read_bytes(&file, beginning, &mut bytes).map_err(wrong)?;
        match Format::of(&bytes) {
            Some(Format::Dump) => {}
            Some(Format::Parquet) if found.is_file() => {
                return Self::of_table(path.to_owned(), file);
            }
            _ => {
                read_rest(&file, length, &mut bytes, is_input).map_err(wrong)?;
                return Self::of(path.to_owned(), bytes);
            }
        }
        warn_of_live_files(path);
        let dump = Dump::read(Stream { beginning: &bytes, file: &file }, length).about(path)?;
        warn_of_modules(path, &dump);
        Ok(Self { name: path.to_owned(), bytes, format: Format::Dump, dump: Some(dump) })
    }

    fn of(name: PathBuf, bytes: Vec<u8>) -> Result<Self> {
        match Format::of(&bytes) {
            Some(_) if !bytes.is_empty() => {}
            // A full disk leaves an empty one. It is named among the others when it is decoded.
            _ if super::folder::is_data_file(&name) => {
                return Ok(Self { name, bytes, format: Format::Gcda, dump: None });
            }
            _ if bytes.is_empty() => return Err(Error::about(name, "0x0: the file is empty")),
            _ => {}
        }
        if bytes.starts_with(&live::MAGIC) {
            return Self::of_live(name, &bytes);
        }
        match Format::of(&bytes) {
            Some(Format::Parquet) => Self::of_table_bytes(name, bytes),
            Some(Format::Dump) => {
                warn_of_live_files(&name);
                Ok(Self { name, bytes, format: Format::Dump, dump: None })
            }
            Some(format) => Ok(Self { name, bytes, format, dump: None }),
            None => Err(Error::about(name, unknown(&bytes))),
        }
    }

    /// Reads the counters of a process that is running or was killed, as the dump that it would write.
    fn of_live(name: PathBuf, bytes: &[u8]) -> Result<Self> {
        let dump = Dump::parse_live(bytes).about(&name)?;
        if dump.modules.is_empty() {
            return Err(Error::about(name, "its counts have been added to the dump"));
        }
        Ok(Self { name, bytes: dump.to_bytes(), format: Format::Dump, dump: None })
    }

    /// A dump that was put together.
    pub fn of_dump(name: PathBuf, dump: Dump) -> Self {
        Self { name, bytes: Vec::new(), format: Format::Dump, dump: Some(dump) }
    }

    /// Reads a table as the dump or profile of its sum.
    #[cfg(feature = "parquet")]
    fn of_table(name: PathBuf, file: File) -> Result<Self> {
        let (format, bytes) = super::parquet::read(&name, file)?;
        Ok(Self { name, bytes, format, dump: None })
    }

    #[cfg(feature = "parquet")]
    fn of_table_bytes(name: PathBuf, bytes: Vec<u8>) -> Result<Self> {
        let (format, bytes) = super::parquet::read_bytes(&name, bytes)?;
        Ok(Self { name, bytes, format, dump: None })
    }

    #[cfg(not(feature = "parquet"))]
    fn of_table(name: PathBuf, _: File) -> Result<Self> {
        Self::of_table_bytes(name, Vec::new())
    }

    #[cfg(not(feature = "parquet"))]
    fn of_table_bytes(name: PathBuf, _: Vec<u8>) -> Result<Self> {
        let what = "a Parquet table, and this tool was built without the feature `parquet`";
        Err(Error::about(name, what))
    }

    /// Whether all that it has are counters by function, in a profile of LLVM or a dump of programs that clang or
    /// rustc instrumented.
    pub fn is_by_function(&self) -> Result<bool> {
        if self.format != Format::Dump {
            return Ok(self.format.is_by_function());
        }
        let parsed;
        let modules = match &self.dump {
            Some(dump) => &dump.modules,
            None => {
                parsed = self.parsed()?;
                &parsed.modules
            }
        };
        Ok(!modules.is_empty() && modules.iter().all(Module::is_llvm))
    }

    /// The same file with its profile in version 4.
    pub fn with_profile(self, bytes: Vec<u8>) -> Self {
        Self { bytes, format: Format::V4, ..self }
    }

    /// The dump, if it was decoded during reading.
    pub const fn decoded_dump(&self) -> Option<&Dump> {
        self.dump.as_ref()
    }

    /// The dump in it; profiles are an error. Warns of what is left out or too large.
    pub fn dump(&self) -> Result<Dump> {
        let dump = self.parsed()?;
        warn_of_modules(&self.name, &dump);
        Ok(dump)
    }

    fn parsed(&self) -> Result<Dump> {
        if self.format != Format::Dump {
            let what = format!("expected a raw dump, found {}", self.format.name());
            return Err(Error::about(&self.name, what));
        }
        self.dump.clone().map_or_else(|| Dump::parse(&self.bytes).about(&self.name), Ok)
    }

    /// The profile in it, with one warning for each kind of defect that was tolerated.
    pub fn profile(&self) -> Result<Profile> {
        let decoded = self.decode()?;
        self.warn(&decoded.warnings);
        Ok(decoded.profile)
    }

    /// The profile in it to look at: of a sample profile with pseudo-probes it has the numbers of these.
    pub fn listing(&self) -> Result<Profile> {
        if !self.format.is_sample() {
            return self.profile();
        }
        listing_of(self.samples()?, &self.name)
    }

    /// The profile in it, with what there is to say about it.
    pub fn decode(&self) -> Result<Decoded> {
        match self.format {
            Format::V4 => {
                let decoded = afdo_v4::decode::decode(&self.bytes).about(&self.name)?;
                let warnings = warnings(&decoded.findings);
                Ok(Decoded { profile: decoded.profile, summary: Some(decoded.summary), warnings })
            }
            Format::V4Text => {
                let decoded = afdo_v4_text::decode::decode(&self.bytes).about(&self.name)?;
                let warnings = warnings(&decoded.findings);
                Ok(Decoded { profile: decoded.profile, summary: decoded.summary, warnings })
            }
            Format::V1V3(_) => {
                let decoded = afdo_v1_v3::decode::decode(&self.bytes).about(&self.name)?;
                let warnings = warnings(&decoded.findings);
                Ok(Decoded { profile: decoded.profile, summary: decoded.summary, warnings })
            }
            Format::SampleBinary | Format::Sample | Format::SampleText => {
                let (samples, summary, warnings) = self.samples_and_warnings()?;
                let profile = samples.into_profile().about(&self.name)?;
                Ok(Decoded { profile, summary, warnings })
            }
            Format::Profraw | Format::Profdata | Format::Proftext => {
                Err(Error::about(&self.name, without_positions(self.format.name())))
            }
            Format::Dump | Format::Gcda | Format::Gcno | Format::Parquet => {
                if self.format == Format::Gcda && self.bytes.len() < 8 {
                    // The rest may as well be that of a profile.
                    Words::open(&self.bytes, *b"gcda").about(&self.name)?;
                }
                let found = self.format.name();
                let what = format!(
                    "expected a profile, found {found}; `convert` makes profiles of raw dumps"
                );
                Err(Error::about(&self.name, what))
            }
        }
    }

    /// The sample profile in it, with contexts and all else that only such a profile has.
    pub fn samples(&self) -> Result<Samples> {
        let (samples, _, warnings) = self.samples_and_warnings()?;
        self.warn(&warnings);
        Ok(samples)
    }

    fn samples_and_warnings(&self) -> Result<(Samples, Option<Summary>, Vec<String>)> {
        if self.format == Format::SampleText {
            let decoded = llvm_sample_text::decode::decode(&self.bytes).about(&self.name)?;
            return Ok((decoded.samples, None, warnings(&decoded.findings)));
        }
        let decoded = llvm_sample::decode::decode(&self.bytes).about(&self.name)?;
        Ok((decoded.samples, Some(decoded.summary), warnings(&decoded.findings)))
    }

    /// The dump in it; gives up the file.
    pub fn into_dump(mut self) -> Result<Dump> {
        self.dump.take().map_or_else(|| self.dump(), Ok)
    }

    /// The profile in it; gives up the file.
    pub fn into_profile(self) -> Result<Profile> {
        self.profile()
    }

    /// Says what was tolerated.
    pub fn warn(&self, warnings: &[String]) {
        warnings.iter().for_each(|warning| warn(&self.name, warning));
    }
}

/// A sample profile to look at.
pub fn listing_of(samples: Samples, name: &Path) -> Result<Profile> {
    if samples.traits.probes {
        warn(name, "its positions are numbers of pseudo-probes, not lines");
    }
    samples.into_listing().about(name)
}

/// Modules that are left out are named up to this number.
const NAMED: usize = 10;

/// Says which modules of a dump are left out, and that counts are too large.
pub fn warn_of_modules(name: &Path, dump: &Dump) {
    dump.left_out.iter().take(NAMED).for_each(|module| warn(name, module));
    if let more @ 1.. = dump.left_out.len().saturating_sub(NAMED) {
        warn(name, format!("{} left out", Number(more as u64, "more module")));
    }
    let unknown: u64 = dump.modules.iter().map(Module::unknown_records).sum();
    if unknown > 0 {
        let bytes = Number(unknown, "byte");
        warn(
            name,
            format!(
                "{bytes} of function records had an unknown layout: their functions are missing"
            ),
        );
    }
    let saturated: u64 = dump.modules.iter().map(Module::saturated).sum();
    if saturated > 0 {
        let counts = Number(saturated, "count");
        warn(name, format!("{counts} at the largest number: the true sums may be larger"));
    }
}

/// Why there are no counts by source position in counters by function.
pub fn without_positions(found: &str) -> String {
    format!(
        "expected counts by source position, found {found}; the positions of its counters stand in the program's \
         coverage mapping, which `convert` reads; --to profdata, profraw and proftext need none"
    )
}

/// One warning for each kind, with the number of further ones.
pub fn warnings<F: Found + Display>(findings: &Findings<F>) -> Vec<String> {
    let warning = |kind: &Kind<F>| match kind.number {
        1 => kind.first[0].to_string(),
        number => format!("{} (and {} more)", kind.first[0], number - 1),
    };
    findings.kinds().iter().map(warning).collect()
}

/// Warns of counts beside a dump that are not in it.
fn warn_of_live_files(dump: &Path) {
    let number = live_files::number_beside(dump);
    if number > 0 {
        let what = "its own counts do not have those of live files beside it";
        warn(dump, format!("{what} ({number}), which `countersink fold` adds"));
    }
}
