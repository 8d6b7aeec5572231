//! Prime paths: equal to `gcov --prime-paths` for gcc 15 and newer, over two runs, from dumps and from `.gcda` files.
//! Without such a gcc, one program with what it says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use countersink::convert::gcov::coverage::{FlowMemory, coverage};
use countersink::convert::gcov::of_gcda;
use countersink::formats::coverage_json::encode::encode;
use countersink::formats::gcda::decode::Data;
use countersink::formats::gcno::Notes;
use serde_json::Value;

use crate::harness::other_gcc::{Shop, shops};

/// The first gcc that has them.
const SINCE: u32 = 15;
const OBSERVED: &str = "-fpath-coverage";

/// The paths of a function: all, those taken, and by number those that were missed.
type Paths = (u64, u64, Option<BTreeMap<u64, Vec<u64>>>);

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// What gcov has, by function. The same function of several objects is one: it missed what it missed in all of them.
fn of_gcov(objects: &[Value]) -> BTreeMap<String, Paths> {
    let files = objects.iter().flat_map(|object| object["files"].as_array().unwrap());
    let files = files.filter(|file| !file["file"].as_str().unwrap().starts_with('/'));
    let mut all = BTreeMap::<String, Paths>::new();
    for function in files.flat_map(|file| file["functions"].as_array().unwrap()) {
        let total = number(&function["total_prime_paths"]);
        let missed = function["prime_path_coverage"].as_array().unwrap().iter().map(|path| {
            let blocks = path["sequence"].as_array().unwrap().iter();
            (number(&path["id"]), blocks.map(|block| number(&block["block_id"])).collect())
        });
        let mut missed: BTreeMap<u64, Vec<u64>> = missed.collect();
        let name = function["name"].as_str().unwrap().to_owned();
        let mut taken = number(&function["covered_prime_paths"]);
        if let Some((_, _, Some(other))) = all.get(&name) {
            missed.retain(|number, _| other.contains_key(number));
            taken = total - missed.len() as u64;
        }
        if total > 0 {
            all.insert(name, (total, taken, Some(missed)));
        }
    }
    all
}

