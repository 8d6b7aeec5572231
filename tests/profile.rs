//! The profiles of Lua and SQLite against what gcc's own tools say of the same runs.
//!
//! The reference is made here from what `gcov-dump` prints of gcc's notes and of the `.gcda` files
//! that libgcov wrote, by the plainest possible means, and is itself checked against `gcov`'s JSON.

mod harness;
mod programs;

use std::collections::{BTreeMap, BTreeSet};

use countersink::formats::afdo_v4::decode::decode;
use countersink::formats::afdo_v4_text;
use countersink::formats::gcno::Notes;
use countersink::profile::{Body, Profile, SymbolId};
use harness::{Workshop, have, succeed};
use programs::{Built, FIXED_ADDRESSES, compile_lua, lua, sqlite};

/// A function as gcov-dump prints it.
#[derive(Debug, Default)]
struct Function {
    name: String,
    source: String,
    start: u32,
    end: u32,
    blocks: usize,
    /// From, to, flags.
    arcs: Vec<(usize, usize, u32)>,
    /// Block, file, line.
    lines: Vec<(usize, String, u32)>,
    counters: Vec<i64>,
    time: u64,
    /// Solved once: executions of each arc and each block.
    arc_counts: Vec<i64>,
    block_counts: Vec<i64>,
}

impl Function {
    /// Counts of all arcs: the counters first, then what every block with one unknown arc tells,
    /// until nothing new comes. A block was executed as often as it was entered.
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

    /// Places of the arcs into and out of each block.
    fn sides(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let (mut into, mut out) = (vec![vec![]; self.blocks], vec![vec![]; self.blocks]);
        for (place, &(from, to, _)) in self.arcs.iter().enumerate() {
            out[from].push(place);
            into[to].push(place);
        }
        (into, out)
    }

    /// Sum of the arcs that leave the entry, with or without the fake ones.
    fn entries(&self, with_fake: bool) -> i64 {
        let entered = self.arcs.iter().zip(&self.arc_counts);
        let entered =
            entered.filter(|((from, _, flags), _)| *from == 0 && (with_fake || flags & 2 == 0));
        entered.map(|(_, count)| count).sum()
    }
}

/// If one side of a block is known, and all but one of the other, the one is the difference.
fn balance(known: &[usize], other: &[usize], counts: &mut [Option<i64>]) {
    let Some(sum) = known.iter().map(|&arc| counts[arc]).sum::<Option<i64>>() else { return };
    let unknown: Vec<usize> = other.iter().copied().filter(|&arc| counts[arc].is_none()).collect();
    if let [unknown] = unknown[..] {
        let rest: i64 = other.iter().filter_map(|&arc| counts[arc]).sum();
        counts[unknown] = Some(sum - rest);
    }
}

/// Reads `gcov-dump -l` of the notes and the counters of one object.
fn functions(shop: &Workshop, object: &str) -> Vec<Function> {
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

/// From ``… `main' a.c:7:5-9:1`` a function.
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

/// From `block 2: 3:0004(fall) 1:0003(tree,fake)` arcs.
fn read_arcs(function: &mut Function, words: &[&str]) {
    let from = words[1].trim_end_matches(':').parse().unwrap();
    for arc in &words[2..] {
        let (to, flags) = arc.split_once(':').unwrap();
        let flags = u32::from_str_radix(&flags[..4], 16).unwrap();
        function.arcs.push((from, to.parse().unwrap(), flags));
    }
}

/// From ``block 2:`a.c':7, 9, `b.h':3`` lines.
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

/// What the profile should say of a function: entries, time, counts by line offset.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    entries: u64,
    time: u64,
    lines: BTreeMap<u32, u64>,
}

/// By file and name.
type Functions = BTreeMap<(String, String), Expected>;

/// The functions around every line.
type Around<'f> = BTreeMap<(&'f str, u32), Vec<&'f Function>>;

