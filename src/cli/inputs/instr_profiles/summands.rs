//! Reads LLVM's profiles for a sum, several at a time.
//!
//! What a raw profile counted is added as it stands in the file, without a copy. Files of one program mostly have the
//! same names, which are read once. They are added one after the other in their order, so that the sum does not depend
//! on the number of cores.

use std::mem;
use std::prelude::v1::*;

use rayon::prelude::*;

use super::queue::{Listed, Queue, Queued};
use super::read::{Counted, Marks, Version, counted};
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::input::{Format, Input, warnings};
use crate::cli::terminal::error::{Error, Result};
use crate::counters::merge::{Mixed, Refused, Sum};
use crate::counters::{Profile, Variant};
use crate::formats::profraw::Word;
use crate::formats::profraw::check::Findings;
use crate::formats::profraw::image::{Image, Images};
use crate::formats::profraw::names::Names;
use crate::formats::profraw::summand::Summand;

/// The profile of a file.
pub struct Part<'f> {
    content: Content<'f>,
    /// The version of the file.
    pub version: Version,
    /// What `llvm-profdata` wants to know besides.
    pub marks: Marks,
    /// Defects that were tolerated.
    pub warnings: Vec<String>,
}

enum Content<'f> {
    /// The only profile of a file.
    Raw(Summand<'f>),
    Model(Profile),
}

impl Part<'_> {
    /// Adds it to a sum.
    pub fn add_to(&self, sum: &mut Sum, weight: u64) -> std::result::Result<Vec<Refused>, Mixed> {
        match &self.content {
            Content::Raw(summand) => sum.add_summand(summand, weight),
            Content::Model(profile) => sum.add(profile, weight),
        }
    }

    /// Forgets how the program was instrumented, and tells it.
    pub fn take_variant(&mut self) -> Variant {
        match &mut self.content {
            Content::Raw(summand) => mem::take(&mut summand.variant),
            Content::Model(profile) => mem::take(&mut profile.variant),
        }
    }
}

impl From<Counted> for Part<'_> {
    fn from(Counted { profile, version, marks, warnings, .. }: Counted) -> Self {
        Self { content: Content::Model(profile), version, marks, warnings }
    }
}

/// Names, and the bytes that they were read from.
struct Known {
    stored: Vec<u8>,
    names: Names,
}

impl Known {
    fn of(image: &Image<'_>) -> Option<Self> {
        Some(Self { stored: image.stored_names().into(), names: image.names().ok()? })
    }

    fn are_of(&self, image: &Image<'_>) -> bool {
        self.stored == image.stored_names()
    }
}

/// What is in a file or why it cannot be read.
type Read = (Option<Input>, Option<Error>);

/// Reads the files of a queue on all cores, and passes each on in their order. While some files are passed on, the
/// next ones are read. `programs` have the functions that files may lack.
pub fn each(
    mut queue: Queue,
    programs: &Programs,
    mut take: impl FnMut(&Listed, Result<Part<'_>>) -> Result<()> + Send,
) -> Result<()> {
    let mut known = None::<Known>;
    let mut next = queue.take()?;
    while !next.is_empty() {
        let (files, read): (Vec<Listed>, Vec<Read>) = next.into_iter().map(taken).unzip();
        let (inputs, errors): (Vec<Option<Input>>, Vec<Option<Error>>) = read.into_iter().unzip();
        let images: Vec<Option<Image<'_>>> = inputs.par_iter().map(only_image).collect();
        if let Some(image) = images.iter().flatten().next()
            && !known.as_ref().is_some_and(|known| known.are_of(image))
        {
            known = Known::of(image);
        }
        let own = |image: &Option<Image<'_>>| {
            let image = image.as_ref()?;
            let is_known = known.as_ref().is_some_and(|known| known.are_of(image));
            if is_known { None } else { image.names().ok() }
        };
        let names: Vec<Option<Names>> = images.par_iter().map(own).collect();
        let known = known.as_ref().map(|known| &known.names);
        let parts = inputs.par_iter().zip(errors).zip(&images).zip(&names);
        let parts: Vec<Result<Part<'_>>> = parts.map(|file| part(file, known, programs)).collect();
        let pass = || files.iter().zip(parts).try_for_each(|(file, part)| take(file, part));
        let (passed, ahead) = rayon::join(pass, || queue.take());
        passed?;
        next = ahead?;
    }
    Ok(())
}

/// A file of the queue, which is read now at the latest.
fn taken(queued: Queued) -> (Listed, Read) {
    match queued.input() {
        (file, Ok(input)) => (file, (Some(input), None)),
        (file, Err(error)) => (file, (None, Some(error))),
    }
}

/// A file or why it cannot be read, its image, and the names that only it has.
type PartOf<'f> = (((&'f Option<Input>, Option<Error>), &'f Option<Image<'f>>), &'f Option<Names>);

fn part<'f>(
    (((input, error), image), own): PartOf<'f>,
    known: Option<&'f Names>,
    programs: &Programs,
) -> Result<Part<'f>> {
    let raw = image.as_ref().and_then(|image| raw(image, own.as_ref().or(known)?));
    match (raw, input, error) {
        (Some(part), ..) => Ok(part),
        (None, Some(input), _) => counted(input, programs).map(Part::from),
        (None, None, error) => Err(error.unwrap_or_else(|| Error::new("not read"))),
    }
}

/// The profile of a raw file that has no other.
fn only_image(input: &Option<Input>) -> Option<Image<'_>> {
    let input = input.as_ref().filter(|input| input.format == Format::Profraw)?;
    let mut images = Images::new(&input.bytes);
    let image = images.next()?.ok()?;
    let kinds = image.header.version.kinds() as u64;
    let is_usual = image.header.get(Word::LastKind).wrapping_add(1) == kinds;
    (is_usual && images.next().is_none()).then_some(image)
}

/// What a raw profile says; `None` if it is damaged.
fn raw<'f>(image: &'f Image<'_>, names: &'f Names) -> Option<Part<'f>> {
    let mut findings = Findings::default();
    let summand = Summand::open(image, names, &mut |finding| _ = findings.note(finding)).ok()?;
    let version = Version::Raw(image.header.version);
    let (marks, warnings) = (Marks::of_raw(&findings), warnings(&findings));
    Some(Part { content: Content::Raw(summand), version, marks, warnings })
}
