//! What gcc's and binutils' own tools say about a program that ran with libgcov: `gcov-dump` about blocks and
//! counters, `gcov` about lines, `readelf` about the places where functions are declared.
#![allow(dead_code, reason = "every test uses some of it")]

use std::collections::{BTreeMap, BTreeSet};

use countersink::profile::{Body, Position, Profile, SymbolId};

use crate::harness::{Workshop, succeed};

/// A function as gcov-dump prints it.
#[derive(Debug, Default)]
pub struct Function {
    pub name: String,
    pub source: String,
    pub start: u32,
    pub end: u32,
    pub blocks: usize,
    /// From, to, flags.
    arcs: Vec<(usize, usize, u32)>,
    /// Block, file, line.
    pub lines: Vec<(usize, String, u32)>,
    counters: Vec<i64>,
    pub time: u64,
    /// Solved once: executions of each arc and each block.
    arc_counts: Vec<i64>,
    pub block_counts: Vec<i64>,
}

impl Function {
    /// Counts of all arcs: first the counters, then what each block with a single unknown arc tells, until
    /// nothing new comes. A block was executed as often as it was entered.
    fn solve(&mut self) {
        let mut counters = self.counters.iter().copied();
        let counted = |(_, _, flags): &(usize, usize, u32)| flags & 1 == 0;
        let mut counts: Vec<Option<i64>> =
            self.arcs.iter().map(|arc| counted(arc).then(|| counters.next().unwrap())).collect();
        assert_eq!(counters.next(), None);
        let (into, out) = self.sides();
        loop {
            let before = counts.clone();
            for block in 2..self.blocks {
                balance(&into[block], &out[block], &mut counts);
                balance(&out[block], &into[block], &mut counts);
            }
            if counts == before {
                break;
            }
        }
        let arcs: Vec<i64> = counts.into_iter().map(|count| count.expect(&self.name)).collect();
        let sum = |side: &[usize]| side.iter().map(|&arc| arcs[arc]).sum();
        let side = |block: usize| if block == 0 { &out[0] } else { &into[block] };
        self.block_counts = (0..self.blocks).map(|block| sum(side(block))).collect();
        self.arc_counts = arcs;
    }

    /// Indexes of the arcs into and out of each block.
    fn sides(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let (mut into, mut out) = (vec![vec![]; self.blocks], vec![vec![]; self.blocks]);
        for (place, &(from, to, _)) in self.arcs.iter().enumerate() {
            out[from].push(place);
            into[to].push(place);
        }
        (into, out)
    }

    /// Sum of the arcs that leave the entry, with or without the fake ones.
    pub fn entries(&self, with_fake: bool) -> i64 {
        let entered = self.arcs.iter().zip(&self.arc_counts);
        let entered =
            entered.filter(|((from, _, flags), _)| *from == 0 && (with_fake || flags & 2 == 0));
        entered.map(|(_, count)| count).sum()
    }
}

/// If one side of a block is known, and all but one arc of the other, that arc is the difference.
fn balance(known: &[usize], other: &[usize], counts: &mut [Option<i64>]) {
    let Some(sum) = known.iter().map(|&arc| counts[arc]).sum::<Option<i64>>() else { return };
    let unknown: Vec<usize> = other.iter().copied().filter(|&arc| counts[arc].is_none()).collect();
    if let [unknown] = unknown[..] {
        let rest: i64 = other.iter().filter_map(|&arc| counts[arc]).sum();
        counts[unknown] = Some(sum - rest);
    }
}

/// Reads `gcov-dump -l` of the notes and the counters of one object.
pub fn functions(shop: &Workshop, object: &str) -> Vec<Function> {
    let print = |extension: &str| {
        let file = object.replace(".o", extension);
        let printed = succeed(shop.command("gcov-dump").arg("-l").arg(&file));
        // Every line starts with the name of the file.
        let text = String::from_utf8(printed).unwrap();
        text.lines().map(|line| line[file.len() + 1..].trim().to_owned()).collect::<Vec<_>>()
    };
    let ident =
        |line: &str| line.split("ident=").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let mut functions: Vec<(String, Function)> = Vec::new();
    for line in print(".gcno") {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains("FUNCTION ident=") {
            functions.push((ident(&line), head(&line)));
        } else if let Some((_, function)) = functions.last_mut() {
            if line.contains("BLOCKS") {
                function.blocks = words[words.len() - 2].parse().unwrap();
            } else if words[0] == "block" && line.contains('`') {
                read_lines(function, &line);
            } else if words[0] == "block" {
                read_arcs(function, &words);
            }
        }
    }
    let mut kind = String::new();
    let mut current = String::new();
    for line in print(".gcda") {
        if line.contains("FUNCTION ident=") {
            current = ident(&line);
        } else if let Some((_, counters)) = line.split_once("COUNTERS ") {
            kind = counters.split(' ').next().unwrap().to_owned();
        } else if let Some((place, values)) = line.split_once(": ") {
            let mut values = values.split_whitespace().map(|value| value.parse::<i64>().unwrap());
            let function = functions.iter_mut().find(|(ident, _)| *ident == current);
            match (kind.as_str(), function) {
                ("arcs", Some((_, function))) if place.parse::<u32>().is_ok() => {
                    function.counters.extend(values);
                }
                ("time_profiler", Some((_, function))) => {
                    function.time = values.next_back().unwrap_or(0) as u64;
                }
                _ => {}
            }
        }
    }
    functions.iter_mut().for_each(|(_, function)| function.solve());
    functions.into_iter().map(|(_, function)| function).collect()
}

