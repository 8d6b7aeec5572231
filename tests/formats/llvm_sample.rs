//! LLVM's sample profiles: our files equal those of `llvm-profdata` byte for byte, and its readers accept ours.

use countersink::formats::llvm_sample::decode::decode;
use countersink::formats::llvm_sample::encode::{Options, encode};
use countersink::formats::llvm_sample::{lookup, open, table};
use countersink::formats::{llvm_sample, llvm_sample_text};
use countersink::profile::overlap::{Comparison, Row};
use countersink::samples::layout::Layout;
use countersink::samples::{Record, Samples, Site};

use crate::harness::{Workshop, succeed};
use crate::llvm::Llvm;

/// Inlined copies, discriminators, targets of calls with equal numbers, functions with equal totals.
const NESTED: &str = "\
main:184019:5
 4: 534
 4.2: 534
 5: 1075
 6: 2080
 7: 0
 9: 2064 _Z3bari:1471 _Z3fooi:631
 9: _Z3bazi:20000
  1: 10000
  3.7: 9999 zz:4 aa:4 mm:7
  5: _Z3quxv:1
   0: 1
 10: inline1:1000
  1: 1000
 10: inline2:2000
  1: 2000
 65535.70000: 12
_Z3bari:20301:1437
 1: 1437
same_b.__uniq.123:50:0
 1: 50
same_a:50:0
 1: 50
";

/// Contexts, some with attributes.
const CONTEXTS: &str = "\
[main:3 @ _Z5funcAi:1 @ _Z8funcLeafi]:1467299:11
 0: 6
 1: 6
 3: 287884
 4: 287864 _Z3fibi:315608
 15: 23
 !Attributes: 2
[main:3.1 @ _Z5funcBi:1 @ _Z8funcLeafi]:500853:20
 0: 15
 3: 74946
 4: 74941 _Z3fibi:82359
[main]:2268:1
 2: 18
 3: 48 _Z5funcBi:19
 3.1: 36 _Z5funcAi:11
 !Attributes: 3
[main:3 @ _Z5funcAi]:24:11
 0: 7
 1: 7 _Z8funcLeafi:11
[_Z5funcAi]:44:11
 0: 7
";

/// Contexts of functions with pseudo-probes.
const PROBES: &str = "\
[main:3 @ foo]:100:10
 1: 60
 2: 40
 !CFGChecksum: 563088904013236
 !Attributes: 1
[main]:100:10
 1: 60
 3: 40 foo:40
 !CFGChecksum: 563022570642068
[bar]:7:7
 1: 7
 !CFGChecksum: 99
";

/// Inlined copies of functions with pseudo-probes.
const NESTED_PROBES: &str = "\
main:100:10
 1: 60
 2: 40
 3: foo:10
  1: 10
  2: baz:3
   1: 3
   !CFGChecksum: 77
  !CFGChecksum: 563088904013236
 !CFGChecksum: 563022570642068
bar:7:7
 1: 7
 !CFGChecksum: 99
";

/// Inlined copies that a pre-inliner has chosen.
const PREINLINED: &str = "\
main:160:10
 1: 60
 3: foo:100
  1: 60
  2: 40
  !Attributes: 2
bar:7:7
 1: 7
";

const TEXTS: [(&str, &str); 6] = [
    ("nested", NESTED),
    ("contexts", CONTEXTS),
    ("probes", PROBES),
    ("nested probes", NESTED_PROBES),
    ("pre-inlined", PREINLINED),
    ("empty function", "f:0:0\n"),
];

fn samples(text: &[u8]) -> Samples {
    let decoded = llvm_sample_text::decode::decode(text).unwrap();
    assert!(decoded.findings.is_empty(), "{:?}", decoded.findings);
    decoded.samples
}

/// The output of `llvm-profdata merge --sample` for a file, or `None` if it refuses.
fn merged(llvm: Llvm, shop: &Workshop, file: &[u8], options: &[&str]) -> Option<Vec<u8>> {
    shop.write("input", file);
    let words = [&["merge", "--sample", "-o", "output"], options, &["input"]].concat();
    llvm.profdata(shop, &words).status.success().then(|| shop.read("output"))
}

