//! How far `-fauto-profile` is from the exact counts of a function's blocks.
//!
//! gcc compiles a source twice, with `-fprofile-use` and with `-fauto-profile`, from the counts of one run.
//! It dumps the blocks right after giving them their counts. The error is the sum of the differences over the
//! sum of the exact counts.
//!
//! Blocks are paired by walking both graphs side by side from their entries, along edges of the same kind.
//! Their numbers would not do: a pass that looks at loops adds empty blocks to one of the graphs. So blocks
//! without statements are skipped, and not compared. The profile has no bodies at hot calls that gcc has not
//! inlined in the instrumented program (`--inline nested`): gcc would inline those, and they would pair with
//! nothing. Functions that `-fprofile-use` takes for never executed are left out, because gcc 12 loses the
//! counts of functions with computed gotos. The share of the exact counts that was compared stands beside the error.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::builds::{Subject, Variant, object, succeed};
use crate::compilers::Compiler;
use crate::program::Entry;
use crate::programs::GROUPS;

/// Sources whose blocks are compared, by program name.
const SOURCES: [(&str, &[&str]); 11] = [
    ("lua", &["ltable", "lvm"]),
    ("zlib", &["deflate", "trees", "crc32", "inffast"]),
    ("bzip2", &["blocksort", "compress", "decompress"]),
    ("zstd", &["zstd_decompress_block"]),
    ("oniguruma", &["regexec"]),
    ("libdeflate", &["deflate_compress", "deflate_decompress"]),
    ("libyaml", &["scanner", "parser"]),
    ("yyjson", &["yyjson"]),
    ("tre", &["tre-match-parallel", "tre-parse"]),
    ("jpeg", &["jchuff", "jidctint"]),
    ("lzo", &["minilzo"]),
];

/// The error of a source with a compiler, and the share of its counts that was compared, in percent.
struct Finding {
    source: String,
    gcc: u32,
    error: f64,
    compared: f64,
}

/// Measures and prints; returns what has failed.
pub fn measure(compilers: &[Compiler], names: &[String]) -> Vec<String> {
    let (mut results, mut failures) = (vec![], vec![]);
    for compiler in compilers {
        for (name, sources) in SOURCES {
            if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
                continue;
            }
            let entry = GROUPS.iter().flat_map(|(_, entries)| *entries).find(|e| e.name == name);
            eprintln!("{name}, gcc {} ...", compiler.major());
            match of_program(entry.unwrap(), sources, compiler) {
                Ok(found) => results.extend(found),
                Err(why) => failures.push(format!("{name}, gcc {}: {why}", compiler.major())),
            }
        }
    }
    print(&results, compilers);
    failures
}

/// The errors of a program's sources.
fn of_program(
    entry: &Entry,
    sources: &[&str],
    compiler: &Compiler,
) -> Result<Vec<Finding>, String> {
    let program = (entry.program)();
    let subject = Subject::new(entry.name, &program, compiler)?;
    subject.train(&[Variant::Nested])?;
    let measured = program.sources.iter().filter_map(|path| {
        let stem = path.file_stem()?.to_str()?;
        sources.contains(&stem).then_some((stem, path))
    });
    measured
        .map(|(stem, path)| {
            let exact = dump(&subject, path, Variant::Use, "profile")?;
            let annotated = dump(&subject, path, Variant::Nested, "afdo")?;
            let (error, compared) = compare(&exact, &annotated, compiler.major() >= 16);
            let source = format!("{stem}.c ({})", entry.title);
            Ok(Finding { source, gcc: compiler.major(), error, compared })
        })
        .collect()
}