/// Makes a function of ``… `main' a.c:7:5-9:1``.
fn head(line: &str) -> Function {
    let (_, name) = line.split_once('`').unwrap();
    let (name, place) = name.split_once("' ").unwrap();
    let (place, end) = place.rsplit_once('-').unwrap();
    let mut place = place.rsplitn(3, ':');
    let (_column, start) = (place.next(), place.next().unwrap());
    Function {
        name: name.to_owned(),
        source: place.next().unwrap().to_owned(),
        start: start.parse().unwrap(),
        end: end.split(':').next().unwrap().parse().unwrap(),
        ..Function::default()
    }
}

/// Makes arcs of `block 2: 3:0004(fall) 1:0003(tree,fake)`.
fn read_arcs(function: &mut Function, words: &[&str]) {
    let from = words[1].trim_end_matches(':').parse().unwrap();
    for arc in &words[2..] {
        let (to, flags) = arc.split_once(':').unwrap();
        let flags = u32::from_str_radix(&flags[..4], 16).unwrap();
        function.arcs.push((from, to.parse().unwrap(), flags));
    }
}

/// Makes lines of ``block 2:`a.c':7, 9, `b.h':3``.
fn read_lines(function: &mut Function, line: &str) {
    let (block, rest) = line.strip_prefix("block ").unwrap().split_once(':').unwrap();
    let block = block.parse().unwrap();
    let mut file = String::new();
    for item in rest.split(',') {
        let mut number = item.trim();
        if let Some((name, line)) = number.split_once("':") {
            file = name.trim_start_matches('`').to_owned();
            number = line;
        }
        for number in number.split(':').filter(|number| !number.is_empty()) {
            function.lines.push((block, file.clone(), number.trim().parse().unwrap()));
        }
    }
}

/// Executions of lines, by the base name of the source and the line number.
pub type Lines = BTreeMap<(String, u32), u64>;

/// The files of these objects that `gcov` prints in JSON.
fn files_of_gcov(shop: &Workshop, objects: &[String]) -> Vec<serde_json::Value> {
    let printed = succeed(shop.command("gcov").args(["--json-format", "--stdout"]).args(objects));
    let text = String::from_utf8(printed).unwrap();
    let object = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
    text.lines().flat_map(|text| object(text)["files"].as_array().unwrap().clone()).collect()
}

/// What `gcov` says about the lines of these objects, all functions together.
pub fn lines_of_gcov(shop: &Workshop, objects: &[String]) -> Lines {
    let mut lines = Lines::new();
    for file in files_of_gcov(shop, objects) {
        let source = base(file["file"].as_str().unwrap());
        for line in file["lines"].as_array().unwrap() {
            let number = line["line_number"].as_u64().unwrap() as u32;
            let count = line["count"].as_u64().unwrap();
            *lines.entry((source.clone(), number)).or_default() += count;
        }
    }
    lines
}

/// Where functions with counters start, according to `gcov`.
pub fn starts_of_gcov(shop: &Workshop, objects: &[String]) -> Vec<(String, u32)> {
    let mut starts = Vec::new();
    for file in files_of_gcov(shop, objects) {
        for function in file["functions"].as_array().unwrap() {
            let line = function["start_line"].as_u64().unwrap() as u32;
            starts.push((function["name"].as_str().unwrap().to_owned(), line));
        }
    }
    starts
}