/// The rules of the conversion, applied line by line.
fn reference(all: &[Function]) -> Functions {
    let mut around = Around::new();
    for function in all {
        for line in function.start..=function.end {
            around.entry((&function.source, line)).or_default().push(function);
        }
    }
    let mut expected = Functions::new();
    for function in all {
        let entry = expected.entry((function.source.clone(), function.name.clone())).or_default();
        entry.entries += function.entries(false) as u64;
        if entry.time == 0 || (function.time != 0 && function.time < entry.time) {
            entry.time = function.time;
        }
        let blocks = &function.block_counts;
        let mut largest = BTreeMap::<(&str, u32), i64>::new();
        for (block, file, line) in &function.lines {
            let count = largest.entry((file, *line)).or_default();
            *count = blocks[*block].max(*count);
        }
        for ((file, line), count) in largest {
            if let Some(owner) = owner(&around, function, file, line) {
                let key = (owner.source.clone(), owner.name.clone());
                let lines = &mut expected.entry(key).or_default().lines;
                *lines.entry(line - owner.start).or_default() += count as u64;
            }
        }
    }
    expected
}

/// The function with the fewest lines around a line: the one it was found in among equals, the only
/// one otherwise.
fn owner<'f>(
    around: &Around<'f>,
    own: &Function,
    file: &'f str,
    line: u32,
) -> Option<&'f Function> {
    let around = around.get(&(file, line))?;
    let fewest = around.iter().map(|f| f.end - f.start).min()?;
    let innermost = || around.iter().copied().filter(|f| f.end - f.start == fewest);
    let is_own = |f: &&Function| f.name == own.name && f.source == own.source;
    let names: BTreeSet<&str> = innermost().map(|f| f.name.as_str()).collect();
    let only = innermost().next().filter(|_| names.len() == 1);
    innermost().find(is_own).or(only)
}

/// What `gcov --json-format` says of the same files agrees with the reference.
fn check_against_gcov(shop: &Workshop, built: &Built, all: &[Function]) {
    let mut gcov = shop.command("gcov");
    let printed = succeed(gcov.args(["--json-format", "--stdout"]).args(&built.objects));
    let mut blocks = BTreeMap::<(&str, u32), Vec<i64>>::new();
    for function in all {
        for (block, file, line) in &function.lines {
            blocks.entry((file, *line)).or_default().push(function.block_counts[*block]);
        }
    }
    let mut checked = (0, 0);
    for object in String::from_utf8(printed).unwrap().lines() {
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        for file in object["files"].as_array().unwrap() {
            let source = file["file"].as_str().unwrap();
            for found in file["functions"].as_array().unwrap() {
                let named = |f: &&Function| found["name"] == f.name && f.source == source;
                let function = all.iter().find(named).unwrap();
                // gcov counts the fake entries, too.
                assert_eq!(found["execution_count"], function.entries(true), "{}", function.name);
                // It leaves out the entry and the last block, where the exit was in old releases.
                let blocks = &function.block_counts;
                let executed = blocks[1..blocks.len() - 1].iter().filter(|&&n| n > 0).count();
                assert_eq!(found["blocks_executed"], executed, "{}", function.name);
                checked.0 += 1;
            }
            for line in file["lines"].as_array().unwrap() {
                // A line that only one block has was executed as often as the block.
                let number = line["line_number"].as_u64().unwrap() as u32;
                if let Some([count]) = blocks.get(&(source, number)).map(Vec::as_slice) {
                    assert_eq!(line["count"], *count, "{source}:{number}");
                    checked.1 += 1;
                }
            }
        }
    }
    assert!(checked.0 > 500 && checked.1 > 1000, "{checked:?}");
}

fn check_profile(profile: &Profile, expected: &Functions) {
    let mut found = Functions::new();
    for (&symbol, function) in &profile.functions {
        let name = String::from_utf8(profile.symbols.name(symbol).to_vec()).unwrap();
        let path =
            String::from_utf8(profile.symbols.declared_in(symbol).unwrap().to_vec()).unwrap();
        let source = path.rsplit('/').next().unwrap().to_owned();
        let lines = function.body.positions.iter();
        // Discriminators come with calls found in the machine code.
        let lines = lines.filter(|(at, _)| at.discriminator == 0);
        let lines = lines.filter_map(|(at, record)| Some((at.line, record.count?)));
        let entry = Expected {
            entries: function.head_count,
            time: function.timestamp,
            lines: lines.collect(),
        };
        found.insert((source, name), entry);
    }
    for (key, expected) in expected {
        assert_eq!(found[key], *expected, "{key:?}");
    }
    // The others exist only inlined.
    let others = found.iter().filter(|(key, _)| !expected.contains_key(*key));
    others.for_each(|(key, function)| assert_eq!(function.entries, 0, "{key:?}"));
    check_summary(profile);
}

