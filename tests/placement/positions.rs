//! What stands at which position, for small programs whose executions are counted by hand or by gcov.
//!
//! A line may have many blocks. Readers that use discriminators get each block at its own one. The others get
//! the smallest count of the line: what gcc takes for hot must be hot. Code inlined before the counters
//! stands at its calls.

use std::collections::{BTreeMap, BTreeSet};

use countersink::formats::{afdo_v1_v3, afdo_v4};
use countersink::profile::{Body, Profile};

use crate::harness::{PROFILE, Workshop, have, skip, succeed};
use crate::reference::{
    Lines, base, counts, lines_of_gcov, name, share_of, starts, starts_of_gcov,
};

/// Compiles, links and runs a source of the folder.
fn run(shop: &Workshop, source: &str, flags: &[&str]) {
    run_with(shop, source, flags, &[]);
}

fn run_with(shop: &Workshop, source: &str, flags: &[&str], arguments: &[&str]) {
    let object = shop.compile(source, flags);
    shop.link(&[&object], "ours", if source.ends_with(".cc") { &["-lstdc++"] } else { &[] });
    let _ = std::fs::remove_file(shop.path("ours.csraw"));
    shop.run("ours", arguments);
}

/// The exact profile of the run.
fn exact(shop: &Workshop) -> Profile {
    afdo_v4::decode::decode(&shop.tool_output(&["convert", "ours.csraw", "--to=v4"]))
        .unwrap()
        .profile
}

/// The profile for a gcc.
fn for_gcc(shop: &Workshop, major: &str) -> Profile {
    let bytes = shop.tool_output(&["convert", "ours.csraw", "--for-gcc", major]);
    afdo_v1_v3::decode::decode(&bytes).unwrap().profile
}

/// The body of a function.
fn body<'p>(profile: &'p Profile, function: &str) -> &'p Body {
    let mut all = profile.functions.iter();
    let found = all.find(|(symbol, _)| name(profile, **symbol) == function);
    &found.unwrap_or_else(|| panic!("no {function}")).1.body
}

/// The counts of a body's own positions, by line from the declaration and by discriminator.
fn positions(body: &Body) -> BTreeMap<(u32, u32), u64> {
    let own = |(at, record): (&countersink::profile::Position, &countersink::profile::Record)| {
        Some(((at.line, u32::from(at.discriminator)), record.count?))
    };
    body.positions.iter().filter_map(own).collect()
}

/// The bodies at the calls of a function, in the order of their lines.
fn bodies<'p>(profile: &'p Profile, body: &'p Body, callee: &str) -> Vec<(u32, &'p Body)> {
    let all = body.positions.iter().flat_map(|(at, record)| {
        record.inlined.iter().map(move |(symbol, body)| (at.line, symbol, body))
    });
    let its = all.filter(|(_, symbol, _)| name(profile, **symbol) == callee);
    its.map(|(line, _, body)| (line, body)).collect()
}

/// A loop on one line with parts executed 1, 101, 100, 25 and 75 times; and one with parts executed 9, 9, 9
/// and 8 times, after one jump to its condition.
const LOOPS: &str = "\
volatile int sink;
__attribute__((noipa)) int one(int i) { sink = i; return i; }
__attribute__((noipa)) int two(int i) { sink = i; return i + 1; }
__attribute__((noipa)) int three(int i) { sink = i; return i + 2; }
__attribute__((noipa)) int loops(int n)
{
    for (int i = 0; i < n; one(i), i++) if (i % 4 == 3) two(i); else three(i);
    while (n > 90 && one(n) && two(n) > 93) n--;
    return n;
}
int main(void) { return loops(100) == 0; }
";

