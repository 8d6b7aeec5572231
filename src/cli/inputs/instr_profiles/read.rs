//! Reads LLVM's profiles of any version.

use std::path::Path;
use std::prelude::v1::*;

use crate::cli::compilers::llvm::Origins;
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::input::{Format, Input, warnings};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::convert;
use crate::convert::number::Number;
use crate::counters::Profile;
use crate::formats::profraw::check::{Defect, Finding};
use crate::formats::{profdata, profraw, proftext};
use crate::raw::dump::Dump;

/// A profile that has been read.
pub struct Counted {
    /// What it says.
    pub profile: Profile,
    /// The version of its file.
    pub version: Version,
    /// Names of functions called indirectly that a text has; other files have only their MD5.
    pub targets: Vec<Vec<u8>>,
    /// What `llvm-profdata` wants to know besides.
    pub marks: Marks,
    /// Defects that were tolerated.
    pub warnings: Vec<String>,
}

/// What decides whether `llvm-profdata` adds a profile without a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// A text says that a front end placed the counters, see
    /// [`says_front_end`](proftext::decode::Decoded::says_front_end).
    pub says_front_end: bool,
    /// A raw profile has a counter so large that the profile is probably damaged.
    pub has_large_count: bool,
}

impl Marks {
    /// Those of a raw profile.
    pub fn of_raw(findings: &profraw::check::Findings) -> Self {
        let is_large = |finding: &Finding| matches!(finding.defect, Defect::LargeCount(_));
        let has_large_count = findings.kinds().iter().flat_map(|kind| &kind.first).any(is_large);
        Self { has_large_count, ..Self::default() }
    }
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

/// The counters by function in a file; `programs` have the functions that it may lack.
pub fn counted(input: &Input, programs: &Programs) -> Result<Counted> {
    let (bytes, name) = (&input.bytes, &input.name);
    match input.format {
        Format::Profraw => {
            let decoded =
                profraw::decode::decode(&programs.complete_raw(bytes, name)?).about(name)?;
            let (marks, warnings) = (Marks::of_raw(&decoded.findings), warnings(&decoded.findings));
            let version = Version::Raw(decoded.version);
            let targets = Vec::new();
            Ok(Counted { profile: decoded.profile, version, targets, marks, warnings })
        }
        Format::Profdata => {
            let decoded = profdata::decode::decode(bytes).about(name)?;
            let (version, warnings) =
                (Version::Indexed(decoded.version), warnings(&decoded.findings));
            let (targets, marks) = (Vec::new(), Marks::default());
            Ok(Counted { profile: decoded.profile, version, targets, marks, warnings })
        }
        Format::Proftext => {
            let decoded = proftext::decode::decode(bytes).about(name)?;
            let warnings = warnings(&decoded.findings);
            let says_front_end = decoded.says_front_end;
            let marks = Marks { says_front_end, ..Marks::default() };
            let (targets, version) = (decoded.targets, Version::Text);
            Ok(Counted { profile: decoded.profile, version, targets, marks, warnings })
        }
        Format::Dump => of_dump(&input.dump()?, name, programs),
        other => {
            let what = format!("expected a profile of LLVM, found {}", other.name());
            Err(Error::about(name, what))
        }
    }
}

/// The counters of the modules that clang and rustc instrumented.
pub fn of_dump(dump: &Dump, name: &Path, programs: &Programs) -> Result<Counted> {
    let dump = &*programs.complete_dump(dump, name)?;
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
    let (targets, marks) = (Vec::new(), Marks::default());
    Ok(Counted { profile: converted.profile, version, targets, marks, warnings })
}
