//! The counts of a profile with the functions around them: the function itself, and those inlined in each other there.

use alloc::vec::Vec;

use super::{Body, Position, Profile, Record, SymbolId, Symbols};

/// A function, and a position in it: that of a count, or of the call of the next function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The function.
    pub symbol: SymbolId,
    /// The position.
    pub position: Position,
}

impl Profile {
    /// Visits all records with their frames, the outermost function first. The functions come in canonical order.
    pub fn for_each_stack<'p>(&'p self, visit: &mut impl FnMut(&[Frame], &'p Record)) {
        let mut functions: Vec<SymbolId> = self.functions.keys().copied().collect();
        self.symbols.sort(&mut functions);
        let mut frames = Vec::new();
        for symbol in functions {
            self.body(symbol, &self.functions[&symbol].body, &mut frames, visit);
        }
    }

    fn body<'p>(
        &'p self,
        symbol: SymbolId,
        body: &'p Body,
        frames: &mut Vec<Frame>,
        visit: &mut impl FnMut(&[Frame], &'p Record),
    ) {
        for (&position, record) in &body.positions {
            frames.push(Frame { symbol, position });
            visit(frames, record);
            for (callee, inner) in self.symbols.sorted(&record.inlined) {
                self.body(callee, inner, frames, visit);
            }
            frames.pop();
        }
    }
}

impl Symbols {
    /// The line of a frame in its file, if it is known where the function is declared; else the distance from the
    /// declaration.
    pub fn line(&self, frame: Frame) -> i64 {
        let declared = self.declaration_line(frame.symbol).unwrap_or(0);
        i64::from(declared) + frame.position.signed_line()
    }
}