/// The count of a line is the smallest of its blocks. If these differ by more than a factor of four, the line
/// is left out. But a loop that has no other line gets a large one. Without optimisation each block has code.
#[test]
fn the_smallest_count_of_a_line() {
    let shop = Workshop::new();
    shop.write("loops.c", LOOPS);
    run(&shop, "loops.c", &["-O0"]);
    for major in ["10", "11", "12"] {
        let profile = for_gcc(&shop, major);
        let found = positions(body(&profile, "loops"));
        // The notes lack the brace that ends the function. The line table has it.
        let expected =
            [(0, 1), (2, 75), (3, 8), (4, 1), (5, 1)].map(|(line, count)| ((line, 0), count));
        assert_eq!(found, expected.into(), "gcc {major}");
    }
    // The compiler turns the loops, and everything left of the second one is executed 8 or 9 times.
    run(&shop, "loops.c", &["-O2"]);
    let found = positions(body(&for_gcc(&shop, "12"), "loops"));
    assert_eq!((found.get(&(2, 0)), found.get(&(3, 0))), (Some(&75), Some(&8)));
}

/// The calls of a function in assembler code: callee, line and discriminator.
fn calls(assembler: &str, function: &str) -> BTreeMap<String, BTreeSet<(u32, u32)>> {
    let mut calls = BTreeMap::<String, BTreeSet<(u32, u32)>>::new();
    let start = format!("\n{function}:\n");
    let (_, code) = assembler.split_once(&start).unwrap();
    let mut at = (0, 0);
    for line in code.split("\n\t.cfi_endproc").next().unwrap().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [".loc", _, line, ..] => {
                let place = words.iter().position(|word| *word == "discriminator");
                let discriminator = place.map_or(0, |place| words[place + 1].parse().unwrap());
                at = (line.parse().unwrap(), discriminator);
            }
            ["call", callee] => _ = calls.entry(callee.to_owned()).or_default().insert(at),
            _ => {}
        }
    }
    calls
}

/// Blocks of one line stand at the discriminators that the compiler gave them.
#[test]
fn blocks_of_a_line_stand_at_their_discriminators() {
    let shop = Workshop::new();
    shop.write("loops.c", LOOPS);
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        // This writes notes, too. Those of the object must replace them.
        shop.gcc(&[&PROFILE[..], &[level, "-S", "loops.c"]].concat());
        run(&shop, "loops.c", &[level]);
        let assembler = String::from_utf8(shop.read("loops.s")).unwrap();
        let calls = calls(&assembler, "loops");
        // Line, callee, executions. Calls of `one` may have been copied into both branches.
        let expected = [(7, "two", 25), (7, "three", 75), (8, "one", 9), (8, "two", 9)];
        let readers = [exact(&shop), for_gcc(&shop, "13"), for_gcc(&shop, "15")];
        for (number, profile) in readers.iter().enumerate() {
            let found = positions(body(profile, "loops"));
            for (line, callee, executions) in expected {
                let of_line: Vec<_> = calls[callee].iter().filter(|at| at.0 == line).collect();
                let [(_, discriminator)] = of_line[..] else { panic!("{level}: {calls:?}") };
                assert_eq!(
                    found.get(&(line - 5, *discriminator)),
                    Some(&executions),
                    "{level}, reader {number}: {callee}: {found:?}"
                );
            }
        }
    }
}

/// Code inlined early has the executions of each call, at any depth.
#[test]
fn bodies_stand_at_their_calls() {
    let shop = Workshop::new();
    shop.write(
        "calls.c",
        "\
volatile int sink;
static inline __attribute__((always_inline)) void deep(int n)
{
    if (n & 1)
        sink = n;
}
static int small(int n)
{
    sink += n;
    deep(n);
    return sink;
}
__attribute__((noipa)) int twice(int n, int more)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += small(i);
    if (more)
        sum += small(more);
    deep(n);
    return sum;
}
int main(void) { return twice(10, 0) + twice(7, 9) == 3; }
",
    );
    for level in ["-O2", "-O3"] {
        run(&shop, "calls.c", &[level]);
        let profile = exact(&shop);
        let twice = body(&profile, "twice");
        let of_line = |body: &Body, line: u32| {
            let own = positions(body).into_iter().filter(|((of, _), _)| *of == line);
            own.map(|(_, count)| count).collect::<Vec<_>>()
        };
        // Line, executions of the call, and executions of the store in `deep`: 17 calls with 5 and 3 odd
        // numbers, one with 9; then 10 and 7.
        let all = bodies(&profile, twice, "small");
        let lines: Vec<u32> = all.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 6], "{level}");
        for ((_, small), (calls, odd)) in all.iter().zip([(17, 8), (1, 1)]) {
            assert_eq!(of_line(small, 2), [calls], "{level}");
            let [(3, deep)] = bodies(&profile, small, "deep")[..] else { panic!("{level}") };
            assert_eq!((of_line(deep, 2), of_line(deep, 3)), (vec![calls], vec![odd]), "{level}");
        }
        let [(7, deep)] = bodies(&profile, twice, "deep")[..] else { panic!("{level}") };
        assert_eq!((of_line(deep, 2), of_line(deep, 3)), (vec![2], vec![1]), "{level}");
        // Nothing stands with the functions themselves.
        let named = |wanted: &str| {
            profile.functions.iter().find(|(symbol, _)| name(&profile, **symbol) == wanted)
        };
        for function in ["small", "deep"] {
            let own = named(function).map_or(0, |(_, function)| function.body.total());
            assert_eq!(own, 0, "{level}: {function}");
        }
    }
}

