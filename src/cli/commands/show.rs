//! `countersink show`.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::prelude::v1::*;
use std::slice;

use clap::Args;
use serde::Serialize;

use crate::cli::binary::hexadecimal;
use crate::cli::by_function::{self, read::counted};
use crate::cli::error::{Context, Error, Result};
use crate::cli::input::{Format, Input, warnings};
use crate::cli::names::{Names, Wanted, plain, text, visible};
use crate::cli::sources::Sources;
use crate::cli::table::Table;
use crate::cli::terminal::heat;
use crate::cli::{Outcome, folder, near, output, percent, warn};
use crate::convert::gcov::Reader;
use crate::convert::number::Number;
use crate::formats::afdo_v4::check::Part;
use crate::formats::gcda::decode::Data;
use crate::formats::gcno::Notes;
use crate::formats::{afdo_v1_v3, afdo_v4, json};
use crate::profile::{Body, Function, Position, Profile, Record, Summary, SymbolId, Symbols};
use crate::raw;
use crate::raw::dump::Dump;

/// Show what is in a file
///
/// A raw dump shows its modules; with --function, --source, --top or --summary it is converted first,
/// with the notes beside its objects. A profile shows its summary and its ten hottest functions. Of LLVM's
/// profiles each function has its counters, targets of calls and sizes of memory operations, with --function.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  # Modules, runs, sizes; counts by line from the declaration
  countersink show prog.csraw
  countersink show prog.gcov --function main
  countersink show prog.csraw --top 3 --json

A function's lines are: line[.discriminator]: count  target calls, ...; inlined functions are \
indented. Where more functions were called than the runtime keeps apart, it says by how much each \
number of calls may be wrong. With --json the schema is that of `convert --to json`, for dumps without a choice of \
functions: {\"format\": \"countersink-dump\", \"version\": 1, \"modules\": [{\"path\", \"build_id\", \
\"signature\", \"runs\", \"sum_max\", \"dropped\", \"objects\", \"compilers\", \"functions\", \"counters\", \"sites\"}]}; for LLVM's \
profiles: {\"format\": \"countersink-functions\", \"version\": 1, \"instrumentation\", \"binary_ids\", \"functions\": \
[{\"name\", \"hash\", \"counters\", \"conditions\", \"calls\": [[{\"name\", \"count\"}]], \"sizes\": [[{\"size\", \
\"count\"}]], \"vtables\"}]}.")]
pub struct Show {
    /// A raw dump, a profile of AutoFDO or LLVM of any version, .gcda or .gcno
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The summary: how many counts carry which share of all
    #[arg(long, conflicts_with_all = ["function", "source", "top"])]
    summary: bool,
    /// The sections or parts of the file with their places and sizes
    #[arg(long, conflicts_with_all = ["summary", "function", "source", "top", "json"])]
    sections: bool,
    /// The functions of this name: as in the object file or in the source, or its end; * stands for anything
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// The functions that this file declares; the end of its path is enough
    #[arg(long, value_name = "FILE")]
    source: Option<String>,
    /// The N functions with the largest totals
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Names as in the source, as always on a terminal
    #[arg(long, conflicts_with = "json")]
    demangle: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sources: Sources,
}

impl Show {
    pub fn run(&self) -> Result<Outcome> {
        let input = Input::read(&folder::only(&self.file)?)?;
        self.sources.check(slice::from_ref(&input))?;
        let functions = self.function.is_some() || self.source.is_some() || self.top.is_some();
        let text = match input.format {
            _ if self.sections => sections(&input)?,
            Format::Dump if !functions && !self.summary => self.dump(&input.dump()?)?,
            _ if input.is_by_function()? => self.by_function(&input)?,
            Format::Gcda | Format::Gcno if functions || self.summary || self.json => {
                let what = format!("{}, is shown as a whole and as text only", input.format.name());
                return Err(Error::about(&input.name, what));
            }
            Format::Gcda => gcda(&Data::decode(&input.bytes).about(&input.name)?),
            Format::Gcno => gcno(&Notes::decode(&input.bytes).about(&input.name)?),
            Format::V4
                if (self.function.is_some() || self.source.is_some())
                    && !self.json
                    && !self.sources.moves_files() =>
            {
                match self.part(&input)? {
                    Some(part) => self.profile(&part)?,
                    // Perhaps some names come near.
                    None => self.profile(&self.sources.profile(vec![input], Reader::EXACT)?)?,
                }
            }
            _ => self.profile(&self.sources.profile(vec![input], Reader::EXACT)?)?,
        };
        output::print_text(&text)?;
        Ok(Outcome::Done)
    }

