//! What machine code says about a function's blocks: the executions of each position in each early inlined
//! copy.
//!
//! A compiler inlines twice: early, before it lays the counters out, and late. The counters of the function
//! around count what came early; what came late brings its own. So within another function's code, each late
//! copy is code of its own function and shows the same blocks. All such copies are treated alike, each by its
//! own counters (`executions`).
//!
//! | a copy came | if |
//! |---|---|
//! | early | its function has no counters, or the notes of the function around it have most of its lines |
//! | late | otherwise, and whenever its blocks increment counters of its function |

mod adjacency;
mod executions;

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use self::adjacency::Adjacency;
use self::executions::{Node, Part, executions};
use super::counted::Counted;
use super::listing::{self, Listing, Piece, Tables};
use super::source::Study;
use super::starts::{Start, Starts};
use crate::profile::{FileId, Position, SymbolId, Symbols};

/// What machine code tells about one function.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Copies that were inlined early, each behind the copy it is inlined in. The first one stands for the
    /// function itself.
    pub chains: Vec<Chain>,
    /// Pieces of the source that were found.
    pub votes: Vec<Vote>,
    /// The places of the calls of its sites.
    pub sites: Vec<(u32, Spot)>,
    /// The functions that it calls, and the places of the calls.
    pub calls: Vec<(Callee, Spot)>,
}

impl Evidence {
    /// The same, with votes sorted by file, line and then copy.
    pub fn sorted(mut self) -> Self {
        self.votes.sort_unstable_by_key(|Vote { spot, .. }| {
            (spot.file, spot.line, spot.chain, spot.discriminator)
        });
        self
    }
}

/// A function that another one calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Callee {
    /// By its index.
    Function(u32),
    /// By the address of its code, see [`Findings::addresses`].
    Address(u64),
}

/// What listings say about all functions of a module.
#[derive(Debug, Default)]
pub struct Findings {
    /// For each function, by its index.
    pub evidence: Vec<Evidence>,
    /// Functions by the addresses of their code.
    pub addresses: HashMap<u64, u32>,
}

/// A copy of a function, inlined early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chain {
    /// The copy it is inlined in; 0 for the function itself.
    pub caller: u32,
    /// Where the caller calls it.
    pub call: Position,
    /// The function.
    pub symbol: SymbolId,
    /// Line of its declaration.
    pub start: u32,
    /// The file of its declaration.
    pub file: FileId,
}

/// A piece of the source: in a copy, at a line, with a discriminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// Index of the copy in [`Evidence::chains`].
    pub chain: u32,
    /// The file.
    pub file: FileId,
    /// The line.
    pub line: u32,
    /// The discriminator.
    pub discriminator: u16,
}

/// How often machine code of a piece of the source was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote {
    /// The piece.
    pub spot: Spot,
    /// Executions, if they are known.
    pub count: Option<i64>,
    /// Executions of the block before, if a mark may stand at that block's end.
    pub before: Option<i64>,
    /// Number of instructions that say so.
    pub instructions: u32,
    /// Whether it is the sum of several blocks. The compiler may have made copies of one block: of a loop's
    /// condition, for instance, one copy stands before the loop.
    pub is_sum: bool,
}

/// Adds votes for sums: of those blocks of a copy that have instructions of one piece of the source.
fn add_sums(votes: &mut Vec<Vote>) {
    votes.sort_by_key(|vote| vote.spot);
    let mut sums = Vec::new();
    for votes in votes.chunk_by(|a, b| a.spot == b.spot) {
        let mut blocks = votes.iter().filter(|vote| vote.instructions > 0);
        let (Some(first), Some(_)) = (blocks.clone().next(), blocks.clone().nth(1)) else {
            continue;
        };
        let sum = blocks.try_fold(0i64, |sum, vote| Some(sum.wrapping_add(vote.count?)));
        let instructions = votes.iter().map(|vote| vote.instructions).sum();
        sums.extend(sum.map(|sum| Vote { count: Some(sum), instructions, is_sum: true, ..*first }));
    }
    votes.append(&mut sums);
}