/// A search that finds nothing: the body of its `if` is never executed.
const SEARCH: &str = "\
struct text { unsigned long length; unsigned char *data; };
__attribute__((noipa)) unsigned long dollars(struct text *text)
{
    unsigned long i, n;
    for (n = 0, i = 0; i < text->length; i++) {
        if (text->data[i] == '$') {
            n++;
        }
    }
    return n;
}
__attribute__((noipa)) int never(int n)
{
    return n + 1;
}
unsigned char data[2000];
int main(int argc, char **argv)
{
    struct text text = { 20, data };
    unsigned long n = 0;
    for (int i = 0; i < 5; i++)
        n += dollars(&text);
    return argc > 1 ? never(argc) : n == 1;
}
";

/// Without optimisation each of these lines has one block.
#[test]
fn a_line_is_explained() {
    let shop = Workshop::new();
    shop.write("search.c", SEARCH);
    run(&shop, "search.c", &["-O0"]);
    let explain = |input: &str, line: &str| shop.tool(&["convert", input, "--explain", line]);
    let told = explain("ours.csraw", "search.c:6");
    let text = String::from_utf8(told.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [of_line, reasons, of_rule] = lines[..] else { panic!("{text}") };
    assert!(of_line.contains("/search.c:6, in dollars: block "), "{text}");
    assert!(of_line.ends_with(", discriminator 0, count 100 by only-block: exact"), "{text}");
    assert!(
        reasons.starts_with("  its instructions ran 100 times; the line's only block is "),
        "{text}"
    );
    assert!(of_rule.starts_with("only-block: "), "{text}");
    let never = SEARCH.lines().position(|line| line.contains("return n + 1")).unwrap() + 1;
    let told = explain("ours.csraw", &format!("search.c:{never}"));
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(text.ends_with(", count 0: the function was never executed\n"), "{text}");
    let told = explain("ours.csraw", "other.c:6");
    assert_eq!((told.status.code(), told.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8(told.stderr).unwrap().contains("has a count of other.c:6"));
    shop.tool_output(&["convert", "ours.csraw", "--to=v4", "-o", "ours.gcov"]);
    assert_eq!(explain("ours.gcov", "search.c:6").status.code(), Some(2));
}

/// The compiler moves code of the lambda's copy before line 10, and no instruction is left of that line.
const LAMBDA: &str = "\
static int half(int v) { return v / 2; }
int main(int argc, char **argv)
{
    (void)argv;
    int n = 1000 * argc, sum = 0;
    auto low = [](int a, int b) {
        return a % 10 < b % 10;
    };
    for (int i = 0; i < n; i++) {
        int v = half(i);
        if (low(i, v))
            sum += v;
    }
    return sum == 1;
}
";

/// A lambda stands within its caller, so its copies may seem to have the lines behind it.
#[test]
fn lines_behind_a_lambda_are_its_caller_s() {
    let shop = Workshop::new();
    shop.write("lambda.cc", LAMBDA);
    run(&shop, "lambda.cc", &["-O2"]);
    for (line, is_the_lambda_s) in [(7, true), (10, false), (11, false), (12, false)] {
        let at = format!("lambda.cc:{line}");
        let told = shop.tool_output(&["convert", "ours.csraw", "--explain", &at]);
        let told = String::from_utf8(told).unwrap();
        let mut places = told.lines().filter(|told| told.contains(": block "));
        assert!(places.all(|place| place.contains("operator()") == is_the_lambda_s), "{told}");
    }
}

/// gcc 16 and 17 take 0 for unknown, so their profiles have no 0 in executed functions. Exact profiles keep
/// it.
#[test]
fn zeros_are_told_to_whom_they_tell_something() {
    let shop = Workshop::new();
    shop.write("search.c", SEARCH);
    run(&shop, "search.c", &[]);
    // The line that is never executed, in the function or in a body of it anywhere.
    let of_line = |profile: &Profile| {
        let all = counts(profile).into_iter();
        let own = all.filter(|found| name(profile, found.symbol) == "dollars");
        let of_line = own.filter(|found| found.position.line == 5).map(|found| found.count);
        of_line.collect::<BTreeSet<u64>>()
    };
    assert_eq!(of_line(&exact(&shop)), [0].into());
    assert_eq!(positions(body(&exact(&shop), "never")).into_values().max(), Some(0));
    for major in ["16", "17"] {
        let profile = for_gcc(&shop, major);
        for (&symbol, function) in &profile.functions {
            let total = function.body.total();
            let mut zeros = 0;
            function.body.for_each_record(&mut |at| zeros += usize::from(at.count == Some(0)));
            assert!(total == 0 || zeros == 0, "gcc {major}: {}", name(&profile, symbol));
        }
        assert!(of_line(&profile).contains(&1), "gcc {major}");
        assert_eq!(body(&profile, "never").total(), 0, "gcc {major}");
    }
}

/// The start of the inner loop is no more than a value that comes with the way into the loop: no block has it. It was
/// executed as often as the loop was entered. Readers without discriminators do not get its count, which would stand
/// for the whole line.
#[test]
fn the_start_of_a_loop_without_a_block() {
    let shop = Workshop::new();
    let source = "\
volatile int sink;
__attribute__((noinline)) int f(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 256; j++)
            sink = i ^ j;
    return sink;
}
int main(void) { return f(10) < 0; }
";
    shop.write("nested.c", source);
    run(&shop, "nested.c", &["-O2"]);
    let of_inner = |profile: &Profile| -> Vec<u64> {
        let found = positions(body(profile, "f"));
        found.iter().filter(|((line, _), _)| *line == 3).map(|(_, count)| *count).collect()
    };
    assert_eq!(of_inner(&exact(&shop)), [10, 2560, 2570]);
    assert_eq!(of_inner(&for_gcc(&shop, "12")), [2560]);
}

/// Three copies of `g` in one function. Of the third one the code does not tell how often its line 4 was executed: 8
/// times. Its blocks have the numbers behind those of the first two, which were executed 10 and 20 times.
#[test]
fn blocks_of_copies_follow_each_other() {
    let shop = Workshop::new();
    let source = "\
volatile int sink;
static inline __attribute__((always_inline)) int g(int n, int most)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (i > most && (i & 1))
            break;
        s += i ^ n;
    }
    return s;
}
__attribute__((noinline)) int F(int a, int b, int c)
{
    sink = g(a, 500);
    sink = g(b, 50);
    return g(c, 5);
}
int main(void) { return F(10, 20, 30) == 1; }
";
    shop.write("copies.c", source);
    run(&shop, "copies.c", &["-O2"]);
    let profile = exact(&shop);
    let of_line_4 = |body: &Body| -> Vec<u64> {
        let found = positions(body);
        found.iter().filter(|((line, _), _)| *line == 4).map(|(_, count)| *count).collect()
    };
    let copies = bodies(&profile, body(&profile, "F"), "g");
    let found: Vec<(u32, Vec<u64>)> =
        copies.iter().map(|(line, body)| (*line, of_line_4(body))).collect();
    let [(2, first), (3, _), (4, third)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((first, third), (&vec![10, 0], &vec![8, 2]), "{found:?}");
}

