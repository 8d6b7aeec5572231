//! Contexts: by which call sites a function was reached.
//!
//! They are a reverse trie. Its roots are functions by themselves. Below each node stand the frames that call it, so
//! that a step down is a step towards `main`. Contexts with the same innermost frames share them, and a context of
//! any length is one number. No context is ever a string, except in text files.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::BuildHasher;
use core::mem;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{Ranks, Site};
use crate::profile::SymbolId;

/// A context of one [`Contexts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(u32);

/// One function of a context, and where it calls the next one; the last one calls from nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function.
    pub function: SymbolId,
    /// Its call site.
    pub site: Site,
}

/// All contexts of a profile, each once.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    nodes: Vec<Node>,
    ids: HashTable<ContextId>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    frame: Frame,
    /// The same context without its outermost frame.
    inner: Option<ContextId>,
}

impl Contexts {
    /// The context of a function by itself.
    pub fn base(&mut self, function: SymbolId) -> ContextId {
        self.node(Node { frame: Frame { function, site: Site::default() }, inner: None })
    }

    /// A context whose outermost frame is called from one more.
    pub fn called_from(&mut self, inner: ContextId, frame: Frame) -> ContextId {
        self.node(Node { frame, inner: Some(inner) })
    }

    /// The context of these frames, the outermost first; `None` without frames.
    pub fn of(&mut self, frames: &[Frame]) -> Option<ContextId> {
        let (leaf, callers) = frames.split_last()?;
        let base = self.base(leaf.function);
        Some(callers.iter().rev().fold(base, |inner, &frame| self.called_from(inner, frame)))
    }

    fn node(&mut self, node: Node) -> ContextId {
        let hash = self.hasher.hash_one(node);
        if let Some(&id) = self.ids.find(hash, |&id| self.nodes[id.0 as usize] == node) {
            return id;
        }
        let id = ContextId(self.nodes.len() as u32);
        self.nodes.push(node);
        let mut ids = mem::take(&mut self.ids);
        ids.insert_unique(hash, id, |&id| self.hasher.hash_one(self.nodes[id.0 as usize]));
        self.ids = ids;
        id
    }

    /// The longest known context that is these frames or has their last ones; `None` if even the last frame's function
    /// is unknown.
    pub fn longest(
        &self,
        frames: &[Frame],
        is_known: impl Fn(ContextId) -> bool,
    ) -> Option<ContextId> {
        let (leaf, callers) = frames.split_last()?;
        let base = Frame { function: leaf.function, site: Site::default() };
        let mut at = self.find(Node { frame: base, inner: None })?;
        let mut longest = Some(at).filter(|&id| is_known(id));
        for &frame in callers.iter().rev() {
            let Some(next) = self.find(Node { frame, inner: Some(at) }) else { break };
            at = next;
            longest = if is_known(at) { Some(at) } else { longest };
        }
        longest
    }

    fn find(&self, node: Node) -> Option<ContextId> {
        let hash = self.hasher.hash_one(node);
        self.ids.find(hash, |&id| self.nodes[id.0 as usize] == node).copied()
    }

    /// The frames of a context, the outermost first.
    pub fn frames(&self, context: ContextId) -> impl Iterator<Item = Frame> {
        let mut next = Some(context);
        core::iter::from_fn(move || {
            let node = self.nodes[next?.0 as usize];
            next = node.inner;
            Some(node.frame)
        })
    }

    /// Number of frames, at least 1.
    pub fn depth(&self, context: ContextId) -> usize {
        self.frames(context).count()
    }

    /// The function whose context this is.
    pub fn function(&self, context: ContextId) -> SymbolId {
        let mut node = self.nodes[context.0 as usize];
        while let Some(inner) = node.inner {
            node = self.nodes[inner.0 as usize];
        }
        node.frame.function
    }

    /// The context with at most `most` of its innermost frames, and with at least 1.
    pub fn last_frames(&self, context: ContextId, most: usize) -> ContextId {
        let mut surplus = self.depth(context).saturating_sub(most.max(1));
        let mut at = context;
        while surplus > 0
            && let Some(inner) = self.nodes[at.0 as usize].inner
        {
            at = inner;
            surplus -= 1;
        }
        at
    }

    /// The context of the function's caller, and where that calls it; `None` if no caller is known.
    pub fn caller(&mut self, context: ContextId) -> Option<(ContextId, Site)> {
        let mut frames: Vec<Frame> = self.frames(context).collect();
        frames.pop()?;
        let site = frames.last()?.site;
        Some((self.of(&frames)?, site))
    }

    /// Order of contexts in files: frame by frame by name and call site, what is shorter first.
    pub fn compare(&self, ranks: &Ranks, a: ContextId, b: ContextId) -> Ordering {
        let key = |frame: Frame| (ranks.of(frame.function), frame.site);
        self.frames(a).map(key).cmp(self.frames(b).map(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Symbols;

    #[test]
    fn contexts_share_their_innermost_frames() {
        let mut symbols = Symbols::default();
        let [main, f, g] = [b"main".as_slice(), b"f", b"g"].map(|name| symbols.symbol(name, None));
        let frame = |function, line| Frame { function, site: Site::line(line) };
        let mut contexts = Contexts::default();
        let long = contexts.of(&[frame(main, 3), frame(f, 1), frame(g, 0)]).unwrap();
        assert_eq!(contexts.nodes.len(), 3);
        let other = contexts.of(&[frame(main, 4), frame(f, 1), frame(g, 0)]).unwrap();
        assert_eq!(contexts.nodes.len(), 4);
        assert_ne!(long, other);
        assert_eq!(contexts.last_frames(long, 2), contexts.last_frames(other, 2));
        assert_eq!(contexts.function(long), g);
        let lines: Vec<u32> = contexts.frames(long).map(|frame| frame.site.line).collect();
        assert_eq!(lines, [3, 1, 0]);
        let (caller, site) = contexts.caller(long).unwrap();
        assert_eq!((contexts.function(caller), contexts.depth(caller), site.line), (f, 2, 1));
        let base = contexts.base(g);
        assert_eq!((contexts.caller(base), contexts.last_frames(long, 1)), (None, base));
        let ranks = Ranks::new(&symbols);
        assert_eq!(contexts.compare(&ranks, long, other), Ordering::Less);
        assert_eq!(contexts.compare(&ranks, base, long), Ordering::Less);
        let asked = [frame(main, 9), frame(f, 1), frame(g, 0)];
        assert_eq!(contexts.longest(&asked, |_| true), Some(contexts.last_frames(long, 2)));
        assert_eq!(contexts.longest(&asked, |id| id == base), Some(base));
        assert_eq!(contexts.longest(&[frame(main, 9)], |_| true), None);
    }
}
