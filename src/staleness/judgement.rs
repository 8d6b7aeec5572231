//! What became of each count of a profile.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::alignment::{Fate, align};
use super::outline::{Outline, Outlined, Place, Shape, base_name, shapes};
use crate::profile::{Body, Profile, SymbolId};

/// How much of a profile fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The executions.
    pub executions: Tally,
    /// The calls whose targets the profile knows.
    pub calls: Tally,
    /// All functions, inlined ones included, with the heaviest loss first.
    pub functions: Vec<Judged>,
}

/// A number of executions or calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All of them.
    pub all: u128,
    /// Those that fit.
    pub fit: u128,
    /// Those that may fit, and may not.
    pub open: u128,
}

impl Tally {
    /// The share of those that fit, from 0 to 1. Nothing fits as a whole.
    pub fn share(self) -> f64 {
        if self.all == 0 { 1.0 } else { self.fit as f64 / self.all as f64 }
    }

    /// Those that do not fit.
    pub const fn lost(self) -> u128 {
        self.all.saturating_sub(self.fit).saturating_sub(self.open)
    }

    fn add(&mut self, number: u128, fit: Fit) {
        self.all = self.all.saturating_add(number);
        match fit {
            Fit::Yes => self.fit = self.fit.saturating_add(number),
            Fit::Open => self.open = self.open.saturating_add(number),
            Fit::No => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Yes,
    Open,
    No,
}

/// How much of a function's counts fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Its name in the profile.
    pub name: Vec<u8>,
    /// The file that declares it: the program's, or else the profile's.
    pub file: Option<Vec<u8>>,
    /// The line at which it is declared now.
    pub line: Option<u32>,
    /// Its executions, those of its inlined copies included.
    pub executions: Tally,
    /// Its calls whose targets the profile knows.
    pub calls: Tally,
    /// Why some do not fit, the heaviest first.
    pub reasons: Vec<Reason>,
}

/// Why counts do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What has changed.
    pub what: What,
    /// The executions; for [`What::NoCall`] perhaps only calls.
    pub executions: u128,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The program has no function of this name. One has the same lines.
    Gone {
        /// The function with the same lines, if there is one.
        like: Option<Vec<u8>>,
    },
    /// A function of this name is in another file.
    OtherFile(Vec<u8>),
    /// The program declares the function, but has no code of it.
    NoCode,
    /// The program has the function, but its debug information does not describe it.
    Undescribed,
    /// Lines stand further down, or further up if the number is negative.
    Moved {
        /// The first of them, as the profile counts lines.
        from: i64,
        /// How far.
        by: i64,
    },
    /// Lines may have moved: nothing shows where lines were added or removed.
    Open {
        /// The first of them.
        from: i64,
    },
    /// Lines have no code any more.
    NoLine {
        /// The first of them.
        from: i64,
    },
    /// A line does not call this function any more.
    NoCall {
        /// The line.
        line: i64,
        /// The function.
        callee: Vec<u8>,
    },
    /// The control flow is another one: its checksum has changed.
    Graph,
    /// There are no notes of the function's object.
    NoNotes,
}

/// How names and files are compared.
pub struct Comparing<N, I> {
    /// What the reader of the profile makes of a name.
    pub name_of: N,
    /// The identifier in a name.
    pub identifier: I,
    /// Whether it compares the last part of the file's path.
    pub files: bool,
}

