//! Profiles with known bytes.
#![allow(dead_code, reason = "every test uses some of it")]

use countersink::profile::{Body, Cutoff, Function, Position, Profile, Record, Summary};

/// `main` of a.c with a call site, two targets without counts of their own, and an inlined `sq` of a.h.
pub fn mini() -> Profile {
    let mut profile = Profile::default();
    let symbols = &mut profile.symbols;
    let (c, h) = (symbols.file(b"a.c"), symbols.file(b"a.h"));
    let (main, cb1) = (symbols.symbol(b"main", Some(c)), symbols.symbol(b"cb1", Some(c)));
    let (cb2, sq) = (symbols.symbol(b"cb2", Some(c)), symbols.symbol(b"sq", Some(h)));
    let mut body = Body::default();
    body.positions.insert(Position::line(2), count(0));
    body.positions.insert(Position { line: 3, discriminator: 1 }, count(1000));
    let call =
        Record { targets: [(cb1, 700), (cb2, 300)].into_iter().collect(), ..count(5_000_000_000) };
    body.positions.insert(Position::line(4), call);
    let inlined = Body { positions: [(Position::line(1), count(42))].into_iter().collect() };
    let inlined = Record { inlined: [(sq, inlined)].into_iter().collect(), ..Record::default() };
    body.positions.insert(Position::line(5), inlined);
    profile.functions.insert(main, Function { head_count: 1, timestamp: 0, body });
    profile
}

/// The short summary in the golden bytes of `mini`.
pub fn mini_summary() -> Summary {
    Summary {
        total_count: 5_000_001_042,
        max_count: 5_000_000_000,
        max_function_count: 1,
        counts: 4,
        functions: 1,
        cutoffs: vec![Cutoff { share: 990_000, min_count: 5_000_000_000, counts: 1 }],
    }
}

/// The example in section 5.3 of the proposal.
pub fn example() -> Profile {
    let mut profile = Profile::default();
    let symbols = &mut profile.symbols;
    let test = symbols.file(b"/home/user/test.c");
    let stdio = symbols.file(b"/usr/include/bits/stdio2.h");
    let bubble_sort = symbols.symbol(b"bubble_sort", Some(test));
    let sort_array = symbols.symbol(b"sort_array", Some(test));
    let printf = symbols.symbol(b"printf", Some(stdio));
    let bubble = [
        (0, 0, 0),
        (1, 0, 0),
        (2, 0, 34),
        (3, 0, 31),
        (4, 1, 659399),
        (4, 2, 659399),
        (5, 0, 23),
        (6, 0, 218844),
        (7, 0, 218844),
        (8, 0, 218844),
        (9, 0, 218844),
        (13, 0, 31),
    ];
    let sort = [
        (0, 0, 0),
        (2, 0, 0),
        (3, 0, 0),
        (3, 1, 29),
        (3, 3, 29),
        (4, 0, 29),
        (4, 1, 29),
        (6, 0, 29),
        (7, 0, 29),
    ];
    let mut array = body(&sort);
    let inlined = [(printf, body(&[(0, 0, 0), (2, 0, 0)]))].into_iter().collect();
    array.positions.insert(Position::line(1), Record { inlined, ..Record::default() });
    let function = |body| Function { body, ..Function::default() };
    profile.functions.insert(bubble_sort, function(body(&bubble)));
    profile.functions.insert(sort_array, function(array));
    profile
}

/// The 64 hexadecimal digits of coreutils' `sha256sum`.
pub fn sha256(bytes: &[u8]) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut sum = Command::new("sha256sum");
    let mut sum = sum.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    sum.stdin.take().unwrap().write_all(bytes).unwrap();
    String::from_utf8(sum.wait_with_output().unwrap().stdout).unwrap()
}

fn body(counts: &[(u32, u16, u64)]) -> Body {
    let counts = counts
        .iter()
        .map(|&(line, discriminator, number)| (Position { line, discriminator }, count(number)));
    Body { positions: counts.collect() }
}

fn count(count: u64) -> Record {
    Record { count: Some(count), ..Record::default() }
}
