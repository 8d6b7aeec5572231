//! Properties of all sample profiles: reading is the inverse of writing in every form, a lookup of a function equals
//! its decoding, and layouts keep the samples.

use countersink::formats::llvm_sample::encode::{Options, encode};
use countersink::formats::llvm_sample::{self, lookup};
use countersink::formats::llvm_sample_text;
use countersink::samples::layout::Layout;
use countersink::samples::{Body, Frame, Record, Samples, Site};
use proptest::collection::vec;
use proptest::prelude::*;

/// Few names, so that they collide. Some have characters with a meaning in texts.
const NAMES: [&str; 6] = ["main", "_ZN1aC2Ev", "+[A b]", "f.__uniq.1", "\u{e9}", "12345"];

/// Samples of a site, and of the functions that it calls.
type Counted = (Site, u64, Vec<(usize, u64)>);

/// A body as indices of names.
#[derive(Clone, Debug)]
struct Plan {
    head: u64,
    attributes: u32,
    checksum: u64,
    records: Vec<Counted>,
    inlined: Vec<(Site, usize, Plan)>,
}

fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1..1000u64, 0..=u64::MAX >> 8]
}

fn sites() -> impl Strategy<Value = Site> {
    (0..9u32, prop_oneof![Just(0), 1..5u32, any::<u32>()])
        .prop_map(|(line, discriminator)| Site { line, discriminator })
}

fn plans() -> impl Strategy<Value = Plan> {
    let records = || vec((sites(), counts(), vec((0..NAMES.len(), counts()), 0..3)), 0..5);
    let leaf = (counts(), 0..4u32, counts(), records()).prop_map(
        |(head, attributes, checksum, records)| Plan {
            head,
            attributes,
            checksum,
            records,
            inlined: Vec::new(),
        },
    );
    leaf.prop_recursive(3, 12, 3, move |inner| {
        (counts(), 0..4u32, counts(), records(), vec((sites(), 0..NAMES.len(), inner), 0..3))
            .prop_map(|(head, attributes, checksum, records, inlined)| Plan {
                head,
                attributes,
                checksum,
                records,
                inlined,
            })
    })
}

fn body(samples: &mut Samples, plan: &Plan, is_inlined: bool) -> Body {
    let mut built = Body {
        head: if is_inlined { 0 } else { plan.head },
        attributes: plan.attributes,
        checksum: if samples.traits.probes { plan.checksum } else { 0 },
        ..Body::default()
    };
    for (site, count, targets) in &plan.records {
        let targets = targets
            .iter()
            .map(|&(name, calls)| (samples.symbol(NAMES[name].as_bytes()), calls))
            .collect();
        built.add_record(*site, Record { count: *count, targets });
    }
    for (site, name, plan) in &plan.inlined {
        let callee = samples.symbol(NAMES[*name].as_bytes());
        let inlined = body(samples, plan, true);
        built.add_inlined((*site, callee), inlined);
    }
    built.total = built.sum();
    built
}

/// Profiles without contexts, and with.
fn profiles() -> impl Strategy<Value = Samples> {
    let frames = vec((0..NAMES.len(), sites()), 1..4);
    let functions = vec((frames, plans()), 0..6);
    (functions, any::<[bool; 3]>()).prop_map(|(functions, [contexts, probes, partial])| {
        let mut samples = Samples::default();
        samples.traits.contexts = contexts;
        samples.traits.probes = probes;
        samples.traits.partial = partial;
        for (frames, mut plan) in functions {
            let skip = if contexts { 0 } else { frames.len() - 1 };
            let mut frames: Vec<Frame> = frames[skip..]
                .iter()
                .map(|&(name, site)| Frame {
                    function: samples.symbol(NAMES[name].as_bytes()),
                    site,
                })
                .collect();
            frames.last_mut().unwrap().site = Site::default();
            if contexts {
                plan.inlined.clear();
            }
            let body = body(&mut samples, &plan, false);
            let context = samples.contexts.of(&frames).unwrap();
            samples.add(context, body);
        }
        samples
    })
}

fn options() -> impl Strategy<Value = Options> {
    any::<[bool; 3]>().prop_map(|[md5, compressed, split]| Options {
        md5,
        compressed,
        split,
        ..Options::EXTENSIBLE
    })
}

proptest! {
    #[test]
    fn reading_is_the_inverse_of_writing(samples in profiles(), options in options()) {
        for options in [options, Options::BINARY] {
            let Ok(file) = encode(&samples, options) else { continue };
            let decoded = llvm_sample::decode::decode(&file).unwrap();
            prop_assert!(decoded.findings.is_empty(), "{:?}", decoded.findings);
            prop_assert_eq!(&decoded.summary, &samples.summary());
            let again = encode(&decoded.samples, options).unwrap();
            if options.md5 {
                let sorted = llvm_sample::decode::decode(&again).unwrap().samples;
                prop_assert_eq!(encode(&sorted, options).unwrap(), again);
            } else {
                prop_assert_eq!(again, file);
            }
        }
        let text = llvm_sample_text::encode::encode(&samples).unwrap();
        let decoded = llvm_sample_text::decode::decode(&text).unwrap();
        prop_assert!(decoded.findings.is_empty(), "{:?}", decoded.findings);
        prop_assert_eq!(llvm_sample_text::encode::encode(&decoded.samples).unwrap(), text);
    }

    #[test]
    fn a_function_alone_is_the_function_among_others(
        samples in profiles(),
        options in options(),
        name in 0..NAMES.len(),
    ) {
        let file = encode(&samples, options).unwrap();
        let name = NAMES[name].as_bytes();
        let mut alone = lookup::function(&file, name).unwrap();
        let mut all = llvm_sample::decode::decode(&file).unwrap().samples;
        let number = countersink::samples::name_number(name).to_string();
        let wanted = if options.md5 { number.as_bytes() } else { name };
        let (contexts, symbols) = (&all.contexts, &all.symbols);
        all.functions.retain(|&context, _| symbols.name(contexts.function(context)) == wanted);
        // A lookup leaves out metadata.
        let mut traits = all.traits;
        (traits.probes, traits.partial) = (false, false);
        for samples in [&mut alone, &mut all] {
            samples.traits = traits;
            samples.functions.values_mut().for_each(without_metadata);
        }
        let text = |samples| llvm_sample_text::encode::encode(samples).unwrap();
        prop_assert_eq!(text(&alone), text(&all));
    }

    #[test]
    fn layouts_keep_the_samples(samples in profiles()) {
        let text = |samples: &Samples| llvm_sample_text::encode::encode(samples).unwrap();
        let laid_out = |layout| {
            let mut samples = samples.clone();
            samples.lay_out(layout).unwrap();
            samples
        };
        let (split, nested) = (laid_out(Layout::Split), laid_out(Layout::Nested));
        let mut twice = split.clone();
        twice.split().unwrap();
        prop_assert_eq!(text(&twice), text(&split));
        let mut twice = nested.clone();
        twice.nest().unwrap();
        prop_assert_eq!(text(&twice), text(&nested));
        // A flat profile has exactly the functions that have counts anywhere.
        let mut from_split = split;
        from_split.flatten();
        prop_assert_eq!(from_split.functions.len(), laid_out(Layout::Flat).functions.len());
    }
}

fn without_metadata(body: &mut Body) {
    (body.checksum, body.attributes) = (0, 0);
    for (_, inlined) in body.inlined.iter_mut() {
        without_metadata(inlined);
    }
}