/// The functions of a module that have counters, as machine code looks for them.
pub struct Suspects<'s, 'n> {
    functions: &'s [Counted<'n>],
    files: HashMap<Vec<u8>, FileId>,
    by_place: HashMap<(FileId, u32), Vec<u32>>,
}

/// The functions and files of a unit, as the profile knows them.
pub struct Unit {
    files: Vec<Option<FileId>>,
    /// For each function: those functions of the module that may have its counters.
    functions: Vec<Vec<u32>>,
    /// For each function: the file that declares it.
    file_of: Vec<u32>,
}

/// A piece of the source in a copy of a finding.
#[derive(Clone, Copy)]
struct Seen {
    chain: u32,
    piece: Piece,
}

/// A vote in terms of a finding.
struct Ballot {
    seen: Seen,
    count: Option<i64>,
    before: Option<i64>,
}

/// What a listing says about one function.
pub struct Finding {
    /// Index of the function.
    function: u32,
    /// Copies inlined early. Each has the index of its caller in this list, its copy in the listing, and its
    /// symbol in the notes, if only one can be it. The first copy stands for the function itself.
    chains: Vec<(u32, listing::Copy, Option<SymbolId>)>,
    /// The chains of these votes are those of this finding.
    votes: Vec<Ballot>,
    sites: Vec<(u32, Seen)>,
    calls: Vec<(Callee, Seen)>,
    /// Where its code is, if it is not inlined.
    address: Option<u64>,
}

impl<'s, 'n> Suspects<'s, 'n> {
    /// Looks for these functions.
    pub fn new(functions: &'s [Counted<'n>], symbols: &Symbols) -> Self {
        let mut by_place = HashMap::<_, Vec<u32>>::new();
        let mut files = HashMap::new();
        for (place, function) in functions.iter().enumerate() {
            let at = (function.file, function.start());
            by_place.entry(at).or_default().push(place as u32);
            for &file in &function.known.files {
                files.entry_ref(symbols.path(file)).or_insert(file);
            }
        }
        Self { functions, files, by_place }
    }
}

impl Study for Suspects<'_, '_> {
    type Unit = Unit;
    type Finding = Vec<Finding>;

    fn unit(&self, tables: &Tables) -> Unit {
        let files: Vec<_> =
            tables.files.iter().map(|path| self.files.get(&**path).copied()).collect();
        let of = |declared: &listing::Declared| {
            let Some(file) = files[declared.file as usize] else { return Vec::new() };
            let there = self.by_place.get(&(file, declared.line));
            let is_it = |&&place: &&u32| {
                let name = self.functions[place as usize].name();
                match declared.is_assembler_name {
                    true => name == &*declared.name,
                    false => may_be_called(name, &declared.name),
                }
            };
            there.into_iter().flatten().filter(is_it).copied().collect()
        };
        let functions = tables.functions.iter().map(of).collect();
        let file_of = tables.functions.iter().map(|declared| declared.file).collect();
        Unit { files, functions, file_of }
    }

    fn listing(&self, unit: &Unit, listing: &Listing) -> Vec<Finding> {
        Look { suspects: self, unit, listing }.findings()
    }
}

/// Whether the source may call a function with this assembler name so.
fn may_be_called(assembler: &[u8], source: &[u8]) -> bool {
    if assembler == source {
        return true;
    }
    let template = source.iter().position(|&byte| byte == b'<').unwrap_or(source.len());
    let name = source[..template].strip_prefix(b"~").unwrap_or(&source[..template]);
    let is_mangled = assembler.starts_with(b"_Z");
    is_mangled
        && (name.starts_with(b"operator")
            || name.is_empty()
            || assembler.windows(name.len()).any(|part| part == name))
}

/// A listing under study.
struct Look<'l, 's, 'n> {
    suspects: &'l Suspects<'s, 'n>,
    unit: &'l Unit,
    listing: &'l Listing,
}

/// The copy of a function that brought its own counters.
struct Late {
    /// Its index in the listing.
    copy: u32,
    /// The function.
    function: u32,
    /// Index of the late copy that it is inlined in; `NOBODY` for the listing's own function.
    around: u32,
}

