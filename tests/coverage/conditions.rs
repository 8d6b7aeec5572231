//! Conditions (MC/DC): equal to `gcov --conditions` for gcc 14 and newer, over two runs, from dumps and from `.gcda`
//! files. And what else only this gcov tells: where branches lead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use countersink::formats::gcno::Notes;

use crate::harness::other_gcc::shops;

/// The first gcc that has them.
const SINCE: u32 = 14;

/// Sources of programs.
const PROGRAMS: [&[&str]; 2] = [&["conditions.c"], &["conditions.cc", "conditions_second.cc"]];
const HEADER: &str = "conditions.h";
const OBSERVED: &str = "-fcondition-coverage";

/// Outcomes of conditions that are shown: whether the condition is true, and its number.
type Shown = BTreeSet<(bool, usize)>;

/// By file and line, and by the number of conditions of their decisions: how many conditions all these decisions have,
/// and what is shown of them.
type Conditions = BTreeMap<(String, u64), BTreeMap<usize, (usize, Shown)>>;

/// What gcov has. Instances of a function, and the same function of several objects, are one: its decisions have the
/// same places in their line.
fn of_gcov(objects: &[serde_json::Value]) -> Conditions {
    let mut all = BTreeMap::<(String, u64), Vec<(usize, Shown)>>::new();
    let own = |file: &&serde_json::Value| !file["file"].as_str().unwrap().starts_with('/');
    for file in objects.iter().flat_map(|object| object["files"].as_array().unwrap()).filter(own) {
        // What one function has on a line; a line of several functions is listed for each.
        let name = file["file"].as_str().unwrap().to_owned();
        for line in file["lines"].as_array().unwrap() {
            let decisions = line["conditions"].as_array().unwrap();
            let place = (name.clone(), line["line_number"].as_u64().unwrap());
            let known = all.entry(place).or_default();
            for (number, decision) in decisions.iter().enumerate() {
                let size = decision["count"].as_u64().unwrap() as usize / 2;
                let missing = |sense: &str| -> BTreeSet<usize> {
                    let missing = decision[format!("not_covered_{sense}")].as_array().unwrap();
                    missing.iter().map(|place| place.as_u64().unwrap() as usize).collect()
                };
                let [no_true, no_false] = ["true", "false"].map(missing);
                let mut shown = Shown::new();
                shown.extend(
                    (0..size).filter(|place| !no_true.contains(place)).map(|place| (true, place)),
                );
                shown.extend(
                    (0..size).filter(|place| !no_false.contains(place)).map(|place| (false, place)),
                );
                assert_eq!(shown.len() as u64, decision["covered"].as_u64().unwrap());
                let same = (number..known.len()).find(|&place| known[place].0 == size);
                match same {
                    Some(place) => known[place].1.extend(shown),
                    None => known.push((size, shown)),
                }
            }
        }
    }
    let mut conditions = Conditions::new();
    for (place, decisions) in all.into_iter().filter(|(_, decisions)| !decisions.is_empty()) {
        let sizes = conditions.entry(place).or_default();
        for (size, shown) in decisions {
            let (number, all) = sizes.entry(size).or_default();
            all.extend(shown.into_iter().map(|(sense, place)| (sense, *number + place)));
            *number += size;
        }
    }
    conditions
}

/// What a tracefile has, and the sums of `MCF:` and `MCH:`.
fn of_tracefile(text: &str) -> (Conditions, [usize; 2]) {
    let (mut all, mut totals) = (Conditions::new(), [0, 0]);
    let mut name = String::new();
    for line in text.lines() {
        let Some((kind, rest)) = line.split_once(':') else { continue };
        match kind {
            "SF" => name = rest.rsplit('/').next().unwrap().to_owned(),
            "MCF" => totals[0] += rest.parse::<usize>().unwrap(),
            "MCH" => totals[1] += rest.parse::<usize>().unwrap(),
            "MCDC" => {
                let fields: Vec<&str> = rest.split(',').collect();
                let number = |place: usize| fields[place].parse::<usize>().unwrap();
                let sizes = all.entry((name.clone(), number(0) as u64)).or_default();
                let (conditions, shown) = sizes.entry(number(1)).or_default();
                *conditions = (number(4) + 1).max(*conditions);
                if number(3) > 0 {
                    shown.insert((fields[2] == "t", number(4)));
                }
            }
            _ => {}
        }
    }
    (all, totals)
}

fn totals(conditions: &Conditions) -> [usize; 2] {
    let all = || conditions.values().flat_map(BTreeMap::values);
    [all().map(|(number, _)| 2 * number).sum(), all().map(|(_, shown)| shown.len()).sum()]
}