/// The versions of LLVM whose files have the current layout.
fn llvms() -> impl Iterator<Item = Llvm> {
    crate::llvm::all().into_iter().filter(|llvm| llvm.major >= 14)
}

/// LLVM 13 has no section of contexts and refuses files with one.
#[test]
fn the_bytes_of_llvm_13() {
    let Some(llvm) = crate::llvm::all().into_iter().find(|llvm| llvm.major == 13) else { return };
    let shop = Workshop::new();
    let ours = samples(NESTED.as_bytes());
    let before_contexts = Options { contexts: false, ..Options::EXTENSIBLE };
    for (options, words) in [
        (before_contexts, &["--extbinary"][..]),
        (Options { compressed: true, ..before_contexts }, &["--extbinary"]),
        (Options { md5: true, ..before_contexts }, &["--extbinary", "--use-md5"]),
        (Options { split: true, ..before_contexts }, &["--extbinary"]),
    ] {
        let file = encode(&ours, options).unwrap();
        assert_eq!(Options::of(&file).contexts, options.split);
        let theirs = merged(llvm, &shop, &file, words).unwrap();
        // Functions of equal totals have the order of a hash table.
        if options == before_contexts {
            assert_eq!(theirs.len(), file.len());
        }
        let again = decode(&theirs).unwrap().samples;
        if !options.md5 {
            let text = |samples: &Samples| llvm_sample_text::encode::encode(samples).unwrap();
            assert!(text(&again) == text(&ours), "{options:?}");
        }
        assert_eq!(again.functions.len(), ours.functions.len());
    }
    shop.write("nested", NESTED);
    let words = ["convert", "nested", "--for-clang", "13", "-o", "for13"];
    shop.tool_output(&words);
    assert_eq!(shop.read("for13"), encode(&ours, before_contexts).unwrap());
    shop.write("contexts", CONTEXTS);
    let refused = shop.tool(&["convert", "contexts", "--for-clang", "13", "-o", "none"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("contexts are written only as text"));
}

/// Splits off the metadata and sorts its bytes, because LLVM's order is that of a hash table.
fn without_order(mut file: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let Ok(sections) = open::sections(&file) else { return (file, Vec::new()) };
    let is_it =
        |section: &&table::Section| section.part == Some(llvm_sample::check::Part::Metadata);
    let Some(section) = sections.iter().find(is_it) else { return (file, Vec::new()) };
    let mut metadata = file.split_off(section.offset as usize);
    metadata.sort_unstable();
    (file, metadata)
}

#[test]
fn the_bytes_of_llvm() {
    let shop = Workshop::new();
    for (what, text) in TEXTS {
        let ours = samples(text.as_bytes());
        let extensible = Options::EXTENSIBLE;
        for llvm in llvms() {
            let same = |options: &[&str], ours: &[u8]| {
                let Some(theirs) = merged(llvm, &shop, text.as_bytes(), options) else {
                    // This version does not have the options.
                    assert!(llvm.major < 22, "{what}: LLVM {} refuses {options:?}", llvm.major);
                    return;
                };
                let (ours, theirs) = (without_order(ours.to_vec()), without_order(theirs));
                assert!(ours == theirs, "{what}, LLVM {}, {options:?}", llvm.major);
            };
            same(&["--text"], &llvm_sample_text::encode::encode(&ours).unwrap());
            same(&["--extbinary"], &encode(&ours, extensible).unwrap());
            let md5 = encode(&ours, Options { md5: true, ..extensible }).unwrap();
            // LLVM up to 16 also sets the flag of unique names with MD5.
            if llvm.major >= 17 || what != "nested" {
                same(&["--extbinary", "--use-md5"], &md5);
            }
            let mut partial = ours.clone();
            partial.traits.partial = true;
            let partial = encode(&partial, extensible).unwrap();
            same(&["--extbinary", "--gen-partial-profile"], &partial);
            if !ours.traits.contexts {
                let split = encode(&ours, Options { split: true, ..extensible }).unwrap();
                same(&["--extbinary", "--split-layout"], &split);
            }
            match encode(&ours, Options::BINARY) {
                Ok(binary) => same(&["--binary"], &binary),
                Err(_) => {
                    assert!(merged(llvm, &shop, text.as_bytes(), &["--binary"]).is_none());
                }
            }
        }
    }
}

#[test]
fn symbol_lists() {
    let shop = Workshop::new();
    shop.write("symbols", "main\nabc\nfoo\n");
    let mut ours = samples(NESTED.as_bytes());
    ours.symbol_list = ["abc", "foo", "main"].map(|name| name.as_bytes().to_vec()).into();
    let ours = encode(&ours, Options::EXTENSIBLE).unwrap();
    for llvm in llvms() {
        let options = ["--extbinary", "--prof-sym-list=symbols"];
        let theirs = merged(llvm, &shop, NESTED.as_bytes(), &options).unwrap();
        assert_eq!(ours, theirs, "LLVM {}", llvm.major);
    }
    assert_eq!(decode(&ours).unwrap().samples.symbol_list.len(), 3);
}

/// LLVM's zlib writes other bytes, so this compares decompressed sections.
#[test]
fn compressed_sections() {
    let shop = Workshop::new();
    for (what, text) in TEXTS {
        let ours = samples(text.as_bytes());
        let options = Options { compressed: true, ..Options::EXTENSIBLE };
        let compressed = encode(&ours, options).unwrap();
        for llvm in llvms() {
            let theirs =
                merged(llvm, &shop, text.as_bytes(), &["--extbinary", "--compress-all-sections"]);
            let theirs = theirs.unwrap();
            assert_eq!(Options::of(&theirs), options, "{what}");
            let kinds = |file: &[u8]| -> Vec<_> {
                let sections = open::sections(file).unwrap();
                sections.iter().map(|section| (section.part, section.flags)).collect()
            };
            assert_eq!(kinds(&theirs), kinds(&compressed), "{what}");
            let plain = |file| encode(&decode(file).unwrap().samples, Options::EXTENSIBLE).unwrap();
            assert_eq!(plain(&theirs), plain(&compressed), "{what}, LLVM {}", llvm.major);
        }
    }
}

/// Every reader gets the same profile from each of our files as from LLVM's.
#[test]
fn readers_take_ours() {
    let shop = Workshop::new();
    let extensible = Options::EXTENSIBLE;
    for (what, text) in TEXTS {
        let ours = samples(text.as_bytes());
        for llvm in llvms() {
            let wanted = merged(llvm, &shop, text.as_bytes(), &["--text"]).unwrap();
            for options in [
                extensible,
                Options { compressed: true, ..extensible },
                Options { split: true, ..extensible },
                Options { split: true, compressed: true, ..extensible },
                Options::BINARY,
            ] {
                let Ok(file) = encode(&ours, options) else { continue };
                // The binary form has no attributes.
                if options == Options::BINARY && what == "pre-inlined" {
                    continue;
                }
                let read = merged(llvm, &shop, &file, &["--text"]);
                let read = read.unwrap_or_else(|| panic!("{what}, {options:?}"));
                let (read, wanted) =
                    (String::from_utf8_lossy(&read), String::from_utf8_lossy(&wanted));
                assert_eq!(read, wanted, "{what}, LLVM {}, {options:?}", llvm.major);
            }
            // LLVM up to 16 sorts MD5 as text.
            if llvm.major < 17 {
                continue;
            }
            let md5 = encode(&ours, Options { md5: true, ..extensible }).unwrap();
            let theirs = merged(llvm, &shop, &md5, &["--text"]).unwrap();
            let own = llvm_sample_text::encode::encode(&decode(&md5).unwrap().samples).unwrap();
            assert_eq!(
                String::from_utf8_lossy(&own),
                String::from_utf8_lossy(&theirs),
                "{what}, LLVM {}",
                llvm.major
            );
        }
    }
}

/// Reading and writing again gives the same bytes.
#[test]
fn reading_is_the_inverse_of_writing() {
    for (what, text) in TEXTS {
        let ours = samples(text.as_bytes());
        for form in [Options::EXTENSIBLE, Options::BINARY] {
            for bits in 0..8 {
                let [md5, compressed, split] = [1, 2, 4].map(|bit| bits & bit != 0);
                let options = Options { md5, compressed, split, ..form };
                let Ok(file) = encode(&ours, options) else { continue };
                let decoded = decode(&file).unwrap();
                assert!(decoded.findings.is_empty(), "{what}: {:?}", decoded.findings);
                assert_eq!(decoded.summary, ours.summary());
                let again = encode(&decoded.samples, options).unwrap();
                // MD5 sort in another order than the names.
                let again = match md5 {
                    true => encode(&decode(&again).unwrap().samples, options).unwrap() == again,
                    false => again == file,
                };
                assert!(again, "{what}, {options:?}");
            }
        }
    }
}

#[test]
fn one_function_is_found_without_the_others() {
    let nested = samples(NESTED.as_bytes());
    let contexts = samples(CONTEXTS.as_bytes());
    for bits in 0..8 {
        let [md5, compressed, split] = [1, 2, 4].map(|bit| bits & bit != 0);
        let options = Options { md5, compressed, split, ..Options::EXTENSIBLE };
        for (samples, name, found) in [
            (&nested, "_Z3bari", 1),
            (&nested, "main", 1),
            (&nested, "_Z3bazi", 0),
            (&nested, "nobody", 0),
            (&contexts, "_Z8funcLeafi", 2),
            (&contexts, "_Z5funcAi", 2),
            (&contexts, "_Z3fibi", 0),
        ] {
            let mut file = encode(samples, options).unwrap();
            let part = lookup::function(&file, name.as_bytes()).unwrap();
            assert_eq!(part.functions.len(), found, "{name}, {options:?}");
            // The lookup reads no byte of the other functions.
            if name == "_Z3bari" && !compressed && !split {
                let sections = open::sections(&file).unwrap();
                let functions = sections
                    .iter()
                    .find(|section| section.part == Some(llvm_sample::check::Part::Functions));
                file[functions.unwrap().offset as usize..][..20].fill(0xff);
                assert!(decode(&file).is_err());
                let again = lookup::function(&file, name.as_bytes()).unwrap();
                assert_eq!(again.functions, part.functions);
            }
        }
    }
}

/// The layouts are those of `llvm-profdata`. It takes the head counts of a flat profile from the first positions.
#[test]
fn layouts() {
    let shop = Workshop::new();
    for (what, text) in TEXTS {
        let original = samples(text.as_bytes());
        let laid_out = |layout| {
            let mut samples = original.clone();
            samples.lay_out(layout).unwrap();
            samples
        };
        let bytes = |samples: &Samples| llvm_sample_text::encode::encode(samples).unwrap();
        let flat = laid_out(Layout::Flat);
        for llvm in llvms().filter(|llvm| llvm.major >= 19) {
            let options = ["--text", "--convert-sample-profile-layout=flat"];
            let theirs = merged(llvm, &shop, text.as_bytes(), &options).unwrap();
            let without_heads = |text: &[u8]| -> Vec<String> {
                let text = String::from_utf8(text.to_vec()).unwrap();
                let line = |line: &str| match line.starts_with(' ') {
                    true => line.to_owned(),
                    false => line.rsplit_once(':').unwrap().0.to_owned(),
                };
                // LLVM drops attributes of functions that are not inlined.
                let lines = text.lines().filter(|line| !line.contains("!Attributes"));
                lines.map(line).collect()
            };
            assert_eq!(without_heads(&bytes(&flat)), without_heads(&theirs), "{what}");
        }
        // Splits the profile and nests it again. Contexts whose callers have no record of the call get none.
        let mut split = laid_out(Layout::Split);
        assert!(split.functions.values().all(|body| body.inlined.is_empty()));
        split.nest().unwrap();
        let nested = laid_out(Layout::Nested);
        assert_eq!(bytes(&split), bytes(&nested), "{what}");
        split.flatten();
        let counts = |samples: &Samples| samples.summary().total_count;
        assert_eq!(counts(&nested), counts(&original) - calls(&original, &nested), "{what}");
    }
}

/// Counts of calls that a layout drops because their functions are inlined.
fn calls(before: &Samples, after: &Samples) -> u64 {
    before.summary().total_count - after.summary().total_count
}

#[test]
fn cold_and_long_contexts() {
    let shop = Workshop::new();
    let original = samples(CONTEXTS.as_bytes());
    let contexts = |samples: &Samples| -> Vec<String> {
        let text = llvm_sample_text::encode::encode(samples).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect()
    };
    let mut short = original.clone();
    assert_eq!(short.trim(2), 0);
    assert_eq!(
        contexts(&short),
        [
            "[_Z5funcAi:1 @ _Z8funcLeafi]:1467299:11",
            "[_Z5funcBi:1 @ _Z8funcLeafi]:500853:20",
            "[main]:2268:1",
            "[_Z5funcAi]:44:11",
            "[main:3 @ _Z5funcAi]:24:11",
        ]
    );
    let mut warm = original.clone();
    assert_eq!(warm.merge_cold(1000, 1), 1);
    assert_eq!(contexts(&warm).last().unwrap(), "[_Z5funcAi]:68:22");
    for llvm in llvms().filter(|llvm| llvm.major >= 16) {
        let file = encode(&warm, Options::EXTENSIBLE).unwrap();
        let theirs = merged(llvm, &shop, &file, &["--text"]).unwrap();
        assert_eq!(theirs, llvm_sample_text::encode::encode(&warm).unwrap());
    }
}

/// The shares and overlaps of functions give the similarity of `llvm-profdata overlap`.
#[test]
fn overlap() {
    const OTHER: &str = "\
main:184019:5
 4: 1068
 4.2: 34
 5: 1075
 6: 2080
 9: _Z3bazi:5000
  1: 5000
_Z3bari:20301:1437
 1: 1437
zzz:10:1
 1: 10
";
    let shop = Workshop::new();
    shop.write("first", NESTED);
    shop.write("second", OTHER);
    let profile = |text: &str| samples(text.as_bytes()).into_profile().unwrap();
    for (files, texts) in [(["first", "second"], [NESTED, OTHER]), (["first"; 2], [NESTED; 2])] {
        let compared = Comparison::new(profile(texts[0]), profile(texts[1]));
        let similarity = |row: &Row| {
            let [Some(first), Some(second)] = row.shares else { return 0.0 };
            row.overlap * (1.0 - f64::abs(first - second)) * (first + second) / 2.0
        };
        let similarity: f64 = compared.rows.iter().map(similarity).sum();
        for llvm in llvms() {
            let words = ["overlap", "--sample", files[0], files[1]];
            let output = String::from_utf8(llvm.profdata(&shop, &words).stdout).unwrap();
            let theirs = |what: &str| {
                let line = output.lines().find_map(|line| line.trim().strip_prefix(what));
                line.unwrap().trim().trim_end_matches('%').to_owned()
            };
            let ours = format!("{:.3}", 100.0 * similarity);
            assert_eq!(theirs("Whole program profile similarity:"), ours, "LLVM {}", llvm.major);
            let both = compared.rows.iter().filter(|row| !row.shares.contains(&None)).count();
            let ours = 100.0 * both as f64 / compared.rows.len() as f64;
            assert_eq!(theirs("Function overlap:"), format!("{ours:.3}"));
        }
    }
}

/// The tool reads sample profiles wherever it reads profiles, and writes them.
#[test]
fn the_tool() {
    let shop = Workshop::new();
    shop.write("nested.prof", NESTED);
    shop.write("contexts.prof", CONTEXTS);
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        String::from_utf8(shop.tool_output(&words)).unwrap()
    };
    for name in ["nested", "contexts"] {
        run(&format!("convert {name}.prof --to llvm-sample --md5 --compress -o {name}.md5"));
        run(&format!("convert {name}.prof --to llvm-sample -o {name}.ext"));
        run(&format!("convert {name}.ext --to llvm-sample-text -o {name}.again"));
        assert_eq!(run(&format!("check {name}.prof {name}.ext {name}.md5")), "");
        run(&format!("diff {name}.prof {name}.ext"));
        let text = String::from_utf8(shop.read(format!("{name}.again"))).unwrap();
        let ours = samples(if name == "nested" { NESTED } else { CONTEXTS }.as_bytes());
        let ours = llvm_sample_text::encode::encode(&ours).unwrap();
        assert_eq!(text.as_bytes(), ours);
        for format in ["v4", "v4-text", "v3", "v2", "v1", "v407", "json"] {
            run(&format!("convert {name}.ext --to {format} -o {name}.{format}"));
        }
    }
    assert!(run("show nested.ext --function main").contains("10000"));
    assert!(run("show --sections contexts.md5").contains("contexts (compressed)"));
    run("merge contexts.prof contexts.ext -o sum.prof");
    let sum = samples(&shop.read("sum.prof"));
    let twice = 2 * samples(CONTEXTS.as_bytes()).summary().total_count;
    assert_eq!(sum.summary().total_count, twice);
    run("rewrite contexts.prof --contexts nested -o nested_contexts.prof");
    run(
        "rewrite nested.v4 --contexts split --cold-contexts 1500 --to llvm-sample-text -o split.prof",
    );
    let split = String::from_utf8(shop.read("split.prof")).unwrap();
    assert!(split.contains("[main:9 @ _Z3bazi]:"), "{split}");
    assert!(!split.contains("@ inline1]"), "{split}");
    run("convert nested.v4 --for-clang 16 -o clang.prof");
    assert!(decode(&shop.read("clang.prof")).is_ok());
}

