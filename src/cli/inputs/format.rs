//! Recognises the format of a file by its beginning, and says what a file of no format is.

use std::ffi::OsStr;
use std::prelude::v1::*;

use crate::formats::afdo_v1_v3::{Version, names::Names, rules::Rules};
use crate::formats::{
    afdo_v4, afdo_v4_text, llvm_sample, llvm_sample_text, profdata, profraw, proftext,
};
use crate::raw::layout::MAGIC as DUMP_MAGIC;

/// A larger word behind the magic, which AutoFDO shares with `.gcda` files, is the version of a compiler.
const LARGEST_VERSION: u32 = 0xffff;

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
    /// Dumps or profiles as a table. An `input::Input` has their sum, and its format.
    Parquet,
}

/// First bytes of a Parquet file.
pub const PARQUET_MAGIC: [u8; 4] = *b"PAR1";

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
    pub fn of(bytes: &[u8]) -> Option<Self> {
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

/// What a file of no format is, by its beginning.
pub fn unknown(bytes: &[u8]) -> String {
    const DUMP: &str = "the program's own dump, PROGRAM.csraw where it was started";
    match unknown_version(bytes) {
        None => {}
        Some(4) => {
            return "0x0: an AutoFDO profile of version 4 with the magic of the versions before it"
                .into();
        }
        Some(version) => {
            return format!(
                "0x4: an AutoFDO profile of version {version}, which this release does not read (1 to 4 and \
                 0x3430372a)"
            );
        }
    }
    let start = bytes.trim_ascii_start();
    let expected = "0x0: expected a raw dump, a profile of AutoFDO or LLVM, .gcda or .gcno, found";
    match start {
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
