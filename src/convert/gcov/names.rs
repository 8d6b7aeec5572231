//! Finds the function whose ident an indirect call recorded.
//!
//! A call site records the callee's ident, 31 bits of a checksum of its name. The notes of all objects of the
//! program say which functions have which ident. For a global function without notes, its name in the
//! binary's symbol table gives the checksum.

use hashbrown::HashMap;

use crate::profile::SymbolId;

/// Symbols by ident.
#[derive(Debug, Default)]
pub struct Names {
    symbols: HashMap<u32, Option<SymbolId>>,
}

impl Names {
    /// Adds a function. An ident of two different functions names neither.
    pub fn add(&mut self, ident: u32, symbol: SymbolId) {
        self.symbols
            .entry(ident)
            .and_modify(|known| *known = known.filter(|&known| known == symbol))
            .or_insert(Some(symbol));
    }

    /// The one function with this ident.
    pub fn symbol(&self, ident: i64) -> Option<SymbolId> {
        *self.symbols.get(&u32::try_from(ident).ok()?)?
    }
}

/// The ident of a global function with this assembler name: 31 bits of the CRC-32 with the polynomial
/// 0x04c11db7, most significant bit first, from 0, over the name and its NUL; 1 instead of 0
/// (`coverage_compute_profile_id` of GCC).
pub fn ident(name: &[u8]) -> u32 {
    let step = |crc: u32, byte: u8| {
        (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| {
            crc << 1 ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 }
        })
    };
    let crc = name.iter().chain(&[0]).fold(0, |crc, &byte| step(crc, byte));
    (crc & 0x7fff_ffff).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Symbols;

    #[test]
    fn main_has_the_ident_it_always_has() {
        assert_eq!(ident(b"main"), 108_032_747);
    }

    #[test]
    fn two_functions_with_one_ident_have_no_name() {
        let mut symbols = Symbols::default();
        let (a, b) = (symbols.symbol(b"a", None), symbols.symbol(b"b", None));
        let mut names = Names::default();
        names.add(1, a);
        names.add(1, a);
        names.add(2, a);
        names.add(2, b);
        assert_eq!((names.symbol(1), names.symbol(2), names.symbol(3)), (Some(a), None, None));
    }
}