/// The blocks of a source's functions after the pass that gave them counts.
fn dump(
    subject: &Subject,
    source: &Path,
    variant: Variant,
    pass: &str,
) -> Result<Functions, String> {
    let folder = subject.folder(variant);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut flags = subject.flags(variant, None)?;
    // While gcc 12 dumps details, it complains about counts of values that it otherwise accepts.
    flags.push("-fprofile-correction".into());
    let (object, name) = (object(source), format!("{pass}.dump"));
    let dump = format!("-fdump-ipa-{pass}-blocks-details={name}");
    flags.extend([&dump, "-c", "-o", &object].map(str::to_owned));
    succeed(&mut subject.compilation(&folder, source, &flags))?;
    let path = folder.join(name);
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Functions::parse(&String::from_utf8_lossy(&text)))
}

/// A function's blocks by number.
type Graph = HashMap<u32, Block>;

/// The functions of a dump by signature.
struct Functions(HashMap<String, Graph>);

#[derive(Default)]
struct Block {
    count: u64,
    /// Whether it has statements.
    is_full: bool,
    successors: Vec<Edge>,
}

/// An edge with those of its flags that tell its kind.
#[derive(Clone)]
struct Edge {
    kind: String,
    target: u32,
}

const ENTRY: u32 = 2;
const EXIT: u32 = 1;
const KINDS: [&str; 5] = ["FALLTHRU", "TRUE_VALUE", "FALSE_VALUE", "ABNORMAL", "EH"];

impl Functions {
    fn parse(text: &str) -> Self {
        let block =
            Regex::new(r"^;;\s+basic block (\d+), loop depth \d+(?:, count (\d+) \(([^)]*)\))?");
        let edge = Regex::new(r"^;;(?:\s+(pred|succ):)?\s+(\d+|ENTRY|EXIT) ");
        let flags = Regex::new(r"\(([A-Z_,]+)\)");
        let label = Regex::new(r"^(<?\w+>?|\w+ \[.*\]):");
        let [block, edge, flags, label] = [block, edge, flags, label].map(Result::unwrap);
        let mut functions: HashMap<String, Graph> = HashMap::new();
        let (mut signature, mut number, mut is_successor) = ("", None, false);
        let mut previous = "";
        for line in text.lines() {
            if line == "{" {
                (signature, number) = (previous.trim(), None);
            }
            previous = line;
            if let Some(found) = block.captures(line) {
                let new: u32 = found[1].parse().unwrap();
                let graph = functions.entry(signature.to_owned()).or_default();
                if new == ENTRY {
                    // Functions are dumped more than once, the last time with their counts.
                    graph.clear();
                }
                let quality = found.get(3).map_or("", |quality| quality.as_str());
                // A guess within the function counts as 0: if anything is known, then that the function was
                // never executed.
                let is_guess = quality.starts_with("estimated locally") || quality.is_empty();
                let count = if is_guess { 0 } else { found[2].parse().unwrap() };
                graph.insert(new, Block { count, ..Block::default() });
                (number, is_successor) = (Some(new), false);
                continue;
            }
            let Some(block) =
                number.and_then(|number| functions.get_mut(signature)?.get_mut(&number))
            else {
                continue;
            };
            if line.starts_with(";;") {
                let Some(found) = edge.captures(line) else { continue };
                if let Some(direction) = found.get(1) {
                    is_successor = direction.as_str() == "succ";
                }
                if is_successor {
                    let target = if &found[2] == "EXIT" { EXIT } else { found[2].parse().unwrap() };
                    let flags = flags.captures_iter(line).last();
                    let flags = flags.as_ref().map_or("", |flags| flags.get(1).unwrap().as_str());
                    let kinds: Vec<&str> =
                        flags.split(',').filter(|flag| KINDS.contains(flag)).collect();
                    block.successors.push(Edge { kind: kinds.join(","), target });
                }
                continue;
            }
            is_successor = false;
            let line = line.trim();
            let is_statement =
                !["<bb", "# ", "{", "}", "goto "].iter().any(|s| line.starts_with(s));
            if !line.is_empty() && is_statement && !label.is_match(line) {
                block.is_full = true;
            }
            if line == "}" {
                number = None;
            }
        }
        Self(functions)
    }
}

