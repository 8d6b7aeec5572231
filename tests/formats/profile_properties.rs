//! What holds for all profiles: reading is the inverse of writing, canonical form is stable, the order of
//! merging does not matter, and the forms of version 4 hold the same.

use countersink::formats::afdo_v1_v3::Version;
use countersink::formats::afdo_v1_v3::rules::{self, Rules};
use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::formats::afdo_v4::merge::{File, Merge};
use countersink::formats::{afdo_v1_v3, afdo_v4, afdo_v4_text};
use countersink::profile::overlap::Comparison;
use countersink::profile::{Body, Function, LARGEST_COUNT, Position, Profile, Record, SymbolId};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

const VERSIONS: [Version; 4] = [Version::V1, Version::V2, Version::V3, Version::V407];
/// Few names and files, so that they meet. Some share beginnings, have suffixes, or are odd.
const NAMES: [&str; 9] =
    ["f", "foo", "foo.isra.0", "foo.lto_priv.3", "_ZN1a1bEv", "_ZN1a1cEv", ".x.y", "\u{e9}", "a b"];
const FILES: [&str; 4] = ["a.c", "x/a.c", "b.c", "/usr/include/b.h"];

/// A body, with symbols as numbers.
#[derive(Clone, Debug)]
struct Tree(Vec<Place>);

/// A position, its count, targets and inlined bodies.
type Place = (Position, Option<u64>, Vec<(usize, u64)>, Vec<(usize, Tree)>);

fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1..1000u64, any::<u32>().prop_map(u64::from), 0..LARGEST_COUNT / 1000]
}

fn positions() -> impl Strategy<Value = Position> {
    let line = prop_oneof![0..20u32, 0xfff0..0x1_0000u32];
    let discriminator = prop_oneof![Just(0), 0..4u16, any::<u16>()];
    (line, discriminator).prop_map(|(line, discriminator)| Position { line, discriminator })
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = Just(Tree(Vec::new()));
    leaf.prop_recursive(4, 30, 4, |inner| {
        let targets = vec((0..SYMBOLS, counts()), 0..3);
        let inlined = vec((0..SYMBOLS, inner), 0..3);
        let record = (positions(), proptest::option::of(counts()), targets, inlined);
        vec(record, 0..5).prop_map(Tree)
    })
}

const SYMBOLS: usize = NAMES.len() * (FILES.len() + 1);

fn symbol(profile: &mut Profile, number: usize) -> SymbolId {
    let file = FILES.get(number / NAMES.len()).map(|path| profile.symbols.file(path.as_bytes()));
    profile.symbols.symbol(NAMES[number % NAMES.len()].as_bytes(), file)
}

fn body(profile: &mut Profile, tree: &Tree) -> Body {
    let mut body = Body::default();
    for (position, count, targets, inlined) in &tree.0 {
        let mut record = Record { count: *count, ..Record::default() };
        for &(target, calls) in targets {
            let target = symbol(profile, target);
            record.targets.insert(target, calls);
        }
        for (callee, inner) in inlined {
            let callee = symbol(profile, *callee);
            let inner = self::body(profile, inner);
            record.inline(callee, inner);
        }
        // A position with nothing to say does not exist.
        if record != Record::default() {
            body.positions.insert(*position, record);
        }
    }
    body
}

fn profiles() -> impl Strategy<Value = Profile> {
    let function = (counts(), counts(), trees());
    btree_map(0..SYMBOLS, function, 0..6).prop_map(|functions| {
        let mut profile = Profile::default();
        for (number, (head_count, timestamp, tree)) in functions {
            let body = body(&mut profile, &tree);
            let symbol = symbol(&mut profile, number);
            profile.add(symbol, Function { head_count, timestamp, body });
        }
        profile
    })
}

/// Rules of a version before 4, or none.
fn versions() -> impl Strategy<Value = Option<Rules>> {
    (10..19u32).prop_map(Rules::for_gcc)
}

/// The profile read back from a file for a compiler, or unchanged.
fn read_back(profile: &Profile, rules: Option<Rules>) -> Profile {
    let Some(rules) = rules else { return profile.clone() };
    let bytes = afdo_v1_v3::encode::encode(profile, rules).unwrap().bytes;
    afdo_v1_v3::decode::decode(&bytes).unwrap().profile
}

fn text(profile: &Profile) -> String {
    String::from_utf8(afdo_v4_text::encode::encode(profile).unwrap()).unwrap()
}

fn merged(profiles: &[&Profile]) -> Profile {
    let mut sum = Profile::default();
    profiles.iter().for_each(|profile| sum.merge(profile, 1));
    sum
}

fn opened(file: &[u8], weight: u64) -> File<'_> {
    let file = File::open(file, weight).unwrap();
    assert!(file.findings.is_empty());
    file
}