/// The executions of lines in a profile for Callgrind, all functions together.
pub fn lines_of_callgrind(text: &[u8]) -> Lines {
    let (mut files, mut lines) = (BTreeMap::new(), Lines::new());
    let (mut file, mut is_call) = (String::new(), false);
    for line in std::str::from_utf8(text).unwrap().lines() {
        let (key, value) = line.split_once('=').unwrap_or_default();
        if ["fl", "fi", "fe", "cfi"].contains(&key) {
            // `(1) path` the first time, then `(1)`.
            let (number, path) = value.split_once(' ').unwrap_or((value, ""));
            let path = files.entry(number).or_insert_with(|| base(path));
            if key != "cfi" {
                file = path.clone();
            }
        }
        let numbers = line.split_once(' ').map(|(line, count)| (line.parse(), count.parse()));
        if let (Some((Ok::<u32, _>(line), Ok::<u64, _>(count))), false) = (numbers, is_call) {
            *lines.entry((file.clone(), line)).or_default() += count;
        }
        // The line behind a call has the executions of the callee.
        is_call = key == "calls";
    }
    lines
}

/// The share of executions that is found line by line, in thousandths. No line counts more than it has.
pub fn share_of(all: &Lines, found: &Lines) -> u64 {
    let of_line = |line: &(String, u32)| found.get(line).copied().unwrap_or(0);
    let both: u64 = all.iter().map(|(line, &count)| count.min(of_line(line))).sum();
    both * 1000 / all.values().sum::<u64>()
}

/// A path without its directory.
pub fn base(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

/// Where functions are declared, by their names: the assembler's if the debug information tells it, and the
/// name in the source. One name may have several places.
pub type Starts = BTreeMap<String, BTreeSet<u32>>;

/// Reads the debug information of a program.
pub fn starts(shop: &Workshop, program: &str) -> Starts {
    let printed = succeed(shop.command("readelf").args(["--debug-dump=info", program]));
    let text = String::from_utf8_lossy(&printed);
    // By offset: names, the line, and the entry that tells the rest.
    let mut entries = BTreeMap::<String, (Vec<String>, Option<u32>, Option<String>)>::new();
    let mut current = None;
    for line in text.lines() {
        let line = line.trim_start();
        if let Some((head, tag)) = line.split_once(": Abbrev Number: ") {
            let offset = head.rsplit('<').next().unwrap().trim_end_matches('>');
            current = tag.contains("(DW_TAG_subprogram)").then(|| offset.to_owned());
            continue;
        }
        let Some(offset) = &current else { continue };
        let Some((name, value)) = line.split_once("DW_AT_") else { continue };
        assert!(name.starts_with('<'), "{line}");
        let Some((name, value)) = value.split_once(':') else { continue };
        let entry = entries.entry(offset.clone()).or_default();
        let value = value.trim();
        match name.trim() {
            "name" | "linkage_name" => {
                // `(indirect string, offset: 0x12): main`
                let name = value.rsplit_once("): ").map_or(value, |(_, name)| name);
                entry.0.push(name.to_owned());
            }
            "decl_line" => entry.1 = Some(number(value)),
            "abstract_origin" | "specification" => {
                let offset = value.trim_start_matches("<0x").trim_end_matches('>');
                entry.2 = Some(offset.to_owned());
            }
            _ => {}
        }
    }
    let mut starts = Starts::new();
    for mut entry in entries.values() {
        let (mut names, mut line) = (vec![], None);
        loop {
            names.extend(&entry.0);
            line = line.or(entry.1);
            let Some(next) = entry.2.as_ref().and_then(|next| entries.get(next)) else { break };
            entry = next;
        }
        for name in names {
            // The common part of a constructor's variants is called variant 4. Profiles call it 2.
            let variant = name.replace("C4E", "C2E").replace("D4E", "D2E");
            starts.entry(variant).or_default().extend(line);
        }
    }
    starts
}

/// A number as `readelf` prints it: large ones are hexadecimal.
fn number(text: &str) -> u32 {
    let hexadecimal = text.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16));
    hexadecimal.unwrap_or_else(|| text.parse()).unwrap()
}

/// A count in a profile.
#[derive(Clone, Debug)]
pub struct Found {
    /// The function whose body holds it, however deep.
    pub tree: SymbolId,
    /// The inlined function whose body holds it; otherwise the same.
    pub symbol: SymbolId,
    pub position: Position,
    pub count: u64,
}

/// All counts of a profile.
pub fn counts(profile: &Profile) -> Vec<Found> {
    fn add(tree: SymbolId, symbol: SymbolId, body: &Body, all: &mut Vec<Found>) {
        for (&position, record) in &body.positions {
            all.extend(record.count.map(|count| Found { tree, symbol, position, count }));
            for (&callee, body) in &record.inlined {
                add(tree, callee, body, all);
            }
        }
    }
    let mut all = Vec::new();
    for (&symbol, function) in &profile.functions {
        add(symbol, symbol, &function.body, &mut all);
    }
    all
}

/// The name of a symbol.
pub fn name(profile: &Profile, symbol: SymbolId) -> String {
    String::from_utf8(profile.symbols.name(symbol).to_vec()).unwrap()
}