/// The jump out of the macro carries `tries` to the end, where other ways come together. gcc 16 asks for the position
/// of the jump first, and then for that of the value, which was made 100 times. Only the notes show that there is a
/// block for the jump.
#[test]
fn gcc_16_gets_the_position_behind_the_last_of_a_line() {
    let shop = Workshop::new();
    let source = "\
#define TRY do { if (++tries > most && most) { result = tries > 7 ? -17 : -18; goto end; } } while (0)
volatile int sink;
__attribute__((noinline)) long f(long n, long most)
{
    long tries = 0, result = 0;
    for (long i = 0; i < n; i++) {
        sink = i;
        TRY;
    }
end:
    sink = tries;
    return result + tries;
}
int main(void) { return f(100, 1000) < 0; }
";
    shop.write("macro.c", source);
    run(&shop, "macro.c", &["-O2"]);
    let of_macro = |profile: &Profile| -> Vec<u64> {
        let found = positions(body(profile, "f"));
        found.iter().filter(|((line, _), _)| *line == 5).map(|(_, count)| *count).collect()
    };
    let (exact, for_16) = (of_macro(&exact(&shop)), of_macro(&for_gcc(&shop, "16")));
    assert_eq!(for_16.len(), exact.len() + 1, "{exact:?}, {for_16:?}");
    assert_eq!((for_16[0], for_16.last()), (100, Some(&1)));
}

