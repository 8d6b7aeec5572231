//! Writes a profile: the contents of the sections. `write` puts them together.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::check::Part;
use super::open::File;
use super::table::{
    ATTRIBUTES, CHECKSUMS, COMPRESSED, CONTEXTS, FIXED_MD5, FLAT, FLOW_SENSITIVE, MD5, ORDERED,
    PARTIAL, PREINLINED, UNIQUE_SUFFIX,
};
use super::write::Sections;
use super::{Form, VERSION, magic};
use crate::formats::EncodeError;
use crate::formats::leb128;
use crate::profile::{DEEPEST, SymbolId};
use crate::samples::{Body, ContextId, Ranks, Samples, Site, name_number};

/// How a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The form.
    pub form: Form,
    /// Whether MD5 replace the names. Only for the extensible form.
    pub md5: bool,
    /// Whether sections are compressed. Only for the extensible form.
    pub compressed: bool,
    /// Whether functions without inlined copies have their own sections. Only for the extensible form without contexts.
    pub split: bool,
    /// Whether contexts have a section of their own. LLVM 14 and later want it, LLVM 13 does not know it.
    pub contexts: bool,
}

impl Options {
    /// The extensible form, as `llvm-profdata` writes it without options.
    pub const EXTENSIBLE: Self = Self {
        form: Form::Extensible,
        md5: false,
        compressed: false,
        split: false,
        contexts: true,
    };
    /// The binary form.
    pub const BINARY: Self = Self { form: Form::Binary, ..Self::EXTENSIBLE };
}

impl Options {
    /// The options of a file, as far as its table of sections shows them. No release after LLVM 14 reads the compact
    /// form. It has the extensible one with MD5 in its place.
    pub fn of(bytes: &[u8]) -> Self {
        let Ok(file) = File::open(bytes, &mut |_| {}) else { return Self::EXTENSIBLE };
        if file.form == Form::Compact {
            return Self { md5: true, ..Self::EXTENSIBLE };
        }
        let has = |part, flag| file.all(part).any(|section| section.flags & flag != 0);
        Self {
            form: file.form,
            md5: has(Part::Names, MD5),
            compressed: has(Part::Functions, COMPRESSED),
            split: has(Part::Functions, FLAT),
            contexts: file.form == Form::Binary
                || has(Part::Functions, FLAT)
                || file.all(Part::Contexts).next().is_some(),
        }
    }
}

/// Part of the unique names of statics (`-funique-internal-linkage-names`).
const UNIQUE: &[u8] = b".__uniq.";

/// The file of a profile.
pub fn encode(samples: &Samples, options: Options) -> Result<Vec<u8>, EncodeError> {
    let writer = Writer::new(samples)?;
    match options.form {
        Form::Extensible => Ok(writer.extensible(options)),
        Form::Binary => writer.binary(),
        Form::Compact => Err(EncodeError::Form("the compact binary form is only read")),
    }
}

struct Writer<'s> {
    samples: &'s Samples,
    ranks: Ranks,
    /// Names of the profile, sorted.
    names: Vec<SymbolId>,
    /// For each symbol, its index among the names.
    index: Vec<u64>,
    /// The functions in their order.
    order: Vec<ContextId>,
    /// Contexts, sorted, if the profile has them.
    contexts: Vec<ContextId>,
    context_index: BTreeMap<ContextId, u64>,
}

impl<'s> Writer<'s> {
    fn new(samples: &'s Samples) -> Result<Self, EncodeError> {
        let ranks = Ranks::new(&samples.symbols);
        let mut writer = Self {
            samples,
            names: samples.used(),
            index: vec![0; samples.symbols.iter().count()],
            order: samples.order(&ranks),
            contexts: Vec::new(),
            context_index: BTreeMap::new(),
            ranks,
        };
        writer.names.sort_unstable_by_key(|&symbol| writer.ranks.of(symbol));
        for (index, &symbol) in (0..).zip(&writer.names) {
            let name = samples.symbols.name(symbol);
            if name.is_empty() || name.contains(&0) {
                return Err(EncodeError::Name(name.to_vec()));
            }
            writer.index[symbol.index()] = index;
        }
        let is_too_deep =
            |context: &&ContextId| samples.functions[*context].is_deeper_than(DEEPEST);
        if let Some(&context) = writer.order.iter().find(is_too_deep) {
            let function = samples.contexts.function(context);
            return Err(EncodeError::depth(&samples.symbols, function));
        }
        if samples.traits.contexts {
            writer.sort_contexts()?;
        }
        Ok(writer)
    }