    fn by_function(&self, input: &Input) -> Result<String> {
        if self.source.is_some() {
            let what = "--source: the positions of its functions stand in the program's coverage mapping, which is \
                        not read yet";
            return Err(Error::about(&input.name, what));
        }
        let counted = counted(input)?;
        input.warn(&counted.warnings);
        let shown = by_function::show::Shown {
            function: self.function.as_deref(),
            top: self.top,
            summary: self.summary,
            names: Names::chosen(self.demangle),
        };
        let text = match self.json {
            true => by_function::show::json(shown, &counted.profile),
            false => shown.text(&counted),
        };
        text.about(&input.name)
    }

    fn dump(&self, dump: &Dump) -> Result<String> {
        let modules: Vec<Module> = dump.modules.iter().map(Module::new).collect();
        if self.json {
            return json(&DumpJson { format: "countersink-dump", version: 1, modules });
        }
        Ok(modules.iter().map(Module::text).collect::<Vec<_>>().join("\n"))
    }

    fn profile(&self, profile: &Profile) -> Result<String> {
        let symbols = self.chosen(profile);
        if self.function.is_some() || self.source.is_some() {
            match symbols.len() {
                0 => return Err(Error::about(&self.file, self.nothing(profile))),
                number => warn(&self.file, format!("{} found", Number(number as u64, "function"))),
            }
        }
        if self.json {
            let json = json::encode::encode(profile, |symbol| symbols.contains(&symbol));
            return Ok(text(&json.about(&self.file)?));
        }
        let in_full = self.function.is_some() || self.source.is_some();
        let shown = Shown { symbols: &profile.symbols, names: Names::chosen(self.demangle) };
        if !in_full {
            let summary = profile.summary();
            return Ok(match self.summary {
                true => totals(&summary) + &cutoffs(&summary),
                false => totals(&summary) + "\n" + &shown.table(profile, &symbols, &summary),
            });
        }
        let mut text = String::new();
        for &symbol in &symbols {
            let Some(function) = profile.functions.get(&symbol) else { continue };
            text += &shown.head(symbol, function);
            shown.body(&function.body, 1, &mut text);
        }
        Ok(text)
    }

    /// The part of a version 4 profile that was asked for, if it is there, without decoding the rest.
    fn part(&self, input: &Input) -> Result<Option<Profile>> {
        let decode = |is_wanted: &dyn Fn(&[u8]) -> bool| {
            let part = afdo_v4::part::decode(&input.bytes, |path| self.is_source(path), is_wanted);
            let part = part.about(&input.name)?;
            if part.profile.functions.is_empty() {
                return Ok(None);
            }
            input.warn(&warnings(&part.findings));
            Ok(Some(part.profile))
        };
        let Some(name) = &self.function else { return decode(&|_| true) };
        let wanted = Wanted::new(name);
        for way in Wanted::WAYS {
            if let Some(profile) = decode(&|name| wanted.is(name, way))? {
                return Ok(Some(profile));
            }
        }
        Ok(None)
    }

