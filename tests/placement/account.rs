//! The account of a conversion: the share of executions in the profile, what is missing and why, and the
//! resulting exit status.

use countersink::placement::{RULES, Rule};
use serde_json::Value;

use crate::harness::{Workshop, have, succeed};

/// `often` and `seldom` are inlined before the counters are laid out. Only debug information tells which
/// function the header's lines belong to.
const HEADER: &str = "\
static inline int often(int n)
{
    return n ^ 5;
}
static inline int seldom(int n)
{
    return n + 3;
}
";

const PROGRAM: &str = "\
#include \"inlined.h\"
int main(int argc, char **argv)
{
    volatile int sum = 0;
    for (int i = 0; i < 1000; i++) {
        sum += often(i);
        if (i % 10 == 0)
            sum += seldom(sum);
    }
    return sum == argc;
}
";

/// The program's dump in a workshop, with its debug information or without.
fn counted(has_debug: bool) -> Workshop {
    let shop = Workshop::new();
    shop.write("inlined.h", HEADER);
    shop.write("prog.c", PROGRAM);
    let object = shop.compile("prog.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    if !has_debug {
        succeed(shop.command("strip").args(["-g", "ours", &object]));
    }
    shop
}

fn convert(shop: &Workshop, options: &[&str]) -> (Option<i32>, String) {
    let output =
        shop.tool(&[&["convert", "ours.csraw", "--to=v4", "-o", "ours.gcov"], options].concat());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn everything_is_placed_with_debug_information() {
    let shop = counted(true);
    let (status, told) = convert(&shop, &["--strict", "--fail-under", "98"]);
    assert_eq!(status, Some(0), "{told}");
    // Less what estimates of the order of blocks get wrong on average.
    assert!(told.contains("placed 98.") || told.contains("placed 99."), "{told}");
    assert!(!told.contains("dropped"), "{told}");
}

/// The account of a sum is not that of its first dump.
#[test]
fn several_dumps_are_told_as_a_sum() {
    let shop = counted(true);
    shop.write("other.csraw", shop.read("ours.csraw"));
    let (_, told) = convert(&shop, &["other.csraw"]);
    assert!(told.contains("countersink: the sum of 2 dumps: placed "), "{told}");
    assert!(!told.contains(".csraw: "), "{told}");
}

#[test]
fn losses_are_told_the_heaviest_first() {
    if !have("strip") {
        return;
    }
    let shop = counted(false);
    let (status, told) = convert(&shop, &["-v", "--report", "account.json"]);
    assert_eq!(status, Some(0), "{told}");
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("no known function")).collect();
    // Each line of a body once, and `often` before `seldom`.
    let place =
        |line: &str| lines.iter().position(|told| told.contains(&format!("inlined.h:{line}: ")));
    assert!(place("3").unwrap() < place("7").unwrap(), "{told}");
    assert!(lines[0].contains("1.0 k executions in main lost"), "{told}");
    let mut once = lines.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), lines.len(), "{told}");

    let account: Value = serde_json::from_slice(&shop.read("account.json")).unwrap();
    assert_eq!(
        (&account["format"], &account["version"]),
        (&"countersink-account".into(), &1.into())
    );
    let number = |value: &Value| value.as_u64().unwrap();
    let losses = account["losses"].as_array().unwrap();
    let lost: u64 = losses.iter().map(|loss| number(&loss["executions"])).sum();
    let executions = &account["executions"];
    assert_eq!(number(&executions["placed"]) + lost, number(&executions["all"]), "{account}");
    assert_eq!(losses.len(), lines.len());
    assert_eq!((&losses[0]["function"], number(&losses[0]["executions"])), (&"main".into(), 1000));
}

/// The share that is placed falls with the rules that place counts.
#[test]
#[ignore = "slow"]
fn placed_is_less_without_estimates() {
    /// Those that infer places.
    const ESTIMATING: [Rule; 8] = [
        Rule::Numbering,
        Rule::Gaps,
        Rule::Order,
        Rule::Discriminators,
        Rule::EnteredCopies,
        Rule::UnrecordedCopies,
        Rule::UnrecordedInlines,
        Rule::Likeness,
    ];

    let shop = Workshop::new();
    shop.program("standard_words.cc");
    let object = shop.compile("standard_words.cc", &[]);
    shop.link(&[&object], "ours", &["-lstdc++"]);
    shop.run("ours", &[]);
    let (status, told) = convert(&shop, &["--fail-under", "95", "--report", "account.json"]);
    assert_eq!(status, Some(0), "{told}");
    let account: Value = serde_json::from_slice(&shop.read("account.json")).unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    let executions = &account["executions"];
    let estimates = account["estimates"].as_array().unwrap();
    let sum = |name: &str| estimates.iter().map(|kind| number(&kind[name])).sum::<u64>();
    assert_eq!(sum("executions"), number(&executions["estimated"]), "{account}");
    assert_eq!(sum("misplaced"), number(&executions["misplaced"]), "{account}");
    assert!(number(&executions["misplaced"]) > 0, "{account}");
    let rules = ESTIMATING.map(Rule::name).join(",");
    let (status, told) = convert(&shop, &["--fail-under", "95", "--without-rules", &rules]);
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains(", 0.0 % by estimate"), "{told}");
}

