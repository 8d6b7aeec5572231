//! Which functions of a profile to show, and why there are none.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::prelude::v1::*;

use clap::Args;

use crate::cli::inputs::input::{Input, listing_of, warnings};
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::names::{Wanted, plain, text};
use crate::cli::terminal::suggestion;
use crate::formats::afdo_v4;
use crate::formats::llvm_sample::lookup;
use crate::profile::{Body, Profile, SymbolId};

/// The functions without a choice.
const USUAL: usize = 10;

/// The functions that the user asks for.
#[derive(Debug, Args)]
pub struct Choice {
    /// The functions of this name: as in the object file or in the source, or its end; * stands for anything
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// The functions that this file declares; the end of its path is enough
    #[arg(long, value_name = "FILE")]
    pub source: Option<String>,
    /// The N functions with the largest totals
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}

impl Choice {
    /// Whether the user asks for certain functions.
    pub const fn is_some(&self) -> bool {
        self.is_in_full() || self.top.is_some()
    }

    /// Whether to show functions line by line.
    pub const fn is_in_full(&self) -> bool {
        self.function.is_some() || self.source.is_some()
    }

    /// The functions that were asked for: by name and file in canonical order, or the largest ones. Without a
    /// choice they are `all`, or the ten largest.
    pub fn of(&self, profile: &Profile, all: bool) -> Vec<SymbolId> {
        let symbols = &profile.symbols;
        let declared =
            |symbol: &SymbolId| self.is_source(symbols.declared_in(*symbol).unwrap_or_default());
        let functions = profile.functions.keys().copied();
        let mut chosen: Vec<SymbolId> = functions.filter(declared).collect();
        if let Some(name) = &self.function {
            chosen = Wanted::new(name).of(symbols, &chosen);
        }
        chosen.sort_by(|&a, &b| symbols.canonical_order(a, b));
        let usual = (!self.is_in_full() && !all).then_some(USUAL);
        if let Some(top) = self.top.or(usual) {
            chosen.sort_by_key(|symbol| Reverse(profile.functions[symbol].body.total()));
            chosen.truncate(top);
        }
        chosen
    }

    /// The part of a version 4 profile that was asked for, if it is there, without decoding the rest.
    pub fn part(&self, input: &Input) -> Result<Option<Profile>> {
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

    /// The function that was asked for by its assembler name, if the sample profile has it, without decoding the rest.
    pub fn sample(&self, input: &Input) -> Result<Option<Profile>> {
        let (Some(name), None) = (&self.function, &self.source) else { return Ok(None) };
        let samples = lookup::function(&input.bytes, name.as_bytes()).about(&input.name)?;
        let is_found = !samples.functions.is_empty();
        is_found.then(|| listing_of(samples, &input.name)).transpose()
    }

    /// Says that no function was found, and which names come near.
    pub fn absence(&self, profile: &Profile) -> String {
        let symbols = &profile.symbols;
        let path = |symbol| symbols.declared_in(symbol).unwrap_or_default();
        let functions = || profile.functions.keys().copied();
        match (&self.source, &self.function) {
            (Some(source), _) if !functions().any(|symbol| self.is_source(path(symbol))) => {
                let paths = functions().filter_map(|symbol| symbols.declared_in(symbol)).map(text);
                let paths: BTreeSet<String> = paths.collect();
                let instead = suggestion::hint(source, "/", &paths)
                    .unwrap_or_else(|| suggestion::there_is(&paths));
                format!("no function of {source} in the profile; {instead}")
            }
            (_, name) => {
                let name = name.as_deref().unwrap_or_default();
                let functions = functions().filter(|&symbol| self.is_source(path(symbol)));
                let names = functions.map(|symbol| plain(&text(symbols.name(symbol)))).collect();
                let instead = suggestion::hint(name, "::", &names);
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
    pub fn is_source(&self, path: &[u8]) -> bool {
        self.source.as_ref().is_none_or(|end| {
            let before = path.strip_suffix(end.as_bytes());
            before.is_some_and(|before| {
                before.is_empty() || before.ends_with(b"/") || end.starts_with('/')
            })
        })
    }
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
