//! Dumps of older format versions, which the tool reads and the runtime sets aside.
//!
//! `tests/golden/dump-2` was made in the folder `/golden/dump-2` with the tool of commit 9faed7d and its archive:
//!
//! ```sh
//! gcc -O1 -fprofile-generate golden.c -o ofgcc $(countersink flags)
//! clang-22 -O1 -fprofile-generate golden.c -o ofclang $(countersink flags)
//! COUNTERSINK_FILE=gcc.csraw ./ofgcc; COUNTERSINK_FILE=clang.csraw ./ofclang
//! ```
//!
//! `tests/golden/dump-3` in the same way with the tool of commit 130e9cf, and with `-Wl,--build-id=none` where the name
//! says so. `string.cpp` has a function of the C++ library among its records. Each of its runs has one dump.

use std::fs;
use std::path::Path;

use countersink::raw::dump::Dump;
use countersink::raw::kind::Rule;
use countersink::raw::layout::VERSION;

use crate::harness::Workshop;

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

fn golden(older: u16, name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/dump-{older}"));
    let golden = fs::read(folder.join(name)).unwrap();
    assert_eq!(version(&golden), older);
    golden
}

#[test]
fn older_dumps_are_read_and_become_dumps_of_this_version() {
    let (of_main, none) = (vec![200, 100], Vec::new);
    let of_clang = [
        (vec![200], none()),
        (vec![100], none()),
        (vec![0], none()),
        (vec![300, 1, 100], of_main.clone()),
    ];
    let of_gcc = [
        (vec![1, 200, 100, 1], of_main),
        (vec![0], none()),
        (vec![100], none()),
        (vec![200], none()),
    ];
    for (older, name, expected) in [
        (2, "clang.csraw", &of_clang),
        (2, "gcc.csraw", &of_gcc),
        (3, "clang.csraw", &of_clang),
        (3, "clang-without-build-id.csraw", &of_clang),
        (3, "gcc.csraw", &of_gcc),
    ] {
        let golden = golden(older, name);
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

/// Version 3 had offsets of functions in other images, another one in each run. They are no longer identity.
#[test]
fn runs_that_version_3_kept_apart_are_one_module() {
    for name in ["string", "string-without-build-id"] {
        let shop = Workshop::new();
        for run in ["1", "2"] {
            shop.write(&format!("{run}.csraw"), golden(3, &format!("{name}-{run}.csraw")));
        }
        shop.tool_output(&["merge", "1.csraw", "2.csraw", "-o", "sum.csraw"]);
        shop.tool_output(&["check", "sum.csraw"]);
        let sum = Dump::parse(&shop.read("sum.csraw")).unwrap();
        let [module] = &sum.modules[..] else { panic!("{name}: {} modules", sum.modules.len()) };
        assert_eq!(module.sums.runs, 2, "{name}");
    }
}
