//! Reads a whole file into the model.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::check::{Defect, Finding, Findings, Part, Tell};
use super::names::Names;
use super::open::File;
use super::read::{Reader, site, summary};
use super::table::{
    ATTRIBUTES, CHECKSUMS, CONTEXTS, FLOW_SENSITIVE, MD5, PARTIAL, PREINLINED, Section,
    VIRTUAL_TABLES,
};
use super::words::Words;
use super::{Form, is_sample_profile};
use crate::profile::{DEEPEST, Summary};
use crate::samples::{Body, ContextId, Samples, Traits};

/// The contents of a file.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub samples: Samples,
    /// The file's own summary.
    pub summary: Summary,
    /// The form of the file.
    pub form: Form,
    /// Tolerated defects.
    pub findings: Findings,
}

/// Reads a file. The first defect that is not tolerable is an error.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Finding> {
    decode_and_tell(bytes, &mut |_| {})
}

/// Reads a file, and reports each defect to `tell` as soon as it finds it.
pub fn decode_and_tell(bytes: &[u8], tell: &mut dyn FnMut(Finding)) -> Result<Decoded, Finding> {
    let mut findings = Findings::default();
    let mut note = |found: Finding| {
        tell(found);
        findings.note(found);
    };
    if !is_sample_profile(bytes) {
        return Err(Finding { offset: 0, defect: Defect::Magic });
    }
    let file = File::open(bytes, &mut note)?;
    let (samples, summary) = match file.form {
        Form::Binary => binary(&file, &mut note)?,
        Form::Compact => compact(&file, &mut note)?,
        Form::Extensible => extensible(&file, &mut note)?,
    };
    if summary != samples.summary() {
        let place = file.section(Part::Summary)?.map_or(file.start as u64, |s| s.offset);
        note(Finding { offset: place, defect: Defect::Summary });
    }
    Ok(Decoded { samples, summary, form: file.form, findings })
}

fn binary(file: &File<'_>, tell: Tell<'_>) -> Result<(Samples, Summary), Finding> {
    let rest = &file.bytes[file.start..];
    let mut words = Words::new(rest, file.start as u64, Part::Summary);
    let summary = summary(&mut words)?;
    words.part = Part::Names;
    let names = Names::read(&mut words, 0)?;
    words.part = Part::Functions;
    let mut reader = Reader::new(&names, false);
    all_functions(&mut words, &mut reader, tell)?;
    Ok((reader.samples, summary))
}

fn compact(file: &File<'_>, tell: Tell<'_>) -> Result<(Samples, Summary), Finding> {
    let rest = &file.bytes[file.start..];
    let mut words = Words::new(rest, file.start as u64, Part::Summary);
    let summary = summary(&mut words)?;
    words.part = Part::Names;
    let names = Names::read(&mut words, MD5)?;
    words.part = Part::Offsets;
    let table = words.u64()?;
    let start = words.offset();
    let length = table.checked_sub(start).and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or(Finding { offset: start - 8, defect: Defect::Offset(table) })?;
    let functions = words.take(length)?;
    let mut reader = Reader::new(&names, false);
    let mut inside = Words::new(functions, start, Part::Functions);
    let mut places = all_functions(&mut inside, &mut reader, tell)?;
    for _ in 0..words.count(2)? {
        let offset = words.offset();
        let symbol = reader.symbol(&mut words)?;
        let place = words.number()?;
        if places.remove(&place) != Some(reader.samples.contexts.base(symbol)) {
            tell(Finding { offset, defect: Defect::Offset(place) });
        }
    }
    end(&words, tell);
    if !places.is_empty() {
        tell(Finding { offset: table, defect: Defect::NoOffset(places.len() as u64) });
    }
    Ok((reader.samples, summary))
}

/// Reads functions without contexts up to the end of the bytes. Gives each with its offset in the file.
fn all_functions(
    words: &mut Words<'_>,
    reader: &mut Reader<'_, '_>,
    tell: Tell<'_>,
) -> Result<BTreeMap<u64, ContextId>, Finding> {
    let mut places = BTreeMap::new();
    while words.left() > 0 {
        let offset = words.offset();
        let head = words.number()?;
        let symbol = reader.symbol(words)?;
        let body = Body { head, ..reader.body(words, tell)? };
        let context = reader.samples.contexts.base(symbol);
        places.insert(offset, context);
        add(&mut reader.samples, context, body, offset, tell);
    }
    Ok(places)
}

