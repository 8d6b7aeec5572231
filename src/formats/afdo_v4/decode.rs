//! Reads version 4, in either encoding and in mixtures of both.
//!
//! Sections and locations of unknown type are skipped. What can be tolerated is noted and read all
//! the same; what cannot costs the section it is in, so that one pass finds all that is wrong.

use alloc::vec::Vec;
use core::mem;

use super::check::{Defect, Finding};
use super::open::Opened;
use crate::profile::{Profile, Summary};

/// What a file says, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The summary as it stands in the file.
    pub summary: Summary,
    /// Defects, in the order in which they were found.
    pub findings: Vec<Finding>,
}

/// Reads a file; the first defect that cannot be tolerated is an error.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Finding> {
    let decoded = decode_all(bytes)?;
    match decoded.findings.iter().find(|finding| !finding.defect.is_tolerable()) {
        Some(finding) => Err(*finding),
        None => Ok(decoded),
    }
}

/// Reads as much of a file as can be read.
pub fn decode_all(bytes: &[u8]) -> Result<Decoded, Finding> {
    let mut opened = Opened::open(bytes)?;
    let mut findings = mem::take(&mut opened.findings);
    let mut profile = Profile::default();
    for (number, info) in opened.infos.iter().enumerate() {
        if let Some(function) = opened.function(number, &mut findings) {
            profile.functions.insert(info.symbol, function);
        }
    }
    profile.symbols = opened.symbols;
    let skipped = |finding: &Finding| {
        !finding.defect.is_tolerable() || matches!(finding.defect, Defect::UnknownLocation(_))
    };
    let summary = opened.summary;
    if !findings.iter().any(skipped) && summary != profile.summary() {
        findings.push(Finding { offset: opened.summary_offset, defect: Defect::Summary });
    }
    Ok(Decoded { profile, summary, findings })
}
