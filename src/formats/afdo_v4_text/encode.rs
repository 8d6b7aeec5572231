//! Writes the text form.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};

use crate::formats::EncodeError;
use crate::formats::afdo_v4::Ids;
use crate::formats::afdo_v4::encode::FARTHEST_LINE;
use crate::profile::{
    Body, DEEPEST, Function, LARGEST_COUNT, Position, Profile, Record, Summary, SymbolId,
};

/// How to write the names of symbols that are only call targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetNames {
    /// In `symbol_names`; readers that do not know it skip it.
    #[default]
    Listed,
    /// As functions with nothing in them. All readers know these, but may take them for real functions.
    Stubs,
}

/// The text of a profile, with the summary of its counts.
pub fn encode(profile: &Profile) -> Result<Vec<u8>, EncodeError> {
    encode_with(profile, &profile.summary(), TargetNames::default())
}

/// The text of a profile with a given summary.
pub fn encode_with(
    profile: &Profile,
    summary: &Summary,
    target_names: TargetNames,
) -> Result<Vec<u8>, EncodeError> {
    let ids = Ids::new(profile);
    let files = ids.files(&profile.symbols);
    let paths: Vec<&[u8]> = files.iter().filter_map(|file| file.path).collect();
    let (bytes, most) = (Vec::new(), profile.most_text());
    let mut text = Text { profile, ids: &ids, paths: &paths, bytes, most, indent: 0 };
    text.file_names()?;
    text.summary(summary);
    let targets = text.mere_targets();
    let (listed, stubs) = match target_names {
        TargetNames::Listed => (targets, BTreeSet::new()),
        TargetNames::Stubs => (BTreeSet::new(), targets),
    };
    text.target_names(&listed)?;
    text.functions(&stubs)?;
    Ok(text.bytes)
}

struct Text<'p> {
    profile: &'p Profile,
    ids: &'p Ids,
    paths: &'p [&'p [u8]],
    bytes: Vec<u8>,
    most: usize,
    indent: usize,
}

/// Deeper lines are not indented any further: most of the text would be blanks.
const DEEPEST_INDENT: usize = 64;

