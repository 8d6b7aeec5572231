//! Names of symbols as they are shown.

use std::path::Path;
use std::prelude::v1::*;

use crate::profile::{SymbolId, Symbols};

/// How names are shown.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// As in the source, not as in the object file.
    pub demangle: bool,
}

impl Names {
    /// The name of a symbol.
    pub fn name(self, symbols: &Symbols, symbol: SymbolId) -> String {
        let name = text(symbols.name(symbol));
        match self.demangle {
            true => demangled(&name).unwrap_or(name),
            false => name,
        }
    }

    /// The name of a symbol, and the file that declares it.
    pub fn with_file(self, symbols: &Symbols, symbol: SymbolId) -> String {
        let name = self.name(symbols, symbol);
        match symbols.declared_in(symbol) {
            Some(path) => format!("{name} ({})", text(path)),
            None => name,
        }
    }
}

/// Says that symbols have stayed apart which may have been the same.
pub fn warn_of_ambiguous(file: &Path, number: usize) {
    if number > 0 {
        let what = "names without a file are declared by several files, and stay apart";
        super::warn(file, format!("{number} {what}"));
    }
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A name of Rust or C++; what compilers append to names of clones stays.
fn demangled(name: &str) -> Option<String> {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return Some(format!("{rust:#}"));
    }
    if !name.starts_with("_Z") {
        return None;
    }
    let whole = cpp_demangle::Symbol::new(name).ok()?;
    whole.demangle().ok()
}