    /// Says that no function was found, and which names come near.
    fn nothing(&self, profile: &Profile) -> String {
        let symbols = &profile.symbols;
        let path = |symbol| symbols.declared_in(symbol).unwrap_or_default();
        let functions = || profile.functions.keys().copied();
        match (&self.source, &self.function) {
            (Some(source), _) if !functions().any(|symbol| self.is_source(path(symbol))) => {
                let paths = functions().filter_map(|symbol| symbols.declared_in(symbol)).map(text);
                let paths: BTreeSet<String> = paths.collect();
                let instead =
                    near::hint(source, "/", &paths).unwrap_or_else(|| near::there_is(&paths));
                format!("no function of {source} in the profile; {instead}")
            }
            (_, name) => {
                let name = name.as_deref().unwrap_or_default();
                let functions = functions().filter(|&symbol| self.is_source(path(symbol)));
                let names = functions.map(|symbol| plain(&text(symbols.name(symbol)))).collect();
                let instead = near::hint(name, "::", &names);
                let callers = inlined_in(profile, &Wanted::new(name));
                let inlined = callers.map(|callers| format!("it is only inlined, in {callers}"));
                let instead = inlined.or(instead);
                let instead = instead.as_deref().unwrap_or("--top 10 shows the hottest");
                match &self.source {
                    Some(source) => format!("{source} has no function {name}; {instead}"),
                    None => format!("no function {name} in the profile; {instead}"),
                }
            }
        }
    }

    /// Whether a file is the one that was asked for, if one was.
    fn is_source(&self, path: &[u8]) -> bool {
        self.source.as_ref().is_none_or(|end| {
            let before = path.strip_suffix(end.as_bytes());
            before.is_some_and(|before| {
                before.is_empty() || before.ends_with(b"/") || end.starts_with('/')
            })
        })
    }

    /// The functions that were asked for: by name and file in canonical order, or the largest ones.
    fn chosen(&self, profile: &Profile) -> Vec<SymbolId> {
        let symbols = &profile.symbols;
        let declared =
            |symbol: &SymbolId| self.is_source(symbols.declared_in(*symbol).unwrap_or_default());
        let functions = profile.functions.keys().copied();
        let mut chosen: Vec<SymbolId> = functions.filter(declared).collect();
        if let Some(name) = &self.function {
            chosen = Wanted::new(name).of(symbols, &chosen);
        }
        chosen.sort_by(|&a, &b| symbols.canonical_order(a, b));
        let only_some = self.function.is_none() && self.source.is_none() && !self.json;
        if let Some(top) = self.top.or(only_some.then_some(10)) {
            chosen.sort_by_key(|symbol| Reverse(profile.functions[symbol].body.total()));
            chosen.truncate(top);
        }
        chosen
    }
}

#[derive(Serialize)]
struct DumpJson {
    format: &'static str,
    version: u32,
    modules: Vec<Module>,
}

#[derive(Serialize)]
struct Module {
    path: String,
    build_id: String,
    signature: String,
    runs: u64,
    sum_max: u64,
    dropped: u64,
    objects: u32,
    /// Those of its objects, each once.
    compilers: Vec<String>,
    functions: u32,
    counters: u64,
    sites: u64,
    #[serde(skip)]
    is_llvm: bool,
}

/// The compilers of a module's objects, each once.
fn compilers(module: &raw::dump::Module) -> Vec<String> {
    let mut compilers = Vec::new();
    for object in &module.objects {
        let layout = raw::llvm::Version::from_number(object.version.0);
        let compiler = match (module.is_llvm(), layout) {
            (false, _) => object.version.to_string(),
            (true, Some(layout)) => format!("LLVM {}", layout.releases()),
            // Names of virtual tables stand in an object without functions.
            (true, None) => continue,
        };
        if !compilers.contains(&compiler) {
            compilers.push(compiler);
        }
    }
    compilers
}

impl Module {
    fn new(module: &raw::dump::Module) -> Self {
        let (identity, sums) = (&module.record.identity, &module.sums);
        Self {
            path: text(&module.path),
            build_id: hexadecimal(module.build_id()),
            signature: format!("{:016x}", identity.signature),
            runs: sums.runs,
            sum_max: sums.sum_max,
            dropped: sums.dropped,
            objects: identity.objects,
            compilers: compilers(module),
            functions: identity.functions,
            counters: module.counter_count() as u64,
            sites: module.site_count() as u64,
            is_llvm: module.is_llvm(),
        }
    }

