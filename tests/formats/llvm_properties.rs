//! What holds for all profiles by function: reading is the inverse of writing, and the canonical text is stable.

use countersink::counters::{Function, Profile, Site, Trace, Value, ValueKind, Variant, name_ref};
use countersink::formats::profraw::image::Images;
use countersink::formats::profraw::{self, Machine, Version};
use countersink::formats::proftext;
use proptest::collection::vec;
use proptest::prelude::*;

/// Few names, so that they meet. Some have what texts have a meaning for.
const NAMES: [&str; 7] = ["main", "a.c:f", "a.c;f", "_ZN1aC2Ev", "-[A b:]", "$s1f", "\u{e9} x"];
const VTABLES: [&str; 2] = ["_ZTV1A", "_ZTV1B"];

fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1..1000u64, 0..=profraw::LARGEST_COUNT]
}

/// A name's number, or that of no name.
fn refs(names: &'static [&'static str]) -> impl Strategy<Value = u64> {
    proptest::option::of(0..names.len())
        .prop_map(move |place| place.map_or(0, |place| name_ref(names[place].as_bytes())))
}

fn sites(values: impl Strategy<Value = u64>) -> impl Strategy<Value = Vec<Site>> {
    let value = (values, counts()).prop_map(|(value, count)| Value { value, count });
    vec(vec(value, 0..5).prop_map(|values| Site { values }), 0..4)
}

fn functions() -> impl Strategy<Value = Function> {
    let values = (sites(refs(&NAMES)), sites(any::<u64>()), sites(refs(&VTABLES)));
    let bytes = vec(any::<u8>(), 0..20);
    (0..NAMES.len(), any::<u64>(), vec(counts(), 1..9), bytes, values).prop_map(
        |(name, hash, counters, bitmap, values)| Function {
            name: NAMES[name].into(),
            hash,
            counters,
            bitmap,
            values: values.into(),
        },
    )
}

fn variants() -> impl Strategy<Value = Variant> {
    let bits = [
        Variant::LOOP_ENTRIES,
        Variant::IR,
        Variant(Variant::IR.0 | Variant::CONTEXT_SENSITIVE.0),
        Variant::ENTRY_FIRST,
        Variant::SINGLE_BYTE,
    ];
    any::<[bool; 5]>().prop_map(move |set| {
        let set = bits.iter().zip(set).filter(|(_, is_set)| *is_set);
        Variant(set.fold(0, |all, (bits, _)| all | bits.0))
    })
}

/// Profiles in which every target has a function.
fn profiles() -> impl Strategy<Value = Profile> {
    let ids = vec(vec(any::<u8>(), 1..21), 0..3);
    let parts = (variants(), vec(functions(), 0..8), ids, any::<bool>());
    parts.prop_map(|(variant, mut functions, mut binary_ids, temporal)| {
        let known: Vec<u64> = functions.iter().map(|function| name_ref(&function.name)).collect();
        for function in &mut functions {
            let calls = &mut function.values[ValueKind::IndirectCall as usize];
            for value in calls.iter_mut().flat_map(|site| &mut site.values) {
                value.value = if known.contains(&value.value) { value.value } else { 0 };
            }
            if variant.has(Variant::SINGLE_BYTE) {
                function.counters.iter_mut().for_each(|counter| *counter = (*counter).min(1));
            }
        }
        binary_ids.sort();
        binary_ids.dedup();
        let mut profile = Profile { variant, functions, binary_ids, ..Profile::default() };
        profile.vtables = VTABLES.map(Into::into).into();
        if temporal {
            profile.variant.0 |= Variant::TEMPORAL.0;
            if !known.is_empty() {
                profile.traces = vec![Trace { weight: 1, functions: known }];
            }
        }
        profile
    })
}

fn machines() -> impl Strategy<Value = Machine> {
    let pointers = prop_oneof![Just(4), Just(8)];
    (any::<bool>(), pointers).prop_map(|(big_endian, pointer)| Machine { big_endian, pointer })
}

fn text(profile: &Profile) -> Vec<u8> {
    proftext::encode::encode(profile).unwrap()
}

fn raw(profile: &Profile, version: Version, machine: Machine) -> Vec<u8> {
    profraw::encode::encode_for(profile, version, machine).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn raw_profiles_are_read_as_written(profile in profiles(), machine in machines()) {
        for version in [Version::V10, Version::V11] {
            let decoded = profraw::decode::decode(&raw(&profile, version, machine)).unwrap();
            prop_assert!(decoded.findings.is_empty());
            prop_assert_eq!(&decoded.profile, &profile);
        }
        let mut older = profile.clone();
        older.vtables.clear();
        older.functions.iter_mut().for_each(|function| function.values[2].clear());
        let decoded = profraw::decode::decode(&raw(&older, Version::V9, machine)).unwrap();
        prop_assert_eq!(&decoded.profile, &older);
        older.functions.iter_mut().for_each(|function| function.bitmap.clear());
        let decoded = profraw::decode::decode(&raw(&older, Version::V8, machine)).unwrap();
        prop_assert_eq!(&decoded.profile, &older);
        // What version 8 brought.
        let newer = [Variant::SINGLE_BYTE, Variant::FUNCTION_ENTRY_ONLY, Variant::TEMPORAL];
        newer.iter().for_each(|bits| older.variant.0 &= !bits.0);
        older.traces.clear();
        let decoded = profraw::decode::decode(&raw(&older, Version::V7, machine)).unwrap();
        prop_assert_eq!(&decoded.profile, &older);
    }

    /// Functions of two profiles in one file stand one after another.
    #[test]
    fn profiles_follow_each_other(
        a in profiles(), b in profiles(), machine in machines(), gap in 0..4usize,
    ) {
        let first = raw(&a, Version::V10, machine);
        let mut b = b;
        b.variant = a.variant;
        b.traces.clear();
        let file = [first, vec![0; 8 * gap], raw(&b, Version::V10, machine)].concat();
        prop_assert_eq!(Images::new(&file).count(), 2);
        let single = a.variant.has(Variant::SINGLE_BYTE);
        if !single {
            let both = profraw::decode::decode(&file).unwrap().profile;
            prop_assert_eq!(both.functions, [a.functions, b.functions].concat());
        }
    }

    #[test]
    fn canonical_texts_are_stable(profile in profiles()) {
        let written = text(&profile);
        prop_assert!(written.is_empty() || proftext::looks_like(&written));
        let decoded = proftext::decode::decode(&written).unwrap();
        prop_assert!(decoded.findings.is_empty());
        prop_assert_eq!(decoded.profile.functions.len(), profile.functions.len());
        prop_assert_eq!(text(&decoded.profile), written);
    }

    #[test]
    fn both_forms_say_the_same(profile in profiles(), machine in machines()) {
        let file = raw(&profile, Version::V10, machine);
        let decoded = profraw::decode::decode(&file).unwrap().profile;
        prop_assert_eq!(text(&decoded), text(&profile));
    }
}