/// The error and the share of the exact counts that was compared.
fn compare(exact: &Functions, annotated: &Functions, is_scaled: bool) -> (f64, f64) {
    let (empty, entry) = (Graph::new(), |graph: &Graph| graph.get(&ENTRY).map_or(0, |b| b.count));
    let of_both = || {
        let annotated = |name| annotated.0.get(name).unwrap_or(&empty);
        let both = exact.0.iter().map(move |(name, graph)| (graph, annotated(name)));
        both.filter(|(exact, _)| entry(exact) > 0)
    };
    // gcc 16 multiplies the counts of a profile by a number that it keeps to itself.
    let mut ratios: Vec<f64> = of_both()
        .filter(|(exact, annotated)| is_scaled && entry(exact) > 0 && entry(annotated) > 0)
        .map(|(exact, annotated)| entry(annotated) as f64 / entry(exact) as f64)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let scale = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);

    let (mut all, mut compared, mut different) = (0.0, 0.0, 0.0);
    for (exact, annotated) in of_both() {
        let full = exact.values().filter(|block| block.is_full);
        all += full.map(|block| block.count as f64).sum::<f64>();
        for (exact, annotated) in pairs(exact, annotated) {
            if exact.is_full {
                compared += exact.count as f64;
                different += (exact.count as f64 - annotated.count as f64 / scale).abs();
            }
        }
    }
    (100.0 * different / compared, 100.0 * compared / all)
}

/// Blocks of two graphs that are reached by the same edges and left by edges of the same kinds.
fn pairs<'g>(left: &'g Graph, right: &'g Graph) -> Vec<(&'g Block, &'g Block)> {
    let (mut partner, mut reached, mut pairs) = (HashMap::new(), HashMap::new(), vec![]);
    let mut waiting = vec![(past_empty(left, ENTRY), past_empty(right, ENTRY))];
    while let Some((one, other)) = waiting.pop() {
        if (one, other) == (EXIT, EXIT) || partner.get(&one) == Some(&other) {
            continue;
        }
        let (Some(first), Some(second)) = (left.get(&one), right.get(&other)) else { continue };
        if partner.contains_key(&one) || reached.contains_key(&other) {
            continue;
        }
        partner.insert(one, other);
        reached.insert(other, one);
        let sorted = |block: &Block| {
            let mut edges = block.successors.clone();
            edges.sort_by(|one, other| one.kind.cmp(&other.kind));
            edges
        };
        let (ours, theirs) = (sorted(first), sorted(second));
        if ours.iter().map(|edge| &edge.kind).eq(theirs.iter().map(|edge| &edge.kind)) {
            pairs.push((first, second));
            for (ours, theirs) in ours.iter().zip(&theirs) {
                waiting.push((past_empty(left, ours.target), past_empty(right, theirs.target)));
            }
        }
    }
    pairs
}

/// The next block that has statements, or a choice where to go on.
fn past_empty(graph: &Graph, mut number: u32) -> u32 {
    // All blocks may be empty, and an empty endless loop has no end.
    for _ in 0..graph.len() {
        match graph.get(&number) {
            Some(Block { is_full: false, successors, .. }) if successors.len() == 1 => {
                number = successors[0].target;
            }
            _ => break,
        }
    }
    number
}

fn print(results: &[Finding], compilers: &[Compiler]) {
    let mut heads = String::from("| error of annotated blocks |");
    for compiler in compilers {
        heads += &format!(" gcc {} | compared |", compiler.major());
    }
    println!("\n{heads}\n|{}", "---|".repeat(2 * compilers.len() + 1));
    let mut sources: Vec<&str> = vec![];
    for result in results {
        if !sources.contains(&&*result.source) {
            sources.push(&result.source);
        }
    }
    for source in sources {
        let mut row = format!("| {source} |");
        for compiler in compilers {
            let is_it = |found: &&Finding| found.source == source && found.gcc == compiler.major();
            row += &match results.iter().find(is_it) {
                Some(found) => format!(" {:.1} % | {:.0} % |", found.error, found.compared),
                None => " - | - |".to_owned(),
            };
        }
        println!("{row}");
    }
}