/// gcc 16 takes the count of a value's position for each block where the value flows into a join. A choice makes no
/// value, so a block that ends with one gets no other position.
#[test]
fn gcc_16_gets_the_choices_of_blocks_alone() {
    const TAKE: &str = "\
__attribute__((noipa)) static int take(int *at, int way)
{
    int status = at[way] + 3;
    if (way > 100)
        goto out;
    at[way] = status * 2;
    if (way == 50)
        status = 7;
out:
    return status;
}
int values[64];
int main(int argc, char **argv)
{
    int sum = argc;
    for (int i = 0; i < 1000; i++)
        sum += take(values, i % 60);
    return sum == 0;
}
";
    let shop = Workshop::new();
    shop.write("take.c", TAKE);
    run(&shop, "take.c", &[]);
    let lines = |profile: &Profile| -> BTreeSet<u32> {
        positions(body(profile, "take")).into_keys().map(|(line, _)| line).collect()
    };
    let (values, choices) = ([2, 5], [3, 6]);
    for profile in [exact(&shop), for_gcc(&shop, "12"), for_gcc(&shop, "15")] {
        let lines = lines(&profile);
        assert!(values.iter().chain(&choices).all(|line| lines.contains(line)), "{lines:?}");
    }
    for major in ["16", "17"] {
        let lines = lines(&for_gcc(&shop, major));
        assert!(choices.iter().all(|line| lines.contains(line)), "gcc {major}: {lines:?}");
        assert!(!values.iter().any(|line| lines.contains(line)), "gcc {major}: {lines:?}");
    }
    let flat = ["convert", "ours.csraw", "--for-gcc", "16", "--inline", "flat"];
    let lines = lines(&afdo_v1_v3::decode::decode(&shop.tool_output(&flat)).unwrap().profile);
    assert!(values.iter().all(|line| lines.contains(line)), "{lines:?}");
}

/// gcc 16 takes a function without counts for one that is never executed, and its callers' blocks, too. Bodies at hot
/// calls take counts from the functions, but not all.
#[test]
fn functions_keep_counts_that_bodies_at_calls_take() {
    const HOT: &str = "\
__attribute__((noinline)) static int step(int i)
{
    if (i % 100 == 7)
        return i / 3;
    return i ^ 5;
}
int main(int argc, char **argv)
{
    int sum = step(argc);
    for (int i = 0; i < 10000; i++)
        sum += step(i);
    return sum == 1;
}
";
    let shop = Workshop::new();
    shop.write("hot.c", HOT);
    run(&shop, "hot.c", &[]);
    let whole = positions(body(&exact(&shop), "step"));
    let profile = for_gcc(&shop, "16");
    let mut bodies = 0;
    body(&profile, "main").for_each_record(&mut |at| bodies += at.inlined.len());
    assert_eq!(bodies, 1, "of the hot call");
    let own = positions(body(&profile, "step"));
    assert!(own.len() > 3, "{own:?}");
    for (position, count) in own {
        assert_eq!(count, whole[&position].div_ceil(2), "{position:?}");
    }
}