    fn sort_contexts(&mut self) -> Result<(), EncodeError> {
        let contexts = &self.samples.contexts;
        let frames: usize = self.order.iter().map(|&context| contexts.depth(context)).sum();
        let most = self.samples.most_frames();
        if frames > most {
            return Err(EncodeError::Large(most));
        }
        self.contexts = self.order.clone();
        self.contexts.sort_unstable_by(|&a, &b| contexts.compare(&self.ranks, a, b));
        self.context_index = self.contexts.iter().copied().zip(0..).collect();
        Ok(())
    }

    fn binary(&self) -> Result<Vec<u8>, EncodeError> {
        if self.samples.traits.contexts {
            return Err(EncodeError::Form("the binary form has no contexts"));
        }
        if self.samples.traits.probes {
            return Err(EncodeError::Form("the binary form has no checksums of pseudo-probes"));
        }
        let mut bytes = magic(Form::Binary).to_vec();
        leb128::write(&mut bytes, VERSION);
        bytes.extend(self.summary());
        bytes.extend(self.names(false));
        bytes.extend(self.functions(&self.order).0);
        Ok(bytes)
    }

    fn extensible(&self, options: Options) -> Vec<u8> {
        let mut file = Sections::new(options.compressed);
        let split = options.split && !self.samples.traits.contexts;
        let names = match options.md5 {
            true => MD5 | FIXED_MD5,
            false if self.has_unique_names() => UNIQUE_SUFFIX,
            false => 0,
        };
        file.add(0, Part::Summary, self.summary_flags(), self.summary());
        file.add(1, Part::Names, names, self.names(options.md5));
        let metadata_place = match split {
            true => {
                let is_flat =
                    |context: &ContextId| self.samples.functions[context].inlined.is_empty();
                let (flat, nested): (Vec<_>, Vec<_>) = self.order.iter().partition(|c| is_flat(c));
                self.add_functions(&mut file, 2, 0, &nested);
                self.add_functions(&mut file, 4, FLAT, &flat);
                file.add(6, Part::SymbolList, 0, self.symbol_list());
                7
            }
            false => {
                let ordered = if self.samples.traits.contexts { ORDERED } else { 0 };
                let mut place = 2;
                if options.contexts {
                    file.add(place, Part::Contexts, 0, self.contexts());
                    place += 1;
                }
                let (functions, offsets) = self.functions(&self.order);
                file.add(place + 1, Part::Functions, 0, functions);
                file.add(place + 2, Part::SymbolList, 0, self.symbol_list());
                file.add(place, Part::Offsets, ordered, self.offsets(offsets));
                place + 3
            }
        };
        // LLVM 13 has no metadata of inlined copies.
        let has_copies = !self.samples.traits.contexts && (options.contexts || options.split);
        file.add(metadata_place, Part::Metadata, self.metadata_flags(), self.metadata(has_copies));
        file.bytes()
    }

    /// Adds a section of these functions, and one of their offsets.
    fn add_functions(&self, file: &mut Sections, place: usize, flags: u64, order: &[ContextId]) {
        let (functions, offsets) = self.functions(order);
        file.add(place + 1, Part::Functions, flags, functions);
        file.add(place, Part::Offsets, flags, self.offsets(offsets));
    }

    fn summary_flags(&self) -> u64 {
        let traits = self.samples.traits;
        [
            (traits.partial, PARTIAL),
            (traits.contexts, CONTEXTS),
            (traits.flow_sensitive, FLOW_SENSITIVE),
            (self.samples.has_preinlined(), PREINLINED),
        ]
        .into_iter()
        .filter(|&(is_set, _)| is_set)
        .fold(0, |flags, (_, flag)| flags | flag)
    }

    fn summary(&self) -> Vec<u8> {
        let summary = self.samples.summary();
        let mut bytes = Vec::new();
        for number in [
            summary.total_count,
            summary.max_count,
            summary.max_function_count,
            summary.counts,
            summary.functions,
            summary.cutoffs.len() as u64,
        ] {
            leb128::write(&mut bytes, number);
        }
        for cutoff in &summary.cutoffs {
            leb128::write(&mut bytes, cutoff.share.into());
            leb128::write(&mut bytes, cutoff.min_count);
            leb128::write(&mut bytes, cutoff.counts);
        }
        bytes
    }

    fn has_unique_names(&self) -> bool {
        let name = |&symbol: &SymbolId| self.samples.symbols.name(symbol);
        let mut names = self.names.iter().map(name);
        names.any(|name| name.windows(UNIQUE.len()).any(|bytes| bytes == UNIQUE))
    }

