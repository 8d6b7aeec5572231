//! Goes through the entries of a unit, and reads of each entry no more than is asked for.
//!
//! All entries of one abbreviation have the same attributes, mostly of the same size. So where attributes stand in an
//! entry is found out once for an abbreviation.

use std::prelude::v1::*;

use gimli::{
    Abbreviation, Attribute, AttributeSpecification, AttributeValue, DW_AT_abstract_origin,
    DW_AT_declaration, DW_AT_sibling, DW_AT_specification, DwAt, DwTag, EntriesRaw, Reader as _,
    UnitOffset,
};

use super::Slice;

/// Says whether an attribute of an abbreviation's entries is asked for.
pub type Wish = fn(&Abbreviation, DwAt) -> bool;

/// The entries of a unit, each before its children.
pub struct Entries<'u, 'd> {
    unit: &'u gimli::Unit<Slice<'d>>,
    wish: Wish,
    layouts: Vec<Layout<'u>>,
    /// For each code of an abbreviation: the index of its layout, if that is known.
    known: Vec<Option<u32>>,
    rest: Slice<'d>,
    /// The offset behind the last entry.
    end: usize,
    /// Number of entries around the next one.
    depth: isize,
}

/// Abbreviations with larger codes are looked up each time. Compilers number them from 1.
const LARGEST_CODE: usize = 1 << 16;

/// Where the attributes of an abbreviation's entries stand.
struct Layout<'u> {
    abbreviation: &'u Abbreviation,
    /// Whether the entries only declare something.
    is_declaration: bool,
    /// The size of all attributes, if it is always the same.
    size: Option<usize>,
    /// Those that are asked for, each with its distance from the first attribute.
    wanted: Vec<(usize, AttributeSpecification)>,
    /// The size again, if the entries have no children and none of these.
    dull: Option<usize>,
}

/// What an entry begins with. Its attributes follow.
#[derive(Clone, Copy)]
pub struct Head {
    /// Where it stands.
    pub place: UnitOffset,
    /// Number of entries around it.
    pub depth: isize,
    /// What it is.
    pub tag: DwTag,
    /// Whether it has children.
    pub has_children: bool,
    /// Whether it only declares something.
    pub is_declaration: bool,
    /// Index of its layout.
    layout: u32,
}

/// Those attributes of an entry that were asked for.
#[derive(Default)]
pub struct Attributes<'d>(Vec<Attribute<Slice<'d>>>);

impl<'u> Layout<'u> {
    fn new(abbreviation: &'u Abbreviation, unit: &gimli::Unit<Slice<'_>>, wish: Wish) -> Self {
        let (mut size, mut wanted) = (Some(0usize), Vec::new());
        for &attribute in abbreviation.attributes() {
            if wish(abbreviation, attribute.name()) {
                wanted.push((size.unwrap_or_default(), attribute));
            }
            size = size.zip(attribute.size(&unit.header)).map(|(before, own)| before + own);
        }
        let is_declaration = has(abbreviation, DW_AT_declaration);
        let dull = size.filter(|_| wanted.is_empty() && !abbreviation.has_children());
        Self { abbreviation, is_declaration, size, wanted, dull }
    }
}

/// Whether an abbreviation's entries have an attribute.
pub fn has(abbreviation: &Abbreviation, name: DwAt) -> bool {
    abbreviation.attributes().iter().any(|found| found.name() == name)
}

impl<'u, 'd> Entries<'u, 'd> {
    /// All entries of a unit.
    pub fn of(unit: &'u gimli::Unit<Slice<'d>>, wish: Wish) -> Result<Self, gimli::Error> {
        let first = unit.header.root_offset();
        let rest = unit.header.range_from(first..)?;
        let (layouts, known, end) = (Vec::new(), Vec::new(), first.0 + rest.len());
        Ok(Self { unit, wish, layouts, known, rest, end, depth: 0 })
    }

    /// The head of the next entry that has children or attributes that are asked for. Its attributes must then be
    /// [read](Self::read) or [skipped](Self::skip).
    pub fn next(&mut self) -> Result<Option<Head>, gimli::Error> {
        while !self.rest.is_empty() {
            let place = self.offset();
            let code = self.rest.read_uleb128()?;
            if code == 0 {
                self.depth -= 1;
                continue;
            }
            let layout = self.layout(code)?;
            match self.layouts[layout as usize].dull {
                Some(size) => self.rest.skip(size)?,
                None => return Ok(Some(self.head(place, layout))),
            }
        }
        Ok(None)
    }

    fn head(&mut self, place: UnitOffset, layout: u32) -> Head {
        let Layout { abbreviation, is_declaration, .. } = self.layouts[layout as usize];
        let (tag, has_children) = (abbreviation.tag(), abbreviation.has_children());
        let depth = self.depth;
        self.depth += isize::from(has_children);
        Head { place, depth, tag, has_children, is_declaration, layout }
    }