/// Small hot copies stay, by the sizes in the program's debug information. All other copies are added to their
/// functions.
#[test]
fn the_preinliner() {
    const PROGRAM: &str = "\
volatile int sink;
static inline __attribute__((always_inline)) void small(int x) {
    sink = x;
}
static inline __attribute__((always_inline)) void large(int x) {
    for (int i = 0; i < x; i++) sink = sink * 3 + i / (sink | 1) + (i ^ x) % 7;
    for (int i = 0; i < x; i++) sink = sink * 5 - i / (sink | 3) + (i & x) % 9;
}
int main(int argc, char **argv) {
    for (int i = 0; i < 1000; i++) {
        small(i);
        large(argc);
        small(argc);
    }
    return 0;
}
";
    const PROFILE: &str = "\
main:3001:1
 1: 1000
 2: small:1000
  1: 1000
 3: large:1000
  1: 1000
 4: small:1
  1: 1
";
    let shop = Workshop::new();
    shop.write("program.c", PROGRAM);
    shop.write("nested.prof", PROFILE);
    for compiler in ["gcc", "clang-13", "clang-22"] {
        if !crate::harness::have(compiler) {
            continue;
        }
        let words = ["-O2", "-g", "-w", "program.c", "-o", "program"];
        succeed(shop.command(compiler).args(words));
        shop.tool_output(&[
            "rewrite",
            "nested.prof",
            "--preinline",
            "program",
            "--preinline-hot",
            "100",
            "--preinline-size",
            "60",
            "--decisions",
            "decisions",
            "-o",
            "pre.prof",
        ]);
        for kept in ["nested.prof", "program", "pre.prof"] {
            let words = ["rewrite", "nested.prof", "--preinline", "program", "--decisions", kept];
            let refused = shop.tool(&[&words[..], &["-o", "pre.prof"]].concat());
            let errors = String::from_utf8(refused.stderr).unwrap();
            assert!(errors.contains("--decisions needs a file of its own"), "{errors}");
        }
        let decisions = String::from_utf8(shop.read("decisions")).unwrap();
        let word = |line: &str, place| line.split('\t').nth(place).unwrap_or_default().to_owned();
        let found: Vec<(String, String)> =
            decisions.lines().map(|line| (word(line, 0), word(line, 3))).collect();
        let wanted =
            [("inline", "main:2 @ small"), ("large", "main:3 @ large"), ("cold", "main:4 @ small")];
        let wanted = wanted.map(|(what, place)| (what.to_owned(), place.to_owned()));
        assert_eq!(found, wanted, "{compiler}: {decisions}");
        assert_eq!(
            String::from_utf8(shop.read("pre.prof")).unwrap(),
            "\
[main]:3001:1
 1: 1000
 2: 1000 small:1000
 3: 1000 large:1000
 4: 1 small:1
[large]:1000:1000
 1: 1000
[main:2 @ small]:1000:1000
 1: 1000
 !Attributes: 2
[small]:1:1
 1: 1
"
        );
    }
}

