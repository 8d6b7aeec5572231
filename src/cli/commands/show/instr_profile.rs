//! `countersink show` of LLVM's profiles.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::prelude::v1::*;

use hashbrown::HashMap;
use serde::Serialize;

use crate::cli::inputs::instr_profiles::read::{Counted, Version};
use crate::cli::terminal::names::{Names, Wanted, hexadecimal, plain, text};
use crate::cli::terminal::style::heat;
use crate::cli::terminal::table::Table;
use crate::cli::terminal::visible::visible;
use crate::cli::terminal::{percent, suggestion};
use crate::convert::number::Number;
use crate::counters::summary::{LEAST_PSEUDO_COUNT, Summary};
use crate::counters::{Function, Profile, Site, ValueKind, Variant, file_and_symbol, name_ref};

/// What is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Functions of this name, in full.
    pub function: Option<&'a str>,
    /// Largest number of functions. The default is ten, or all functions with the given name.
    pub top: Option<usize>,
    /// Only the summary.
    pub summary: bool,
    /// How to show names.
    pub names: Names,
}

impl Shown<'_> {
    /// The requested functions, the one with the largest total first. If there are none, the reason.
    pub fn functions<'p>(&self, profile: &'p Profile) -> Result<Vec<&'p Function>, String> {
        let mut functions: Vec<&Function> = profile.functions.iter().collect();
        if let Some(name) = self.function {
            let wanted = Wanted::new(name);
            let found = Wanted::WAYS.iter().map(|&way| {
                let is = |function: &&&Function| wanted.is(file_and_symbol(&function.name).1, way);
                functions.iter().filter(is).copied().collect::<Vec<_>>()
            });
            let found = found.into_iter().find(|found| !found.is_empty());
            functions = found.ok_or_else(|| nothing(name, profile))?;
        }
        functions.sort_by(|one, other| {
            let key = |function: &Function| (Reverse(sum(function)), function.hash);
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        });
        Ok(functions)
    }

    /// The text of a profile.
    pub fn text(&self, counted: &Counted) -> Result<String, String> {
        let profile = &counted.profile;
        let mut functions = self.functions(profile)?;
        if self.function.is_none() || self.summary {
            let summary = Summary::of(profile);
            functions.truncate(self.top.unwrap_or(10));
            return Ok(match self.summary {
                true => totals(counted, &summary) + &cutoffs(&summary),
                false => {
                    let whole = profile.functions.iter().filter(|function| is_counted(function));
                    let whole = whole.map(sum).sum();
                    totals(counted, &summary) + "\n" + &self.table(&functions, whole)
                }
            });
        }
        functions.truncate(self.top.unwrap_or(usize::MAX));
        let targets = targets(profile);
        let mut text = String::new();
        for function in functions {
            let (name, entry, sum) = (self.name(&function.name), entry(function), sum(function));
            let _ =
                writeln!(text, "{name}  entry {entry}, largest {}, total {sum}", largest(function));
            self.details(function, &targets, &mut text);
        }
        Ok(text)
    }

    /// The functions with their shares of all counts.
    fn table(&self, functions: &[&Function], whole: u128) -> String {
        let mut table = Table::new(["share", "total", "entries", "largest"]);
        for function in functions {
            let share = percent::share(sum(function), whole);
            let numbers = [sum(function), entry(function).into(), largest(function).into()];
            let [total, entries, largest] = numbers.map(|number| number.to_string());
            table.push([percent::text(share), total, entries, largest], heat(share));
        }
        let name = |row: usize, room| {
            let name = text(&functions[row].name);
            self.names.short(&name, "", room)
        };
        table.text("function", name)
    }

    fn name(&self, name: &[u8]) -> String {
        visible(&self.names.of(&text(name)))
    }

    fn details(&self, function: &Function, targets: &HashMap<u64, &[u8]>, text: &mut String) {
        let counters: Vec<String> = function.counters.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "  hash {:#018x}\n  counters {}", function.hash, counters.join(" "));
        if !function.bitmap.is_empty() {
            let _ = writeln!(text, "  conditions {}", hexadecimal(&function.bitmap));
        }
        for kind in ValueKind::ALL {
            let what = match kind {
                ValueKind::IndirectCall => "calls",
                ValueKind::MemorySize => "sizes",
                ValueKind::VirtualTable => "virtual tables",
            };
            for (place, site) in function.values[kind as usize].iter().enumerate() {
                let values = self.values(site, kind, targets);
                let _ = writeln!(text, "  {what} {place}: {}", values.join(", "));
            }
        }
    }

    fn values(&self, site: &Site, kind: ValueKind, targets: &HashMap<u64, &[u8]>) -> Vec<String> {
        let mut values = site.values.clone();
        values.sort_by_key(|value| Reverse(value.count));
        let value = |value: &crate::counters::Value| match (kind, targets.get(&value.value)) {
            (ValueKind::MemorySize, _) => format!("{} {}", value.value, value.count),
            (_, Some(name)) => format!("{} {}", self.name(name), value.count),
            (_, None) => format!("unknown {}", value.count),
        };
        values.iter().map(value).collect()
    }
}

fn nothing(name: &str, profile: &Profile) -> String {
    let names =
        profile.functions.iter().map(|function| plain(&text(file_and_symbol(&function.name).1)));
    let names: BTreeSet<String> = names.collect();
    let instead = suggestion::hint(name, "::", &names);
    let instead = instead.as_deref().unwrap_or("--top 10 shows the hottest");
    format!("no function {name} in the profile; {instead}")
}

