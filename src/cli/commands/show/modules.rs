//! The modules of a dump.

use std::prelude::v1::*;

use serde::Serialize;

use crate::cli::inputs::conversion::NO_OBJECTS;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::names::{hexadecimal, text};
use crate::cli::terminal::visible::visible;
use crate::convert::number::Number;
use crate::raw;
use crate::raw::dump::Dump;

/// The modules, one paragraph each, or as JSON.
pub fn modules(dump: &Dump, as_json: bool) -> Result<String> {
    let modules: Vec<Module> = dump.modules.iter().map(Module::new).collect();
    if as_json {
        return json(&DumpJson { format: "countersink-dump", version: 1, modules });
    }
    if modules.is_empty() && dump.left_out.is_empty() {
        return Ok(format!("no modules: {NO_OBJECTS}\n"));
    }
    Ok(modules.iter().map(Module::text).collect::<Vec<_>>().join("\n"))
}

fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value).map_err(Error::new)? + "\n")
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
    #[serde(skip)]
    is_correlated: bool,
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
            // One stands for those that the program keeps.
            functions: if module.is_correlated() { 0 } else { identity.functions },
            counters: module.counter_count() as u64,
            sites: module.site_count() as u64,
            is_llvm: module.is_llvm(),
            is_correlated: module.is_correlated(),
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
            match &*self.path {
                "" => "(no name)".to_owned(),
                path => visible(path),
            },
            self.build_id,
            self.signature,
            self.runs,
            Number(self.objects.into(), "object"),
            match self.is_correlated {
                true => "functions in the program (-profile-correlate)".to_owned(),
                false => Number(self.functions.into(), "function").to_string(),
            },
            Number(self.counters, "counter"),
            Number(self.sites, "top-N site"),
            Number(self.dropped, "event"),
        )
    }
}
