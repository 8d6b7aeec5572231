//! Writes JSON.

use std::io::{self, Write};
use std::prelude::v1::*;

use serde::{Serialize, Serializer};

use crate::formats::EncodeError;
use crate::formats::afdo_v4::Ids;
use crate::profile;
use crate::profile::SymbolId;

/// The text of a profile, with only the functions that `wanted` accepts.
pub fn encode(
    profile: &profile::Profile,
    wanted: impl Fn(SymbolId) -> bool,
) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Bounded { bytes: Vec::new(), most: profile.most_text() };
    // Nothing else can fail.
    serde_json::to_writer_pretty(&mut bytes, &Profile::new(profile, wanted))
        .map_err(|_| EncodeError::Large(bytes.most))?;
    bytes.bytes.push(b'\n');
    Ok(bytes.bytes)
}

/// Bytes that fail to grow beyond a limit.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(more.len()) > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.write(more)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct Profile<'p> {
    format: &'static str,
    version: u32,
    summary: Summary,
    files: Vec<String>,
    functions: Vec<Function<'p>>,
}

/// A name. It becomes text only when it is written.
#[derive(Debug)]
struct Name<'p>(&'p [u8]);

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(self.0))
    }
}

#[derive(Debug, Serialize)]
struct Summary {
    total_count: u64,
    max_count: u64,
    max_function_count: u64,
    counts: u64,
    functions: u64,
    cutoffs: Vec<Cutoff>,
}

#[derive(Debug, Serialize)]
struct Cutoff {
    share: u32,
    min_count: u64,
    counts: u64,
}

#[derive(Debug, Serialize)]
struct Function<'p> {
    name: Name<'p>,
    file: Option<usize>,
    head_count: u64,
    timestamp: u64,
    locations: Vec<Location<'p>>,
}

#[derive(Debug, Serialize)]
struct Location<'p> {
    line: u32,
    discriminator: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "is_false")]
    is_estimate: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Target<'p>>,
    #[serde(skip_serializing_if = "is_zero")]
    target_error: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inlined: Vec<Inlined<'p>>,
}

#[derive(Debug, Serialize)]
struct Target<'p> {
    name: Name<'p>,
    file: Option<usize>,
    count: u64,
}

#[derive(Debug, Serialize)]
struct Inlined<'p> {
    name: Name<'p>,
    file: Option<usize>,
    locations: Vec<Location<'p>>,
}

impl<'p> Profile<'p> {
    fn new(profile: &'p profile::Profile, wanted: impl Fn(SymbolId) -> bool) -> Self {
        let ids = Ids::new(profile);
        let files = ids.files(&profile.symbols);
        let paths: Vec<&[u8]> = files.iter().filter_map(|file| file.path).collect();
        let names = Names { profile, paths: &paths };
        let symbols = ids.symbols().map(|(_, symbol)| symbol).filter(|&symbol| wanted(symbol));
        let functions = symbols.filter_map(|symbol| names.function(symbol));
        Self {
            format: "countersink-profile",
            version: 1,
            summary: Summary::new(&profile.summary()),
            functions: functions.collect(),
            files: paths.iter().map(|path| text(path)).collect(),
        }
    }
}

impl Summary {
    fn new(summary: &profile::Summary) -> Self {
        let cutoffs = summary.cutoffs.iter().map(|cutoff| Cutoff {
            share: cutoff.share,
            min_count: cutoff.min_count,
            counts: cutoff.counts,
        });
        Self {
            total_count: summary.total_count,
            max_count: summary.max_count,
            max_function_count: summary.max_function_count,
            counts: summary.counts,
            functions: summary.functions,
            cutoffs: cutoffs.collect(),
        }
    }
}

struct Names<'p, 'l> {
    profile: &'p profile::Profile,
    paths: &'l [&'p [u8]],
}

impl<'p> Names<'p, '_> {
    fn name(&self, symbol: SymbolId) -> Name<'p> {
        Name(self.profile.symbols.name(symbol))
    }

    fn file(&self, symbol: SymbolId) -> Option<usize> {
        self.paths.binary_search(&self.profile.symbols.declared_in(symbol)?).ok()
    }

    fn function(&self, symbol: SymbolId) -> Option<Function<'p>> {
        let function = self.profile.functions.get(&symbol)?;
        Some(Function {
            name: self.name(symbol),
            file: self.file(symbol),
            head_count: function.head_count,
            timestamp: function.timestamp,
            locations: self.locations(&function.body),
        })
    }

    fn locations(&self, body: &profile::Body) -> Vec<Location<'p>> {
        let location = |(position, record): (&profile::Position, &profile::Record)| Location {
            line: position.line,
            discriminator: position.discriminator,
            count: record.count,
            is_estimate: record.is_estimate,
            targets: self.sorted(&record.targets, |target, &count| self.target(target, count)),
            target_error: record.target_error,
            inlined: self.sorted(&record.inlined, |callee, body| self.inlined(callee, body)),
        };
        body.positions.iter().map(location).collect()
    }

    fn sorted<T, U>(
        &self,
        map: &profile::RareMap<SymbolId, T>,
        of: impl Fn(SymbolId, &T) -> U,
    ) -> Vec<U> {
        let sorted = self.profile.symbols.sorted(map);
        sorted.into_iter().map(|(symbol, value)| of(symbol, value)).collect()
    }

    fn target(&self, symbol: SymbolId, count: u64) -> Target<'p> {
        Target { name: self.name(symbol), file: self.file(symbol), count }
    }

    fn inlined(&self, symbol: SymbolId, body: &profile::Body) -> Inlined<'p> {
        let locations = self.locations(body);
        Inlined { name: self.name(symbol), file: self.file(symbol), locations }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(is: &bool) -> bool {
    !is
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