    fn text(&self) -> String {
        // gcov's summary, which LLVM's profiles do not have.
        let sum_max = match self.is_llvm {
            false => format!(", sum of largest arc counters {}", self.sum_max),
            true => String::new(),
        };
        let compilers = match &self.compilers[..] {
            [] => String::new(),
            compilers => format!(" of {}", compilers.join(" and ")),
        };
        format!(
            "{}\n  build-id {}, signature {}\n  runs {}{sum_max}\n  \
             {}{compilers}, {}, {}, {}, {} dropped\n",
            visible(&self.path),
            self.build_id,
            self.signature,
            self.runs,
            Number(self.objects.into(), "object"),
            Number(self.functions.into(), "function"),
            Number(self.counters, "counter"),
            Number(self.sites, "top-N site"),
            Number(self.dropped, "event"),
        )
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value).map_err(Error::new)? + "\n")
}

fn sections(input: &Input) -> Result<String> {
    let mut text = String::new();
    match input.format {
        Format::Dump => {
            for (offset, kind, length) in raw::dump::sections(&input.bytes).about(&input.name)? {
                let _ = writeln!(text, "{offset:#10x} {length:8} {}", kind.name());
            }
        }
        Format::V4 => {
            let table =
                afdo_v4::table::Table::decode(&input.bytes, &mut |_| {}).about(&input.name)?;
            for section in table.by_offset() {
                let outside = || "outside the file".into();
                let kind =
                    section.kind.map_or_else(outside, |kind| Part::Section(kind).to_string());
                let compact = if section.compact { " compact" } else { "" };
                let _ = writeln!(text, "{:#10x} {:8} {kind}{compact}", section.start, section.size);
            }
        }
        Format::V1V3(_) => {
            let parts = afdo_v1_v3::decode::decode(&input.bytes).about(&input.name)?.parts;
            let ends = parts.iter().skip(1).map(|&(_, start)| start);
            for (&(part, start), end) in parts.iter().zip(ends.chain([input.bytes.len() as u64])) {
                let _ = writeln!(text, "{start:#10x} {:8} {part}", end - start);
            }
        }
        format => {
            let what = format!("{}, has no sections", format.name());
            return Err(Error::about(&input.name, what));
        }
    }
    Ok(text)
}

fn totals(summary: &Summary) -> String {
    format!(
        "total count {}, largest {}, largest head count {}\n{}, {}\n",
        summary.total_count,
        summary.max_count,
        summary.max_function_count,
        Number(summary.functions, "function"),
        Number(summary.counts, "count"),
    )
}

fn cutoffs(summary: &Summary) -> String {
    let mut text = String::new();
    for cutoff in &summary.cutoffs {
        let share = f64::from(cutoff.share) / 10_000.0;
        let (counts, least) = (Number(cutoff.counts, "count"), cutoff.min_count);
        let _ = writeln!(text, "{share:9.4} % in {counts} of at least {least}");
    }
    text
}

/// Functions in the form in which they are shown.
struct Shown<'p> {
    symbols: &'p Symbols,
    names: Names,
}

