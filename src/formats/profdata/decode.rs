//! Reads indexed profiles of all versions.
//!
//! Reports tolerable defects and reads on; any other defect is an error. So is a memory profile: without it the rest
//! would look complete.

use hashbrown::HashSet;

use super::check::{Defect, Finding, Findings, Part, Tell};
use super::open::Opened;
use super::words::Words;
use super::{Version, tail};
use crate::counters::summary::Summary;
use crate::counters::{Profile, Variant};

/// What a file says, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The format's version.
    pub version: Version,
    /// The summary as it stands in the file, from version 4.
    pub summary: Option<Summary>,
    /// The file's defects.
    pub findings: Findings,
}

/// Reads a file.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Finding> {
    decode_and_tell(bytes, &mut |_| {})
}

/// The same, but reports each tolerated defect as soon as it is found.
pub fn decode_and_tell(bytes: &[u8], tell: &mut dyn FnMut(Finding)) -> Result<Decoded, Finding> {
    let mut findings = Findings::default();
    let mut note = |finding| {
        findings.note(finding);
        tell(finding);
    };
    let opened = Opened::new(bytes, &mut note)?;
    let mut profile = Profile { variant: opened.header.variant, ..Profile::default() };
    functions(&opened, &mut profile, &mut note)?;
    behind_the_table(&opened, &mut profile, &mut note)?;
    check_summary(&opened, &profile, &mut note);
    let version = opened.header.version;
    Ok(Decoded { profile, version, summary: opened.summary, findings })
}

fn functions(opened: &Opened<'_>, profile: &mut Profile, tell: Tell<'_>) -> Result<(), Finding> {
    let (mut names, mut hashes) = (HashSet::new(), HashSet::new());
    opened.items(tell, &mut |mut item, tell| {
        if !names.insert(item.name) {
            tell(Finding { offset: item.offset, defect: Defect::DuplicateName });
        }
        hashes.clear();
        loop {
            let offset = item.record_offset();
            let Some(record) = item.next(&opened.header, tell)? else { return Ok(()) };
            if !hashes.insert(record.hash) {
                tell(Finding { offset, defect: Defect::DuplicateRecord });
            }
            profile.functions.push(record.function(item.name));
        }
    })
}

fn behind_the_table(
    opened: &Opened<'_>,
    profile: &mut Profile,
    tell: Tell<'_>,
) -> Result<(), Finding> {
    let Opened { bytes, header, .. } = opened;
    let mut end = opened.end;
    let part = |offset: Option<u64>, part| {
        let start = offset? as usize;
        Some(Words::new(bytes, start, bytes.len(), part))
    };
    let mut at = |words: &Words<'_>| end = end.max(words.at());
    if let Some(mut words) = part(header.binary_ids, Part::BinaryIds) {
        profile.binary_ids = tail::binary_ids(&mut words, tell)?;
        at(&words);
    }
    if let Some(mut words) = part(header.vtables, Part::VTables) {
        profile.vtables = tail::vtables(&mut words, tell)?;
        at(&words);
    }
    if let Some(mut words) = part(header.traces, Part::Traces) {
        (profile.traces, profile.traced_runs) = tail::traces(&mut words)?;
        at(&words);
    }
    if end < bytes.len() {
        let defect = Defect::Unused((bytes.len() - end) as u64);
        tell(Finding { offset: end as u64, defect });
    }
    Ok(())
}

fn check_summary(opened: &Opened<'_>, profile: &Profile, tell: Tell<'_>) {
    let offset = opened.header.version.header_size() as u64;
    let is_wrong = |stored: &Option<Summary>, of: fn(&Profile) -> Summary| {
        stored.as_ref().is_some_and(|stored| *stored != of(profile))
    };
    let is_late = profile.variant.has(Variant::CONTEXT_SENSITIVE);
    let late = is_late && is_wrong(&opened.late_summary, Summary::of_context_sensitive);
    if is_wrong(&opened.summary, Summary::of) || late {
        tell(Finding { offset, defect: Defect::Summary });
    }
}
