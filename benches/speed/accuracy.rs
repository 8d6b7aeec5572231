//! How much of a site with many targets is kept, and how exact the counts are.
//!
//! The 192 coldest of 200 targets are called 40 times each. Then all are called a million times, distributed
//! by Zipf's law, in random order. The figures are about the 8 hottest.

use std::fmt::Write;

use countersink::convert::gcov::names::ident;
use countersink::formats::gcda::decode::{Counters, Data};
use countersink::raw::dump::{Dump, SiteView};
use countersink::raw::gcov::Kind;
use countersink::raw::merge::Pair;

use crate::harness::Workshop;
use crate::table::Table;

const TARGETS: usize = 200;
const HOT: usize = 8;
const EARLY: i64 = 40;
const CALLS: f64 = 1e6;

pub fn measure(table: &mut Table) {
    let shop = Workshop::new();
    shop.write("zipf.c", source());
    let object = shop.compile("zipf.c", &[]);
    shop.link_stock(&[&object], "theirs", &[]);
    shop.link(&[&object], "ours", &[]);
    for runs in [1, 10] {
        for program in ["ours", "theirs"] {
            (0..runs).for_each(|_| drop(shop.run(program, &[])));
        }
        let (theirs, _) = judge(&of_libgcov(&shop), runs);
        let (ours, kept) = of_countersink(&shop, runs);
        let figure =
            format!("of 200 targets the 8 hottest, after {runs} runs: kept, largest error");
        table.words(&figure, &ours, &theirs, "8, bounded", kept);
    }
}

/// Calls of the target with this rank in one run.
fn calls(rank: usize) -> i64 {
    let harmonic: f64 = (1..=TARGETS).map(|rank| 1.0 / rank as f64).sum();
    let early = if rank < HOT { 0 } else { EARLY };
    early + (CALLS / harmonic / (rank + 1) as f64).round() as i64
}

fn source() -> String {
    let mut text = String::new();
    for rank in 0..TARGETS {
        writeln!(text, "__attribute__((noinline)) long t{rank}(long x) {{ return x + {rank}; }}")
            .unwrap();
    }
    text += "static long (*volatile targets[])(long) = {";
    (0..TARGETS).for_each(|rank| write!(text, "t{rank},").unwrap());
    text += "};\nstatic const int calls[] = {";
    (0..TARGETS).for_each(|rank| {
        let early = if rank < HOT { 0 } else { EARLY };
        write!(text, "{},", calls(rank) - early).unwrap();
    });
    write!(
        text,
        "}};
static unsigned char order[2000000];
__attribute__((noinline)) long call(int rank, long x) {{ return targets[rank](x); }}
int main(void) {{
    long n = 0, x = 0;
    for (int rank = 0; rank < {TARGETS}; rank++)
        for (int i = 0; i < calls[rank]; i++)
            order[n++] = (unsigned char)rank;
    unsigned long lot = 1;
    for (long i = n - 1; i > 0; i--) {{
        lot = lot * 6364136223846793005ul + 1442695040888963407ul;
        long other = (long)(((lot >> 33) * (unsigned long)(i + 1)) >> 31);
        unsigned char rank = order[i];
        order[i] = order[other];
        order[other] = rank;
    }}
    for (int rank = {HOT}; rank < {TARGETS}; rank++)
        for (int i = 0; i < {EARLY}; i++)
            x = call(rank, x);
    for (long i = 0; i < n; i++)
        x = call(order[i], x);
    return x == 42;
}}
"
    )
    .unwrap();
    text
}

/// The number of the hottest that are kept, in words, and the largest error of their counts.
fn judge(pairs: &[Pair], runs: i64) -> (String, Option<i64>) {
    let mut errors = Vec::new();
    for rank in 0..HOT {
        let name = i64::from(ident(format!("t{rank}").as_bytes()));
        if let Some(pair) = pairs.iter().find(|pair| pair.value == name) {
            let truth = runs * calls(rank);
            errors.push((pair.count - truth, truth));
        }
    }
    let share = |&(error, truth): &(i64, i64)| 100.0 * error.abs() as f64 / truth as f64;
    let worst = errors.iter().map(share).fold(0.0, f64::max);
    let words = match errors.len() {
        0 => format!("0 of {HOT}"),
        kept => format!("{kept} of {HOT}, {worst:.1} %"),
    };
    let largest = errors.iter().map(|(error, _)| error.abs()).max();
    (words, largest.filter(|_| errors.len() == HOT))
}

fn of_libgcov(shop: &Workshop) -> Vec<Pair> {
    let [(_, file)] = &shop.take_gcda()[..] else { panic!("expected one file") };
    let data = Data::decode(file).unwrap();
    let functions = data.functions.into_iter().flatten();
    let sites = functions.flat_map(|function| function.counters).filter_map(|(kind, counters)| {
        match counters {
            Counters::Sites(sites) if kind == Kind::INDIRECT_CALL => Some(sites),
            _ => None,
        }
    });
    sites.flatten().max_by_key(|(total, _)| total.abs()).unwrap().1
}

/// The result in words, and whether all are kept within the bound that the dump states.
fn of_countersink(shop: &Workshop, runs: i64) -> (String, bool) {
    let dump = Dump::parse(&shop.read("ours.csraw")).unwrap();
    std::fs::remove_file(shop.path("ours.csraw")).unwrap();
    let module = &dump.modules[0];
    let functions = module.functions(&module.objects[0]);
    let sites = functions.flat_map(|function| function.sites(Kind::INDIRECT_CALL));
    let site: SiteView<'_> = sites.max_by_key(|site| site.total.abs()).unwrap();
    let (words, error) = judge(site.pairs, runs);
    let bound = 100.0 * site.error as f64 / site.total.abs() as f64;
    let words = format!("{words}, bound {bound:.1} % of all calls");
    (words, error.is_some_and(|error| error <= site.error))
}
