//! Names of functions for the viewers' formats: without control characters, and different for different functions.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::profile::{SymbolId, Symbols};

/// Gives the name to show for a name in the object file.
pub type NameOf<'n> = &'n dyn Fn(&[u8]) -> String;

/// The names of all symbols.
pub(super) struct FrameNames {
    names: Vec<String>,
}

impl FrameNames {
    /// Makes the names. Functions of the same name get their file's name behind it.
    pub fn new(symbols: &Symbols, name_of: NameOf<'_>) -> Self {
        let all: Vec<SymbolId> = symbols.iter().collect();
        let mut names: Vec<String> =
            all.iter().map(|&symbol| visible(&name_of(symbols.name(symbol)))).collect();
        let mut of_name = BTreeMap::<&str, usize>::new();
        names.iter().for_each(|name| *of_name.entry(name).or_default() += 1);
        let is_shared: Vec<bool> = names.iter().map(|name| of_name[&**name] > 1).collect();
        for ((name, &symbol), _) in
            names.iter_mut().zip(&all).zip(&is_shared).filter(|(_, shared)| **shared)
        {
            if let Some(path) = symbols.declared_in(symbol) {
                let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
                *name = format!("{name} ({})", visible(&String::from_utf8_lossy(file)));
            }
        }
        Self { names }
    }

    /// The name of a symbol.
    pub fn of(&self, symbol: SymbolId) -> &str {
        &self.names[symbol.index()]
    }
}

/// The path of the file that declares a symbol; empty if unknown.
pub(super) fn path(symbols: &Symbols, symbol: SymbolId) -> String {
    symbols
        .declared_in(symbol)
        .map_or_else(String::new, |path| visible(&String::from_utf8_lossy(path)))
}

/// Shows a name as it is in the object file.
pub fn as_it_is(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Text with control characters spelled out.
pub(super) fn visible(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    text.chars().fold(String::new(), |text, letter| match letter.is_control() {
        true => format!("{text}\\x{:02x}", u32::from(letter)),
        false => format!("{text}{letter}"),
    })
}
