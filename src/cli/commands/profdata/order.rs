//! `llvm-profdata order`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use super::merge::refuse;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::{self, Content};
use crate::cli::terminal::error::{Error, Result};
use crate::counters::{file_and_symbol, name_ref, order};

/// Reads temporal profiling traces from a profile and outputs a function order that reduces the number of page faults
/// for those traces
#[derive(Debug, Args)]
pub struct Order {
    /// The profile with traces
    #[arg(required = true, value_name = "profdata-file")]
    profile: PathBuf,
    /// Output file
    #[arg(long, visible_alias = "o", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    #[arg(long, hide = true)]
    num_test_traces: Option<u64>,
}

/// LLVM's own words, which scripts cut off.
const MACH_O: &str = "# Warning: Mach-O may prefix symbols with \"_\" depending on the linkage and this output does not take that into account. Some post-processing may be required before passing to the linker via -order_file.";

impl Order {
    pub fn run(&self, _major: Option<u32>) -> Result<Outcome> {
        let keeps_aside = self.num_test_traces.is_some_and(|number| number > 0);
        refuse(&[("--num-test-traces", keeps_aside, "orders are not rated")])?;
        let profile = super::read(&self.profile)?.profile;
        let names = profile.functions.iter().map(|function| &*function.name);
        let names: HashMap<u64, &[u8]> = names.map(|name| (name_ref(name), name)).collect();
        let ordered: Vec<&[u8]> = order::order(&profile.traces)
            .iter()
            .filter_map(|name| names.get(name).copied())
            .collect();
        if ordered.is_empty() {
            let what =
                "no traces of first calls; compile with -mllvm -pgo-temporal-instrumentation";
            return Err(Error::about(&self.profile, what));
        }
        let mut text = format!("# Ordered {} functions\n{MACH_O}\n", ordered.len()).into_bytes();
        ordered.into_iter().for_each(|name| put(name, &mut text));
        output::write(Some(&self.output), &text, Content::Text)?;
        Ok(Outcome::Done)
    }
}

/// Writes the symbol of a function. The name of a local one has its file in front, which becomes a comment.
fn put(name: &[u8], text: &mut Vec<u8>) {
    let (file, symbol) = file_and_symbol(name);
    if let Some(file) = file {
        text.extend_from_slice(b"# ");
        text.extend_from_slice(file);
        text.push(b'\n');
    }
    text.extend_from_slice(symbol);
    text.push(b'\n');
}