#[track_caller]
fn assert_same(found: &Conditions, expected: &Conditions, about: &str) {
    let places: BTreeSet<_> = found.keys().chain(expected.keys()).collect();
    for place in places {
        assert_eq!(found.get(place), expected.get(place), "{about}: {place:?}");
    }
}

#[test]
fn equal_to_those_of_gcov() {
    for shop in shops(SINCE) {
        for sources in PROGRAMS {
            shop.take(sources.iter().chain([&HEADER]));
            for flags in ["-O0", "-O2"] {
                let flags = format!("{flags} {OBSERVED}");
                let about = format!("gcc {}, {sources:?}, {flags}", shop.major);
                shop.run(sources, &flags);
                let expected = of_gcov(&shop.gcov("--conditions"));
                let report = shop.convert(&["ours.csraw", "--to", "lcov"]);
                let (found, sums) = of_tracefile(&report);
                assert_same(&found, &expected, &about);
                assert_eq!(sums, totals(&expected), "{about}");
                assert!(sums[0] > 30 && sums[1] > 15 && sums[1] < sums[0], "{about}: {sums:?}");
                assert_eq!(shop.convert(&[".", "--to", "lcov"]), report, "{about}");
            }
        }
        eprintln!("the same as gcov {}", shop.major);
    }
}

