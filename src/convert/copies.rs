//! Copies of functions inside others, in terms of the profile.
//!
//! A function's notes tell how often lines of functions that were inlined into it were executed, but
//! not in which copy. The debug information tells for each instruction which functions it was
//! written in: for a line found in a function's notes, the chains of functions that lead from it to
//! that line. Which one it is, is certain where there is only one.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::lines::Home;
use super::source::{Declared, Inlined, SourceLine, Stack};
use crate::profile::{FileId, SymbolId, Symbols};

/// A function called and inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Line of the call, in the file of the caller.
    pub line: u32,
    /// Column of the call.
    pub column: u32,
    /// Which of several calls of the line.
    pub discriminator: u16,
    /// The function called.
    pub home: Home,
    /// The file it stands in.
    pub file: FileId,
}

/// From a function to a line: each link is inlined in the one before, the first in the function. Empty
/// if the line is the function's own.
pub type Chain = Vec<Link>;

/// A line as it was found in a function.
type Found = (SymbolId, FileId, u32);

/// The chains of all lines of the functions of a module.
#[derive(Debug, Default)]
pub struct Copies {
    chains: HashMap<Found, Vec<Chain>>,
    /// From one function to another, whatever the line.
    functions: HashMap<(SymbolId, SymbolId), Vec<Chain>>,
}

impl Copies {
    /// Asks for the chains from a function to a line.
    pub fn want(&mut self, function: SymbolId, file: FileId, line: u32) {
        self.chains.entry((function, file, line)).or_default();
    }

    /// The lines that were asked for.
    pub fn wanted(&self, symbols: &Symbols) -> BTreeSet<SourceLine> {
        let mut paths = HashMap::<FileId, Arc<[u8]>>::new();
        let line = |&(_, file, line): &Found| {
            let path = paths.entry(file).or_insert_with(|| symbols.path(file).into());
            SourceLine { path: path.clone(), line }
        };
        self.chains.keys().map(line).collect()
    }

    /// Takes a stack of a line in.
    pub fn add(&mut self, at: &SourceLine, stack: &Stack, symbols: &mut Symbols) {
        let file = symbols.file(&at.path);
        for (function, chain) in chains(stack, symbols) {
            let Some(known) = self.chains.get_mut(&(function, file, at.line)) else { continue };
            if let Some(end) = chain.last() {
                add(self.functions.entry((function, end.home.symbol)).or_default(), &chain);
            }
            add(known, &chain);
        }
    }

    /// The chains from a function to another one.
    pub fn between(&self, from: SymbolId, to: SymbolId) -> &[Chain] {
        self.functions.get(&(from, to)).map_or(&[], Vec::as_slice)
    }

    /// The chains from a function to a line, in no particular order.
    pub fn chains(&self, function: SymbolId, file: FileId, line: u32) -> &[Chain] {
        self.chains.get(&(function, file, line)).map_or(&[], Vec::as_slice)
    }
}

fn add(chains: &mut Vec<Chain>, chain: &Chain) {
    if !chains.contains(chain) {
        chains.push(chain.clone());
    }
}

/// Those of some chains that end in a function.
pub fn to(function: SymbolId, chains: &[Chain]) -> impl Iterator<Item = &Chain> {
    chains.iter().filter(move |chain| chain.last().is_some_and(|end| end.home.symbol == function))
}

/// The chains to an instruction from each function of its stack, outermost first.
pub fn chains(stack: &Stack, symbols: &mut Symbols) -> Vec<(SymbolId, Chain)> {
    let (outermost, _) = home(&stack.outermost, symbols);
    let link = |inlined: &Inlined| {
        let (home, file) = home(&inlined.function, symbols);
        let Inlined { line, column, discriminator, .. } = *inlined;
        Link { line, column, discriminator, home, file }
    };
    let links: Chain = stack.inlined.iter().map(link).collect();
    let callers = [outermost].into_iter().chain(links.iter().map(|link| link.home));
    callers.enumerate().map(|(depth, caller)| (caller.symbol, links[depth..].to_vec())).collect()
}

/// A function in terms of the profile, and its file.
pub fn home(function: &Declared, symbols: &mut Symbols) -> (Home, FileId) {
    let file = symbols.file(&function.at.path);
    let symbol = symbols.symbol(&function.name, Some(file));
    (Home { symbol, start: function.at.line }, file)
}
