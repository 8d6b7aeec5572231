//! Input files: dumps and profiles, distinguished by their content.
//!
//! What LLVM's profiles say is read in [`super::by_function`].

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rustix::buffer::spare_capacity;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::commands::fold;
use super::error::{Context, Error, Result};
use crate::convert::number::Number;
use crate::formats::afdo_v1_v3::Version;
use crate::formats::afdo_v1_v3::{names::Names, rules::Rules};
use crate::formats::words::Words;
use crate::formats::{
    Findings, Found, Kind, afdo_v1_v3, afdo_v4, afdo_v4_text, llvm_sample, llvm_sample_text,
    profdata, profraw, proftext,
};
use crate::profile::{Profile, Summary};
use crate::raw::dump::{Dump, Module};
use crate::raw::layout::MAGIC as DUMP_MAGIC;
use crate::raw::live;
use crate::raw::reader::Source;
use crate::samples::Samples;

/// A larger word behind the magic, which AutoFDO shares with `.gcda` files, is the version of a compiler.
const LARGEST_VERSION: u32 = 0xffff;

/// A file that has been read.
pub struct Input {
    /// Its name for messages.
    pub name: PathBuf,
    /// Its content; only the beginning of a dump that was [opened](Self::open).
    pub bytes: Vec<u8>,
    /// What kind of file it is.
    pub format: Format,
    /// The dump, if it was decoded during reading.
    pub(super) dump: Option<Dump>,
}

/// A profile that has been read.
pub struct Decoded {
    pub profile: Profile,
    /// The summary as it stands in the file, if there is one.
    pub summary: Option<Summary>,
    /// Defects that were tolerated.
    pub warnings: Vec<String>,
}

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A raw dump.
    Dump,
    /// AutoFDO before version 4.
    V1V3(Version),
    /// AutoFDO version 4, binary.
    V4,
    /// AutoFDO version 4, text.
    V4Text,
    /// Counters of an object.
    Gcda,
    /// Notes of an object.
    Gcno,
    /// Counters by function, as a program of clang or rustc leaves them.
    Profraw,
    /// Counters by function, as compilers read them.
    Profdata,
    /// Counters by function, as text.
    Proftext,
    /// LLVM's sample profile, binary.
    SampleBinary,
    /// LLVM's sample profile, extensible or compact binary.
    Sample,
    /// LLVM's sample profile, text.
    SampleText,
    /// Dumps or profiles as a table. An [`Input`] has their sum, and its format.
    Parquet,
}

/// First bytes of a Parquet file.
const PARQUET_MAGIC: [u8; 4] = *b"PAR1";

