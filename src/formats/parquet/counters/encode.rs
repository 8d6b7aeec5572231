//! Writes dumps as rows: collects the dumps of a run, sorts their facts, and fills row groups.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;
use std::prelude::v1::*;

use parquet::data_type::ByteArray;

use super::{NAME, kind_name};
use crate::formats::parquet::columns::{Column, Kind as Type, Writer};
use crate::formats::parquet::text::escaped;
use crate::formats::parquet::{GROUP, VERSION};
use crate::formats::profraw::names::Names;
use crate::raw::dump::sum::{Sum, rank_of_module, rank_of_value};
use crate::raw::dump::{Dump, FunctionView, Module, Values};
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::Signature;

/// Least number of words of the dumps that are sorted together.
const WORDS: usize = 12 << 20;

const COLUMNS: [(&str, Type); 17] = [
    ("version", Type::Int),
    ("function", Type::Text),
    ("object", Type::Text),
    ("build_id", Type::Text),
    ("module", Type::Text),
    ("ordinal", Type::Int),
    ("hash", Type::Long),
    ("kind", Type::Text),
    ("what", Type::Text),
    ("rule", Type::Text),
    ("index", Type::Int),
    ("value", Type::Long),
    ("dump", Type::Text),
    ("count", Type::Count),
    ("bits", Type::Long),
    ("rank", Type::Long),
    ("content", Type::Bytes),
];

/// Writes a table. Takes the dumps in the order of their numbers.
pub struct Encoder<'o> {
    writer: Writer<'o>,
    rows: Rows,
    builds: Vec<Build>,
    waiting: Vec<Waiting>,
    words: usize,
}

/// A dump whose rows are not written yet.
struct Waiting {
    id: ByteArray,
    number: i64,
    /// Its modules, each with the index of its build.
    modules: Vec<(usize, Module)>,
    last_live: u64,
}

/// A build of an image.
struct Build {
    layout: Module,
    name: ByteArray,
    build_id: ByteArray,
    functions: Vec<Function>,
    /// Whether its layout is in the table.
    is_written: bool,
}

struct Function {
    name: ByteArray,
    object: ByteArray,
    hash: i64,
}

/// The columns of the next row group.
struct Rows {
    versions: Vec<i32>,
    functions: Vec<ByteArray>,
    objects: Vec<ByteArray>,
    build_ids: Vec<ByteArray>,
    modules: Vec<ByteArray>,
    ordinals: Vec<i32>,
    hashes: Vec<i64>,
    kinds: Vec<ByteArray>,
    whats: Vec<ByteArray>,
    rules: Vec<ByteArray>,
    indexes: Vec<i32>,
    values: Vec<i64>,
    dumps: Vec<ByteArray>,
    counts: Vec<i128>,
    bits: Vec<i64>,
    ranks: Vec<i64>,
    contents: Vec<ByteArray>,
}

/// The columns that several rows share.
#[derive(Clone)]
struct Head {
    build: usize,
    /// Number of the function; `None` for rows about the module.
    function: Option<usize>,
    kind: ByteArray,
    what: ByteArray,
    rule: ByteArray,
    index: i32,
}

/// The columns of a single row.
#[derive(Clone, Default)]
struct Fact {
    value: i64,
    count: i128,
    bits: i64,
    rank: i64,
    content: Option<ByteArray>,
}

impl<'o> Encoder<'o> {
    /// Begins a table.
    pub fn new(out: &'o mut dyn io::Write) -> io::Result<Self> {
        Ok(Self {
            writer: Writer::new(NAME, &COLUMNS, out)?,
            rows: Rows::default(),
            builds: Vec::new(),
            waiting: Vec::new(),
            words: 0,
        })
    }

    /// Adds a dump. No two dumps may have the same id. In a merge, the dump with the largest number is the last one.
    pub fn add(&mut self, id: &[u8], number: i64, dump: Dump) -> io::Result<()> {
        let dump = with_each_build_once(dump);
        let last_live = dump.last_live;
        let modules = dump.modules.into_iter().map(|module| {
            self.words += module.counter_count() + 8 * module.site_count();
            (self.build_of(&module), module)
        });
        let modules = modules.collect();
        let id = ByteArray::from(&*escaped(id, ""));
        self.waiting.push(Waiting { id, number, modules, last_live });
        if self.words >= WORDS { self.write_waiting() } else { Ok(()) }
    }