/// The blocks of each copy.
struct Members {
    /// For each late copy: its blocks, sorted.
    of_late: Vec<Vec<u32>>,
    /// For each block: the copies that have it.
    of_block: Vec<Vec<u32>>,
    /// For each block: the ways out of it, and into it.
    out: Adjacency<u32>,
    into: Adjacency<u32>,
}

const NOBODY: u32 = u32::MAX;

impl Look<'_, '_, '_> {
    fn findings(&self) -> Vec<Finding> {
        let (late, owner) = self.owners();
        let members = self.members(&late, &owner);
        let mut findings = Vec::new();
        for place in 0..late.len() as u32 {
            findings.push(self.finding(place, &late, &owner, &members));
        }
        findings
    }

    /// The copies that brought counters. Also, for each copy of the listing, the index of the one that owns
    /// its code.
    fn owners(&self) -> (Vec<Late>, Vec<u32>) {
        let listing = self.listing;
        let by_copy = sorted_by_copy(&listing.pieces);
        let mut incremented: Vec<(u32, u32)> =
            listing.increments.iter().map(|found| (found.block, found.function)).collect();
        incremented.sort_unstable();
        let mut late: Vec<Late> = Vec::new();
        let mut owner = vec![NOBODY; listing.copies.len()];
        for (number, copy) in listing.copies.iter().enumerate() {
            let number = number as u32;
            let around = if number == 0 { NOBODY } else { owner[copy.caller as usize] };
            let enclosing = late.get(around as usize).map(|late| late.function);
            let candidates = &self.unit.functions[copy.function as usize];
            let pieces = pieces_of(&by_copy, number);
            let counts = || {
                let blocks = pieces.iter().map(|piece| piece.block);
                let of_blocks = blocks.flat_map(|block| {
                    let first = incremented.partition_point(|&(of, _)| of < block);
                    incremented[first..].iter().take_while(move |&&(of, _)| of == block)
                });
                let mut functions = of_blocks.map(|&(_, function)| function);
                functions.find(|function| candidates.contains(function))
            };
            let function = match (candidates.first(), number) {
                (None, _) => None,
                (Some(&first), 0) => counts().or(Some(first)),
                (Some(&first), _) => {
                    let own = counts().filter(|&function| Some(function) != enclosing);
                    own.or_else(|| (!self.is_noted(enclosing, pieces)).then_some(first))
                }
            };
            owner[number as usize] = match function {
                Some(function) => {
                    late.push(Late { copy: number, function, around });
                    late.len() as u32 - 1
                }
                None => around,
            };
        }
        (late, owner)
    }

    /// Whether the notes of a function have the lines of most of these pieces.
    fn is_noted(&self, function: Option<u32>, pieces: &[Piece]) -> bool {
        let Some(function) = function else { return false };
        let function = &self.suspects.functions[function as usize];
        let is_noted = |piece: &&Piece| {
            let file = self.unit.files[piece.file as usize];
            file.is_some_and(|file| function.has(file, piece.line))
        };
        2 * pieces.iter().filter(is_noted).count() >= pieces.len()
    }

    /// The blocks of each late copy, sorted.
    fn members(&self, late: &[Late], owner: &[u32]) -> Members {
        let listing = self.listing;
        let mut members = vec![Vec::new(); late.len()];
        let mut of_block: Vec<Vec<u32>> = vec![Vec::new(); listing.blocks.len()];
        let mut add = |of_block: &mut Vec<Vec<u32>>, block: u32, late: u32| {
            if late != NOBODY && !of_block[block as usize].contains(&late) {
                of_block[block as usize].push(late);
                members[late as usize].push(block);
            }
        };
        for piece in &listing.pieces {
            add(&mut of_block, piece.block, owner[piece.copy as usize]);
        }
        let by_function: HashMap<u32, u32> = {
            let all = late.iter().enumerate().map(|(place, late)| (late.function, place as u32));
            let mut seen = HashSet::new();
            let mut twice = HashSet::new();
            all.clone().for_each(|(function, _)| {
                if !seen.insert(function) {
                    twice.insert(function);
                }
            });
            all.filter(|(function, _)| !twice.contains(function)).collect()
        };
        for increment in &listing.increments {
            let around = owner[increment.copy as usize];
            let is_its = |late: &&Late| late.function == increment.function;
            if late.get(around as usize).filter(is_its).is_some() {
                add(&mut of_block, increment.block, around);
            } else if let Some(&only) = by_function.get(&increment.function) {
                add(&mut of_block, increment.block, only);
            }
        }
        // Code that only leads on belongs to whatever is around it.
        for _ in 0..2 {
            for &(from, to) in &listing.edges {
                for (block, neighbour) in [(from, to), (to, from)] {
                    if listing.blocks[block as usize].inherits {
                        for late in of_block[neighbour as usize].clone() {
                            add(&mut of_block, block, late);
                        }
                    }
                }
            }
        }
        members.iter_mut().for_each(|blocks| blocks.sort_unstable());
        let edges = listing.edges.iter().copied();
        let out = Adjacency::new(of_block.len(), edges.clone());
        let into = Adjacency::new(of_block.len(), edges.map(|(from, to)| (to, from)));
        Members { of_late: members, of_block, out, into }
    }

    fn finding(&self, place: u32, all: &[Late], owner: &[u32], members: &Members) -> Finding {
        let listing = self.listing;
        let late = &all[place as usize];
        let function = &self.suspects.functions[late.function as usize];
        let counts = self.counts(place, all, members);
        let blocks = &members.of_late[place as usize];
        let count = |block: u32| counts[blocks.binary_search(&block).ok()?];
        // The copies inlined early, and the index of each of the listing's copies among them.
        let symbol = |copy: &listing::Copy| {
            let candidates = &self.unit.functions[copy.function as usize];
            let mut symbols =
                candidates.iter().map(|&place| self.suspects.functions[place as usize].symbol);
            let first = symbols.next()?;
            symbols.all(|other| other == first).then_some(first)
        };
        let mut chains = vec![(0, listing.copies[late.copy as usize], Some(function.symbol))];
        let mut chain_of: HashMap<u32, u32> = [(late.copy, 0)].into_iter().collect();
        for (number, copy) in listing.copies.iter().enumerate().skip(late.copy as usize + 1) {
            if owner[number] == place
                && let Some(&caller) = chain_of.get(&copy.caller)
            {
                chain_of.insert(number as u32, chains.len() as u32);
                chains.push((caller, *copy, symbol(copy)));
            }
        }
        let seen = |piece: &Piece| {
            let chain = *chain_of.get(&piece.copy)?;
            Some(Seen { chain, piece: *piece })
        };
        let vote = |piece: &Piece| {
            let (count, before) = (count(piece.block), piece.before.and_then(count));
            Some(Ballot { seen: seen(piece)?, count, before })
        };
        let votes = listing.pieces.iter().filter_map(vote).collect();
        let (mut sites, mut calls) = (Vec::new(), Vec::new());
        for call in &listing.calls {
            let Some(seen) = seen(&call.piece) else { continue };
            match call.callee {
                listing::Callee::Site(function, site) if function == late.function => {
                    sites.push((site, seen));
                }
                listing::Callee::Address(address) => calls.push((Callee::Address(address), seen)),
                listing::Callee::Site(..) => {}
            }
        }
        for inner in all.iter().filter(|inner| inner.around == place) {
            let copy = &listing.copies[inner.copy as usize];
            let Some(&chain) = chain_of.get(&copy.caller) else { continue };
            let caller = &listing.copies[copy.caller as usize];
            let file = self.unit.file_of[caller.function as usize];
            let listing::Copy { line, discriminator, .. } = *copy;
            let piece = Piece {
                block: 0,
                copy: copy.caller,
                file,
                line,
                discriminator,
                instructions: 0,
                before: None,
            };
            calls.push((Callee::Function(inner.function), Seen { chain, piece }));
        }
        let address = (late.copy == 0).then_some(listing.address);
        Finding { function: late.function, chains, votes, sites, calls, address }
    }

    /// The executions of a late copy's blocks, in the order of the blocks.
    ///
    /// Other late copies that are inlined there have counters of their own. The inside of such a copy is one
    /// block here, and control leaves it as often as it enters.
    fn counts(&self, place: u32, all: &[Late], members: &Members) -> Vec<Option<i64>> {
        let listing = self.listing;
        let blocks = &members.of_late[place as usize];
        let node = |block: u32| {
            let block = &listing.blocks[block as usize];
            Node { more_into: block.more_into, more_out: block.more_out }
        };
        let mut part =
            Part { blocks: blocks.iter().map(|&b| node(b)).collect(), ..Part::default() };
        let mut nodes: HashMap<u32, u32> = blocks.iter().copied().zip(0..).collect();
        let is_inside = |block: u32| {
            let owners = &members.of_block[block as usize];
            !owners.is_empty() && owners.iter().all(|&owner| is_inlined_in(owner, place, all))
        };
        let mut open = Vec::new();
        for &first in blocks.iter().flat_map(|&block| members.out.of(block)) {
            if nodes.contains_key(&first) || !is_inside(first) {
                continue;
            }
            let number = part.blocks.len() as u32;
            part.blocks.push(Node::default());
            nodes.insert(first, number);
            open.push(first);
            while let Some(block) = open.pop() {
                let Node { more_into, more_out } = node(block);
                part.blocks[number as usize].more_into |= more_into;
                part.blocks[number as usize].more_out |= more_out;
                let neighbours = members.out.of(block).iter().chain(members.into.of(block));
                for &next in neighbours {
                    if !nodes.contains_key(&next) && is_inside(next) {
                        nodes.insert(next, number);
                        open.push(next);
                    }
                }
            }
        }
        for (&block, &from) in &nodes {
            for to in members.out.of(block) {
                match nodes.get(to) {
                    Some(&to) if from != to || (from as usize) < blocks.len() => {
                        part.edges.push((from, to))
                    }
                    Some(_) => {}
                    None => part.blocks[from as usize].more_out = true,
                }
            }
            if members.into.of(block).iter().any(|from| !nodes.contains_key(from)) {
                part.blocks[from as usize].more_into = true;
            }
        }
        part.edges.sort_unstable();
        let function = all[place as usize].function;
        let of_it = listing.increments.iter().filter(|found| found.function == function);
        let at = |block: u32| blocks.binary_search(&block).ok().map(|place| place as u32);
        for found in of_it {
            let Some(block) = at(found.block) else { continue };
            let list = if found.is_in_place { &mut part.increments } else { &mut part.doubtful };
            list.push((block, found.counter));
        }
        part.increments.sort_unstable();
        let mut counts = executions(&part, &self.suspects.functions[function as usize].counters);
        counts.truncate(blocks.len());
        counts
    }
}

