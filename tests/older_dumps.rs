//! Dumps of format version 2, which the tool reads and the runtime sets aside.
//!
//! `tests/golden/dump-2` was made in the folder `/golden/dump-2` with the tool of commit 9faed7d and its archive:
//!
//! ```sh
//! gcc -O1 -fprofile-generate golden.c -o ofgcc $(countersink flags)
//! clang-22 -O1 -fprofile-generate golden.c -o ofclang $(countersink flags)
//! COUNTERSINK_FILE=gcc.csraw ./ofgcc; COUNTERSINK_FILE=clang.csraw ./ofclang
//! ```

mod harness;

use std::fs;
use std::path::Path;

use countersink::raw::dump::Dump;
use countersink::raw::kind::Rule;
use countersink::raw::layout::VERSION;
use harness::Workshop;

/// Of each function the counters that add up, and the counts at its sites.
fn counts(dump: &[u8]) -> Vec<(Vec<i64>, Vec<i64>)> {
    let dump = Dump::parse(dump).unwrap();
    let module = &dump.modules[0];
    let functions = module.objects.iter().flat_map(|object| module.functions(object));
    let counts = functions.map(|function| {
        let (mut counters, mut sites) = (Vec::new(), Vec::new());
        for (kind, _) in function.kinds() {
            match module.objects[0].rules.rule(kind) {
                Some(Rule::TopN) => {
                    let pairs = function.sites(kind).flat_map(|site| site.to_site().pairs);
                    sites.extend(pairs.map(|pair| pair.count));
                }
                Some(Rule::Add | Rule::Saturate) => counters.extend(function.counters(kind)),
                _ => {}
            }
        }
        (counters, sites)
    });
    counts.collect()
}

fn version(dump: &[u8]) -> u16 {
    u16::from_le_bytes([dump[12], dump[13]])
}

#[test]
fn dumps_of_version_2_are_read_and_become_dumps_of_this_version() {
    let (of_main, none) = (vec![200, 100], Vec::new);
    for (name, expected) in [
        (
            "clang.csraw",
            [
                (vec![200], none()),
                (vec![100], none()),
                (vec![0], none()),
                (vec![300, 1, 100], of_main.clone()),
            ],
        ),
        (
            "gcc.csraw",
            [
                (vec![1, 200, 100, 1], of_main),
                (vec![0], none()),
                (vec![100], none()),
                (vec![200], none()),
            ],
        ),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dump-2").join(name);
        let golden = fs::read(path).unwrap();
        assert_eq!(version(&golden), 2);
        let found = counts(&golden);
        assert_eq!(found, expected, "{name}");
        let shop = Workshop::new();
        shop.write(name, &golden);
        shop.tool_output(&["check", name]);
        shop.tool_output(&["merge", name, name, "-o", "sum.csraw"]);
        let sum = shop.read("sum.csraw");
        assert_eq!(version(&sum), VERSION);
        let twice = |counts: &[i64]| counts.iter().map(|count| 2 * count).collect();
        let expected: Vec<_> =
            found.iter().map(|(all, sites)| (twice(all), twice(sites))).collect();
        assert_eq!(counts(&sum), expected, "{name}");
    }
}