/// Loops, and small functions inlined several times, with conditions on one line.
const SMOOTH: &str = "\
#include <cstdio>
static inline int clamp(int x, int most) { return x < 0 ? 0 : x > most ? most : x; }
template <class T> struct Grid {
    T cells[64];
    T &at(int i) { return cells[i & 63]; }
    int smooth(int width)
    {
        int changed = 0;
        for (int i = 1; i < 63; i++) {
            T mean = (at(i - 1) + at(i + 1)) / 2;
            if (mean != at(i)) { at(i) = mean; changed++; }
            at(i) = clamp(at(i), width);
        }
        return changed;
    }
};
int main(int argc, char **argv)
{
    Grid<int> grid;
    int n = 100 * argc, total = 0;
    (void)argv;
    for (int i = 0; i < 64; i++) grid.cells[i] = clamp(i * 37 % 101, 90);
    while (n-- > 0) {
        int c = grid.smooth(80);
        if (c == 0) break;
        total += c;
    }
    return total == 0;
}
";

/// What a rule does not place is lost, or another rule places it, which knows no more. So without a rule no more
/// executions are exact. Only the sums of a few lines are counted otherwise.
#[test]
#[ignore = "slow"]
fn no_more_is_exact_without_a_rule() {
    no_more_is_exact("smooth.cc", SMOOTH, &[]);
    let quickstart = include_str!("../../examples/quickstart.c");
    no_more_is_exact("quickstart.c", quickstart, &["key", "1"]);
}

/// The same for containers of the standard library.
#[test]
#[ignore = "a minute"]
fn no_more_is_exact_of_containers_by_hand() {
    no_more_is_exact("words.cc", include_str!("../programs/standard_words.cc"), &[]);
}

fn no_more_is_exact(source: &str, text: &str, arguments: &[&str]) {
    let shop = Workshop::new();
    shop.write(source, text);
    let object = shop.compile(source, &[]);
    shop.link(&[&object], "ours", &["-lstdc++"]);
    shop.run("ours", arguments);
    let exact = |without: &[&str]| {
        let told = convert(&shop, &[&["--report", "account.json"], without].concat());
        let account: Value = serde_json::from_slice(&shop.read("account.json")).unwrap();
        let number = |name: &str| account["executions"][name].as_u64().expect(&told.1);
        (number("placed") - number("estimated"), number("all"))
    };
    let (with_all, all) = exact(&[]);
    for rule in RULES {
        let (without, _) = exact(&["--without-rules", rule.name()]);
        let more = without.saturating_sub(with_all);
        assert!(1000 * more < all, "{source}, {rule}: {without}, not {with_all} of {all}");
    }
}

#[test]
fn a_report_in_the_place_of_another_file() {
    let shop = counted(true);
    let dump = shop.read("ours.csraw");
    std::os::unix::fs::symlink("ours.csraw", shop.path("link")).unwrap();
    for report in ["ours.csraw", "./ours.csraw", "link", "ours.gcov"] {
        let (status, told) = convert(&shop, &["--report", report]);
        assert_eq!(status, Some(2), "{report}: {told}");
        assert!(told.contains("--report needs a file of its own"), "{told}");
        assert!(shop.read("ours.csraw") == dump, "{report}");
    }
}

#[test]
fn too_little_is_told_by_the_exit_status() {
    if !have("strip") {
        return;
    }
    let shop = counted(false);
    for (options, expected) in [
        (&["--fail-under", "100"][..], 1),
        (&["--fail-under", "1"], 0),
        (&["--fail-under", "0"], 0),
        (&["--strict"], 1),
        (&["--fail-under", "101"], 2),
        (&["--fail-under", "much"], 2),
        (&["--fail-under", "NaN"], 2),
    ] {
        let _ = std::fs::remove_file(shop.path("ours.gcov"));
        let (status, told) = convert(&shop, options);
        assert_eq!(status, Some(expected), "{options:?}: {told}");
        // The profile is there, however the account turns out.
        assert_eq!(shop.path("ours.gcov").exists(), expected < 2, "{options:?}");
    }
    let (status, told) = convert(&shop, &["--fail-under", "100"]);
    assert!(status == Some(1) && told.contains("--fail-under asks for 100 %"), "{told}");
    for options in [&["--strict"][..], &["--fail-under", "1"], &["--report", "account.json"]] {
        let of_profile = [&["convert", "ours.gcov", "--to", "json", "-o", "x"], options].concat();
        let of_gcda = [&["convert", "ours.csraw", "--to", "gcda"], options].concat();
        for arguments in [of_profile, of_gcda] {
            let output = shop.tool(&arguments);
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
            assert!(told.contains(options[0]), "{told}");
        }
    }
}
