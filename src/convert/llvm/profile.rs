//! Makes the profile of a dump: its functions under their names, with counters, bitmaps and value sites.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::targets::Targets;
use crate::counters::{Function, Profile, Site, Trace, Value, ValueKind, Variant};
use crate::formats::profraw::names::Names;
use crate::raw::dump::{Dump, FunctionView, Module};
use crate::raw::llvm::kind;

/// A profile, and what it lacks of the dump.
#[derive(Clone, Debug, Default)]
pub struct Converted {
    /// The profile.
    pub profile: Profile,
    /// Functions without a name: their counters are left out.
    pub nameless: u64,
    /// Modules of another family.
    pub other_modules: usize,
    /// The newest layout of function records among the modules, the version of LLVM's raw profiles.
    pub newest: u32,
}

/// Why there is no profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unconvertible {
    /// Number of a module with names that cannot be read.
    #[error("module {0}: its names cannot be read")]
    Names(usize),
    /// Number of a module that is instrumented in another way than those before it.
    #[error(
        "module {0}: instrumented by another part of the compiler than those before it, front end or optimiser; \
         one profile cannot hold both"
    )]
    Mixed(usize),
    /// Number of a module whose program keeps the functions, see [`Module::correlate`].
    #[error(
        "module {0}: the names and places of its counters are in the program (-profile-correlate)"
    )]
    Correlated(usize),
}

/// The bits of the variant in which all modules of a profile must agree.
const COMMON: u64 = Variant::IR.0 | Variant::SINGLE_BYTE.0 | Variant::FUNCTION_ENTRY_ONLY.0;

/// The profile of all modules that LLVM's compilers instrumented.
pub fn profile(dump: &Dump) -> Result<Converted, Unconvertible> {
    let mut converted = Converted::default();
    let targets = Targets::of(dump);
    let mut trace = BTreeMap::new();
    let mut is_first = true;
    for (number, module) in dump.modules.iter().enumerate() {
        if !module.is_llvm() {
            converted.other_modules += 1;
            continue;
        }
        if module.is_correlated() {
            return Err(Unconvertible::Correlated(number));
        }
        // An image without counters is of no part.
        if !module.objects.is_empty() {
            let variant = variant(module);
            let before = converted.profile.variant;
            if !is_first && before.0 & COMMON != variant.0 & COMMON {
                return Err(Unconvertible::Mixed(number));
            }
            is_first = false;
            converted.profile.variant = Variant(before.0 | variant.0);
        }
        let names = names(module).map_err(|_| Unconvertible::Names(number))?;
        converted.add(module, number, &names, &targets, &mut trace);
    }
    if !trace.is_empty() {
        let functions = trace.into_values().collect();
        converted.profile.traces.push(Trace { weight: 1, functions });
    }
    Ok(converted)
}

impl Converted {
    fn add(
        &mut self,
        module: &Module,
        number: usize,
        names: &Names,
        targets: &Targets,
        trace: &mut BTreeMap<(i64, usize), u64>,
    ) {
        let id = module.build_id();
        if !id.is_empty() && !self.profile.binary_ids.iter().any(|known| known == id) {
            self.profile.binary_ids.push(id.to_vec());
        }
        for object in &module.objects {
            self.newest = self.newest.max(object.version.0);
            for view in module.functions(object) {
                let Some(record) = view.llvm() else { continue };
                let Some(name) = names.get(record.name_ref) else {
                    self.nameless += 1;
                    continue;
                };
                if let [time] = view.counters(kind::TIME)
                    && *time != 0
                {
                    trace.insert((*time, trace.len()), record.name_ref);
                }
                let mut function = function(&view, number, targets);
                if module.sums.runs > 1 {
                    function.values.iter_mut().flatten().for_each(sort_as_merged);
                }
                function.name = name.to_vec();
                self.profile.functions.push(function);
            }
            // An object without functions has the names of virtual tables.
            if object.version.0 == 0
                && let Ok(tables) = Names::read(&object.path)
            {
                self.profile.vtables.extend(tables.iter().map(<[u8]>::to_vec));
            }
        }
    }
}

/// Values in the order of LLVM's merged profiles, where the order of their appearance is lost.
fn sort_as_merged(site: &mut Site) {
    site.values.sort_by_key(|value| value.value);
}

fn variant(module: &Module) -> Variant {
    let stamps = module.objects.iter().map(|object| object.stamp);
    Variant(u64::from(stamps.fold(0, |all, stamp| all | stamp)) << 32)
}

fn names(module: &Module) -> Result<Names, crate::formats::profraw::check::Finding> {
    let first = module.objects.iter().find(|object| object.version.0 != 0);
    Names::read(first.map_or(&[], |object| &object.path))
}

/// A function without its name.
fn function(view: &FunctionView<'_>, module: usize, targets: &Targets) -> Function {
    let counters = view.counters(kind::EXECUTIONS).iter().map(|&count| count as u64);
    let covered = view.bytes(kind::COVERED).into_iter().map(u64::from);
    let values = [
        sites(view, ValueKind::IndirectCall, |value| targets.name_ref(module, value)),
        sites(view, ValueKind::MemorySize, |value| value as u64),
        sites(view, ValueKind::VirtualTable, |value| targets.table(value)),
    ];
    Function {
        name: Vec::new(),
        hash: view.llvm().map_or(0, |record| record.hash),
        counters: counters.chain(covered).collect(),
        bitmap: view.bytes(kind::BITMAP),
        values,
    }
}

/// The value sites of a kind. `value` turns a value of the dump into one of the profile.
fn sites(view: &FunctionView<'_>, kind: ValueKind, value: impl Fn(i64) -> u64) -> Vec<Site> {
    let sites = view.sites(kind::SITES[kind as usize]);
    let values = |site: crate::raw::dump::SiteView<'_>| {
        let pairs = site.pairs.iter();
        pairs.map(|pair| Value { value: value(pair.value), count: pair.count as u64 }).collect()
    };
    sites.map(|site| Site { values: values(site) }).collect()
}
