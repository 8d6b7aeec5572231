//! Strict verification of a dump: every defect with its offset, not only the first.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Dump;
use crate::raw::layout::{MAX_SECTION, SectionKind};
use crate::raw::reader::{Contradiction, Damage, Defect, Failure, Reader};

/// Tells all defects of a file that claims to be a raw dump.
///
/// If a section's checksum fails, the next section is looked for where the length says it starts. After an
/// impossible length nothing more can be said.
pub fn check(bytes: &[u8], tell: &mut dyn FnMut(Damage)) {
    let mut is_sound = true;
    let mut note = |damage| {
        is_sound = false;
        tell(damage);
    };
    let mut buffer = Box::new([0; MAX_SECTION]);
    let mut reader = Reader::new(bytes, &mut buffer);
    match reader.start_of_any() {
        Ok(_) => scan(&mut reader, bytes.len() as u64, &mut note),
        Err(_) => note(reader.damage()),
    }
    if !is_sound {
        return;
    }
    match Dump::parse(bytes) {
        Ok(dump) => of_modules(bytes, &dump, tell),
        Err(damage) => tell(damage),
    }
}

/// Tells which modules are left out, and which have counts that are too large.
fn of_modules(bytes: &[u8], dump: &Dump, tell: &mut dyn FnMut(Damage)) {
    dump.left_out.iter().for_each(|module| tell(module.damage));
    let sections = sections(bytes).unwrap_or_default();
    let modules = sections.iter().filter(|(_, kind, _)| *kind == SectionKind::Module);
    let offsets = modules.map(|&(offset, ..)| offset);
    // Both are in the order of the file.
    let left = &dump.left_out;
    let kept =
        offsets.filter(|offset| left.binary_search_by_key(offset, |one| one.offset).is_err());
    for (offset, module) in kept.zip(&dump.modules) {
        if module.saturated() > 0 {
            tell(Damage { offset, defect: Defect::Record(Contradiction::Saturated) });
        }
    }
}

/// Place, kind and length of every section of a dump.
pub fn sections(bytes: &[u8]) -> Result<Vec<(u64, SectionKind, u64)>, Damage> {
    let mut buffer = Box::new([0; MAX_SECTION]);
    let mut reader = Reader::new(bytes, &mut buffer);
    let mut list = Vec::new();
    let mut read = || {
        reader.start_of_any()?;
        while reader.offset() < bytes.len() as u64 {
            let section = reader.next_section()?;
            list.push((section.offset, section.kind, reader.offset() - section.offset));
        }
        Ok::<_, Failure<core::convert::Infallible>>(())
    };
    match read() {
        Ok(()) => Ok(list),
        Err(_) => Err(reader.damage()),
    }
}

fn scan(reader: &mut Reader<'_, &[u8]>, length: u64, tell: &mut dyn FnMut(Damage)) {
    while reader.offset() < length {
        if reader.next_section().is_ok() {
            continue;
        }
        let damage = reader.damage();
        tell(damage);
        if matches!(damage.defect, Defect::Length(_) | Defect::Truncated { .. }) {
            return;
        }
    }
}