fn largest(function: &Function) -> u64 {
    function.counters.iter().copied().max().unwrap_or_default()
}

fn entry(function: &Function) -> u64 {
    function.counters.first().copied().unwrap_or_default()
}

fn sum(function: &Function) -> u128 {
    function.counters.iter().copied().map(u128::from).sum()
}

/// Whether the counters are counts, and not a mark of how hot the function is.
fn is_counted(function: &Function) -> bool {
    function.counters.first().is_none_or(|&first| first < LEAST_PSEUDO_COUNT)
}

/// Names of functions and virtual tables, by the hashes that represent the names in value data.
fn targets(profile: &Profile) -> HashMap<u64, &[u8]> {
    let functions = profile.functions.iter().map(|function| &function.name);
    functions.chain(&profile.vtables).map(|name| (name_ref(name), &**name)).collect()
}

fn totals(counted: &Counted, summary: &Summary) -> String {
    let profile = &counted.profile;
    let mut text = format!(
        "{}, {}\ntotal count {}, largest {}, largest entry count {}\n{}, {}\n",
        format(counted.version),
        instrumented(profile.variant).join(", "),
        summary.sum,
        summary.largest,
        summary.largest_entry,
        Number(summary.functions, "function"),
        Number(summary.counters, "counter"),
    );
    let late = profile.functions.len() as u64 - summary.functions;
    if profile.variant.has(Variant::CONTEXT_SENSITIVE) && late > 0 {
        let late = Number(late, "more function");
        let _ = writeln!(text, "{late}, counted after inlining");
    }
    text
}

fn cutoffs(summary: &Summary) -> String {
    let mut text = String::new();
    for cutoff in &summary.cutoffs {
        let (share, counters) =
            (cutoff.share as f64 / 10_000.0, Number(cutoff.counters, "counter"));
        let _ = writeln!(text, "{share:9.4} % in {counters} of at least {}", cutoff.least);
    }
    text
}

fn format(version: Version) -> String {
    match version {
        Version::Raw(version) => format!("raw profile, version {}", version.number()),
        Version::Indexed(version) => format!("indexed profile, version {}", version.number()),
        Version::Text => "text profile".into(),
    }
}

/// How a program was instrumented, in words.
fn instrumented(variant: Variant) -> Vec<&'static str> {
    let level = if variant.has(Variant::IR) {
        "counted in the optimiser (IR)"
    } else {
        "counted in the front end"
    };
    let others = [
        (Variant::CONTEXT_SENSITIVE, "after inlining, too"),
        (Variant::ENTRY_FIRST, "entries first"),
        (Variant::LOOP_ENTRIES, "entries of loops"),
        (Variant::SINGLE_BYTE, "covered or not"),
        (Variant::FUNCTION_ENTRY_ONLY, "entries only"),
        (Variant::TEMPORAL, "times of first calls"),
    ];
    let others = others.into_iter().filter(|&(bits, _)| variant.has(bits));
    std::iter::once(level).chain(others.map(|(_, what)| what)).collect()
}

/// The schema of `--json`.
#[derive(Serialize)]
struct ProfileJson {
    format: &'static str,
    version: u32,
    instrumentation: Vec<&'static str>,
    binary_ids: Vec<String>,
    functions: Vec<FunctionJson>,
}

#[derive(Serialize)]
struct FunctionJson {
    name: String,
    hash: String,
    counters: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conditions: Option<String>,
    calls: Vec<Vec<TargetJson>>,
    sizes: Vec<Vec<SizeJson>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    vtables: Vec<Vec<TargetJson>>,
}

#[derive(Serialize)]
struct TargetJson {
    /// `None` if the profile does not have the target's name.
    name: Option<String>,
    count: u64,
}

#[derive(Serialize)]
struct SizeJson {
    size: u64,
    count: u64,
}

/// The functions that were asked for, as JSON.
pub fn json(shown: Shown<'_>, profile: &Profile) -> Result<String, String> {
    let mut functions = shown.functions(profile)?;
    functions.truncate(shown.top.unwrap_or(usize::MAX));
    let targets = targets(profile);
    let json = ProfileJson {
        format: "countersink-functions",
        version: 1,
        instrumentation: instrumented(profile.variant),
        binary_ids: profile.binary_ids.iter().map(|id| hexadecimal(id)).collect(),
        functions: functions
            .into_iter()
            .map(|function| function_json(function, &targets))
            .collect(),
    };
    let text = serde_json::to_string_pretty(&json).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

fn function_json(function: &Function, targets: &HashMap<u64, &[u8]>) -> FunctionJson {
    let sites = |kind: ValueKind| function.values[kind as usize].iter();
    let named = |site: &Site| {
        let target = |value: &crate::counters::Value| TargetJson {
            name: targets.get(&value.value).map(|name| text(name)),
            count: value.count,
        };
        site.values.iter().map(target).collect()
    };
    let sizes = |site: &Site| {
        let size =
            |value: &crate::counters::Value| SizeJson { size: value.value, count: value.count };
        site.values.iter().map(size).collect()
    };
    FunctionJson {
        name: text(&function.name),
        hash: format!("{:016x}", function.hash),
        counters: function.counters.clone(),
        conditions: (!function.bitmap.is_empty()).then(|| hexadecimal(&function.bitmap)),
        calls: sites(ValueKind::IndirectCall).map(named).collect(),
        sizes: sites(ValueKind::MemorySize).map(sizes).collect(),
        vtables: sites(ValueKind::VirtualTable).map(named).collect(),
    }
}