/// gcc 12 ends with an internal error in `vect` if a profile has 0 in a loop that it vectorises.
#[test]
fn a_loop_whose_condition_was_never_true() {
    let gcc = ["gcc-12", "gcc"].into_iter().find(|gcc| {
        let version = std::process::Command::new(gcc).arg("-dumpversion").output();
        version.is_ok_and(|output| output.stdout.starts_with(b"12"))
    });
    let Some(gcc) = gcc else { return skip("gcc 12 is not installed") };
    let shop = Workshop::new();
    for length in [0, 1, 2, 3, 4, 8, 16, 20, 64, 1000] {
        shop.write("search.c", SEARCH.replace("{ 20,", &format!("{{ {length},")));
        run(&shop, "search.c", &[]);
        shop.tool_output(&["convert", "ours.csraw", "--for-gcc", "12", "-o", "search.afdo"]);
        for level in ["-O2", "-O3"] {
            let compile = ["-fauto-profile=search.afdo", "-c", "search.c", "-o", "again.o"];
            succeed(shop.command(gcc).arg(level).args(compile));
        }
    }
}

/// Code that a generator has put between its own with `#line`. gcc takes 16 bits of the distance from the
/// function for the line, whatever the file.
#[test]
fn lines_of_another_file_inside_a_function() {
    if !have("gcov") {
        return;
    }
    let shop = Workshop::new();
    shop.program("grammar.c");
    for level in ["-O0", "-O2"] {
        run(&shop, "grammar.c", &[level]);
        let output = shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!told.contains("no known function"), "{level}: {told}");
        let profile = exact(&shop);
        let found = positions(body(&profile, "reduce"));
        let start = function_starts(&shop, "ours", "reduce");
        shop.link_stock(&["grammar.o"], "stock", &[]);
        shop.run("stock", &[]);
        let gcov = lines_of_gcov(&shop, &["grammar.o".into()]);
        std::fs::remove_file(shop.path("grammar.gcda")).unwrap();
        let of_actions = gcov.iter().filter(|((file, _), _)| file == "grammar.y");
        assert_eq!(of_actions.clone().count(), 4, "{level}: {gcov:?}");
        for ((_, line), _) in of_actions {
            let offset = line.wrapping_sub(start) & 0xffff;
            let mut of_line = found.iter().filter(|((found, _), _)| *found == offset);
            // The `for` has several blocks, and gcov gives their sum. Lines of both files may have the same
            // distance from the function.
            let alike =
                gcov.iter().filter(|((_, other), _)| other.wrapping_sub(start) & 0xffff == offset);
            let is_it = |found: u64| *line == 41 || alike.clone().any(|(_, &count)| found == count);
            assert!(of_line.any(|(_, &count)| is_it(count)), "{level}: {line}: {found:?}");
        }
    }
}

fn function_starts(shop: &Workshop, program: &str, function: &str) -> u32 {
    let all = starts(shop, program);
    let [start] = all[function].iter().copied().collect::<Vec<_>>()[..] else { panic!() };
    start
}

/// Code from a real generator.
#[test]
fn a_parser_of_bison() {
    if !have("bison") || !have("gcov") {
        return;
    }
    let shop = Workshop::new();
    shop.program("sum.y");
    succeed(shop.command("bison").args(["-o", "sum.c", "sum.y"]));
    run(&shop, "sum.c", &[]);
    let told = shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x"]).stderr;
    assert!(!String::from_utf8(told).unwrap().contains("no known function"));
    let profile = exact(&shop);
    let start = function_starts(&shop, "ours", "yyparse");
    shop.link_stock(&["sum.o"], "stock", &[]);
    shop.run("stock", &[]);
    let gcov = lines_of_gcov(&shop, &["sum.o".into()]);
    let parser = counts(&profile).into_iter().filter(|at| name(&profile, at.tree) == "yyparse");
    let found: BTreeSet<(u32, u64)> = parser.map(|at| (at.position.line, at.count)).collect();
    // The actions are all inside the parser.
    let text = String::from_utf8(shop.read("sum.y")).unwrap();
    let is_action = |line: u32| text.lines().nth(line as usize - 1).unwrap().contains("$$ =");
    let actions = gcov.iter().filter(|((file, line), _)| file == "sum.y" && is_action(*line));
    assert!(actions.clone().count() >= 4, "{gcov:?}");
    for ((_, line), &count) in actions {
        assert!(count > 0);
        let line = line.wrapping_sub(start) & 0xffff;
        assert!(found.contains(&(line, count)), "{line}: {count}, {found:?}");
    }
}

