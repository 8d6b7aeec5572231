//! Reads one function of a file without decoding the others.

use alloc::vec::Vec;

use super::check::{Finding, Part};
use super::decode::decode;
use super::names::Names;
use super::open::File;
use super::read::{Reader, site};
use super::table::{CONTEXTS, VIRTUAL_TABLES};
use super::words::Words;
use super::{Form, table};
use crate::profile::Map;
use crate::samples::{Body, Samples, Traits, name_number};

/// A profile with only this function, in all its contexts. The profile is empty if the function has no counts, and has
/// no checksums or attributes. Reads the tables of names, contexts and offsets, and decodes only the function. A
/// binary has no offsets, so this decodes all of it.
pub fn function(bytes: &[u8], name: &[u8]) -> Result<Samples, Finding> {
    let file = File::open(bytes, &mut |_| {})?;
    let flags = file.section(Part::Summary)?.map_or(0, |section| section.flags);
    if file.form != Form::Extensible
        || file.all(Part::Offsets).next().is_none()
        || flags & CONTEXTS != 0 && file.is_of_llvm_13()
    {
        let mut samples = decode(bytes)?.samples;
        let contexts = &samples.contexts;
        let wanted = name_number(name);
        let number = |context| name_number(samples.symbols.name(contexts.function(context)));
        let is_it = |context| number(context) == wanted;
        samples.functions.retain(|&context, _| is_it(context));
        return Ok(samples);
    }
    let section = file.needed(Part::Names)?;
    let contents = section.contents(bytes)?;
    let names = Names::read(&mut section.words(&contents), section.flags)?;
    let mut reader = Reader::new(&names, flags & VIRTUAL_TABLES != 0);
    reader.samples.traits = Traits { contexts: flags & CONTEXTS != 0, ..Traits::default() };
    let Some(index) = names.find(name) else { return Ok(reader.samples) };
    let contents = match file.section(Part::Contexts)? {
        Some(section) if flags & CONTEXTS != 0 => section.contents(bytes)?,
        _ => Default::default(),
    };
    let wanted = Wanted::new(index, flags, &names, &contents)?;
    let mut offsets = file.all(Part::Offsets);
    for functions in file.all(Part::Functions) {
        let Some(section) = offsets.next() else { break };
        let places = places(bytes, section, &wanted)?;
        if !places.is_empty() {
            read(bytes, functions, &places, &wanted, &mut reader)?;
        }
    }
    Ok(reader.samples)
}

/// The numbers that refer to the function in the sections of functions and offsets.
enum Wanted<'c> {
    /// The index of its name.
    Name(u64),
    /// The indexes of its contexts, each with the bytes of its frames.
    Contexts(Map<u64, Words<'c>>),
}

impl<'c> Wanted<'c> {
    fn new(
        index: usize,
        flags: u64,
        names: &Names<'_>,
        contexts: &'c [u8],
    ) -> Result<Self, Finding> {
        if flags & CONTEXTS == 0 {
            return Ok(Self::Name(index as u64));
        }
        let mut words = Words::unplaced(contexts, 0, Part::Contexts);
        let mut wanted = Vec::new();
        for context in 0..words.count(4)? as u64 {
            let frames = words.clone();
            let mut last = None;
            for _ in 0..words.count(3)? {
                last = Some(names.index(&mut words)?);
                site(&mut words)?;
            }
            if last == Some(index) {
                wanted.push((context, frames));
            }
        }
        Ok(Self::Contexts(Map::from_sorted_store_unchecked(wanted)))
    }

    fn has(&self, number: u64) -> bool {
        match self {
            Self::Name(name) => *name == number,
            Self::Contexts(contexts) => contexts.contains_key(&number),
        }
    }
}

/// The number and the offset of each context of the function, from a section of offsets.
fn places(
    bytes: &[u8],
    section: table::Section,
    wanted: &Wanted<'_>,
) -> Result<Vec<(u64, u64)>, Finding> {
    let contents = section.contents(bytes)?;
    let mut words = section.words(&contents);
    let mut places = Vec::new();
    for _ in 0..words.count(2)? {
        let (number, place) = (words.number()?, words.number()?);
        if wanted.has(number) {
            places.push((number, place));
        }
    }
    Ok(places)
}

fn read(
    bytes: &[u8],
    section: table::Section,
    places: &[(u64, u64)],
    wanted: &Wanted<'_>,
    reader: &mut Reader<'_, '_>,
) -> Result<(), Finding> {
    let contents = section.contents(bytes)?;
    let mut words = section.words(&contents);
    for &(number, place) in places {
        words.seek(usize::try_from(place).unwrap_or(usize::MAX));
        let head = words.number()?;
        let context = match wanted {
            Wanted::Name(_) => {
                let symbol = reader.symbol(&mut words)?;
                reader.samples.contexts.base(symbol)
            }
            Wanted::Contexts(contexts) => {
                words.number()?;
                let Some(frames) = contexts.get(&number) else { continue };
                reader.context(&mut frames.clone())?
            }
        };
        let body = Body { head, ..reader.body(&mut words, &mut |_| {})? };
        reader.samples.add(context, body);
    }
    Ok(())
}