    /// Ends the table. Gives the number of its rows.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write_waiting()?;
        self.write_group()?;
        self.writer.finish()
    }

    fn build_of(&mut self, module: &Module) -> usize {
        let known = self.builds.iter().position(|build| build.layout.is_same_build(module));
        if let Some(number) = known {
            let build = &mut self.builds[number];
            build.is_written &= !build.layout.learn(module);
            return number;
        }
        self.builds.push(Build::of(module));
        self.builds.len() - 1
    }

    /// Writes the sorted rows of all waiting dumps.
    fn write_waiting(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.words = 0;
        let used: HashSet<usize> =
            waiting.iter().flat_map(|dump| &dump.modules).map(|(build, _)| *build).collect();
        let mut used: Vec<usize> = used.into_iter().collect();
        used.sort_unstable_by_key(|&build| self.builds[build].name.data());
        self.live_rows(&waiting);
        for &build in &used {
            self.module_rows(build, &waiting)?;
        }
        let functions =
            |&build: &usize| (0..self.builds[build].functions.len()).map(move |f| (build, f));
        let mut functions: Vec<(usize, usize)> = used.iter().flat_map(functions).collect();
        functions.sort_by_cached_key(|&(build, number)| {
            let Build { name, functions, .. } = &self.builds[build];
            let function = &functions[number];
            [&function.name, &function.object, name].map(|text| text.data().to_vec())
        });
        for (build, number) in functions {
            self.function_rows(build, number, &waiting)?;
        }
        Ok(())
    }

    fn live_rows(&mut self, waiting: &[Waiting]) {
        for dump in waiting.iter().filter(|dump| dump.last_live != 0) {
            let content = Some(dump.last_live.to_le_bytes().to_vec().into());
            self.rows.push_live(dump, Fact { rank: -dump.number, content, ..Fact::default() });
        }
    }

    fn module_rows(&mut self, build: usize, waiting: &[Waiting]) -> io::Result<()> {
        let head = Head::of_module(build);
        let known = &mut self.builds[build];
        if !known.is_written {
            known.is_written = true;
            let layout = Dump { modules: vec![known.layout.clone()], ..Dump::default() };
            let fact = Fact { content: Some(layout.to_bytes().into()), ..Fact::default() };
            self.rows.push(known, &head.with_what("layout", "last"), &ByteArray::from(""), fact);
        }
        for dump in waiting {
            for (place, (_, module)) in
                dump.modules.iter().enumerate().filter(|(_, m)| m.0 == build)
            {
                let rank = rank_of_module(dump.number, place);
                let sums = [
                    ("runs", module.sums.runs, rank),
                    ("sum_max", module.sums.sum_max, 0),
                    ("dropped", module.sums.dropped, 0),
                ];
                for (what, count, rank) in sums {
                    let fact = Fact { count: count.into(), rank, ..Fact::default() };
                    self.rows.push(
                        &self.builds[build],
                        &head.with_what(what, "sum"),
                        &dump.id,
                        fact,
                    );
                }
                let content = Some(module.path.clone().into());
                let fact = Fact { rank: dump.number, content, ..Fact::default() };
                self.rows.push(
                    &self.builds[build],
                    &head.with_what("path", "last"),
                    &dump.id,
                    fact,
                );
            }
        }
        self.write_full_group()
    }

    fn function_rows<'w>(
        &mut self,
        build: usize,
        number: usize,
        waiting: &'w [Waiting],
    ) -> io::Result<()> {
        let view = |dump: &'w Waiting| {
            let module = dump.modules.iter().find(|(found, _)| *found == build);
            module.and_then(|(_, module)| Some((dump, module.function(number)?)))
        };
        let views: Vec<(&Waiting, FunctionView<'w>)> = waiting.iter().filter_map(view).collect();
        let is_llvm = self.builds[build].layout.is_llvm();
        let kinds: Vec<(Kind, Rule)> =
            views.first().map_or_else(Vec::new, |(_, view)| view.rules().iter().collect());
        for (place, &(kind, rule)) in kinds.iter().enumerate() {
            let of_kind = |&(dump, view): &(&'w Waiting, FunctionView<'w>)| {
                Some((dump, view.kinds().nth(place)?.1))
            };
            let values: Vec<(&Waiting, Values<'_>)> = views.iter().filter_map(of_kind).collect();
            let head = Head {
                kind: kind_name(kind, is_llvm).into(),
                function: Some(number),
                ..Head::of_module(build)
            };
            match rule {
                Rule::TopN => self.site_rows(head, values)?,
                _ => self.counter_rows(head, (kind, rule), &values)?,
            }
        }
        Ok(())
    }

    fn counter_rows(
        &mut self,
        head: Head,
        (kind, rule): (Kind, Rule),
        values: &[(&Waiting, Values<'_>)],
    ) -> io::Result<()> {
        let number = values.first().map_or(0, |(_, values)| match values {
            Values::Counters(counters) => counters.len(),
            Values::Sites(_) => 0,
        });
        let mut head = head.with_what("counter", rule_name(rule));
        for index in 0..number {
            head.index = index as i32;
            for (dump, values) in values {
                let Values::Counters(counters) = values else { continue };
                let Some(&count) = counters.get(index).filter(|&&count| count != 0) else {
                    continue;
                };
                let fact = match rule {
                    Rule::Ior | Rule::Bytes => Fact { bits: count, ..Fact::default() },
                    Rule::Add if kind != Kind::ARCS => {
                        Fact { count: count.into(), ..Fact::default() }
                    }
                    _ => Fact { count: (count as u64).into(), ..Fact::default() },
                };
                self.rows.push(&self.builds[head.build], &head, &dump.id, fact);
            }
            self.write_full_group()?;
        }
        Ok(())
    }

    fn site_rows(&mut self, head: Head, mut values: Vec<(&Waiting, Values<'_>)>) -> io::Result<()> {
        let [mut total, mut error, mut value] =
            ["total", "error", "value"].map(|what| head.with_what(what, "sum"));
        for index in 0.. {
            let mut sites = Vec::with_capacity(values.len());
            for (dump, values) in &mut values {
                if let Values::Sites(left) = values
                    && let Some(site) = left.next()
                {
                    sites.push((*dump, site));
                }
            }
            if sites.is_empty() {
                break;
            }
            (total.index, error.index, value.index) = (index, index, index);
            let build = &self.builds[head.build];
            for (dump, site) in sites.iter().filter(|(_, site)| site.total != 0) {
                let fact = Fact {
                    count: site.total.unsigned_abs().into(),
                    bits: (site.total < 0).into(),
                    ..Fact::default()
                };
                self.rows.push(build, &total, &dump.id, fact);
            }
            for (dump, site) in sites.iter().filter(|(_, site)| site.error != 0) {
                let fact = Fact { count: (site.error as u64).into(), ..Fact::default() };
                self.rows.push(build, &error, &dump.id, fact);
            }
            let mut pairs = Vec::new();
            for (order, (dump, site)) in sites.iter().enumerate() {
                let ranked = site.pairs.iter().enumerate();
                pairs.extend(
                    ranked.map(|(place, &pair)| (pair, order, rank_of_value(dump.number, place))),
                );
            }
            pairs.sort_unstable_by_key(|&(pair, order, _)| (pair.value, order));
            for (pair, order, rank) in pairs {
                let count = (pair.count as u64).into();
                let fact = Fact { value: pair.value, count, rank, ..Fact::default() };
                self.rows.push(build, &value, &sites[order].0.id, fact);
            }
            self.write_full_group()?;
        }
        Ok(())
    }

    fn write_full_group(&mut self) -> io::Result<()> {
        if self.rows.versions.len() >= GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        if self.rows.versions.is_empty() {
            return Ok(());
        }
        let columns = std::mem::take(&mut self.rows).into_columns();
        self.writer.write_group(&columns.each_ref())
    }
}

fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::Ior | Rule::Bytes => "or",
        Rule::Time => "min",
        Rule::Add | Rule::Saturate | Rule::TopN => "sum",
    }
}

/// A runtime writes each build once, but a tool that joins files may write a build twice.
fn with_each_build_once(dump: Dump) -> Dump {
    let modules = &dump.modules;
    let is_twice = |(place, module): (usize, &Module)| {
        modules[..place].iter().any(|before| before.is_same_build(module))
    };
    if !modules.iter().enumerate().any(is_twice) {
        return dump;
    }
    let mut sum = Sum::default();
    sum.add(dump);
    sum.finish()
}

impl Head {
    fn of_module(build: usize) -> Self {
        let empty = ByteArray::from("");
        let (kind, what, rule) = (empty.clone(), empty.clone(), empty);
        Self { build, function: None, kind, what, rule, index: 0 }
    }

    fn with_what(&self, what: &str, rule: &str) -> Self {
        Self { what: what.into(), rule: rule.into(), ..self.clone() }
    }
}

impl Build {
    fn of(module: &Module) -> Self {
        let layout = module.layout();
        let mut identity = layout.clone();
        identity.forget_places();
        let bytes = Dump { modules: vec![identity], ..Dump::default() }.to_bytes();
        let mut hash = Signature::new();
        bytes.chunks(8).for_each(|chunk| hash.bytes(chunk));
        let name = format!("{:016x}{:016x}", layout.record.identity.signature, hash.value());
        let build_id = module.build_id().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let functions = functions(&layout);
        Self {
            name: (&*name).into(),
            build_id: (&*build_id).into(),
            functions,
            layout,
            is_written: false,
        }
    }
}

fn functions(module: &Module) -> Vec<Function> {
    let mut functions = Vec::new();
    for object in &module.objects {
        let (names, path) = match module.is_llvm() {
            true => (Names::read(&object.path).unwrap_or_default(), ByteArray::from("")),
            false => (Names::default(), ByteArray::from(&*escaped(&object.path, ""))),
        };
        functions.extend(module.functions(object).map(|view| {
            let (name, hash) = match view.llvm() {
                Some(record) => match names.get(record.name_ref) {
                    Some(name) => (ByteArray::from(&*escaped(name, "")), record.hash as i64),
                    None => {
                        (ByteArray::from(&*format!("{:016x}", record.name_ref)), record.hash as i64)
                    }
                },
                None => (ByteArray::from(&*view.ident().to_string()), view.cfg_checksum().into()),
            };
            Function { name, object: path.clone(), hash }
        }));
    }
    functions
}

impl Default for Rows {
    fn default() -> Self {
        fn of<T>() -> Vec<T> {
            Vec::with_capacity(GROUP + GROUP / 8)
        }
        Self {
            versions: of(),
            functions: of(),
            objects: of(),
            build_ids: of(),
            modules: of(),
            ordinals: of(),
            hashes: of(),
            kinds: of(),
            whats: of(),
            rules: of(),
            indexes: of(),
            values: of(),
            dumps: of(),
            counts: of(),
            bits: of(),
            ranks: of(),
            contents: of(),
        }
    }
}

impl Rows {
    fn push(&mut self, build: &Build, head: &Head, dump: &ByteArray, fact: Fact) {
        let empty = ByteArray::from(Vec::new());
        let function = head.function.and_then(|number| build.functions.get(number));
        let (name, object, hash) = match function {
            Some(function) => (function.name.clone(), function.object.clone(), function.hash),
            None => (empty.clone(), empty, 0),
        };
        self.functions.push(name);
        self.objects.push(object);
        self.hashes.push(hash);
        self.build_ids.push(build.build_id.clone());
        self.modules.push(build.name.clone());
        self.ordinals.push(head.function.map_or(-1, |number| number as i32));
        self.put(head, dump, fact);
    }

    /// Pushes the row of a dump's last live file, which belongs to no module.
    fn push_live(&mut self, dump: &Waiting, fact: Fact) {
        let empty = ByteArray::from("");
        let texts =
            [&mut self.functions, &mut self.objects, &mut self.build_ids, &mut self.modules];
        texts.into_iter().for_each(|text| text.push(empty.clone()));
        self.hashes.push(0);
        self.ordinals.push(-1);
        self.put(&Head::of_module(0).with_what("live", "last"), &dump.id, fact);
    }

    fn put(&mut self, head: &Head, dump: &ByteArray, fact: Fact) {
        self.versions.push(VERSION);
        self.kinds.push(head.kind.clone());
        self.whats.push(head.what.clone());
        self.rules.push(head.rule.clone());
        self.indexes.push(head.index);
        self.values.push(fact.value);
        self.dumps.push(dump.clone());
        self.counts.push(fact.count);
        self.bits.push(fact.bits);
        self.ranks.push(fact.rank);
        self.contents.push(fact.content.unwrap_or_else(|| Vec::new().into()));
    }

    /// In the order of [`COLUMNS`].
    fn into_columns(self) -> [Column; COLUMNS.len()] {
        [
            Column::Int(self.versions),
            Column::Bytes(self.functions),
            Column::Bytes(self.objects),
            Column::Bytes(self.build_ids),
            Column::Bytes(self.modules),
            Column::Int(self.ordinals),
            Column::Long(self.hashes),
            Column::Bytes(self.kinds),
            Column::Bytes(self.whats),
            Column::Bytes(self.rules),
            Column::Int(self.indexes),
            Column::Long(self.values),
            Column::Bytes(self.dumps),
            Column::Count(self.counts),
            Column::Long(self.bits),
            Column::Long(self.ranks),
            Column::Bytes(self.contents),
        ]
    }
}
