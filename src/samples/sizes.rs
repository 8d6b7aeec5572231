//! Sizes of functions and of their inlined copies, by context.
//!
//! They are a reverse trie: a function, below it each frame that it was inlined in, with its call site, below that the
//! frames around. A context is worth what the longest known context with its innermost frames is worth. Where only
//! longer ones are known, their mean answers.

use hashbrown::HashMap;

use super::{ContextId, Contexts, Frame};

/// Sizes in bytes of machine code, without what is inlined in turn.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    contexts: Contexts,
    sizes: HashMap<ContextId, Known>,
}

/// What is known about a context.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Copies in just this context.
    exact: Sum,
    /// Copies in this context or a longer one.
    all: Sum,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    bytes: u64,
    copies: u64,
}

impl Sum {
    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.copies += 1;
    }

    fn mean(self) -> Option<u64> {
        self.bytes.checked_div(self.copies)
    }
}

impl Sizes {
    /// Notes the size of a function, or of a copy of it that is inlined in these frames, the outermost first.
    pub fn add(&mut self, frames: &[Frame], bytes: u64) {
        let Some((leaf, callers)) = frames.split_last() else { return };
        let mut at = self.contexts.base(leaf.function);
        self.sizes.entry(at).or_default().all.add(bytes);
        for &frame in callers.iter().rev() {
            at = self.contexts.called_from(at, frame);
            self.sizes.entry(at).or_default().all.add(bytes);
        }
        self.sizes.entry(at).or_default().exact.add(bytes);
    }

    /// The size of a function in these frames; `None` if it has no code in the program.
    pub fn of(&self, frames: &[Frame]) -> Option<u64> {
        let size = |context| self.sizes.get(&context).copied().unwrap_or_default();
        let is_exact = |context| size(context).exact.copies > 0;
        let exact = self.contexts.longest(frames, is_exact);
        if let Some(context) = exact {
            return size(context).exact.mean();
        }
        size(self.contexts.longest(frames, |_| true)?).all.mean()
    }

    /// Number of functions and copies.
    pub fn copies(&self) -> u64 {
        self.sizes.values().map(|known| known.exact.copies).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Symbols;
    use crate::samples::Site;

    #[test]
    fn the_longest_known_context_answers() {
        let mut symbols = Symbols::default();
        let [main, f, g] = [b"main".as_slice(), b"f", b"g"].map(|name| symbols.symbol(name, None));
        let frame = |function, line| Frame { function, site: Site::line(line) };
        let mut sizes = Sizes::default();
        sizes.add(&[frame(g, 0)], 100);
        sizes.add(&[frame(f, 1), frame(g, 0)], 40);
        sizes.add(&[frame(main, 3), frame(f, 1), frame(g, 0)], 10);
        sizes.add(&[frame(main, 3), frame(f, 0)], 20);
        sizes.add(&[frame(main, 4), frame(f, 0)], 30);
        let of = |frames: &[Frame]| sizes.of(frames);
        assert_eq!(of(&[frame(main, 3), frame(f, 1), frame(g, 0)]), Some(10));
        assert_eq!(of(&[frame(main, 9), frame(f, 1), frame(g, 0)]), Some(40));
        assert_eq!(of(&[frame(main, 9), frame(g, 0)]), Some(100));
        // Nowhere but in main.
        assert_eq!(of(&[frame(f, 0)]), Some(25));
        assert_eq!(of(&[frame(main, 0)]), None);
    }
}