impl Shown<'_> {
    /// The functions with their shares of all counts.
    fn table(&self, profile: &Profile, symbols: &[SymbolId], summary: &Summary) -> String {
        let mut table = Table::new(["share", "total", "head count", "first"]);
        for symbol in symbols {
            let Some(function) = profile.functions.get(symbol) else { continue };
            let total = function.body.total();
            let share = percent::share(total, summary.total_count.into());
            let first = match function.timestamp {
                0 => "-".to_owned(),
                timestamp => timestamp.to_string(),
            };
            let numbers = [total, function.head_count.into()].map(|number| number.to_string());
            let [total, head_count] = numbers;
            table.push([percent::text(share), total, head_count, first], heat(share));
        }
        table.text("function", |row, room| self.names.fitting(self.symbols, symbols[row], room))
    }

    fn head(&self, symbol: SymbolId, function: &Function) -> String {
        let (head_count, total) = (function.head_count, function.body.total());
        let first = match function.timestamp {
            0 => String::new(),
            timestamp => format!(", first {timestamp}"),
        };
        let name = self.names.with_file(self.symbols, symbol);
        format!("{name}  head {head_count}{first}, total {total}\n")
    }

    fn body(&self, body: &Body, indent: usize, text: &mut String) {
        for (position, record) in &body.positions {
            let Position { discriminator, .. } = position;
            let line = position.signed_line();
            let place = match discriminator {
                0 => format!("{:indent$}{line}", "", indent = 2 * indent),
                _ => format!("{:indent$}{line}.{discriminator}", "", indent = 2 * indent),
            };
            if record.count.is_some() || !record.targets.is_empty() {
                let _ = writeln!(text, "{place}: {}", self.counts(record));
            }
            for (callee, inner) in self.symbols.sorted(&record.inlined) {
                let callee = self.names.with_file(self.symbols, callee);
                let _ = writeln!(text, "{place}: inlined {callee}");
                self.body(inner, indent + 1, text);
            }
        }
    }

    fn counts(&self, record: &Record) -> String {
        let count = record.count.map_or_else(|| "-".into(), |count| format!("{count}"));
        let name = |symbol| visible(&self.names.name(self.symbols, symbol));
        let mut targets = self.symbols.sorted(&record.targets);
        targets.sort_by_key(|&(_, calls)| Reverse(*calls));
        let targets: Vec<String> =
            targets.iter().map(|&(target, calls)| format!("{} {calls}", name(target))).collect();
        match (targets.is_empty(), record.target_error) {
            (true, _) => count,
            (false, 0) => format!("{count}  {}", targets.join(", ")),
            (false, error) => {
                format!("{count}  {}; each may be wrong by {error}", targets.join(", "))
            }
        }
    }
}

fn gcda(data: &Data) -> String {
    let (runs, sum_max) = data.summary.unwrap_or_default();
    format!(
        "counters of {}, stamp {:#010x}, checksum {:#010x}\n{}, sum of largest arc counters \
         {sum_max}\n{}\n",
        data.version,
        data.stamp,
        data.checksum,
        Number(runs.into(), "run"),
        Number(data.functions.iter().flatten().count() as u64, "function"),
    )
}

fn gcno(notes: &Notes<'_>) -> String {
    let mut shown = format!(
        "notes of {}, stamp {:#010x}, in {}\n",
        notes.version,
        notes.stamp,
        visible(&text(notes.directory)),
    );
    for function in &notes.functions {
        let [name, source] =
            [function.name, notes.source(function)].map(|bytes| visible(&text(bytes)));
        let (start, end) = (function.start_line, function.end_line);
        let blocks = Number(function.blocks.into(), "block");
        let arcs = Number(notes.arcs(function).len() as u64, "arc");
        let _ = writeln!(shown, "{name}  {source}:{start}-{end}, {blocks}, {arcs}");
    }
    shown
}

/// The functions that have bodies of the wanted function inlined, if it has no counts of its own.
fn inlined_in(profile: &Profile, wanted: &Wanted) -> Option<String> {
    let symbols = &profile.symbols;
    let is_it = |symbol: &SymbolId| {
        Wanted::WAYS.into_iter().any(|way| wanted.is(symbols.name(*symbol), way))
    };
    let has_it = |body: &Body| {
        let mut has = false;
        body.for_each_record(&mut |record| has |= record.inlined.keys().any(is_it));
        has
    };
    let callers = profile.functions.iter().filter(|(_, function)| has_it(&function.body));
    let names: BTreeSet<String> =
        callers.map(|(symbol, _)| plain(&text(symbols.name(*symbol)))).collect();
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(3).collect();
    if shown.is_empty() {
        return None;
    }
    let more = names.count();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(shown.join(", ") + &rest)
}
