//! Counts of functions that were inlined before the counters were laid out. They are compared with the same
//! program without early inlining, where every function has counters of its own.

use std::collections::{BTreeMap, BTreeSet};

use countersink::formats::afdo_v4::decode::decode;
use countersink::profile::{Profile, SymbolId};

use crate::harness::{Workshop, have};
use crate::programs::{WRAPPER, run_classes};
use crate::reference::{counts, name};

/// Executions of every function's lines, by name. Lines of bodies inlined in other functions are included.
type Lines = BTreeMap<String, BTreeMap<u32, u64>>;

fn flattened(profile: &Profile) -> Lines {
    let mut lines = Lines::new();
    for found in counts(profile) {
        let own = lines.entry(name(profile, found.symbol)).or_default();
        *own.entry(found.position.line).or_default() += found.count;
    }
    lines
}

/// The counts of a function's lines in the body of another one, for all blocks.
fn nested(profile: &Profile, tree: &str, function: &str) -> BTreeMap<u32, BTreeSet<u64>> {
    let mut lines = BTreeMap::<u32, BTreeSet<u64>>::new();
    for found in counts(profile) {
        if name(profile, found.tree) == tree && name(profile, found.symbol) == function {
            lines.entry(found.position.line).or_default().insert(found.count);
        }
    }
    lines
}

/// A program of one or more sources, built and run.
fn run(shop: &Workshop, sources: &[(&str, String)], flags: &[&str]) {
    let is_source = |name: &str| !name.ends_with(".h");
    sources.iter().for_each(|(name, text)| _ = shop.write(name, text));
    let sources = sources.iter().filter(|(name, _)| is_source(name));
    let objects: Vec<String> = sources.map(|(name, _)| shop.compile(name, flags)).collect();
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    shop.link(&objects, "ours", &["-lstdc++"]);
    shop.run("ours", &[]);
}

fn converted(shop: &Workshop, arguments: &[&str]) -> Profile {
    decode(&shop.tool_output(&[&["convert", "ours.csraw", "--to=v4"], arguments].concat()))
        .unwrap()
        .profile
}

/// These lines of a function have exact counts, no line has more, and flat profiles hold the same.
#[track_caller]
fn is_exact(sources: &[(&str, String)], function: &str, lines: &[u32]) {
    let (shop, exact) = (Workshop::new(), Workshop::new());
    run(&shop, sources, &[]);
    run(&exact, sources, &["-fno-early-inlining"]);
    let (all, exact) = (flattened(&converted(&shop, &[])), flattened(&converted(&exact, &[])));
    assert_eq!(flattened(&converted(&shop, &["--inline", "flat"])), all);
    let (found, exact) = (&all[function], &exact[function]);
    for (line, count) in found {
        assert!(*count <= exact[line], "{function}: {found:?}, in truth {exact:?}");
    }
    for line in lines {
        assert_eq!(found.get(line), exact.get(line), "{function}: {found:?}, in truth {exact:?}");
    }
}

const RUNS: &str = "
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 10; i++)
        sum += F(i);
    return sum == 0;
}
";

/// `g` comes into `F` directly, and later once more within `h`, which has counters of its own. The loop of
/// `g` has as many blocks in `F` as there are copies. `F` calls `g` with 4 to 9, `h` with 1 to 10. gcc leaves
/// the part before the loop out of the notes of `F`, where it is a value only: 6 ways into the loop.
#[test]
fn copies_that_came_later() {
    let program = "
static inline int g(int n)
{
    int s = n;
    for (int i = 0; i < n; i++)
        s += i ^ n;
    return s;
}
static int h(int n)
{
    int r = 0;
    r += g(n);
    for (volatile int k = 0; k < 2; k++) r += n * k;
    for (volatile int k = 0; k < 2; k++) r += n * k;
    for (volatile int k = 0; k < 2; k++) r += n * k;
    for (volatile int k = 0; k < 2; k++) r += n * k;
    return r;
}
__attribute__((noinline)) int F(int n)
{
    int a = 7;
    if (n > 3)
        a = g(n);
    return a + h(n + 1);
}
";
    is_exact(&[("t.c", format!("{program}{RUNS}"))], "g", &[4]);
    let shop = Workshop::new();
    run(&shop, &[("t.c", format!("{program}{RUNS}"))], &[]);
    let profile = converted(&shop, &[]);
    let expected = [(3, [6, 39, 39 + 6].into()), (4, [39].into())];
    assert_eq!(nested(&profile, "F", "g"), expected.into());
    let once = [0, 2, 5].map(|line| (line, [10].into()));
    let expected = [(3, [10, 55, 55 + 10].into()), (4, [55].into())];
    assert_eq!(nested(&profile, "h", "g"), once.into_iter().chain(expected).collect());
}

