//! Several copies of one function in another. They are compared with the same program in which each copy is a function
//! of its own, so that nothing is in doubt.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use countersink::formats::afdo_v4::decode::decode;
use countersink::profile::{Body, Profile};

use crate::harness::Workshop;
use crate::reference::name;

/// A program with copies of `g`, and of `h`, which calls `g`. `@` marks their calls.
struct Copied {
    /// `#` stands for the name.
    g: &'static str,
    h: &'static str,
    f: String,
}

impl Copied {
    /// The program with one `g` and one `h`.
    fn shared(&self) -> String {
        let all = [self.g.replace('#', "g"), self.h.replace('#', "h"), self.f.clone()].concat();
        Self::program(&all.replace('@', ""))
    }

    /// The program with a function of its own for each copy. The lines of all functions count from their start, as
    /// before.
    fn apart(&self) -> String {
        let mut functions = String::new();
        let f = self.expanded(&self.f, &mut 0, &mut functions);
        Self::program(&(functions + &f))
    }

    /// Makes a function for each call.
    fn expanded(&self, text: &str, number: &mut u32, functions: &mut String) -> String {
        let mut parts = text.split('@');
        let mut expanded = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, definition) = match part.starts_with('g') {
                true => ("g", self.g),
                false => ("h", self.h),
            };
            *number += 1;
            let own = format!("{name}_{number}");
            let function = self.expanded(&definition.replace('#', &own), number, functions);
            functions.push_str(&function);
            expanded += &own;
            expanded += &part[1..];
        }
        expanded
    }

    fn program(functions: &str) -> String {
        format!(
            "static int data[256];\n{functions}\
int main(void)
{{
    long sum = 0;
    for (int i = 0; i < 256; i++)
        data[i] = i * i * 7 + i / 3;
    for (int i = 0; i < 300; i++)
        sum += F(i);
    return sum == 0;
}}
"
        )
    }
}

/// The calls that lead to a body, with names without numbers, and a line there.
type At = (Vec<(u32, String)>, u32);

/// The counts of the blocks there.
type Counts = BTreeMap<At, BTreeSet<u64>>;

/// The counts of the bodies in `F`.
fn in_copies(profile: &Profile) -> Counts {
    fn add(profile: &Profile, body: &Body, calls: &[(u32, String)], found: &mut Counts) {
        for (position, record) in &body.positions {
            if let Some(count) = record.count.filter(|_| !calls.is_empty()) {
                found.entry((calls.to_vec(), position.line)).or_default().insert(count);
            }
            for (&callee, body) in &record.inlined {
                let name = name(profile, callee);
                let name = name.split('_').next().unwrap().to_owned();
                add(profile, body, &[calls, &[(position.line, name)]].concat(), found);
            }
        }
    }
    let mut functions = profile.functions.iter();
    let (_, f) = functions.find(|&(&symbol, _)| name(profile, symbol) == "F").unwrap();
    let mut found = BTreeMap::new();
    add(profile, &f.body, &[], &mut found);
    found
}

/// The counts of the copies in a program, and what they are if each copy is a function of its own.
fn found_and_true(program: &Copied) -> (Counts, Counts) {
    let of = |source: String| {
        let shop = Workshop::new();
        shop.write("copies.c", &source);
        let object = shop.compile("copies.c", &[]);
        shop.link(&[&object], "ours", &[]);
        shop.run("ours", &[]);
        in_copies(
            &decode(&shop.tool_output(&["convert", "ours.csraw", "--to=v4"])).unwrap().profile,
        )
    };
    (of(program.shared()), of(program.apart()))
}

/// A copy of a function gets the counts that a function of its own would have.
#[track_caller]
fn copies_are_apart(program: &Copied) {
    let (shared, apart) = found_and_true(program);
    let wrong = apart.iter().filter(|&(at, counts)| shared.get(at) != Some(counts));
    let wrong: Vec<_> = wrong.map(|(at, counts)| (at, counts, shared.get(at))).collect();
    assert!(!apart.is_empty() && wrong.is_empty(), "{wrong:#?}");
    assert_eq!(shared.len(), apart.len());
}

const LOOP: &str = "\
static inline __attribute__((always_inline)) int #(int *p)
{
    long s = 0;
    for (int i = 0; i < (p[0] & 3); i++)
        s += p[i];
    return s;
}
";

const EITHER: &str = "\
static inline __attribute__((always_inline)) int #(int *p)
{
    if (p[0] & 1)
        return @g(p + 1);
    return @g(p + 2);
}
";

const BESIDE: &str = "\
static inline __attribute__((always_inline)) int #(int *p)
{
    p[0] += 1;
    p[1] = p[0] ^ p[2];
    return p[3];
}
";