/// Compares a profile with a program. The program's names are those that the reader compares.
pub fn judge<N: Fn(&[u8]) -> Vec<u8>, I: Fn(&[u8]) -> Vec<u8>>(
    profile: &Profile,
    program: &Outline,
    comparing: &Comparing<N, I>,
) -> Verdict {
    let symbols = &profile.symbols;
    let name_of = |symbol: SymbolId| (comparing.name_of)(symbols.name(symbol));
    let mut known = BTreeMap::new();
    for (symbol, shape) in shapes(profile, &name_of) {
        let file = symbols.declared_in(symbol).filter(|_| comparing.files);
        let stood_alone = profile.functions.get(&symbol).is_some_and(|of| of.head_count > 0);
        let mut of = Known::new(program, &name_of(symbol), file, stood_alone, shape);
        let is_unnamed = |path| program.find_unnamed(&of.shape, path).is_some();
        if of.now.is_none() && symbols.declared_in(symbol).is_some_and(is_unnamed) {
            of.whole = None;
            of.fates = all_same(&of.shape);
        }
        known.insert(symbol, of);
    }
    find_like(profile, program, &name_of, &mut known);
    let identifier = &comparing.identifier;
    let mut judging =
        Judging { program, name_of: &name_of, identifier, known, rows: BTreeMap::new() };
    for (&symbol, function) in &profile.functions {
        judging.body(symbol, symbol, &function.body, None);
    }
    judging.finish(profile)
}

/// Looks for functions that have the lines of those that are gone.
fn find_like(
    profile: &Profile,
    program: &Outline,
    name_of: &impl Fn(SymbolId) -> Vec<u8>,
    known: &mut BTreeMap<SymbolId, Known<'_>>,
) {
    /// Smaller functions are like many others.
    const FEWEST: usize = 4;
    const LEAST: f64 = 0.6;
    let claimed: alloc::collections::BTreeSet<Vec<u8>> =
        known.keys().map(|&symbol| name_of(symbol)).collect();
    let free: Vec<(&[u8], &Outlined)> = program
        .functions()
        .filter(|(name, function)| !claimed.contains(*name) && function.shape.lines.len() >= FEWEST)
        .collect();
    let gone = known.iter_mut().filter(|(_, known)| matches!(known.whole, Some(What::Gone { .. })));
    for (&symbol, known) in gone {
        if known.shape.lines.len() < FEWEST {
            continue;
        }
        let file = profile.symbols.declared_in(symbol).map(base_name);
        let likeness = |&(name, function): &(&[u8], &Outlined)| {
            let is_there = file.is_none_or(|file| base_name(&function.file) == file);
            let likeness = function.shape.likeness(&known.shape);
            (likeness >= LEAST).then(|| (name.to_vec(), (is_there, likeness)))
        };
        let found = free.iter().filter_map(likeness);
        let best = found.max_by(|(_, a), (_, b)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        known.whole = Some(What::Gone { like: best.map(|(name, _)| name) });
    }
}

/// Nothing has changed.
fn all_same(shape: &Shape) -> BTreeMap<i64, Fate> {
    shape.lines.keys().map(|&line| (line, Fate::Same)).collect()
}

/// What is known about a function of the profile.
struct Known<'o> {
    /// Its lines in the profile.
    shape: Shape,
    /// The function as it is now.
    now: Option<&'o Outlined>,
    /// The lines of all functions with its name.
    lines: Shape,
    /// Why none of its counts fits, if so.
    whole: Option<What>,
    /// What became of its lines.
    fates: BTreeMap<i64, Fate>,
}

impl<'o> Known<'o> {
    /// Finds a function of the profile in the program. `stood_alone` tells whether it had code of its own.
    fn new(
        program: &'o Outline,
        name: &[u8],
        file: Option<&[u8]>,
        stood_alone: bool,
        shape: Shape,
    ) -> Self {
        let place = program.find(name, file);
        let (now, whole) = match place {
            None => (None, Some(What::Gone { like: None })),
            Some(Place::Elsewhere(now)) => (Some(now), Some(What::OtherFile(now.file.clone()))),
            Some(Place::Here(now)) if now.is_undescribed() => (Some(now), Some(What::Undescribed)),
            // Only a function that had code must have some.
            Some(Place::Here(now))
                if now.shape.lines.is_empty() && stood_alone && !now.is_guess =>
            {
                (Some(now), Some(What::NoCode))
            }
            Some(Place::Here(now)) => (Some(now), None),
        };
        let mut known = Self { shape, now, whole, fates: BTreeMap::new(), lines: Shape::default() };
        if known.whole.is_none() {
            let all: Vec<&Outlined> = program.all_here(name, file).collect();
            known.compare(&all, program);
        }
        known
    }