impl Text<'_> {
    fn file_names(&mut self) -> Result<(), EncodeError> {
        self.put("filenames = ");
        self.list(self.paths.iter(), |text, path| text.quoted(path))?;
        self.put("\n\n");
        Ok(())
    }

    fn summary(&mut self, summary: &Summary) {
        let cutoffs = summary.cutoffs.iter().map(|cutoff| {
            let (share, min_count, counts) = (cutoff.share, cutoff.min_count, cutoff.counts);
            alloc::format!(
                "    {{cutoff = {share}, min_count = {min_count}, num_counts = {counts}}}"
            )
        });
        let cutoffs = cutoffs.collect::<Vec<String>>().join(",\n");
        self.put(format_args!(
            "summary = {{\n  total_count = {},\n  max_count = {},\n  max_fn_count = {},\n  \
             num_counts = {},\n  num_functions = {},\n  num_detailed_entries = {},\n  \
             detailed_entries = {{\n{}\n  }}\n}}\n",
            summary.total_count,
            summary.max_count,
            summary.max_function_count,
            summary.counts,
            summary.functions,
            summary.cutoffs.len(),
            cutoffs,
        ));
    }

    /// The symbols that are only call targets.
    fn mere_targets(&self) -> BTreeSet<SymbolId> {
        let mut named = BTreeSet::new();
        for (&symbol, function) in &self.profile.functions {
            named.insert(symbol);
            function.body.for_each_record(&mut |record| named.extend(record.inlined.keys()));
        }
        let symbols = self.ids.symbols().map(|(_, symbol)| symbol);
        symbols.filter(|symbol| !named.contains(symbol)).collect()
    }

    fn target_names(&mut self, targets: &BTreeSet<SymbolId>) -> Result<(), EncodeError> {
        if targets.is_empty() {
            return Ok(());
        }
        let ids = self.ids;
        self.put("\nsymbol_names = ");
        let listed = ids.symbols().filter(|(_, symbol)| targets.contains(symbol));
        self.list(listed, |text, (id, symbol)| {
            text.put(format_args!("{id} = "));
            text.name(symbol)
        })?;
        self.put("\n");
        Ok(())
    }

    fn functions(&mut self, stubs: &BTreeSet<SymbolId>) -> Result<(), EncodeError> {
        let (profile, ids) = (self.profile, self.ids);
        for (id, symbol) in ids.symbols() {
            let function = profile.functions.get(&symbol);
            if function.is_none() && !stubs.contains(&symbol) {
                continue;
            }
            self.put("\n");
            self.name(symbol)?;
            let numbers = function.map_or([0, 0], |f| [f.head_count, f.timestamp]);
            let [head_count, timestamp] = numbers.map(|number| number.min(LARGEST_COUNT));
            self.put(format_args!("({id}:{head_count}:{timestamp}) = "));
            match function {
                None => self.put("{ }"),
                // Readers take a function with nothing in it for a mere name (D44).
                Some(function) if function == &Function::default() => {
                    self.put("{\n  locations = {\n  }\n}");
                }
                Some(function) if function.body.is_deeper_than(DEEPEST) => {
                    return Err(EncodeError::depth(&profile.symbols, symbol));
                }
                Some(function) => self.body(symbol, &function.body)?,
            }
            self.put("\n");
        }
        Ok(())
    }

    fn body(&mut self, of: SymbolId, body: &Body) -> Result<(), EncodeError> {
        let mut lines = body.positions.keys().map(|position| position.line);
        if let Some(line) = lines.find(|&line| line > FARTHEST_LINE) {
            let function = self.profile.symbols.name(of).to_vec();
            return Err(EncodeError::Line { function, line });
        }
        let records = body.positions.iter();
        let counts: Vec<_> = records.clone().filter_map(|(p, r)| Some((p, r.count?))).collect();
        let calls: Vec<_> = records.clone().filter(|(_, r)| !r.targets.is_empty()).collect();
        let inlined: Vec<_> =
            records.flat_map(|(p, r)| r.inlined.iter().map(move |i| (p, i))).collect();
        let sections = [
            (!counts.is_empty()).then_some(Section::Locations(counts)),
            (!calls.is_empty()).then_some(Section::CallSites(calls)),
            (!inlined.is_empty()).then_some(Section::Inlined(inlined)),
        ];
        self.list(sections.into_iter().flatten(), |text, section| text.section(section))
    }

    fn section(&mut self, section: Section<'_>) -> Result<(), EncodeError> {
        match section {
            Section::Locations(counts) => {
                self.put("locations = ");
                self.list(counts, |text, (position, count)| {
                    let count = count.min(LARGEST_COUNT);
                    text.put(format_args!("{} = {count}", Place(position)));
                    Ok(())
                })
            }
            Section::CallSites(calls) => {
                self.put("callsites = ");
                self.list(calls, |text, (position, record)| {
                    text.put(format_args!("{} -> {{ ", Place(position)));
                    text.targets(record);
                    text.put(" }");
                    Ok(())
                })
            }
            Section::Inlined(mut inlined) => {
                inlined.sort_by_key(|(position, (callee, _))| (**position, self.ids.id(**callee)));
                self.put("inlined = ");
                self.list(inlined, |text, (position, (&callee, body))| {
                    text.put(format_args!("{} = ", Place(position)));
                    text.name(callee)?;
                    text.put(format_args!("({}) = ", text.ids.id(callee)));
                    text.body(callee, body)
                })
            }
        }
    }

    fn targets(&mut self, record: &Record) {
        let mut targets: Vec<(u32, u64)> =
            record.targets.iter().map(|(&target, &calls)| (self.ids.id(target), calls)).collect();
        targets.sort_unstable();
        for (place, (target, calls)) in targets.into_iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            self.put(format_args!("{separator}{target} = {}", calls.min(LARGEST_COUNT)));
        }
    }

    /// A name and the number of its file.
    fn name(&mut self, symbol: SymbolId) -> Result<(), EncodeError> {
        self.quoted(self.profile.symbols.name(symbol))?;
        let path = self.profile.symbols.declared_in(symbol);
        match path.and_then(|path| self.paths.binary_search(&path).ok()) {
            Some(file) => self.put(format_args!(":{file}")),
            None => self.put(":-1"),
        }
        Ok(())
    }

    fn quoted(&mut self, name: &[u8]) -> Result<(), EncodeError> {
        if name.is_empty() || name.contains(&b'"') || name.contains(&0) {
            return Err(EncodeError::Name(name.to_vec()));
        }
        if self.bytes.len() > self.most {
            return Err(EncodeError::Large(self.most));
        }
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(name);
        self.bytes.push(b'"');
        Ok(())
    }

    /// Braces around items, one on each line.
    fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut put: impl FnMut(&mut Self, T) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.put("{");
        self.indent += 1;
        let mut separator = "";
        for item in items {
            self.put(separator);
            self.new_line();
            put(self, item)?;
            separator = ",";
        }
        self.indent -= 1;
        self.new_line();
        self.put("}");
        Ok(())
    }

    fn new_line(&mut self) {
        self.bytes.push(b'\n');
        let blanks = 2 * self.indent.min(DEEPEST_INDENT);
        self.bytes.resize(self.bytes.len() + blanks, b' ');
    }

    fn put(&mut self, text: impl Display) {
        // Into a vector, which takes everything.
        let _ = write!(self, "{text}");
    }
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

enum Section<'b> {
    Locations(Vec<(&'b Position, u64)>),
    CallSites(Vec<(&'b Position, &'b Record)>),
    Inlined(Vec<(&'b Position, (&'b SymbolId, &'b Body))>),
}

struct Place<'b>(&'b Position);

impl Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, discriminator } = self.0;
        match discriminator {
            0 => write!(f, "{line}"),
            _ => write!(f, "{line}.{discriminator}"),
        }
    }
}
