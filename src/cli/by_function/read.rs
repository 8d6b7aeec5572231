//! Reads LLVM's profiles of any version.

use std::path::Path;
use std::prelude::v1::*;

use crate::cli::error::{Context, Error, Result};
use crate::cli::input::{Format, Input, warnings};
use crate::cli::llvm::Origins;
use crate::convert;
use crate::convert::number::Number;
use crate::counters::Profile;
use crate::formats::{profdata, profraw, proftext};
use crate::raw::dump::Dump;

/// A profile that has been read.
pub struct Counted {
    /// What it says.
    pub profile: Profile,
    /// The version of its file.
    pub version: Version,
    /// Defects that were tolerated.
    pub warnings: Vec<String>,
}

/// The version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A raw profile, or a dump with records of this version.
    Raw(profraw::Version),
    /// An indexed profile.
    Indexed(profdata::Version),
    /// Text has no versions, nor has a dump without functions.
    Text,
}

impl Version {
    /// Adds what the version says about the LLVM that wrote the file.
    pub fn add_to(self, origins: &mut Origins) {
        match self {
            Self::Raw(version) => origins.add_raw(version),
            Self::Indexed(version) => origins.add_indexed(version),
            Self::Text => {}
        }
    }
}

/// The counters by function in a file.
pub fn counted(input: &Input) -> Result<Counted> {
    let (bytes, name) = (&input.bytes, &input.name);
    match input.format {
        Format::Profraw => {
            let decoded = profraw::decode::decode(bytes).about(name)?;
            let (version, warnings) = (decoded.version, warnings(&decoded.findings));
            Ok(Counted { profile: decoded.profile, version: Version::Raw(version), warnings })
        }
        Format::Profdata => {
            let decoded = profdata::decode::decode(bytes).about(name)?;
            let (version, warnings) = (decoded.version, warnings(&decoded.findings));
            Ok(Counted { profile: decoded.profile, version: Version::Indexed(version), warnings })
        }
        Format::Proftext => {
            let decoded = proftext::decode::decode(bytes).about(name)?;
            let warnings = warnings(&decoded.findings);
            Ok(Counted { profile: decoded.profile, version: Version::Text, warnings })
        }
        Format::Dump => of_dump(&input.dump()?, name),
        other => {
            let what = format!("expected a profile of LLVM, found {}", other.name());
            Err(Error::about(name, what))
        }
    }
}

/// The counters of the modules that clang and rustc instrumented.
pub fn of_dump(dump: &Dump, name: &Path) -> Result<Counted> {
    let converted = convert::llvm::profile(dump).about(name)?;
    if converted.other_modules == dump.modules.len() && !dump.modules.is_empty() {
        let what = "expected modules that clang or rustc instrumented, found only gcc's";
        return Err(Error::about(name, what));
    }
    let mut warnings = Vec::new();
    if converted.other_modules > 0 {
        let modules = Number(converted.other_modules as u64, "module");
        warnings.push(format!("gcc instrumented {modules}; left out"));
    }
    if converted.nameless > 0 {
        let functions = Number(converted.nameless, "function");
        warnings.push(format!("{functions} without a name; left out"));
    }
    let version = profraw::Version::from_number(converted.newest);
    let version = version.map_or(Version::Text, Version::Raw);
    Ok(Counted { profile: converted.profile, version, warnings })
}