/// What our JSON has, by function.
fn of_json(json: &Value) -> BTreeMap<String, Paths> {
    let files = json["files"].as_array().unwrap();
    let functions = files.iter().flat_map(|file| file["functions"].as_array().unwrap());
    let paths = functions.filter_map(|function| {
        let [paths] = &function.get("paths")?.as_array().unwrap()[..] else { panic!("{function}") };
        let missed = paths.get("missed").map(|missed| {
            let path = |path: &Value| {
                let blocks = path["blocks"].as_array().unwrap().iter().map(number);
                (number(&path["number"]), blocks.collect())
            };
            missed.as_array().unwrap().iter().map(path).collect()
        });
        let name = function["name"].as_str().unwrap().to_owned();
        Some((name, (number(&paths["found"]), number(&paths["hit"]), missed)))
    });
    paths.collect()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Compares all functions. Gives the number of those whose paths we do not list: gcc has others than the graph.
fn assert_same(shop: &Shop, about: &str) -> usize {
    let expected = of_gcov(&shop.gcov("--prime-paths"));
    let output = shop.tool(&["ours.csraw", "--to", "coverage-json"]);
    let found = of_json(&json(&output));
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{about}");
    let (mut all, mut taken, mut unlisted, mut contradicted) = (0, 0, 0, 0);
    for (name, (number, hit, missed)) in &found {
        let (gcc_number, gcc_hit, gcc_missed) = &expected[name];
        assert_eq!(hit, gcc_hit, "{about}: {name}");
        (all, taken) = (all + number, taken + hit);
        match missed {
            // gcov's own paths are not always those of the compiler, either.
            Some(_) if number != gcc_number => contradicted += 1,
            Some(_) => assert_eq!(missed, gcc_missed, "{about}: {name}"),
            None => unlisted += 1,
        }
    }
    assert!(contradicted * 10 <= found.len(), "{about}: {contradicted}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("; taken: {taken} of {all} prime paths (")), "{about}: {said}");
    assert_eq!(said.contains("left out: the paths of "), unlisted > 0, "{about}: {said}");
    // libgcov's files of the same runs.
    let stock = of_json(&json(&shop.tool(&[".", "--to", "coverage-json"])));
    assert_eq!(stock, found, "{about}");
    unlisted
}

#[test]
fn equal_to_those_of_gcov() {
    for shop in shops(SINCE) {
        for sources in
            [&["paths.c"][..], &["conditions.c"], &["conditions.cc", "conditions_second.cc"]]
        {
            shop.take(sources.iter().chain([&"conditions.h"]));
            for flags in ["-O0", "-O2"] {
                let about = format!("gcc {}, {sources:?}, {flags}", shop.major);
                shop.run(sources, &format!("{flags} {OBSERVED}"));
                assert_eq!(assert_same(&shop, &about), 0, "{about}");
            }
        }
    }
}

/// Functions with made-up control flow.
#[test]
fn random_programs() {
    for shop in shops(SINCE) {
        let (mut all, mut unlisted) = (0, 0);
        for seed in 1..=2 {
            let functions = 60;
            let path = shop.folder.path().join("random.c");
            shop.take([]);
            fs::write(path, Random(seed).program(functions)).unwrap();
            for flags in ["-O0", "-O2"] {
                let about = format!("gcc {}, seed {seed}, {flags}", shop.major);
                shop.run(&["random.c"], &format!("{flags} {OBSERVED}"));
                unlisted += assert_same(&shop, &about);
                all += functions;
            }
        }
        eprintln!("gcc {}: other paths than in the graph in {unlisted} of {all}", shop.major);
        assert!(unlisted * 20 < all, "{unlisted} of {all}");
    }
}

/// Numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// A program of functions with random jumps and loops. Each jump takes fuel, so that each function ends.
    fn program(&mut self, functions: usize) -> String {
        let mut text = "#include <stdlib.h>\nstatic int fuel; static unsigned state;\n\
            static int go(int n) { state = state * 69069 + n; return fuel-- > 0 && state >> 16 & 1; }\n"
            .to_owned();
        for function in 0..functions {
            let _ = writeln!(text, "int f{function}(int a, int b) {{ int z = 0;");
            let labels = 1 + self.below(6);
            for label in 0..labels {
                let _ = writeln!(text, "L{label}: z++;");
                for _ in 0..self.below(3) {
                    let (n, to) = (self.below(9), self.below(labels));
                    let statement = match self.below(10) {
                        0..3 => format!("if (go({n})) goto L{to};"),
                        3 => format!("if (a > {n} && b < {to}) z++;"),
                        4 => format!("while (go({n})) {{ z++; if (go({to})) continue; z--; }}"),
                        5 => format!(
                            "if (fuel > 0) switch (a + b & 3) {{ case 0: if (go(1)) goto L{to}; case 1: z++; case 2: z += a; \
                             break; default: if (go(2)) goto L{}; }}",
                            self.below(labels)
                        ),
                        6 => format!("if (z == {n}) return a;"),
                        7 => format!("do z += b; while (go({n}));"),
                        8 => format!("if (a == 77) for (;;) if (go({n})) abort();"),
                        _ => format!("z += a ? b : {n};"),
                    };
                    let _ = writeln!(text, "    {statement}");
                }
            }
            text += "    return z; }\n";
        }
        text += "int main(int argc, char **argv) { int s = 0; state = atoi(argv[1]);\n    for (int i = 0; i < 4; i++) {\n";
        for function in 0..functions {
            let _ = writeln!(text, "        fuel = 12; s += f{function}(state >> 20 & 3, i);");
        }
        text + "    }\n    return s == 123456; }\n"
    }
}

/// The notes and counters of `paths.c` of gcc 15, from runs with the arguments 1 and 2.
fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/paths")
}

fn convert(path: &Path, to: &str) -> Output {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_countersink"));
    tool.arg("convert").arg(path).args(["--source-root", "/", "--to", to]).output().unwrap()
}

/// What gcov 15 says: all paths of each function, and those taken.
const TOTALS: [(&str, u64, u64); 6] = [
    ("both", 4, 2),
    ("main", 4, 1),
    ("many", 393, 11),
    ("never", 5, 0),
    ("rounds", 15, 10),
    ("straight", 1, 1),
];
/// The paths of `rounds` that it lists as missed, by number.
const MISSED: [(u64, &[u64]); 5] = [
    (0, &[2, 7, 3, 4, 6]),
    (2, &[2, 7, 8, 9]),
    (6, &[3, 5, 6, 7, 8, 9]),
    (7, &[4, 6, 7, 3, 4]),
    (10, &[5, 6, 7, 3, 5]),
];

#[test]
fn as_gcov_15_lists_them() {
    let output = convert(&golden(), "coverage-json");
    let found = of_json(&json(&output));
    let totals = found.iter().map(|(name, (all, taken, _))| (&**name, *all, *taken));
    assert_eq!(totals.collect::<Vec<_>>(), TOTALS);
    let missed = |name: &str| found[name].2.clone().unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(missed("rounds"), MISSED.map(|(number, blocks)| (number, blocks.to_vec())));
    assert_eq!(missed("many").len() as u64, found["many"].0 - found["many"].1);
    let both = &json(&output)["files"][0]["functions"];
    let both = both.as_array().unwrap().iter().find(|function| function["name"] == "both").unwrap();
    assert_eq!(both["paths"][0]["blocks"][0]["lines"], serde_json::json!([4, 5, 6]));
    assert_eq!(both["paths"][0]["blocks"][0]["when_true"], 3);
    assert_eq!(both["paths"][0]["blocks"][0]["when_false"], 4);
    let table = String::from_utf8(convert(&golden(), "coverage-markdown").stdout).unwrap();
    assert!(
        table.starts_with("### Coverage\n\n| | lines | branches | functions | prime paths |\n")
    );
}

/// Damaged notes give other paths or none, and no end of work.
#[test]
#[ignore = "slow"]
fn damaged_notes() {
    let notes = fs::read(golden().join("paths.gcno")).unwrap();
    let counters = fs::read(golden().join("paths.gcda")).unwrap();
    let data = Data::decode(&counters).unwrap();
    let dump = of_gcda::dump([(b"x.gcda".to_vec(), data)]);
    let copies = dump.modules.iter();
    let copies: Vec<_> = copies
        .flat_map(|module| module.objects.iter().map(move |object| (module, object)))
        .collect();
    let (mut listed, mut left_out, mut without) = (0, 0, 0);
    for bit in (0..notes.len() * 8).step_by(23) {
        let mut flipped = notes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let Ok(notes) = Notes::decode(&flipped) else { continue };
        let path = |_: &[u8], file: &[u8]| file.to_vec();
        let converted = coverage(&notes, &copies, path, &mut FlowMemory::default());
        without += converted.functions_without_paths;
        let mut errors = 0;
        encode(&converted.coverage, |_, _| errors += 1);
        left_out += errors;
        listed += usize::from(errors == 0);
    }
    assert!(listed > 0 && left_out > 10 && without > 0, "{listed} {left_out} {without}");
}

/// Counters that are not as many as the notes say, and a number that the graph does not have, are told.
#[test]
fn other_numbers_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut notes = fs::read(golden().join("paths.gcno")).unwrap();
    fs::copy(golden().join("paths.gcda"), folder.path().join("paths.gcda")).unwrap();
    let record: Vec<u8> =
        [0x0149_0000u32, 4, 15].iter().flat_map(|word| word.to_le_bytes()).collect();
    let place = notes.windows(12).position(|bytes| bytes == record).unwrap() + 8;
    for (number, what) in [
        (14, "left out: the paths of rounds: expected 14 prime paths, found more\n"),
        (16, "left out: the paths of rounds: expected 16 prime paths, found 15\n"),
        (
            65,
            "left out: the prime paths of 1 function: the notes have another number of them than the counters\n",
        ),
    ] {
        notes[place] = number;
        fs::write(folder.path().join("paths.gcno"), &notes).unwrap();
        let output = convert(folder.path(), "coverage-json");
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(what), "{said}");
    }
}