    /// Chooses among functions of equal names the one that fits best, or all of them as one: the profile has the sum of
    /// those that the reader cannot tell apart.
    fn compare(&mut self, all: &[&'o Outlined], program: &Outline) {
        let with_lines = all.iter().filter(|known| !known.shape.lines.is_empty());
        let with_lines: Vec<(&Outlined, Cow<'o, Shape>)> =
            with_lines.map(|known| (*known, self.placed(known))).collect();
        for (_, shape) in &with_lines {
            self.lines.add(shape);
        }
        // Nothing shows that a function without code has changed.
        let may_be_without = all.iter().any(|known| known.is_guess && known.shape.lines.is_empty());
        if may_be_without || with_lines.is_empty() {
            self.fates = all_same(&self.shape);
            return;
        }
        let moved = |fates: &BTreeMap<i64, Fate>| {
            fates.values().filter(|fate| **fate != Fate::Same).count()
        };
        self.fates = align(&self.shape, &self.lines, program.knows);
        if with_lines.len() == 1 {
            return;
        }
        for (known, shape) in with_lines {
            if moved(&self.fates) == 0 {
                break;
            }
            let fates = align(&self.shape, &shape, program.knows);
            if moved(&fates) < moved(&self.fates) {
                (self.fates, self.now) = (fates, Some(known));
            }
        }
    }

    /// The lines of a function by their distance from where the profile counts them.
    fn placed(&self, known: &'o Outlined) -> Cow<'o, Shape> {
        match known.is_unplaced {
            true => Cow::Owned(known.shape.moved_to(&self.shape)),
            false => Cow::Borrowed(&known.shape),
        }
    }

    /// What became of a line: whether its counts fit, and why not.
    fn fate(&self, line: i64) -> (Fit, Option<What>) {
        if let Some(whole) = &self.whole {
            let fit = if *whole == What::Undescribed { Fit::Open } else { Fit::No };
            return (fit, Some(whole.clone()));
        }
        match self.fates.get(&line) {
            Some(Fate::Same) => (Fit::Yes, None),
            Some(Fate::Open(_)) => (Fit::Open, Some(What::Open { from: line })),
            Some(&Fate::Moved(by)) => (Fit::No, Some(What::Moved { from: line, by })),
            Some(Fate::Gone) | None => (Fit::No, Some(What::NoLine { from: line })),
        }
    }
}

/// What has been found about a function.
#[derive(Default)]
struct Row {
    executions: Tally,
    calls: Tally,
    reasons: BTreeMap<What, u128>,
}

impl Row {
    fn blame(&mut self, what: Option<&What>, executions: u128) {
        let Some(what) = what.filter(|_| executions > 0) else { return };
        let sum = self.reasons.entry(what.clone()).or_default();
        *sum = sum.saturating_add(executions);
    }
}

struct Judging<'j, 'o, N, I> {
    program: &'j Outline,
    name_of: &'j N,
    identifier: &'j I,
    known: BTreeMap<SymbolId, Known<'o>>,
    rows: BTreeMap<SymbolId, Row>,
}

/// Why a whole body does not fit.
type Around = Option<(Fit, What)>;

impl<N: Fn(SymbolId) -> Vec<u8>, I: Fn(&[u8]) -> Vec<u8>> Judging<'_, '_, N, I> {
    /// Judges the counts of a body of `symbol`, and credits them to `owner`.
    fn body(&mut self, owner: SymbolId, symbol: SymbolId, body: &Body, around: Around) {
        for (position, record) in &body.positions {
            let line = position.signed_line();
            let (fit, what) = match &around {
                Some((fit, what)) => (*fit, Some(what.clone())),
                None => self.known[&symbol].fate(line),
            };
            let count = u128::from(record.count.unwrap_or(0));
            let row = self.rows.entry(owner).or_default();
            row.executions.add(count, fit);
            row.blame(what.as_ref(), count);
            for (&target, &calls) in &record.targets {
                let (fit, what) = match fit {
                    Fit::Yes => self.call(symbol, line, target, false),
                    fit => (fit, None),
                };
                let row = self.rows.entry(owner).or_default();
                row.calls.add(calls.into(), fit);
                row.blame(what.as_ref(), calls.into());
            }
            for (&callee, inner) in &record.inlined {
                let (fit, what) = match fit {
                    Fit::Yes => self.call(symbol, line, callee, true),
                    fit => (fit, what.clone()),
                };
                match what {
                    Some(what) => self.body(owner, callee, inner, Some((fit, what))),
                    // What does not fit is the callee's own matter.
                    None => self.body(callee, callee, inner, None),
                }
            }
        }
    }

    /// Whether a line calls functions that it did not call when the profile was made.
    fn calls_others(&self, symbol: SymbolId, line: i64) -> bool {
        let Known { shape, lines, .. } = &self.known[&symbol];
        let Some(now) = lines.lines.get(&line) else { return false };
        let before = shape.lines.get(&line);
        now.calls.iter().any(|name| before.is_none_or(|before| !before.calls.contains(name)))
    }

    /// Whether a line still calls a function, which `is_inlined` in the profile or is the target of an indirect call.
    fn call(
        &self,
        symbol: SymbolId,
        line: i64,
        callee: SymbolId,
        is_inlined: bool,
    ) -> (Fit, Option<What>) {
        let yes = (Fit::Yes, None);
        let lines = &self.known[&symbol].lines.lines;
        // A line without code may have lost the call, too.
        let Some(now) = lines.get(&line).filter(|_| self.program.knows.calls) else { return yes };
        // A copy may leave nothing where the code around it has its values already.
        if is_inlined && !self.calls_others(symbol, line) {
            return yes;
        }
        let callee = (self.name_of)(callee);
        if now.may_call(&callee) || !now.has_calls() {
            return yes;
        }
        // Inlined code may have become nothing, or a part of other code.
        let known: Vec<&Outlined> = self.program.all_here(&callee, None).collect();
        if !known.is_empty() && !known.iter().any(|known| known.stands_alone) {
            return yes;
        }
        // The function between both may have left no code here.
        let calls_it =
            |known: &Outlined| known.shape.lines.values().any(|line| line.calls.contains(&callee));
        let leads_there = |name: &Vec<u8>| self.program.all_here(name, None).any(calls_it);
        if now.calls.iter().any(leads_there) {
            return yes;
        }
        // Another instance of the template.
        let identifier = (self.identifier)(&callee);
        if now.calls.iter().any(|name| (self.identifier)(name) == identifier) {
            return yes;
        }
        (Fit::No, Some(What::NoCall { line, callee }))
    }

    fn finish(self, profile: &Profile) -> Verdict {
        let mut verdict = Verdict::default();
        for (symbol, row) in self.rows {
            let Row { executions, calls, reasons } = row;
            for (sum, own) in [(&mut verdict.executions, executions), (&mut verdict.calls, calls)] {
                sum.all = sum.all.saturating_add(own.all);
                sum.fit = sum.fit.saturating_add(own.fit);
                sum.open = sum.open.saturating_add(own.open);
            }
            let now = self.known[&symbol].now;
            let old_file = profile.symbols.declared_in(symbol);
            verdict.functions.push(Judged {
                name: profile.symbols.name(symbol).to_vec(),
                file: now.map(|now| now.file.clone()).or_else(|| old_file.map(<[u8]>::to_vec)),
                line: now.map(|now| now.declared),
                executions,
                calls,
                reasons: summed(reasons),
            });
        }
        verdict.sort();
        verdict
    }
}

impl Verdict {
    /// Sorts the functions: the heaviest loss first.
    pub(super) fn sort(&mut self) {
        let key = |judged: &Judged| {
            let Tally { all, fit, .. } = judged.executions;
            let lost = all.saturating_sub(fit);
            (
                core::cmp::Reverse((lost, judged.calls.lost(), all)),
                judged.file.clone(),
                judged.name.clone(),
            )
        };
        self.functions.sort_by_cached_key(key);
    }
}

/// Reasons that are alike become one, with the first line.
fn summed(reasons: BTreeMap<What, u128>) -> Vec<Reason> {
    let mut all: Vec<Reason> = Vec::new();
    for (what, executions) in reasons {
        let alike = |known: &&mut Reason| match (&known.what, &what) {
            (What::Moved { by: known, .. }, What::Moved { by, .. }) => known == by,
            (What::Open { .. }, What::Open { .. }) => true,
            (What::NoLine { .. }, What::NoLine { .. }) => true,
            _ => false,
        };
        match all.iter_mut().find(alike) {
            Some(known) => known.executions = known.executions.saturating_add(executions),
            None => all.push(Reason { what, executions }),
        }
    }
    all.sort_by(|a, b| b.executions.cmp(&a.executions).then_with(|| a.what.cmp(&b.what)));
    all
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;
    use crate::profile::{Position, Record};
    use crate::staleness::outline::Knows;

    /// What a line of `put` has lost if it calls these functions now. In the profile it has an inlined copy of `count`,
    /// which also has code of its own.
    fn lost(now: &[&str], is_target: bool) -> Vec<String> {
        let mut profile = Profile::default();
        let file = profile.symbols.file(b"a.c");
        let [put, count, set] =
            [&b"put"[..], b"count", b"set"].map(|name| profile.symbols.symbol(name, Some(file)));
        let line = |count| Record { count: Some(count), ..Record::default() };
        let body = Body { positions: [(Position::line(1), line(5))].into_iter().collect() };
        let mut call = line(5);
        call.inlined.entry(set).or_insert_with(|| body.clone());
        match is_target {
            true => _ = call.targets.entry(count).or_insert(5),
            false => _ = call.inlined.entry(count).or_insert(body),
        }
        let function = profile.functions.entry(put).or_default();
        function.body.positions.insert(Position::line(1), call);

        let knows = Knows { calls: true, profile_is_whole: true };
        let mut program = Outline::default();
        program.knows = knows;
        for (name, declared) in [("put", 10), ("count", 20), ("set", 30), ("total", 40)] {
            let function = program.function(name.as_bytes(), b"a.c", declared);
            function.stands_alone = true;
            let line = function.shape.line(1);
            line.discriminators.insert(0);
            if name == "put" {
                line.calls.extend(now.iter().map(|name| name.as_bytes().to_vec()));
            }
        }
        let name_of = |name: &[u8]| name.to_vec();
        let comparing = Comparing { name_of, identifier: name_of, files: true };
        let verdict = judge(&profile, &program, &comparing);
        let reasons = verdict.functions.iter().flat_map(|function| &function.reasons);
        reasons.map(|reason| alloc::format!("{:?}", reason.what)).collect()
    }

    /// The compiler had the value that the copy would have read.
    #[test]
    fn an_inlined_copy_may_leave_nothing() {
        assert_eq!(lost(&["set", "count"], false), [""; 0]);
        assert_eq!(lost(&["set"], false), [""; 0]);
    }

    #[test]
    fn a_call_that_another_one_replaces_is_an_edit() {
        for now in [&["set", "total"][..], &["total"]] {
            assert!(lost(now, false)[0].starts_with("NoCall"), "{now:?}");
        }
        assert!(lost(&["set"], true)[0].starts_with("NoCall"), "a call of a pointer leaves a call");
    }
}
