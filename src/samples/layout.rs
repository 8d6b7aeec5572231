//! Layouts of a profile: inlined copies inside their functions, contexts of their own, or neither.
//!
//! What was inlined is a call when it stands apart. So taking a copy out of its caller leaves a record behind: the
//! copy's entries as calls. Putting a context into its caller takes that record away.

use alloc::vec::Vec;
use core::mem;

use super::{Body, ContextId, Frame, Samples, Site};
use crate::profile::{DEEPEST, SymbolId};

/// Layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each copy is a context of its own.
    Split,
    /// Copies stand in their functions.
    Nested,
    /// Copies are added to the functions themselves.
    Flat,
}

/// The profile would have more frames than this in another layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its contexts would have more than {0} frames in another layout")]
pub struct TooLarge(pub usize);

impl Samples {
    /// Changes the layout.
    pub fn lay_out(&mut self, layout: Layout) -> Result<(), TooLarge> {
        match layout {
            Layout::Split => self.split(),
            Layout::Nested => self.nest(),
            Layout::Flat => {
                self.flatten();
                Ok(())
            }
        }
    }

    /// Makes each inlined copy a context of its own.
    pub fn split(&mut self) -> Result<(), TooLarge> {
        let most = self.most_frames();
        let mut frames = 0usize;
        let mut outer: Vec<(ContextId, Body)> =
            mem::take(&mut self.functions).into_iter().collect();
        while let Some((context, mut body)) = outer.pop() {
            let callers: Vec<Frame> = self.contexts.frames(context).collect();
            for ((site, callee), inlined) in body.take_inlined() {
                frames = frames.saturating_add(callers.len() + 1);
                if frames > most {
                    return Err(TooLarge(most));
                }
                let mut frames = callers.clone();
                if let Some(caller) = frames.last_mut() {
                    caller.site = site;
                }
                frames.push(Frame { function: callee, site: Site::default() });
                if let Some(context) = self.contexts.of(&frames) {
                    outer.push((context, inlined));
                }
            }
            self.add(context, body);
        }
        self.traits.contexts = true;
        Ok(())
    }

    /// Puts each context into its caller, as a copy inlined there. Callers that have no counts get empty ones.
    pub fn nest(&mut self) -> Result<(), TooLarge> {
        let contexts = mem::take(&mut self.functions).into_iter();
        let mut contexts: Vec<(Vec<Frame>, Body)> = contexts
            .map(|(context, body)| {
                let context = self.contexts.last_frames(context, DEEPEST);
                (self.contexts.frames(context).collect(), body)
            })
            .collect();
        // Callers come first, so that their calls are known. In each caller the places ascend, so that none moves.
        let key = |frame: &Frame| (frame.function, frame.site);
        contexts.sort_by(|(a, _), (b, _)| a.iter().map(key).cmp(b.iter().map(key)));
        for (frames, mut body) in contexts {
            let Some(first) = frames.first() else { continue };
            let base = self.contexts.base(first.function);
            let place = self.functions.entry(base).or_default();
            if frames.len() > 1 {
                body.head = 0;
            }
            place.put(&frames, &body);
        }
        self.traits.contexts = false;
        Ok(())
    }

    /// Adds all contexts and inlined copies to the functions themselves.
    pub fn flatten(&mut self) {
        let mut outer: Vec<(ContextId, Body)> =
            mem::take(&mut self.functions).into_iter().collect();
        while let Some((context, mut body)) = outer.pop() {
            for ((_, callee), inlined) in body.take_inlined() {
                outer.push((self.contexts.base(callee), inlined));
            }
            body.attributes = 0;
            self.add(self.contexts.last_frames(context, 1), body);
        }
        self.traits.contexts = false;
    }

    /// Adds each context whose total is below a threshold to the context of its last `frames` frames, at least 1.
    /// Returns the number of contexts that are gone.
    pub fn merge_cold(&mut self, threshold: u64, frames: usize) -> usize {
        self.shorten(frames, |_, body| body.total < threshold)
    }

    /// Adds each context of more frames to the context of its last frames. Returns the number of contexts that are
    /// gone.
    pub fn trim(&mut self, frames: usize) -> usize {
        self.shorten(frames, |_, _| true)
    }

    /// Adds those contexts to the ones with their last frames.
    pub fn shorten(
        &mut self,
        frames: usize,
        is_shortened: impl Fn(ContextId, &Body) -> bool,
    ) -> usize {
        let before = self.functions.len();
        for (context, mut body) in mem::take(&mut self.functions) {
            let shorter = self.contexts.last_frames(context, frames);
            if shorter == context || !is_shortened(context, &body) {
                self.add(context, body);
                continue;
            }
            body.attributes = 0;
            self.add(shorter, body);
        }
        before - self.functions.len()
    }
}

impl Body {
    /// Takes out all inlined copies, and leaves calls of them behind. Each copy keeps its own copies.
    pub(super) fn take_inlined(&mut self) -> Vec<((Site, SymbolId), Self)> {
        let mut inlined = mem::take(&mut self.inlined).into_tuple_vec();
        for (place, body) in &mut inlined {
            self.leave_call(*place, body);
        }
        inlined
    }

    /// Notes calls of a copy that was taken out.
    pub(super) fn leave_call(&mut self, (site, callee): (Site, SymbolId), body: &mut Self) {
        body.head = body.entries();
        let record = self.records.entry(site).or_default();
        record.count = record.count.saturating_add(body.head);
        let calls = record.targets.entry(callee).or_default();
        *calls = calls.saturating_add(body.head);
        self.total = self.total.saturating_sub(body.total).saturating_add(body.head);
    }

    /// Puts a body where these frames lead. The first frame is this body's own. Returns what the totals in between
    /// lost: calls that are no more.
    fn put(&mut self, frames: &[Frame], body: &Self) -> u64 {
        let [caller, callee, ..] = frames else {
            self.add(body);
            return 0;
        };
        let place = (caller.site, callee.function);
        let own = if frames.len() == 2 { self.take_calls(place) } else { 0 };
        let gone =
            own.saturating_add(self.inlined.entry(place).or_default().put(&frames[1..], body));
        self.total = self.total.saturating_add(body.total).saturating_sub(gone);
        gone
    }

    /// Takes away the calls of a function that is inlined here; returns their number.
    fn take_calls(&mut self, (site, callee): (Site, SymbolId)) -> u64 {
        let Some(record) = self.records.get_mut(&site) else { return 0 };
        let Some(calls) = record.targets.remove(&callee) else { return 0 };
        let gone = calls.min(record.count);
        record.count -= gone;
        if record.count == 0 && record.targets.is_empty() {
            self.records.remove(&site);
        }
        gone
    }
}