/// The summary by sorting all counts one by one.
fn check_summary(profile: &Profile) {
    let positions = profile.functions.values().flat_map(|f| f.body.positions.values());
    let mut counts: Vec<u64> = positions.filter_map(|record| record.count).collect();
    counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    let summary = profile.summary();
    assert_eq!(summary.total_count, counts.iter().sum::<u64>());
    assert_eq!(summary.max_count, counts[0]);
    assert_eq!(summary.counts, counts.len() as u64);
    assert_eq!(summary.functions, profile.functions.len() as u64);
    let entries = profile.functions.values().map(|function| function.head_count);
    assert_eq!(summary.max_function_count, entries.max().unwrap());
    for cutoff in &summary.cutoffs {
        let wanted = u128::from(summary.total_count) * u128::from(cutoff.share) / 1_000_000;
        let mut sum = 0;
        let needed = counts.iter().position(|&count| {
            sum += u128::from(count);
            sum >= wanted
        });
        let least = counts[needed.unwrap()];
        let at_least = counts.iter().filter(|&&count| count >= least).count();
        assert_eq!((cutoff.min_count, cutoff.counts), (least, at_least as u64), "{cutoff:?}");
    }
}

fn profile_is_what_gcov_says(build: impl Fn(&Workshop) -> Option<Built>) {
    if !have("gcov") || !have("gcov-dump") {
        return;
    }
    let shop = Workshop::new();
    let Some(built) = build(&shop) else { return };
    shop.program("fixed_memory.c");
    shop.gcc(&["-O2", "-fno-builtin", "-c", "fixed_memory.c"]);
    let objects = built.objects.iter().map(String::as_str).chain(["fixed_memory.o"]);
    let objects: Vec<&str> = objects.collect();
    let flags = [&FIXED_ADDRESSES[..], &["-lm"]].concat();
    shop.link_stock(&objects, "stock", &flags);
    shop.link(&objects, "ours", &flags);
    let stock = shop.run("stock", &built.arguments());
    assert_eq!(shop.run("ours", &built.arguments()), stock);

    let all: Vec<Function> = built
        .objects
        .iter()
        .filter(|object| shop.path(object.replace(".o", ".gcda")).exists())
        .flat_map(|object| functions(&shop, object))
        .collect();
    check_against_gcov(&shop, &built, &all);
    let expected = reference(&all);

    for (format, extension) in [("v4", "gcov"), ("v4-compact", "gcovc")] {
        let file = format!("profile.{extension}");
        shop.tool_output(&["convert", "ours.csraw", "--to", format, "-o", &file]);
        let decoded = decode(&shop.read(&file)).unwrap();
        assert!(decoded.findings.is_empty());
        assert_eq!(decoded.summary, decoded.profile.summary());
        check_profile(&decoded.profile, &expected);
    }
    let text = shop.tool_output(&["convert", "ours.csraw", "--to", "v4-text"]);
    check_profile(&afdo_v4_text::decode::decode(&text).unwrap().profile, &expected);
}

#[test]
fn lua_profile() {
    profile_is_what_gcov_says(lua);
}

#[test]
fn sqlite_profile() {
    profile_is_what_gcov_says(sqlite);
}