fn add(samples: &mut Samples, context: ContextId, body: Body, offset: u64, tell: Tell<'_>) {
    if samples.functions.contains_key(&context) {
        tell(Finding { offset, defect: Defect::DuplicateFunction });
    }
    samples.add(context, body);
}

fn extensible(file: &File<'_>, tell: Tell<'_>) -> Result<(Samples, Summary), Finding> {
    let section = file.needed(Part::Summary)?;
    let contents = section.contents(file.bytes)?;
    let mut words = section.words(&contents);
    let (flags, summary) = (section.flags, summary(&mut words)?);
    end(&words, tell);
    let section = file.needed(Part::Names)?;
    let contents = section.contents(file.bytes)?;
    let mut words = section.words(&contents);
    let names = Names::read(&mut words, section.flags)?;
    end(&words, tell);
    let mut reader = Reader::new(&names, flags & VIRTUAL_TABLES != 0);
    reader.samples.traits = Traits {
        contexts: flags & CONTEXTS != 0,
        probes: file.all(Part::Metadata).any(|section| section.flags & CHECKSUMS != 0),
        flow_sensitive: flags & FLOW_SENSITIVE != 0,
        partial: flags & PARTIAL != 0,
        preinlined: flags & PREINLINED != 0,
    };
    let contexts = match file.is_of_llvm_13() {
        true => Known::InNames,
        false => Known::Listed(contexts(file, &mut reader, tell)?),
    };
    functions(file, &mut reader, &contexts, tell)?;
    if let Some(section) = file.section(Part::SymbolList)? {
        reader.samples.symbol_list = symbol_list(file, section)?;
    }
    if let Some(section) = file.section(Part::Metadata)? {
        let contents = section.contents(file.bytes)?;
        let mut words = section.words(&contents);
        let has_copies = !reader.samples.traits.contexts && !file.is_of_llvm_13();
        let layout = MetadataLayout { flags: section.flags, has_copies };
        metadata(&mut words, layout, &mut reader, &contexts, tell)?;
    }
    Ok((reader.samples, summary))
}

/// Reports bytes behind the end of a section.
fn end(words: &Words<'_>, tell: Tell<'_>) {
    if words.left() > 0 {
        let defect = Defect::Trailing { part: words.part, bytes: words.left() as u64 };
        tell(Finding { offset: words.offset(), defect });
    }
}

fn contexts(
    file: &File<'_>,
    reader: &mut Reader<'_, '_>,
    tell: Tell<'_>,
) -> Result<Vec<ContextId>, Finding> {
    let Some(section) = file.section(Part::Contexts)?.filter(|section| section.size > 0) else {
        return Ok(Vec::new());
    };
    let contents = section.contents(file.bytes)?;
    let mut words = section.words(&contents);
    let number = words.count(4)?;
    let contexts = (0..number).map(|_| reader.context(&mut words)).collect();
    end(&words, tell);
    contexts
}

/// The contexts that functions refer to.
enum Known {
    /// By index.
    Listed(Vec<ContextId>),
    /// By name, which is the context as text.
    InNames,
}

/// Reads a function's name or the index of its context.
fn context(
    words: &mut Words<'_>,
    reader: &mut Reader<'_, '_>,
    contexts: &Known,
) -> Result<ContextId, Finding> {
    if !reader.samples.traits.contexts {
        let symbol = reader.symbol(words)?;
        return Ok(reader.samples.contexts.base(symbol));
    }
    let Known::Listed(contexts) = contexts else { return reader.named_context(words) };
    let offset = words.offset();
    let index = words.number()?;
    let context = usize::try_from(index).ok().and_then(|index| contexts.get(index).copied());
    context.ok_or(Finding { offset, defect: Defect::ContextIndex(index) })
}