/// Each copy has blocks of its own. The last line of a copy and the first one of the next are in one block.
#[test]
fn copies_with_loops() {
    let f = "\
__attribute__((noinline)) int F(int n)
{
    int a = 7;
    for (int i = n % 5; i > 0; i--)
        a += @g(data + (n * 2 & 63));
    asm volatile(\"\" : : : \"memory\");
    a += @g(data + (n * 3 & 63));
    if (n % 13 < 1)
        a ^= @g(data + (n * 3 & 63)) + @g(data + (n & 31) + 4);
    if (a & 4)
        a += @g(data + (n * 5 & 63));
    for (int i = n % 6; i > 0; i--)
        a ^= @g(data + (n * 6 & 63));
    if (n % 13 < 1)
        a += @g(data + (n * 3 & 63));
    if (a & 8)
        a ^= @g(data + (n * 6 & 63));
    return a;
}
";
    copies_are_apart(&Copied { g: LOOP, h: "", f: f.into() });
}

/// `F` has copies of `g` of its own, and others in the copy of `h`.
#[test]
fn copies_in_copies() {
    let f = "\
__attribute__((noinline)) int F(int n)
{
    int a = 7;
    if (n % 11 < 2)
        a ^= @g(data + (n * 3 & 63));
    a ^= @h(data + (n * 5 & 63));
    asm volatile(\"\" : : : \"memory\");
    for (int i = n % 6; i > 0; i--)
        a ^= @g(data + (n * 3 & 63));
    return a;
}
";
    copies_are_apart(&Copied { g: LOOP, h: EITHER, f: f.into() });
}

/// The copies have no blocks of their own: only the line of the call before them tells them apart.
#[test]
fn copies_beside_calls() {
    let f = "\
__attribute__((noinline)) int F(int n)
{
    int a = 7;
    if (n % 11 < 2)
        a ^= @g(data + (n * 3 & 63));
    a ^= @g(data + (n * 5 & 63));
    for (int i = n % 6; i > 0; i--)
        a ^= @g(data + (n * 3 & 63)) + @g(data + (n & 31) + 1);
    if (a & 2)
        a += @g(data + (n * 7 & 63));
    a ^= @g(data + (n * 2 & 63));
    a += @g(data + (n * 9 & 63));
    return a;
}
";
    copies_are_apart(&Copied { g: BESIDE, h: "", f: f.into() });
}

/// gcc merges the code of the last copy with that of others, and its debug information no longer has the copy.
#[test]
fn a_copy_that_the_debug_information_lacks() {
    let f = "\
__attribute__((noinline)) int F(int n)
{
    int a = 7;
    if (n % 9 < 1)
        a ^= @g(data + (n * 4 & 63));
    if (n % 7 < 1)
        a += @g(data + (n * 4 & 63)) + @g(data + (n & 31) + 3);
    a ^= @g(data + (n * 4 & 63));
    return a;
}
";
    copies_are_apart(&Copied { g: STATEMENTS, h: "", f: f.into() });
}

/// The parts of made-up programs. The same seed makes the same program.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        // Knuth's MMIX; its high bits are the better ones.
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len() as u32) as usize]
    }

    fn condition(&mut self) -> String {
        match self.below(4) {
            0 => format!("if (n % {} < {})", 3 + self.below(11), 1 + self.below(3)),
            1 => format!("if (a & {})", 1 << self.below(4)),
            2 => format!("for (int i = n % {}; i > 0; i--)", 2 + self.below(5)),
            _ => String::new(),
        }
    }

    /// A statement with one call or two.
    fn statement(&mut self, has_h: bool) -> String {
        let callee = if has_h && self.below(5) < 2 { "h" } else { "g" };
        let (operator, factor) = (self.one_of(&["+=", "^="]), 1 + self.below(9));
        let second = match self.below(5) {
            0 => format!(" + @g(data + (n & 31) + {})", 1 + self.below(9)),
            _ => String::new(),
        };
        format!("a {operator} @{callee}(data + (n * {factor} & 63)){second};")
    }

    fn program(&mut self) -> Copied {
        let (g, has_h) =
            (self.one_of(&[STATEMENTS, BESIDE, LOOP, BRANCH, INDEXED]), self.below(2) == 0);
        let mut f = String::from("__attribute__((noinline)) int F(int n)\n{\n    int a = 7;\n");
        for _ in 0..3 + self.below(10) {
            let (condition, statement) = (self.condition(), self.statement(has_h));
            match condition.is_empty() {
                true => writeln!(f, "    {statement}").unwrap(),
                false => writeln!(f, "    {condition}\n        {statement}").unwrap(),
            }
            if self.below(5) == 0 {
                f.push_str("    asm volatile(\"\" : : : \"memory\");\n");
            }
        }
        f.push_str("    return a;\n}\n");
        Copied { g, h: if has_h { EITHER } else { "" }, f }
    }
}

const STATEMENTS: &str = "\
static inline __attribute__((always_inline)) int #(int *p)
{
    int a = p[0];
    a += p[1] * 3;
    a ^=
        p[2];
    return a;
}
";

const BRANCH: &str = "\
static inline __attribute__((always_inline)) int #(int *p)
{
    if (p[0] > 100)
        p[1]++;
    return p[2];
}
";

const INDEXED: &str = "\
static inline __attribute__((always_inline)) int #(int *p)
{
    int i = p[0] & 7;
    p[i] = p[i + 1];
    p[i + 2] = 3;
    return i;
}
";

/// How far the counts are from the truth, as a share of it.
fn error(found: &Counts, truth: &Counts) -> f64 {
    let of = |counts: &Counts, at: &At| counts.get(at).and_then(|all| all.last()).map_or(0, |&n| n);
    let places: BTreeSet<&At> = found.keys().chain(truth.keys()).collect();
    let off: u64 = places.iter().map(|at| of(found, at).abs_diff(of(truth, at))).sum();
    let all: u64 = truth.keys().map(|at| of(truth, at)).sum();
    off as f64 / all.max(1) as f64
}

const PROGRAMS: u64 = 30;
const MOST_MEAN_ERROR: f64 = 0.03;

/// Notes and debug information do not tell all copies of all programs apart: gcc merges code of several copies, and
/// lists each line once for each block.
#[test]
#[ignore = "slow"]
fn copies_of_made_up_programs() {
    let errors: Vec<(u64, f64)> = (1..=PROGRAMS)
        .map(|seed| {
            let program = Random(seed << 32).program();
            let (found, truth) = found_and_true(&program);
            (seed, error(&found, &truth))
        })
        .collect();
    let mean = errors.iter().map(|(_, error)| error).sum::<f64>() / errors.len() as f64;
    assert!(mean < MOST_MEAN_ERROR, "mean error {mean:.4}: {errors:?}");
}