/// The first line of one copy has no instructions any more. Its counts must not go to the other copy.
#[test]
fn a_copy_without_instructions() {
    let program = "
static inline int g(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i ^ n;
    return s;
}
static int h(int n)
{
    int r = 0;
    if (n > 3)
        r = g(n);
    r += 1;
    return r;
}
__attribute__((noinline)) int F(int n)
{
    int a = g(n);
    for (volatile int k = 0; k < 30; k++) a += n * k;
    return a + h(n + 1);
}
";
    is_exact(&[("t.c", format!("{program}{RUNS}"))], "g", &[4]);
    let shop = Workshop::new();
    run(&shop, &[("t.c", format!("{program}{RUNS}"))], &[]);
    let profile = converted(&shop, &[]);
    // The sums of 0 to 9, and of 4 to 10: `h` is inlined in `F`, too.
    assert_eq!(nested(&profile, "F", "g").get(&4), Some(&[45, 49].into()));
}

/// `f` calls `f` of another class. gcc expects it to call itself, inlines `f` in `f`, and takes that back. The debug
/// information still has these copies. They never ran. `h` calls `h` in a function that is inlined there.
#[test]
fn a_guess_that_was_taken_back() {
    if !have("g++") {
        return;
    }
    let shop = Workshop::new();
    run_classes(&shop, &WRAPPER, &[]);
    let profile = converted(&shop, &[]);
    let is = |symbol, function: &str| name(&profile, symbol) == function;
    for f in ["1fEi", "1gEi", "1hEi"].map(|end| format!("_ZN12_GLOBAL__N_17Wrapper{end}")) {
        let counts = counts(&profile).into_iter();
        let own = counts.filter(|found| is(found.tree, &f) && is(found.symbol, &f));
        let lines: Vec<_> = own.map(|found| (found.position.line, found.count)).collect();
        assert_eq!(lines, [0, 2, 3].map(|line| (line, 1000)), "{f}");
    }
}

const CALLS: &str = "
typedef int (*fp)(int);
__attribute__((noipa)) int one(int x) { return x + 1; }
__attribute__((noipa)) int two(int x) { return x + 2; }
";

/// Two copies of a call. One of them became direct.
#[test]
fn a_call_of_which_one_copy_is_known() {
    let program = "
volatile int sink;
static inline int call(fp f, int x)
{
    sink = x;
    return f(x);
}
__attribute__((noinline)) int G(fp p, int n)
{
    int a = call(p, n);
    if (n & 1)
        a += call(one, n);
    return a;
}
int F(int n) { return G(n % 3 ? two : one, n); }
";
    is_exact(&[("t.c", format!("{CALLS}{program}{RUNS}"))], "call", &[2, 3]);
}

/// The same call in two copies. Its line was executed as often as both together.
#[test]
fn as_many_executions_as_calls() {
    let program = "
fp volatile p = one;
static inline __attribute__((always_inline)) int call(int x)
{
    int s = 0;
    for (int i = 0; i < x; i++) s += p(i);
    return s;
}
__attribute__((noinline)) int F(int n)
{
    int a = call(n);
    a += call(n + 1);
    return a;
}
";
    let shop = Workshop::new();
    run(&shop, &[("t.c", format!("{CALLS}{program}{RUNS}"))], &[]);
    for way in ["flat", "nested"] {
        let profile = converted(&shop, &["--inline", way]);
        let mut calls = 0;
        for function in profile.functions.values() {
            function.body.for_each_record(&mut |record| {
                let targets: u64 = record.targets.values().sum();
                assert!(record.count.unwrap_or(0) >= targets, "{way}: {record:?}");
                calls += targets;
            });
        }
        assert_eq!(calls, 45 + 55, "{way}");
    }
}