/// Whether a late copy is inlined in another one, however deep.
fn is_inlined_in(mut copy: u32, outer: u32, all: &[Late]) -> bool {
    while let Some(late) = all.get(copy as usize) {
        copy = late.around;
        if copy == outer {
            return true;
        }
    }
    false
}

fn sorted_by_copy(pieces: &[Piece]) -> Vec<Piece> {
    let mut sorted = pieces.to_vec();
    sorted.sort_by_key(|piece| (piece.copy, piece.block));
    sorted
}

fn pieces_of(sorted: &[Piece], copy: u32) -> &[Piece] {
    let first = sorted.partition_point(|piece| piece.copy < copy);
    let behind = sorted.partition_point(|piece| piece.copy <= copy);
    &sorted[first..behind]
}

/// Adds what the listings of a unit say to what is known about each function.
pub fn take(
    tables: &Tables,
    findings: Vec<Vec<Finding>>,
    symbols: &mut Symbols,
    gathered: &mut Findings,
    starts: &mut Starts,
) {
    let mut known: Vec<Option<(SymbolId, FileId)>> = vec![None; tables.functions.len()];
    let mut files: Vec<Option<FileId>> = vec![None; tables.files.len()];
    for declared in &tables.mentioned {
        let file = *files[declared.file as usize]
            .get_or_insert_with(|| symbols.file(&tables.files[declared.file as usize]));
        let symbol = symbols.symbol(&declared.name, Some(file));
        starts.add(file, Start { line: declared.line, symbol, end: None, is_outer: true });
    }
    for finding in findings.into_iter().flatten() {
        if let Some(address) = finding.address {
            gathered.addresses.insert(address, finding.function);
        }
        let of = &mut gathered.evidence[finding.function as usize];
        let mut places = Vec::with_capacity(finding.chains.len());
        let inlined = of.chains.iter().copied().zip(0u32..).skip(1);
        let mut known_chains: HashMap<Chain, u32> = inlined.collect();
        for (number, (caller, copy, noted)) in finding.chains.iter().enumerate() {
            let declared = &tables.functions[copy.function as usize];
            let (symbol, file) = *known[copy.function as usize].get_or_insert_with(|| {
                let file = symbols.file(&tables.files[declared.file as usize]);
                let symbol = noted.unwrap_or_else(|| symbols.symbol(&declared.name, Some(file)));
                starts.add(file, Start { line: declared.line, symbol, end: None, is_outer: false });
                (symbol, file)
            });
            let symbol = noted.unwrap_or(symbol);
            if number == 0 {
                if of.chains.is_empty() {
                    let (call, start) = (Position::default(), declared.line);
                    of.chains.push(Chain { caller: 0, call, symbol, start, file });
                }
                places.push(0);
                continue;
            }
            let caller = places[*caller as usize];
            let start = of.chains[caller as usize].start;
            let line = copy.line.wrapping_sub(start) & 0xffff;
            let call = Position { line, discriminator: copy.discriminator };
            let chain = Chain { caller, call, symbol, start: declared.line, file };
            places.push(*known_chains.entry(chain).or_insert_with(|| {
                of.chains.push(chain);
                of.chains.len() as u32 - 1
            }));
        }
        let mut placed = |Seen { chain, piece }: Seen| {
            let file = *files[piece.file as usize]
                .get_or_insert_with(|| symbols.file(&tables.files[piece.file as usize]));
            let Piece { line, discriminator, .. } = piece;
            Spot { chain: places[chain as usize], file, line, discriminator }
        };
        let vote = |Ballot { seen, count, before }: Ballot| {
            let instructions = seen.piece.instructions;
            Vote { spot: placed(seen), count, before, instructions, is_sum: false }
        };
        let mut votes: Vec<Vote> = finding.votes.into_iter().map(vote).collect();
        add_sums(&mut votes);
        of.votes.append(&mut votes);
        of.sites.extend(finding.sites.into_iter().map(|(site, spot)| (site, placed(spot))));
        of.calls.extend(finding.calls.into_iter().map(|(callee, spot)| (callee, placed(spot))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_source_and_for_the_assembler() {
        let may =
            |assembler: &str, source: &str| may_be_called(assembler.as_bytes(), source.as_bytes());
        assert!(may("main", "main") && !may("main2", "main"));
        assert!(may("_ZN5ShapeD2Ev", "~Shape") && !may("_ZN5ShapeD2Ev", "~Other"));
        assert!(may("_Z6largerIiET_S0_S0_", "larger<int>"));
        assert!(may("_ZZ4mainENKUlT_E_clIiEEDaS_", "operator()<int>"));
    }

    /// The sum of a condition's copies is one more vote. Marks and single blocks get no sum.
    #[test]
    fn sums_of_copies() {
        let file = Symbols::default().file(b"a.c");
        let spot = |line| Spot { chain: 0, file, line, discriminator: 0 };
        let vote = |line, count, instructions| Vote {
            spot: spot(line),
            count: Some(count),
            before: None,
            instructions,
            is_sum: false,
        };
        let mut votes =
            vec![vote(1, 1, 2), vote(2, 5, 1), vote(1, 10, 2), vote(3, 4, 1), vote(3, 8, 0)];
        add_sums(&mut votes);
        let sums: Vec<&Vote> = votes.iter().filter(|vote| vote.is_sum).collect();
        assert_eq!(sums, [&Vote { is_sum: true, ..vote(1, 11, 4) }]);
    }
}