impl Format {
    /// Name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dump => "a raw dump",
            Self::V1V3(Version::V1) => "an AutoFDO profile, version 1",
            Self::V1V3(Version::V2) => "an AutoFDO profile, version 2",
            Self::V1V3(Version::V3) => "an AutoFDO profile, version 3",
            Self::V1V3(Version::V407) => "an AutoFDO profile, version 0x3430372a",
            Self::V4 => "an AutoFDO profile, version 4",
            Self::V4Text => "an AutoFDO profile, version 4 as text",
            Self::Gcda => "counters of an object (.gcda)",
            Self::Gcno => "notes of an object (.gcno)",
            Self::Profraw => "a raw profile of LLVM (.profraw)",
            Self::Profdata => "an indexed profile of LLVM (.profdata)",
            Self::Proftext => "a text profile of LLVM (.proftext)",
            Self::SampleBinary => "a sample profile of LLVM, binary",
            Self::Sample => "a sample profile of LLVM, extensible or compact binary",
            Self::SampleText => "a sample profile of LLVM, text",
            Self::Parquet => "a table (.parquet)",
        }
    }

    /// Whether it has counters by function.
    pub const fn is_by_function(self) -> bool {
        matches!(self, Self::Profraw | Self::Profdata | Self::Proftext)
    }

    /// Whether it is a sample profile of LLVM.
    pub const fn is_sample(self) -> bool {
        matches!(self, Self::SampleBinary | Self::Sample | Self::SampleText)
    }

    /// The part of names that such a file keeps.
    pub const fn names(self) -> Names {
        match self {
            Self::V1V3(version) => Rules::for_version(version).names,
            _ => Names::Whole,
        }
    }

    /// The kind of a file with this beginning, which may be cut short.
    fn of(bytes: &[u8]) -> Option<Self> {
        let starts = |bytes: &[u8], magic: &[u8]| {
            let length = bytes.len().min(magic.len());
            length > 0 && bytes[..length] == magic[..length]
        };
        let is = |magic: &[u8; 4]| {
            let reversed = [magic[3], magic[2], magic[1], magic[0]];
            starts(bytes, magic) || starts(bytes, &reversed)
        };
        let start = bytes.trim_ascii_start();
        match Version::of(bytes) {
            Some(Ok(version)) => return Some(Self::V1V3(version)),
            Some(Err(word)) if word <= LARGEST_VERSION => return None,
            _ => {}
        }
        Some(match bytes {
            _ if starts(bytes, &DUMP_MAGIC[..6]) => Self::Dump,
            _ if starts(bytes, &afdo_v4::MAGIC) => Self::V4,
            _ if starts(bytes, &PARQUET_MAGIC) => Self::Parquet,
            _ if is(b"gcda") => Self::Gcda,
            _ if is(b"gcno") => Self::Gcno,
            _ if starts(start, afdo_v4_text::START) || start.starts_with(b"\"") => Self::V4Text,
            _ if profraw::is_profraw(bytes) => Self::Profraw,
            _ if starts(bytes, &profdata::MAGIC) => Self::Profdata,
            _ if llvm_sample::is_sample_profile(bytes) => match llvm_sample::form(bytes) {
                llvm_sample::Form::Binary => Self::SampleBinary,
                llvm_sample::Form::Compact | llvm_sample::Form::Extensible => Self::Sample,
            },
            _ if llvm_sample_text::looks_like(bytes) => Self::SampleText,
            _ if proftext::looks_like(bytes) => Self::Proftext,
            _ => return None,
        })
    }
}

impl Format {
    /// The same for one of many files in a folder: text must also have the right extension, if its beginning is that
    /// of many other files.
    pub fn of_file(beginning: &[u8], extension: Option<&OsStr>) -> Option<Self> {
        let format = Self::of(beginning).filter(|_| !beginning.is_empty())?;
        let is_sure = match format {
            Self::V4Text => beginning.trim_ascii_start().starts_with(afdo_v4_text::START),
            Self::Proftext => extension.is_some_and(|extension| extension == "proftext"),
            Self::SampleText => extension.is_some_and(|extension| extension == "prof"),
            _ => true,
        };
        is_sure.then_some(format)
    }
}

/// Reads a file that a dump names. Anything but a regular file might never end, a pipe for instance.
pub fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    std::fs::read(path)
}

/// Reads an open file of this length from where it stands, and asks the system no more than needed: there may be
/// thousands of files. A length of 0 is that of a pipe, or of a file of the system that does not know it.
fn read_open(mut file: &File, length: u64, bytes: &mut Vec<u8>) -> std::io::Result<()> {
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
    if length == 0 {
        read_unless_unknown(&mut file, bytes)?;
    }
    Ok(())
}

/// Enough of a file to recognise any format.
const BEGINNING: u64 = 1 << 16;

/// Reads a file whose length nobody knows: a pipe, or a device, which may never end. So it goes on only after a beginning
/// that is known.
fn read_unless_unknown(mut file: impl Read, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    file.by_ref().take(BEGINNING).read_to_end(bytes)?;
    if bytes.starts_with(&live::MAGIC) || Format::of(bytes).is_some() {
        file.read_to_end(bytes)?;
    }
    Ok(())
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
    a == b || a.canonicalize().is_ok_and(|real| b.canonicalize().is_ok_and(|other| other == real))
}

/// The name of standard input in messages.
const STDIN: &str = "standard input";