/// Functions that have left no instruction. Debug information knows that they were inlined.
#[test]
fn inlined_functions_without_code() {
    if !have("readelf") {
        return;
    }
    let shop = Workshop::new();
    shop.write(
        "barrier.c",
        "\
static inline int keep(int x)
{
    int y = x;
    __asm__(\"\" : \"+r\"(y));
    return y;
}
static inline int pick(int x)
{
    int y = x;
    y = keep(y);
    return y;
}
__attribute__((noipa)) int f(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += keep(i);
    if (n == 3)
        s += pick(s);
    return s;
}
int main(void) { return f(10) + f(3) == 7; }
",
    );
    for level in ["-O1", "-O2", "-O3"] {
        run(&shop, "barrier.c", &[level]);
        let profile = exact(&shop);
        let f = body(&profile, "f");
        let most = |body: &Body| positions(body).into_values().max().unwrap_or(0);
        let [(4, keep)] = bodies(&profile, f, "keep")[..] else { panic!("{level}") };
        assert_eq!(most(keep), 13, "{level}");
        let [(6, pick)] = bodies(&profile, f, "pick")[..] else { panic!("{level}") };
        assert_eq!(most(pick), 1, "{level}");
        let [(3, keep)] = bodies(&profile, pick, "keep")[..] else { panic!("{level}") };
        assert_eq!(most(keep), 1, "{level}");
    }
}

/// The share of gcov's executions that is found, in thousandths. For each line it counts all positions at
/// that distance from the declaration of their function, but no more than gcov does.
fn found_of_gcov(shop: &Workshop, profile: &Profile, objects: &[String]) -> u64 {
    let gcov = lines_of_gcov(shop, objects);
    let mut starts = starts(shop, "ours");
    for (function, start) in starts_of_gcov(shop, objects) {
        starts.entry(function).or_default().insert(start);
    }
    let mut ours = Lines::new();
    for found in counts(profile) {
        let path = profile.symbols.declared_in(found.symbol).unwrap_or_default();
        let file = base(std::str::from_utf8(path).unwrap());
        for start in starts.get(&name(profile, found.symbol)).into_iter().flatten() {
            let line = start + found.position.line;
            *ours.entry((file.clone(), line)).or_default() += found.count;
        }
    }
    share_of(&gcov, &ours)
}

/// C++ with containers, algorithms, lambdas, templates, smart pointers and virtual calls.
#[test]
#[ignore = "slow"]
fn executions_of_a_cxx_program() {
    if !have("g++") || !have("gcov") || !have("readelf") {
        return;
    }
    let shop = Workshop::new();
    shop.write("ordinary.cc", include_str!("../../benches/speedup/drivers/ordinary.cc"));
    shop.write("text.h", include_str!("../../benches/speedup/drivers/text.h"));
    // The level reached so far. The missing functions are those that debug information does not name.
    for (level, least) in [("-O1", 970), ("-O2", 970), ("-O3", 965)] {
        run_with(&shop, "ordinary.cc", &[level], &["4"]);
        let profile = exact(&shop);
        shop.link_stock(&["ordinary.o"], "stock", &["-lstdc++"]);
        shop.run("stock", &["4"]);
        let share = found_of_gcov(&shop, &profile, &["ordinary.o".into()]);
        std::fs::remove_file(shop.path("ordinary.gcda")).unwrap();
        println!("{level}: {share}");
        assert!(share >= least, "{level}: {share}");
    }
}

/// The compiler merged both `return &ok`. The code loads the value as often as both together, under the first one's
/// line. The notes do not have that line. Unless its own block is left, nothing says how often it was executed.
#[test]
fn merged_ends_of_two_lines() {
    if !have("gcov") {
        return;
    }
    let shop = Workshop::new();
    shop.write(
        "merged.c",
        "struct node { int kind; } ok, bad;\n\
         __attribute__((noinline)) struct node *check(int a, int b)\n\
         {\n\
             if ((a & 1) != 0)\n\
                 return &ok;\n\
             if (b == 3)\n\
                 return &bad;\n\
             if (b > 10) {\n\
                 a += b;\n\
                 ok.kind |= a;\n\
                 return &ok;\n\
             }\n\
             return 0;\n\
         }\n\
         int main(void)\n\
         {\n\
             int n = 0;\n\
             for (int i = 0; i < 1000; i++)\n\
                 n += check(i % 100 == 1, i & 1 ? 20 : 30) == &ok;\n\
             return n == 0;\n\
         }\n",
    );
    for level in ["-O1", "-O2", "-O3"] {
        run(&shop, "merged.c", &[level]);
        for profile in [exact(&shop), for_gcc(&shop, "12"), for_gcc(&shop, "16")] {
            let found = positions(body(&profile, "check"));
            assert!(found.get(&(3, 0)).is_none_or(|&count| count <= 10), "{level}: {found:?}");
        }
        assert_only_estimates_differ_from_gcov(&shop, "merged");
    }
}

/// The buffers of the list's nodes come from a header whose functions left no trace: neither code nor debug information
/// names them. Their lines are no lines of the functions that they are inlined in. Code that is included within a
/// function is.
#[test]
fn headers_whose_functions_left_no_trace() {
    let shop = Workshop::new();
    shop.write("table.h", "&&up,\n&&down,\n");
    let source = "\
#include <list>
std::list<long long> all;
__attribute__((noinline)) long long fill(int n)
{
    static const void *const table[] = {
#include \"table.h\"
    };
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        goto *table[i & 1];
    up:
        all.push_back(i);
        continue;
    down:
        sum += all.back();
        all.pop_back();
    }
    return sum;
}
int main()
{
    long long sum = 0;
    for (int i = 0; i < 10; i++)
        sum += fill(100);
    return sum == 1;
}
";
    shop.write("list.cc", source);
    for level in ["-O1", "-O2", "-O3"] {
        run(&shop, "list.cc", &[level]);
        let profile = exact(&shop);
        let of_list: Vec<_> = counts(&profile)
            .into_iter()
            .filter(|found| name(&profile, found.symbol).starts_with("_ZNSt7__cxx11"))
            .collect();
        assert!(of_list.len() > 10, "{level}");
        for found in of_list {
            let function = name(&profile, found.symbol);
            assert!(found.position.line < 0x8000, "{level}: {function}: {:?}", found.position);
        }
        let told = shop.tool(&["convert", "ours.csraw", "--to=v4", "-v", "-o", "x"]).stderr;
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains("aligned_buffer.h") && !told.contains("table.h"), "{level}: {told}");
    }
}

/// Whatever is shown without a mark is what gcov shows for the line, in the program of this name.
fn assert_only_estimates_differ_from_gcov(shop: &Workshop, program: &str) {
    shop.link_stock(&[&format!("{program}.o")], "stock", &[]);
    shop.run("stock", &[]);
    let gcov = lines_of_gcov(shop, &[format!("{program}.o")]);
    std::fs::remove_file(shop.path(format!("{program}.gcda"))).unwrap();
    let starts = starts(shop, "ours");
    let json = shop.tool_output(&["convert", "ours.csraw", "--to", "json"]);
    let profile: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let mut certain = 0;
    for function in profile["functions"].as_array().unwrap() {
        let start = starts[function["name"].as_str().unwrap()].first().unwrap();
        for location in function["locations"].as_array().unwrap() {
            let is_certain = location["is_estimate"].is_null() && location["count"].is_u64();
            if is_certain && location["discriminator"] == 0 {
                let line = start + location["line"].as_u64().unwrap() as u32;
                assert!(gcov.contains_key(&(format!("{program}.c"), line)), "{line}: {location}");
                certain += 1;
            }
        }
    }
    assert!(certain > 10, "{profile:#}");
}
