//! Reads version 4, in either encoding and in mixtures of both.
//!
//! Skips sections and locations of unknown type. Tells of tolerable defects and reads on; any other defect
//! costs the section it is in. So one pass finds all that is wrong.

use super::check::{Defect, Finding, Findings};
use super::open::Opened;
use crate::profile::{Profile, Summary};

/// What a file says, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The summary as it stands in the file.
    pub summary: Summary,
    /// The file's defects.
    pub findings: Findings,
}

/// Reads a file; the first defect that cannot be tolerated is an error.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Finding> {
    let decoded = decode_all(bytes)?;
    match decoded.findings.fatal() {
        Some(finding) => Err(finding),
        None => Ok(decoded),
    }
}

/// Reads as much of a file as can be read.
pub fn decode_all(bytes: &[u8]) -> Result<Decoded, Finding> {
    decode_and_tell(bytes, &mut |_| {})
}

/// The same, but tells every defect as it finds it.
pub fn decode_and_tell(bytes: &[u8], tell: &mut dyn FnMut(Finding)) -> Result<Decoded, Finding> {
    let mut findings = Findings::default();
    let mut note = |finding| {
        findings.note(finding);
        tell(finding);
    };
    let opened = Opened::open(bytes, &mut note)?;
    let mut profile = Profile::default();
    for info in &opened.infos {
        if let Some(function) = opened.function(info, &mut note) {
            profile.functions.insert(info.symbol, function);
        }
    }
    profile.symbols = opened.symbols;
    let summary = opened.summary;
    if !findings.iter().any(is_loss) && summary != profile.summary() {
        let finding = Finding { offset: opened.summary_offset, defect: Defect::Summary };
        findings.note(finding);
        tell(finding);
    }
    Ok(Decoded { profile, summary, findings })
}

/// Whether a part of the file was not read. If so, nothing can be said about its summary.
pub(super) fn is_loss(finding: &Finding) -> bool {
    !finding.defect.is_tolerable() || matches!(finding.defect, Defect::UnknownLocation(_))
}