/// The notes of one object say nothing about copies in another.
#[test]
fn notes_of_another_object() {
    let header = "
volatile int SINK;
static inline int sh(int x)
{
    SINK = x;
    return x + 1;
}
";
    let other = "#define SINK other_sink\n#include \"h.h\"\nint (*L(void))(int) { return sh; }\n";
    let own = "#define SINK own_sink\n#include \"h.h\"\nint (*L(void))(int);
__attribute__((noinline)) int F(int n)
{
    int a = sh(n);
    if (n & 1)
        a += sh(n + 3);
    return a + (L() == 0);
}
";
    let sources = [("h.h", header.into()), ("l.c", other.into()), ("m.c", format!("{own}{RUNS}"))];
    is_exact(&sources, "sh", &[2]);
}

/// Constructors and destructors have the names that compilers work with.
#[test]
fn constructors() {
    if !have("g++") {
        return;
    }
    let program = "
volatile int sink;
struct B {
    int v;
    inline B(int x)
    {
        v = x;
        sink = x;
    }
    inline ~B() { sink = v; }
};
__attribute__((noinline)) int F(int i)
{
    B b(i);
    return b.v;
}
";
    is_exact(&[("t.cc", format!("{program}{RUNS}"))], "_ZN1BC2Ei", &[2, 3]);
}

/// The notes have the whole path of a file, the debug information only its end.
#[test]
fn a_prefix_mapped_to_nothing() {
    let program = "
__attribute__((noinline)) int F(int n)
{
    fp volatile p = n % 3 ? one : two;
    return p(n);
}
";
    let profile = |flag: &dyn Fn(&str) -> Vec<String>| {
        let shop = Workshop::new();
        let flags = flag(shop.path("").display().to_string().trim_end_matches('/'));
        let flags: Vec<&str> = flags.iter().map(|flag| &**flag).collect();
        run(&shop, &[("t.c", format!("{CALLS}{program}{RUNS}"))], &flags);
        let text = shop.tool_output(&["convert", "ours.csraw", "--to", "v4-text"]);
        let text = String::from_utf8(text).unwrap();
        text.replace(&shop.path("").display().to_string(), "")
    };
    let plain = profile(&|_| Vec::new());
    assert!(plain.contains("callsites"), "{plain}");
    assert_eq!(profile(&|folder| vec![format!("-ffile-prefix-map={folder}=.")]), plain);
}

/// Paths that only the debug information has do not make two functions of one.
#[test]
fn prefix_maps() {
    let program = "
__attribute__((noinline)) int F(int n)
{
    fp volatile p = n % 3 ? one : two;
    return p(n);
}
";
    let shop = Workshop::new();
    let map = format!("-fdebug-prefix-map={}=/elsewhere", shop.path("").display());
    let map = map.replace("/=/", "=/");
    run(&shop, &[("t.c", format!("{CALLS}{program}{RUNS}"))], &[&map]);
    let told = shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x"]).stderr;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("none of the notes' source files"), "{told}");
    let back = format!("/elsewhere={}", shop.path("").display());
    let back = back.trim_end_matches('/');
    let told =
        shop.tool(&["convert", "ours.csraw", "--to=v4", "-o", "x", "--path-map", back]).stderr;
    assert!(!String::from_utf8(told).unwrap().contains("none of the notes"));
    let profile = converted(&shop, &["--path-map", back]);
    let named = |&symbol: &SymbolId| profile.symbols.name(symbol) == b"F";
    let of_f: Vec<SymbolId> = profile.functions.keys().copied().filter(named).collect();
    let [f] = of_f[..] else { panic!("{} functions called F", of_f.len()) };
    let records = profile.functions[&f].body.positions.values();
    assert_eq!(records.map(|record| record.targets.len()).sum::<usize>(), 2);
}