/// Names as those of Objective-C, and stranger ones.
const NAMES: &str = "\
-[Foo bar:baz:]:19:5
 1: 10 -[Foo qux:]:3 +[A b]:2 f(a, g:2)::h:1
 2: 5 x:5y z:4 x:99999999999999999999 y:3 a:7:1
 2: -[Foo in:]:4
  1: 4
operator new:3:0
 1: 3
";

/// Names may have spaces and colons in them. All versions of LLVM read and write them.
#[test]
fn names_with_spaces_and_colons() {
    let ours = samples(NAMES.as_bytes());
    assert_eq!(llvm_sample_text::encode::encode(&ours).unwrap(), NAMES.as_bytes());
    let spaces = NAMES.replace(" +[A b]:2", "   +[A b]:2");
    let more = llvm_sample_text::encode::encode(&samples(spaces.as_bytes())).unwrap();
    assert_eq!(more, NAMES.as_bytes());
    let file = encode(&ours, Options::EXTENSIBLE).unwrap();
    let shop = Workshop::new();
    for llvm in llvms() {
        for input in [NAMES.as_bytes(), spaces.as_bytes(), &file] {
            let text = merged(llvm, &shop, input, &["--text"]).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), NAMES, "LLVM {}", llvm.major);
        }
    }
    for wrong in ["10 ", "10 x", "10 x:5 ", "10 x:5 y", "10 :5", "10 a:5 :6 x:7", "10 a:5 :x:6"] {
        let text = format!("main:10:5\n 1: {wrong}\n");
        assert!(llvm_sample_text::decode::decode(text.as_bytes()).is_err(), "{wrong:?}");
        for llvm in llvms() {
            assert_eq!(merged(llvm, &shop, text.as_bytes(), &["--text"]), None, "{wrong:?}");
        }
    }
}