fn added(merge: Merge<'_>) -> Vec<u8> {
    let parts: Vec<_> = (0..merge.functions()).map(|n| merge.part(n).unwrap()).collect();
    merge.finish(parts).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn forms_of_version_4_hold_the_same(profile in profiles()) {
        let text = text(&profile);
        let decoded = afdo_v4_text::decode::decode(text.as_bytes()).unwrap();
        prop_assert_eq!(self::text(&decoded.profile), &text[..]);
        for encoding in [Encoding::Normal, Encoding::Compact] {
            let bytes = encode(&profile, encoding).unwrap();
            let decoded = afdo_v4::decode::decode(&bytes).unwrap();
            prop_assert!(decoded.findings.is_empty());
            prop_assert_eq!(self::text(&decoded.profile), &text[..]);
            prop_assert_eq!(encode(&decoded.profile, encoding).unwrap(), bytes.clone());
            let part = afdo_v4::part::decode(&bytes, |_| true, |_| true).unwrap();
            prop_assert_eq!(self::text(&part.profile), &text[..]);
        }
    }

    #[test]
    fn versions_1_to_3_are_read_as_written(profile in profiles()) {
        let majors = (10..=17).filter_map(Rules::for_gcc);
        for rules in VERSIONS.map(Rules::that_keep_most).into_iter().chain(majors) {
            let bytes = afdo_v1_v3::encode::encode(&profile, rules).unwrap().bytes;
            let decoded = afdo_v1_v3::decode::decode(&bytes).unwrap();
            prop_assert!(decoded.findings.is_empty());
            let again = afdo_v1_v3::encode::encode(&decoded.profile, rules).unwrap().bytes;
            prop_assert!(again == bytes, "{:?}", rules);
        }
    }

    #[test]
    fn merging_is_commutative_and_associative(a in profiles(), b in profiles(), c in profiles()) {
        let all = text(&merged(&[&a, &b, &c]));
        prop_assert_eq!(text(&merged(&[&c, &a, &b])), &all[..]);
        prop_assert_eq!(text(&merged(&[&a, &merged(&[&c, &b])])), &all[..]);
        let mut thrice = Profile::default();
        thrice.merge(&a, 3);
        prop_assert_eq!(text(&thrice), text(&merged(&[&a, &a, &a])));
    }

    /// Each in another version: some have no files, no discriminators, or cut names.
    #[test]
    fn mixtures_are_added_in_any_order(
        profiles in [profiles(), profiles(), profiles()],
        rules in [versions(), versions(), versions()],
        weight in 1..4u64,
    ) {
        let mixed: [Profile; 3] = std::array::from_fn(|place| read_back(&profiles[place], rules[place]));
        let [a, b, c] = mixed.each_ref();
        let sum = |order: &[&Profile]| {
            let mut sum = merged(order);
            sum.merge(a, weight - 1);
            let ambiguous = sum.find_files();
            (text(&sum), ambiguous)
        };
        let all = sum(&[a, b, c]);
        prop_assert_eq!(&sum(&[c, b, a]), &all);
        prop_assert_eq!(&sum(&[b, &merged(&[a, c])]), &all);
        // Finding files once is enough.
        let mut again = merged(&[a, b, c]);
        again.find_files();
        let settled = text(&again);
        again.find_files();
        prop_assert_eq!(text(&again), settled);
    }

    /// Adding function by function equals adding whole profiles, and adding in steps equals adding at once.
    #[test]
    fn files_are_added_as_profiles_are(
        profiles in [profiles(), profiles(), profiles()],
        rules in [versions(), versions(), versions()],
        weight in 1..4u64,
    ) {
        let mixed: [Profile; 3] = std::array::from_fn(|place| read_back(&profiles[place], rules[place]));
        let mut sum = merged(&[&mixed[0], &mixed[1]]);
        sum.merge(&mixed[2], weight);
        let ambiguous = sum.find_files();
        let files = mixed.each_ref().map(|profile| encode(profile, Encoding::Compact).unwrap());
        let [a, b, c] = files.each_ref().map(|file| &file[..]);
        let unfinished = added(Merge::unfinished(vec![opened(b, 1), opened(c, weight)]));
        for summands in [vec![(a, 1), (b, 1), (c, weight)], vec![(&unfinished, 1), (a, 1)]] {
            let files = summands.into_iter().map(|(file, weight)| opened(file, weight)).collect();
            let merge = Merge::new(files, Encoding::Normal);
            prop_assert_eq!(merge.ambiguous, ambiguous);
            prop_assert_eq!(added(merge), encode(&sum, Encoding::Normal).unwrap());
        }
    }

    /// With and without discriminators: the sum has what gcc 12 would take of each.
    #[test]
    fn lines_are_added_as_a_whole(a in profiles(), b in profiles()) {
        let for_gcc_12 = |profile: &Profile| read_back(profile, Rules::for_gcc(12));
        let by_line = |profile: &Profile| {
            let mut profile = profile.clone();
            let bodies = profile.functions.values_mut().map(|function| &mut function.body);
            bodies.for_each(|body| *body = rules::by_line(body));
            profile
        };
        let sum = for_gcc_12(&merged(&[&by_line(&a), &by_line(&b)]));
        let expected = merged(&[&for_gcc_12(&a), &for_gcc_12(&b)]);
        prop_assert_eq!(text(&for_gcc_12(&sum)), text(&for_gcc_12(&expected)));
        prop_assert!(!by_line(&a).has_discriminators());
    }

    #[test]
    fn a_profile_is_like_itself(profile in profiles()) {
        let same = Comparison::new(profile.clone(), profile);
        prop_assert!((same.counts - 1.0).abs() < 1e-9, "{}", same.counts);
        prop_assert!((same.functions - 1.0).abs() < 1e-9, "{}", same.functions);
    }

    #[test]
    fn rewriting_keeps_profiles_canonical(mut profile in profiles()) {
        profile.flatten();
        profile.prune_cold_inlined();
        profile.drop_zeros();
        let written = text(&profile);
        let decoded = afdo_v4_text::decode::decode(written.as_bytes()).unwrap();
        prop_assert_eq!(text(&decoded.profile), written);
    }
}