    fn names(&self, md5: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        leb128::write(&mut bytes, self.names.len() as u64);
        for &symbol in &self.names {
            let name = self.samples.symbols.name(symbol);
            match md5 {
                true => bytes.extend(name_number(name).to_le_bytes()),
                false => {
                    bytes.extend_from_slice(name);
                    bytes.push(0);
                }
            }
        }
        bytes
    }

    fn contexts(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        leb128::write(&mut bytes, self.contexts.len() as u64);
        for &context in &self.contexts {
            leb128::write(&mut bytes, self.samples.contexts.depth(context) as u64);
            for frame in self.samples.contexts.frames(context) {
                leb128::write(&mut bytes, self.index[frame.function.index()]);
                put_site(&mut bytes, frame.site);
            }
        }
        bytes
    }

    fn put_context(&self, bytes: &mut Vec<u8>, context: ContextId) {
        leb128::write(bytes, self.number(context));
    }

    /// The number of a context in the file: its index, or the index of its name in a profile without contexts.
    fn number(&self, context: ContextId) -> u64 {
        let name = || self.index[self.samples.contexts.function(context).index()];
        self.context_index.get(&context).copied().unwrap_or_else(name)
    }

    /// The bytes of functions, and for each function its [`number`](Self::number) and its offset.
    fn functions(&self, order: &[ContextId]) -> (Vec<u8>, Vec<(u64, u64)>) {
        let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
        for &context in order {
            offsets.push((self.number(context), bytes.len() as u64));
            let body = &self.samples.functions[&context];
            leb128::write(&mut bytes, body.head);
            self.put_context(&mut bytes, context);
            self.body(&mut bytes, body);
        }
        (bytes, offsets)
    }

    fn body(&self, bytes: &mut Vec<u8>, body: &Body) {
        leb128::write(bytes, body.total);
        leb128::write(bytes, body.records.len() as u64);
        for (&site, record) in &body.records {
            put_site(bytes, site);
            leb128::write(bytes, record.count);
            leb128::write(bytes, record.targets.len() as u64);
            for (target, calls) in self.ranks.targets(record) {
                leb128::write(bytes, self.index[target.index()]);
                leb128::write(bytes, calls);
            }
        }
        leb128::write(bytes, body.inlined.len() as u64);
        for (site, callee, inlined) in self.ranks.inlined(body) {
            put_site(bytes, site);
            leb128::write(bytes, self.index[callee.index()]);
            self.body(bytes, inlined);
        }
    }

    fn offsets(&self, mut offsets: Vec<(u64, u64)>) -> Vec<u8> {
        if self.samples.traits.contexts {
            offsets.sort_unstable();
        }
        let mut bytes = Vec::new();
        leb128::write(&mut bytes, offsets.len() as u64);
        for (number, offset) in offsets {
            leb128::write(&mut bytes, number);
            leb128::write(&mut bytes, offset);
        }
        bytes
    }

    fn symbol_list(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in &self.samples.symbol_list {
            bytes.extend_from_slice(name);
            bytes.push(0);
        }
        bytes
    }

    fn metadata_flags(&self) -> u64 {
        let has_attributes = self.samples.traits.contexts || self.samples.has_preinlined();
        let checksums = if self.samples.traits.probes { CHECKSUMS } else { 0 };
        checksums | if has_attributes { ATTRIBUTES } else { 0 }
    }

    fn metadata(&self, has_copies: bool) -> Vec<u8> {
        let flags = self.metadata_flags();
        let mut bytes = Vec::new();
        if flags == 0 {
            return bytes;
        }
        for &context in &self.order {
            self.put_context(&mut bytes, context);
            let body = &self.samples.functions[&context];
            self.metadata_of(&mut bytes, flags, body, has_copies);
        }
        bytes
    }

    fn metadata_of(&self, bytes: &mut Vec<u8>, flags: u64, body: &Body, has_copies: bool) {
        if flags & CHECKSUMS != 0 {
            leb128::write(bytes, body.checksum);
        }
        if flags & ATTRIBUTES != 0 {
            leb128::write(bytes, body.attributes.into());
        }
        if !has_copies {
            return;
        }
        leb128::write(bytes, body.inlined.len() as u64);
        for (site, callee, inlined) in self.ranks.inlined(body) {
            put_site(bytes, site);
            leb128::write(bytes, self.index[callee.index()]);
            self.metadata_of(bytes, flags, inlined, has_copies);
        }
    }
}

fn put_site(bytes: &mut Vec<u8>, site: Site) {
    leb128::write(bytes, site.line.into());
    leb128::write(bytes, site.discriminator.into());
}