/// Names that readers would take for something else are not written.
#[test]
fn names_that_texts_cannot_hold() {
    let with_target = |name: &str| {
        let mut ours = samples(b"main:10:5\n 1: 10\n");
        let symbol = ours.symbol(name.as_bytes());
        let record = Record { count: 1, targets: [(symbol, 1)].into_iter().collect() };
        ours.functions.values_mut().for_each(|body| body.add_record(Site::line(2), record.clone()));
        llvm_sample_text::encode::encode(&ours).map_err(|error| error.to_string())
    };
    assert_eq!(
        with_target("f(a:2 g)").unwrap_err(),
        "the name \"f(a:2 g)\" cannot be written: a colon, a number and a space end the target of a call"
    );
    assert!(with_target(" f").is_err() && with_target(":f").is_err() && with_target("a:2").is_ok());
    let mut ours = samples(b"-[A b:]:10:5\n 1: 10\n");
    ours.split().unwrap();
    assert_eq!(
        llvm_sample_text::encode::encode(&ours).unwrap_err().to_string(),
        "the name \"-[A b:]\" cannot be written: in contexts a colon ends the name"
    );
}

/// A defect behind the first line has its place. Comments may be indented.
#[test]
fn a_bad_second_line() {
    let shop = Workshop::new();
    for (line, place) in [
        (" 65536: 10", "2:2: expected a position"),
        (" -1: 10", "2:2: expected a position"),
        ("\t1: 10", "2:1: expected a function"),
    ] {
        shop.write("bad.prof", format!("main:10:5\n{line}\n"));
        let output = shop.tool(&["show", "bad.prof"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(place), "{line:?}: {message}");
    }
    let plain = "main:10:5\n 1: 10\n";
    let text = "# c\n\n   # c\nmain:10:5\n # c\n 1: 10\n  # c\n #1: 3\n";
    shop.write("comments.prof", text);
    let words = ["convert", "comments.prof", "--to", "llvm-sample-text", "-o", "-"];
    assert_eq!(String::from_utf8(shop.tool_output(&words)).unwrap(), plain);
    for llvm in llvms() {
        let behind = text.find("main").unwrap();
        assert_eq!(
            merged(llvm, &shop, &text.as_bytes()[behind..], &["--text"]).unwrap(),
            plain.as_bytes()
        );
    }
}