/// Reads a file of any content, for instance a log; gives its name for messages, too. `-` is standard input. Devices may
/// never end: bytes that no text has end the reading.
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
            read_unless_unknown(std::io::stdin(), &mut bytes).about(STDIN)?;
            return Self::of(STDIN.into(), bytes);
        }
        let wrong = |error| missing(path, error);
        let file = File::open(path).map_err(wrong)?;
        let found = file.metadata().map_err(wrong)?;
        Self::of_open(path, file, if found.is_file() { found.len() } else { 0 })
    }

    /// Reads an open file of this length, which is 0 if nobody knows it. The system is not asked again, which takes
    /// long for thousands of files.
    pub fn of_open(path: &Path, file: File, mut length: u64) -> Result<Self> {
        let wrong = |error| missing(path, error);
        let mut bytes = Vec::new();
        if cfg!(feature = "parquet") && length > 0 {
            // A table need not be in memory as a whole.
            let beginning = length.min(PARQUET_MAGIC.len() as u64);
            read_open(&file, beginning, &mut bytes).map_err(wrong)?;
            if bytes == PARQUET_MAGIC {
                return Self::of_table(path.to_owned(), file);
            }
            length -= beginning;
        }
        read_open(&file, length, &mut bytes).map_err(wrong)?;
        Self::of(path.to_owned(), bytes)
    }

    /// Reads a file. Decodes a dump at once, without keeping its bytes.
    pub fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Self::read(path);
        }
        let mut file = File::open(path).map_err(|error| missing(path, error))?;
        let mut bytes = Vec::new();
        (&file).take(DUMP_MAGIC.len() as u64).read_to_end(&mut bytes).about(path)?;
        match Format::of(&bytes) {
            Some(Format::Dump) => {}
            Some(Format::Parquet) if file.metadata().about(path)?.is_file() => {
                return Self::of_table(path.to_owned(), file);
            }
            _ => {
                let found = file.metadata().about(path)?;
                match found.is_file() {
                    true => file.read_to_end(&mut bytes).map(drop),
                    false => read_unless_unknown(&mut file, &mut bytes),
                }
                .about(path)?;
                return Self::of(path.to_owned(), bytes);
            }
        }
        let length = file.metadata().about(path)?.len();
        warn_of_live_files(path);
        let dump = Dump::read(Stream { beginning: &bytes, file: &file }, length).about(path)?;
        warn_of_modules(path, &dump);
        Ok(Self { name: path.to_owned(), bytes, format: Format::Dump, dump: Some(dump) })
    }

    fn of(name: PathBuf, bytes: Vec<u8>) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::about(name, "0x0: the file is empty"));
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
        let modules = self.parsed()?.modules;
        Ok(!modules.is_empty() && modules.iter().all(Module::is_llvm))
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
        Dump::parse(&self.bytes).about(&self.name)
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
        warnings.iter().for_each(|warning| super::warn(&self.name, warning));
    }
}

/// A sample profile to look at.
pub fn listing_of(samples: Samples, name: &Path) -> Result<Profile> {
    if samples.traits.probes {
        super::warn(name, "its positions are numbers of pseudo-probes, not lines");
    }
    samples.into_listing().about(name)
}

/// Modules that are left out are named up to this number.
const NAMED: usize = 10;