/// Reads all sections of functions, and checks their offsets.
fn functions(
    file: &File<'_>,
    reader: &mut Reader<'_, '_>,
    contexts: &Known,
    tell: Tell<'_>,
) -> Result<(), Finding> {
    file.check_function_sections()?;
    let mut offsets = file.all(Part::Offsets);
    for section in file.all(Part::Functions) {
        let contents = section.contents(file.bytes)?;
        let mut words = section.words(&contents);
        let mut places = BTreeMap::new();
        while words.left() > 0 {
            let (place, offset) = (words.at() as u64, words.offset());
            let head = words.number()?;
            let context = context(&mut words, reader, contexts)?;
            let body = Body { head, ..reader.body(&mut words, tell)? };
            places.insert(place, context);
            add(&mut reader.samples, context, body, offset, tell);
        }
        if let Some(section) = offsets.next() {
            check_offsets(file, section, reader, contexts, places, tell)?;
        }
    }
    Ok(())
}

fn check_offsets(
    file: &File<'_>,
    section: Section,
    reader: &mut Reader<'_, '_>,
    contexts: &Known,
    mut places: BTreeMap<u64, ContextId>,
    tell: Tell<'_>,
) -> Result<(), Finding> {
    let contents = section.contents(file.bytes)?;
    let mut words = section.words(&contents);
    for _ in 0..words.count(2)? {
        let offset = words.offset();
        let context = context(&mut words, reader, contexts)?;
        let place = words.number()?;
        if places.remove(&place) != Some(context) {
            tell(Finding { offset, defect: Defect::Offset(place) });
        }
    }
    end(&words, tell);
    if !places.is_empty() {
        let defect = Defect::NoOffset(places.len() as u64);
        tell(Finding { offset: section.offset, defect });
    }
    Ok(())
}

fn symbol_list(file: &File<'_>, section: Section) -> Result<Vec<Vec<u8>>, Finding> {
    let contents = section.contents(file.bytes)?;
    let mut words = section.words(&contents);
    let mut list = Vec::new();
    while words.left() > 0 {
        list.push(words.name()?.to_vec());
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// What stands in the metadata of a function.
#[derive(Clone, Copy)]
struct MetadataLayout {
    flags: u64,
    /// Whether the metadata of inlined copies follow.
    has_copies: bool,
}

fn metadata(
    words: &mut Words<'_>,
    layout: MetadataLayout,
    reader: &mut Reader<'_, '_>,
    contexts: &Known,
    tell: Tell<'_>,
) -> Result<(), Finding> {
    while words.left() > 0 {
        let offset = words.offset();
        let context = context(words, reader, contexts)?;
        let mut body = reader.samples.functions.remove(&context);
        if body.is_none() {
            tell(Finding { offset, defect: Defect::Metadata });
        }
        let read = metadata_of(words, layout, reader, body.as_mut(), tell, DEEPEST);
        if let Some(body) = body {
            reader.samples.functions.insert(context, body);
        }
        read?;
    }
    Ok(())
}

/// Reads the metadata of a body and of the copies inlined in it, which are at most this number of levels deep.
fn metadata_of(
    words: &mut Words<'_>,
    layout: MetadataLayout,
    reader: &mut Reader<'_, '_>,
    mut body: Option<&mut Body>,
    tell: Tell<'_>,
    levels: usize,
) -> Result<(), Finding> {
    let checksum = if layout.flags & CHECKSUMS != 0 { words.number()? } else { 0 };
    let attributes = if layout.flags & ATTRIBUTES != 0 { words.u32()? } else { 0 };
    if let Some(body) = &mut body {
        (body.checksum, body.attributes) = (checksum, attributes);
    }
    if !layout.has_copies {
        return Ok(());
    }
    for _ in 0..words.count(3)? {
        let offset = words.offset();
        let site = site(words)?;
        let place = (site, reader.symbol(words)?);
        let inner = body.as_mut().and_then(|body| body.inlined.get_mut(&place));
        if inner.is_none() {
            tell(Finding { offset, defect: Defect::Metadata });
        }
        if levels == 0 {
            return Err(Finding { offset, defect: Defect::Depth });
        }
        metadata_of(words, layout, reader, inner, tell, levels - 1)?;
    }
    Ok(())
}