/// In C no function has several instances, so the totals are those that gcov prints.
#[test]
fn totals_limits_and_other_formats() {
    for shop in shops(SINCE) {
        shop.take(PROGRAMS[0].iter().chain([&HEADER]));
        shop.run(PROGRAMS[0], OBSERVED);
        let text = shop.shell(&format!("gcov-{} --conditions -b -t *.gcda", shop.major));
        let shares =
            text.lines().filter_map(|line| line.strip_prefix("condition outcomes covered "));
        let mut expected = [0, 0];
        for (hit, found) in shares.map(|share| share.split_once('/').unwrap()) {
            expected[0] += found.parse::<usize>().unwrap();
            expected[1] += hit.parse::<usize>().unwrap();
        }
        let output = shop.tool(&["ours.csraw", "--to", "lcov"]);
        assert_eq!(of_tracefile(&String::from_utf8(output.stdout).unwrap()).1, expected);
        let [found, hit] = expected;
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains(&format!("; shown: {hit} of {found} condition outcomes (")),
            "{said}"
        );

        let output = shop.tool(&["ours.csraw", "--to", "lcov", "--fail-under-condition", "99"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("--fail-under-condition asks for 99 %"), "{said}");
        let table = shop.convert(&["ours.csraw", "--to", "coverage-markdown"]);
        assert!(
            table.starts_with("### Coverage\n\n| | lines | branches | functions | conditions |\n")
        );
        assert!(table.contains(&format!(" of {found} |\n")), "{table}");
        let json = shop.convert(&["ours.csraw", "--to", "coverage-json"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["totals"]["conditions"]["hit"], hit);
        let decisions = json["files"][0]["decisions"].as_array().unwrap().iter();
        let conditions: Vec<_> =
            decisions.flat_map(|decision| decision["conditions"].as_array().unwrap()).collect();
        assert_eq!(conditions.len() * 2, found);
        let shown =
            |name: &str| conditions.iter().filter(|condition| condition[name] == true).count();
        assert_eq!(shown("shown_true") + shown("shown_false"), hit);
        let xml = shop.convert(&["ours.csraw", "--to", "cobertura"]);
        assert_eq!(xml.matches("type=\"mcdc\"").count() * 2, found);
        // A tracefile with conditions is a base, too: nothing has changed.
        shop.convert(&["ours.csraw", "--to", "lcov", "-o", "base.info"]);
        let table =
            shop.convert(&["ours.csraw", "--to", "coverage-markdown", "--against", "base.info"]);
        assert_eq!(table.lines().count(), 5, "{table}");
    }
}

/// Markers that leave out lines or branches leave out their conditions.
#[test]
fn markers() {
    for shop in shops(SINCE) {
        shop.take(PROGRAMS[0].iter().chain([&HEADER]));
        shop.run(PROGRAMS[0], OBSERVED);
        let source = fs::read_to_string(shop.folder.path().join("conditions.c")).unwrap();
        let marked =
            source.replace("{ return a && b; }", "{ return a && b; } // GCOVR_EXCL_BR_LINE");
        let line =
            1 + source.lines().position(|line| line.contains("{ return a && b; }")).unwrap() as u64;
        fs::write(shop.folder.path().join("conditions.c"), marked).unwrap();
        let mut expected = of_gcov(&shop.gcov("--conditions"));
        assert!(expected.remove(&("conditions.c".to_owned(), line)).is_some());
        let (found, sums) = of_tracefile(&shop.convert(&["ours.csraw", "--to", "lcov"]));
        assert_same(&found, &expected, "markers");
        assert_eq!(sums, totals(&expected));
    }
}

/// gcov of gcc 14 tells the blocks of branches, so it tells which ones lead to a line.
#[test]
fn branches_that_lead_to_a_line() {
    for shop in shops(SINCE) {
        shop.take(PROGRAMS[1].iter().chain([&HEADER]));
        let path = shop.folder.path().join("conditions.cc");
        let source = fs::read_to_string(&path).unwrap();
        let last = source.lines().count();
        let is_marked = |number: usize, line: &str| {
            number == last || line.contains("throw n;") || line.contains("s += caught")
        };
        let mut numbers = Vec::new();
        let mut text = String::new();
        for (number, line) in (1..).zip(source.lines()) {
            text += line;
            if is_marked(number, line) {
                text += " // GCOVR_EXCL_BR_SOURCE";
                numbers.push(number as u64);
            }
            text += "\n";
        }
        assert_eq!(numbers.len(), 3);
        fs::write(&path, text).unwrap();
        shop.run(PROGRAMS[1], OBSERVED);
        let (mut expected, mut left_out) = (BTreeMap::<u64, Vec<u64>>::new(), 0);
        let objects = shop.gcov("--conditions");
        let files = objects.iter().flat_map(|object| object["files"].as_array().unwrap());
        let files: Vec<_> = files.filter(|file| file["file"] == "conditions.cc").collect();
        for file in files {
            let lines = file["lines"].as_array().unwrap();
            let mut blocks = BTreeSet::new();
            for line in
                lines.iter().filter(|line| numbers.contains(&line["line_number"].as_u64().unwrap()))
            {
                let ids = line["block_ids"].as_array().unwrap().iter();
                blocks.extend(ids.map(|id| (line["function_name"].to_string(), id.as_u64())));
            }
            for line in lines {
                let name = line["function_name"].to_string();
                for branch in line["branches"].as_array().unwrap() {
                    let to = (name.clone(), branch["destination_block_id"].as_u64());
                    match blocks.contains(&to) {
                        true => left_out += 1,
                        false => expected
                            .entry(line["line_number"].as_u64().unwrap())
                            .or_default()
                            .push(branch["count"].as_u64().unwrap()),
                    }
                }
            }
        }
        assert!(left_out > 4, "{left_out}");
        let report = shop.convert(&["ours.csraw", "--to", "lcov", "--include", "conditions.cc"]);
        let mut found = BTreeMap::<u64, Vec<u64>>::new();
        for fields in report.lines().filter_map(|line| line.strip_prefix("BRDA:")) {
            let fields: Vec<&str> = fields.split(',').collect();
            let count = if fields[3] == "-" { 0 } else { fields[3].parse().unwrap() };
            found.entry(fields[0].parse().unwrap()).or_default().push(count);
        }
        // Line 21 has a template, whose instances gcov lists apart.
        found.remove(&21);
        expected.remove(&21);
        assert_eq!(found, expected, "gcc {}", shop.major);
    }
}

/// Damaged notes are refused with a place, or give other conditions.
#[test]
fn damaged_notes() {
    for shop in shops(SINCE) {
        shop.take(PROGRAMS[0].iter().chain([&HEADER]));
        shop.run(PROGRAMS[0], OBSERVED);
        let path = shop.folder.path().join("conditions.gcno");
        let notes = fs::read(&path).unwrap();
        let tag = 0x0147_0000u32.to_le_bytes();
        let is_tag = |place: &usize| notes[*place..].starts_with(&tag);
        let records: Vec<usize> = (0..notes.len()).filter(is_tag).collect();
        assert!(records.len() > 10);
        for bit in records.iter().flat_map(|&record| record * 8..notes.len().min(record + 16) * 8) {
            let mut flipped = notes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = Notes::decode(&flipped) {
                assert!(error.to_string().starts_with("0x"), "bit {bit}: {error}");
            }
        }
        // Another number of conditions: 40 becomes 41, and 104. Tag, length and block are before it.
        let is_forty = |place: &usize| notes[*place..].starts_with(&[40, 0, 0, 0]);
        let whole = records.iter().map(|record| record + 12).find(is_forty).unwrap();
        for (conditions, is_possible) in [(41, true), (104, false)] {
            let mut changed = notes.clone();
            changed[whole] = conditions;
            fs::write(&path, changed).unwrap();
            let output = shop.tool(&["ours.csraw", "--to", "lcov"]);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.success(), is_possible, "{said}");
            let what = "expected a decision of at most 64 conditions, found 104";
            assert_eq!(said.contains(what), !is_possible, "{said}");
        }
    }
}