/// Says which modules of a dump are left out, and that counts are too large.
pub fn warn_of_modules(name: &Path, dump: &Dump) {
    dump.left_out.iter().take(NAMED).for_each(|module| super::warn(name, module));
    if let more @ 1.. = dump.left_out.len().saturating_sub(NAMED) {
        super::warn(name, format!("{} left out", Number(more as u64, "more module")));
    }
    let saturated: u64 = dump.modules.iter().map(Module::saturated).sum();
    if saturated > 0 {
        let counts = Number(saturated, "count");
        super::warn(name, format!("{counts} at the largest number: the true sums may be larger"));
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
    let number = fold::number_beside(dump);
    if number > 0 {
        let what = "its own counts do not have those of live files beside it";
        super::warn(dump, format!("{what} ({number}), which `countersink fold` adds"));
    }
}

/// Why a file could not be read, and what is there instead.
pub fn missing(path: &Path, error: std::io::Error) -> Error {
    let is_missing = error.kind() == ErrorKind::NotFound;
    match fold::number_beside(path) {
        0 if is_missing && let Some((found, why)) = written_instead(path) => {
            let found = found.display();
            Error::about(path, format!("{error}; {found} is there: {why}"))
        }
        0 if is_missing && let Some(program) = program_beside(path) => {
            let doctor = format!("`countersink doctor {}`", program.display());
            Error::about(path, format!("{error}; {doctor} says where the program's dump will be"))
        }
        0 => Error::about(path, error),
        number => {
            let what = "of processes that are running, or did not come to their end";
            let adds = "`countersink fold` adds those";
            Error::about(path, format!("{error}, but live files ({number}) {what}; {adds}"))
        }
    }
}

/// The program beside a dump that is missing, by the name that dumps have.
fn program_beside(dump: &Path) -> Option<PathBuf> {
    dump.extension().filter(|&extension| extension == "csraw")?;
    Some(dump.with_extension("")).filter(|program| program.is_file())
}

/// What another runtime has written beside a dump that is missing, and why.
fn written_instead(dump: &Path) -> Option<(PathBuf, &'static str)> {
    dump.extension().filter(|&extension| extension == "csraw")?;
    let entries =
        std::fs::read_dir(dump.parent().filter(|folder| *folder != "").unwrap_or(Path::new(".")))
            .ok()?;
    let mut beside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    beside.sort_unstable();
    let reason = |file: &PathBuf| match file.extension()?.to_str()? {
        "gcda" => Some(BY_LIBGCOV),
        "profraw" => Some(BY_LLVM),
        _ => None,
    };
    beside.into_iter().find_map(|file| reason(&file).map(|why| (file, why)))
}

/// Why there are `.gcda` files.
pub const BY_LIBGCOV: &str =
    "libgcov wrote it, because `countersink flags` was missing at the link";

/// Why there are `.profraw` files.
const BY_LLVM: &str = "a dump under LLVM's name, or LLVM's runtime wrote it, because `countersink flags` was missing \
                       at the link";

fn unknown(bytes: &[u8]) -> String {
    const DUMP: &str = "the program's own dump, PROGRAM.csraw where it was started";
    let start = bytes.trim_ascii_start();
    let expected = "0x0: expected a raw dump, a profile of AutoFDO or LLVM, .gcda or .gcno, found";
    match start {
        _ if let Some(version) = unknown_version(bytes) => match version {
            4 => "0x0: an AutoFDO profile of version 4 with the magic of the versions before it"
                .into(),
            _ => format!(
                "0x4: an AutoFDO profile of version {version}, which this release does not read (1 to 4 and \
                 0x3430372a)"
            ),
        },
        _ if start.starts_with(b"{") => {
            let instead = "keep the profile it was made of";
            format!("0x0: JSON is only written, for other programs; {instead}")
        }
        _ if bytes.starts_with(b"\x7fELF") => {
            format!("{expected} a program, library or object; its counts are in {DUMP}")
        }
        _ if bytes.starts_with(b"PERFILE2") => {
            format!("{expected} samples of perf, which are for create_gcov")
        }
        _ => match beginning(start) {
            Some(text) => format!("{expected} text, \"{text}\"; counts are in {DUMP}"),
            None => {
                let start: Vec<String> =
                    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                format!("{expected} {}", start.join(" "))
            }
        },
    }
}

/// The version of an AutoFDO profile, if that version is unknown.
fn unknown_version(bytes: &[u8]) -> Option<u32> {
    let word = bytes.get(4..8).and_then(|word| word.try_into().ok()).map(u32::from_be_bytes);
    let version = match Version::of(bytes) {
        Some(Err(word)) => Some(word),
        _ => word.filter(|_| bytes.starts_with(&afdo_v4::MAGIC[..4])),
    };
    version.filter(|&version| version <= LARGEST_VERSION)
}

/// The beginning of the first line, if the file is text.
fn beginning(bytes: &[u8]) -> Option<&str> {
    const SHOWN: usize = 30;
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let is_text =
        !line.is_empty() && !line.contains(|letter: char| letter.is_control() && letter != '\t');
    let end = line.char_indices().nth(SHOWN).map_or(line.len(), |(end, _)| end);
    is_text.then(|| &line[..end])
}