/// Counts that a process took with it cost a function no more than they weigh.
#[test]
fn a_function_that_processes_leave_in_the_middle() {
    let shop = Workshop::new();
    shop.program("left.c");
    let object = shop.compile("left.c", &[]);
    shop.link(&[&object], "ours", &[]);
    for argument in ["", "x", "x", "e"] {
        shop.run("ours", &[argument]);
    }
    let output = shop.tool(&["convert", "ours.csraw", "-o", "x.gcov"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("; 1 functions left in the middle"), "{told}");
    let profile =
        countersink::formats::afdo_v4::decode::decode(&shop.read("x.gcov")).unwrap().profile;
    let main = profile.functions.iter().find(|(id, _)| profile.symbols.name(**id) == b"main");
    assert_eq!(main.unwrap().1.head_count, 4);
}

/// Executions of the lines of every function, by file and name.
type Lines = BTreeMap<(String, String), BTreeMap<u32, u64>>;

/// The counts of a profile, those of bodies inlined in others with their functions.
fn flattened(profile: &Profile) -> Lines {
    fn add(profile: &Profile, symbol: SymbolId, body: &Body, lines: &mut Lines) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let path = text(profile.symbols.declared_in(symbol).unwrap());
        let source = path.rsplit('/').next().unwrap().to_owned();
        let own = lines.entry((source, text(profile.symbols.name(symbol)))).or_default();
        for (position, record) in &body.positions {
            if let Some(count) = record.count {
                *own.entry(position.line).or_default() += count;
            }
        }
        for (&callee, body) in body.positions.values().flat_map(|record| &record.inlined) {
            add(profile, callee, body, lines);
        }
    }
    let mut lines = Lines::new();
    for (&symbol, function) in &profile.functions {
        add(profile, symbol, &function.body, &mut lines);
    }
    lines
}

fn lua_flattened(shop: &Workshop, flags: &[&str], convert: &[&str]) -> Option<Lines> {
    let flags = [&["-Dluai_makeseed(L)=0"], flags].concat();
    let built = compile_lua(shop, &flags)?;
    let objects: Vec<&str> = built.objects.iter().map(String::as_str).collect();
    shop.link(&objects, "ours", &["-lm"]);
    shop.run("ours", &built.arguments());
    let file = shop.tool_output(&[&["convert", "ours.csraw"], convert].concat());
    Some(flattened(&decode(&file).unwrap().profile))
}

/// The same program without early inlining has notes and counters of every function.
#[test]
fn functions_that_exist_only_inlined() {
    let (plain, without) = (Workshop::new(), Workshop::new());
    let Some(lines) = lua_flattened(&plain, &[], &[]) else { return };
    let all = lua_flattened(&without, &["-fno-early-inlining"], &[]).unwrap();
    let notes = plain.files("gcno");
    let noted: BTreeSet<String> = notes
        .iter()
        .flat_map(|path| {
            let bytes = plain.read(path);
            let notes = Notes::decode(&bytes).unwrap();
            let names = notes.functions.iter();
            names.map(|f| String::from_utf8(f.name.to_vec()).unwrap()).collect::<Vec<_>>()
        })
        .collect();
    let (mut executed, mut found, mut same) = (0, 0, 0);
    for (key, expected) in all.iter().filter(|((_, name), _)| !noted.contains(name)) {
        for (line, &count) in expected.iter().filter(|&(_, &count)| count > 0) {
            let ours = lines.get(key).and_then(|lines| lines.get(line));
            executed += 1;
            found += usize::from(ours.is_some());
            same += usize::from(ours == Some(&count));
        }
    }
    eprintln!("{executed} lines executed, {found} found, {same} with the same count");
    assert!(executed > 100 && found * 100 >= executed * 85 && same * 100 >= executed * 65);
}

/// What stands in copies on request is what stands with the functions else.
#[test]
fn nested_bodies_hold_the_same() {
    let shop = Workshop::new();
    let Some(flat) = lua_flattened(&shop, &[], &[]) else { return };
    let file = shop.tool_output(&["convert", "ours.csraw", "--inline", "nested"]);
    let profile = decode(&file).unwrap().profile;
    let nested = profile.functions.values().flat_map(|function| function.body.positions.values());
    assert!(nested.map(|record| record.inlined.len()).sum::<usize>() > 100);
    assert_eq!(flattened(&profile), flat);
}