    /// The index of an abbreviation's layout.
    fn layout(&mut self, code: u64) -> Result<u32, gimli::Error> {
        let place = code as usize;
        if let Some(&Some(known)) = self.known.get(place) {
            return Ok(known);
        }
        let abbreviation = self.unit.abbreviations.get(code);
        let abbreviation = abbreviation.ok_or(gimli::Error::InvalidAbbreviationCode(code))?;
        let layout = self.layouts.len() as u32;
        self.layouts.push(Layout::new(abbreviation, self.unit, self.wish));
        if place < LARGEST_CODE {
            self.known.resize(self.known.len().max(place + 1), None);
            self.known[place] = Some(layout);
        }
        Ok(layout)
    }

    fn offset(&self) -> UnitOffset {
        UnitOffset(self.end - self.rest.len())
    }

    /// The entries from here on, as they are.
    fn raw(&self) -> EntriesRaw<'u, Slice<'d>> {
        let (header, offset) = (&self.unit.header, self.offset());
        EntriesRaw::new(self.rest, header.encoding(), &self.unit.abbreviations, offset)
    }

    /// Skips the attributes of an entry.
    pub fn skip(&mut self, head: &Head) -> Result<(), gimli::Error> {
        let Layout { abbreviation, size, .. } = self.layouts[head.layout as usize];
        if let Some(size) = size {
            return self.rest.skip(size);
        }
        let mut raw = self.raw();
        raw.skip_attributes(abbreviation.attributes())?;
        self.rest.skip(raw.next_offset().0 - self.offset().0)
    }

    /// Reads those attributes of an entry that are asked for, in place of those read before.
    pub fn read(
        &mut self,
        head: &Head,
        attributes: &mut Attributes<'d>,
    ) -> Result<(), gimli::Error> {
        attributes.0.clear();
        let layout = &self.layouts[head.layout as usize];
        let Some(size) = layout.size else { return self.read_one_by_one(head, attributes) };
        let all = self.rest.split(size)?;
        let (encoding, abbreviations) = (self.unit.header.encoding(), &self.unit.abbreviations);
        for &(place, attribute) in &layout.wanted {
            let rest = all.range_from(place..);
            let mut raw = EntriesRaw::new(rest, encoding, abbreviations, UnitOffset(0));
            attributes.0.push(raw.read_attribute_inline(attribute)?);
        }
        Ok(())
    }

    fn read_one_by_one(
        &mut self,
        head: &Head,
        attributes: &mut Attributes<'d>,
    ) -> Result<(), gimli::Error> {
        let mut raw = self.raw();
        let abbreviation = self.layouts[head.layout as usize].abbreviation;
        let mut rest = abbreviation.attributes();
        let is_wanted = |found: &AttributeSpecification| (self.wish)(abbreviation, found.name());
        while let Some(next) = rest.iter().position(is_wanted) {
            raw.skip_attributes(&rest[..next])?;
            attributes.0.push(raw.read_attribute(rest[next])?);
            rest = &rest[next + 1..];
        }
        raw.skip_attributes(rest)?;
        self.rest.skip(raw.next_offset().0 - self.offset().0)
    }

    /// Reads those attributes of the entry at a place.
    pub fn read_at(
        &mut self,
        place: UnitOffset,
        attributes: &mut Attributes<'d>,
    ) -> Result<(), gimli::Error> {
        self.rest = self.unit.header.range_from(place..)?;
        match self.rest.read_uleb128()? {
            0 => Err(gimli::Error::NoEntryAtGivenOffset(place.0 as u64)),
            code => {
                let layout = self.layout(code)?;
                let head = self.head(place, layout);
                self.read(&head, attributes)
            }
        }
    }

    /// Skips the children of an entry whose attributes have been read, if these tell where the next entry stands.
    /// Says whether it did.
    pub fn skip_children(&mut self, head: &Head, attributes: &Attributes<'d>) -> bool {
        let Some(AttributeValue::UnitRef(next)) = attributes.value(DW_AT_sibling) else {
            return false;
        };
        let skipped = next.0.checked_sub(self.offset().0);
        let is_skipped = skipped.is_some_and(|size| self.rest.skip(size).is_ok());
        if is_skipped {
            self.depth = head.depth;
        }
        is_skipped
    }
}

impl<'d> Attributes<'d> {
    /// The value of an attribute.
    pub fn value(&self, name: DwAt) -> Option<AttributeValue<Slice<'d>>> {
        self.0.iter().find(|found| found.name() == name).map(Attribute::value)
    }

    /// The value of an attribute, if it is a number.
    pub fn number(&self, name: DwAt) -> Option<u64> {
        self.value(name)?.udata_value()
    }

    /// The entry that says more about the function.
    pub fn origin(&self) -> Option<AttributeValue<Slice<'d>>> {
        self.value(DW_AT_abstract_origin).or_else(|| self.value(DW_AT_specification))
    }
}
