//! Every kind of profile, and every pair of kinds, against `llvm-profdata` of each release: the same status, the same
//! content. What differs on purpose is listed with its reason.
//!
//! Memory profiles are not in the matrix: neither `merge` nor `profdata` reads them, see the book.

use std::fmt::Write as _;
use std::process::{Command, Output};
use std::sync::Mutex;

use countersink::counters::{Function, Profile, Site, Trace, Value, Variant, name_ref};
use countersink::formats::profdata::version_for_llvm;
use countersink::formats::{profdata, profraw, proftext};
use rayon::prelude::*;

use crate::harness::{Workshop, say_skipped, skip};

const TOOL: &str = env!("CARGO_BIN_EXE_countersink");

/// Releases with different rules or formats.
const MAJORS: [u32; 5] = [13, 14, 16, 19, 22];

/// Those that are installed. No compiler is needed.
fn installed() -> Vec<u32> {
    let runs =
        |major: &u32| Command::new(format!("llvm-profdata-{major}")).arg("--help").output().is_ok();
    let (found, missing): (Vec<u32>, Vec<u32>) = MAJORS.into_iter().partition(runs);
    if found.is_empty() {
        skip("no llvm-profdata-N is installed");
    } else if !missing.is_empty() {
        say_skipped(&format!("llvm-profdata {missing:?} are not installed"));
    }
    found
}

/// A kind of instrumentation profile, and the first release that writes it.
struct Kind {
    name: &'static str,
    since: u32,
    variant: u64,
}

const fn kind(name: &'static str, since: u32, bits: &[Variant]) -> Kind {
    let (mut variant, mut place) = (0, 0);
    while place < bits.len() {
        variant |= bits[place].0;
        place += 1;
    }
    Kind { name, since, variant }
}

const KINDS: [Kind; 11] = {
    use Variant as V;
    [
        kind("front end", 13, &[]),
        kind("IR", 13, &[V::IR]),
        kind("CS", 13, &[V::IR, V::CONTEXT_SENSITIVE]),
        kind("front end, entry first", 13, &[V::ENTRY_FIRST]),
        kind("IR, entry first", 13, &[V::IR, V::ENTRY_FIRST]),
        kind("IR, loop entries", 20, &[V::IR, V::LOOP_ENTRIES]),
        kind("front end, bytes", 17, &[V::SINGLE_BYTE]),
        kind("IR, bytes", 17, &[V::IR, V::SINGLE_BYTE]),
        kind("IR, entries only", 17, &[V::IR, V::SINGLE_BYTE, V::FUNCTION_ENTRY_ONLY]),
        kind("IR, traces", 17, &[V::IR, V::TEMPORAL]),
        kind("front end, traces", 17, &[V::TEMPORAL]),
    ]
};

/// How a profile is stored.
const FORMS: [&str; 3] = ["text", "raw", "indexed"];

impl Kind {
    fn has(&self, bits: Variant) -> bool {
        Variant(self.variant).has(bits)
    }

    /// Counts that tell the kinds apart in a sum.
    fn profile(&self, number: u64) -> Profile {
        let late = if self.has(Variant::CONTEXT_SENSITIVE) { 1 << 60 } else { 0 };
        let count = |factor: u64| if self.has(Variant::SINGLE_BYTE) { 1 } else { number * factor };
        let function = |name: &str, hash, counters: &[u64]| Function {
            name: name.into(),
            hash,
            counters: counters.into(),
            ..Function::default()
        };
        let mut shared = function("shared", 7 | late, &[count(3), count(1)]);
        if !self.has(Variant::SINGLE_BYTE) && number % 2 == 1 {
            let values = vec![Value { value: name_ref(b"own"), count: number }];
            shared.values[0] = vec![Site { values }];
        } else {
            shared.hash += 100;
        }
        let own = function("own", 100 + number, &[count(2)]);
        let functions = vec![shared, own];
        let trace = Trace { weight: 1, functions: vec![name_ref(b"own"), name_ref(b"shared")] };
        let traces = if self.has(Variant::TEMPORAL) { vec![trace] } else { vec![] };
        Profile { variant: Variant(self.variant), functions, traces, ..Profile::default() }
    }

    /// The file in a form, if the release has one.
    fn file(&self, number: u64, form: &str, major: u32) -> Option<Vec<u8>> {
        let profile = self.profile(number);
        match form {
            _ if self.since > major => None,
            // A text does not say that there are only entries.
            "text" if self.has(Variant::FUNCTION_ENTRY_ONLY) => None,
            "text" => Some(proftext::encode::encode(&profile).unwrap()),
            "raw" => {
                let version = profraw::Version::for_llvm(major).unwrap();
                Some(profraw::encode::encode(&profile, version).unwrap())
            }
            _ => {
                let version = version_for_llvm(major, &profile);
                Some(profdata::encode::encode(&profile, version).unwrap().bytes)
            }
        }
    }
}

/// What became of files in a sum.
#[derive(PartialEq, Eq)]
struct Outcome {
    succeeded: bool,
    /// What the release shows of it; empty after a failure.
    shown: String,
}

impl Outcome {
    fn of(shop: &Workshop, major: u32, output: &Output, file: &str) -> Self {
        let succeeded = output.status.success();
        let shown = match succeeded && shop.path(file).exists() {
            true => shown(shop, major, file),
            false => String::new(),
        };
        Self { succeeded, shown }
    }

    fn in_words(&self) -> String {
        match self.succeeded {
            true => format!("succeeds:\n{}", self.shown),
            false => "fails\n".to_owned(),
        }
    }
}

fn run(shop: &Workshop, program: &str, words: &[&str]) -> Output {
    shop.command(program).args(words).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// All that a release shows of a file, and the text that it makes of it.
fn shown(shop: &Workshop, major: u32, file: &str) -> String {
    let profdata = format!("llvm-profdata-{major}");
    let mut all = String::new();
    for words in [
        &["show", "--all-functions", "--counts", "--ic-targets", "--text", file][..],
        &["show", "--all-functions", "--counts", "--ic-targets", file],
        &["merge", "--text", file, "-o", "-"],
    ] {
        all += &text(&run(shop, &profdata, words));
    }
    all
}

/// Why `merge` refuses what a release adds.
fn refused_by_merge(a: &Kind, b: &Kind) -> Option<&'static str> {
    let differ = |bits: Variant| a.has(bits) != b.has(bits);
    match () {
        () if differ(Variant::IR) => Some("no compiler reads counters of both levels"),
        () if differ(Variant::SINGLE_BYTE) => {
            Some("a sum of counts and of \"covered\" means nothing")
        }
        () => None,
    }
}

/// Runs a release's tool and ours on the same files, and `merge`, and says what differs.
fn compare(shop: &Workshop, major: u32, files: &[&str], refused: Option<&str>) -> Vec<String> {
    let stem = files.join("+");
    let [theirs, ours, merged] =
        ["theirs", "ours", "merged"].map(|whose| format!("{whose} {stem}"));
    fn with<'w>(words: &[&'w str], files: &[&'w str], file: &'w str) -> Vec<&'w str> {
        [words, files, &["-o", file]].concat()
    }
    let output = run(shop, &format!("llvm-profdata-{major}"), &with(&["merge"], files, &theirs));
    let (succeeded, theirs_said) = (output.status.success(), output);
    let mut found = Vec::new();
    let mut tell = |what: &str, output: &Output, file: &str, refused: Option<&str>| {
        let has_failed = !output.status.success();
        // To look into equal files takes long.
        let is_as_wanted = match refused {
            Some(_) => has_failed,
            None if has_failed || !succeeded => has_failed != succeeded,
            None => shop.read(file) == shop.read(&theirs),
        };
        if is_as_wanted {
            return;
        }
        let [result, expected] = [(output, file), (&theirs_said, &theirs)]
            .map(|(output, file)| Outcome::of(shop, major, output, file));
        if refused.is_some() || result != expected {
            let mut words = String::new();
            let _ = write!(words, "LLVM {major}, {stem}: {what} {}", result.in_words());
            let _ = write!(words, "{}\nllvm-profdata {}", text(output), expected.in_words());
            found.push(words);
        }
    };
    let mut command = shop.command(TOOL);
    command
        .arg("profdata")
        .args(with(&["merge"], files, &ours))
        .env("COUNTERSINK_LLVM", major.to_string());
    tell("profdata", &command.output().unwrap(), &ours, None);
    let number = major.to_string();
    let words = with(&["merge", "--to", "profdata", "--for-llvm", &number], files, &merged);
    // The last file decides in LLVM 13 whether entries come first; `merge` says so if any file does.
    if major > 13 || files.len() == 1 {
        tell("merge", &run(shop, TOOL, &words), &merged, refused);
    }
    found
}

#[track_caller]
fn assert_none(found: Vec<String>) {
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
#[ignore = "slow"]
fn kinds_of_instrumentation() {
    let shop = Workshop::new();
    let mut all = Vec::new();
    for major in installed() {
        for (number, kind) in (1..).zip(&KINDS) {
            all.extend(FORMS.map(|form| (major, number, kind, form)));
        }
    }
    let found = all.par_iter().flat_map_iter(|&(major, number, kind, form)| {
        let Some(file) = kind.file(number, form, major) else { return Vec::new() };
        let name = format!("{major} {} {form}", kind.name);
        shop.write(&name, file);
        compare(&shop, major, &[&name], None)
    });
    assert_none(found.collect());
}

/// Each pair in one of its nine combinations of forms.
#[test]
#[ignore = "slow"]
fn pairs_of_kinds_of_instrumentation() {
    let shop = Workshop::new();
    let mut pairs = Vec::new();
    for major in installed() {
        for (first, a) in KINDS.iter().enumerate() {
            for (second, b) in KINDS.iter().enumerate() {
                pairs.push((major, (first, a), (second, b)));
            }
        }
    }
    let found = Mutex::new(Vec::new());
    pairs.par_iter().for_each(|&(major, (first, a), (second, b))| {
        let forms = [FORMS[(first + second) % 3], FORMS[(2 * first + second) % 3]];
        let files = [(a, first, "first"), (b, second, "second")].into_iter().zip(forms);
        let files: Vec<String> = files
            .filter_map(|((kind, number, place), form)| {
                let file = kind.file(number as u64 + 1, form, major)?;
                let other = [first, second][usize::from(place == "first")];
                let name = format!("{major} {place} {} {form} {other}", kind.name);
                shop.write(&name, file);
                Some(name)
            })
            .collect();
        if let [first, second] = &files[..] {
            let compared = compare(&shop, major, &[first, second], refused_by_merge(a, b));
            found.lock().unwrap().extend(compared);
        }
    });
    assert_none(found.into_inner().unwrap());
}

/// A sample profile, its kind, and the first release that reads it.
struct Samples {
    name: &'static str,
    since: u32,
    text: &'static str,
}

const SAMPLES: [Samples; 11] = [
    Samples { name: "lines", since: 13, text: "main:1000:10\n 1: 100\n 3: 900 foo:7 bar:2\n" },
    Samples {
        name: "inlined",
        since: 13,
        text: "main:100:10\n 1: 60\n 2: foo:10\n  1: 10\nfoo:3:3\n 1: 3\n",
    },
    Samples {
        name: "discriminators",
        since: 13,
        text: "main:100:10\n 1.2050: 60\n 3.4294967295: 40\n",
    },
    Samples { name: "attributes", since: 14, text: "main:50:10\n 1: 50\n !Attributes: 1\n" },
    Samples { name: "flat", since: 22, text: "main:100:10\n 1: 60\n !Flat\n" },
    Samples {
        name: "large",
        since: 13,
        text: "main:18446744073709551600:20\n 1: 18446744073709551600\n",
    },
    Samples { name: "probes", since: 13, text: "main:100:10\n 1: 60\n 3: 40\n !CFGChecksum: 7\n" },
    Samples {
        name: "inlined probes",
        since: 14,
        text: "main:300:20\n 1: 160\n 2: foo:40\n  1: 40\n  !CFGChecksum: 6\n 5: baz:4\n  1: 4\n  !CFGChecksum: 1\n \
               !CFGChecksum: 7\nbar:5:5\n 1: 5\n !CFGChecksum: 10\n",
    },
    Samples {
        name: "probes of another build",
        since: 14,
        text: "main:400:20\n 1: 160\n 2: foo:40\n  1: 40\n  !CFGChecksum: 5\n !CFGChecksum: 7\nbar:5:5\n 1: 5\n \
               !CFGChecksum: 11\nnone:1:1\n 1: 1\n",
    },
    Samples {
        name: "contexts",
        since: 13,
        text: "[main:3 @ foo]:100:11\n 1: 60\n[main]:20:1\n 2: 18\n",
    },
    Samples {
        name: "contexts of probes",
        since: 13,
        text: "[main:3 @ foo]:100:11\n 1: 60\n !CFGChecksum: 5\n !Attributes: 2\n[main]:20:1\n 2: 18\n \
               !CFGChecksum: 7\n",
    },
];

/// Without the attributes that LLVM 13 gives to each context.
fn plain(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .filter(|line| line.trim() != "!Attributes: 0")
        .map(|line| format!("{line}\n"))
        .collect()
}

impl Samples {
    /// Whether it has pseudo-probes, and whether it has contexts. `merge` refuses to add profiles that differ in that.
    /// LLVM does so for texts. A binary profile behind another one it takes for what that was.
    fn kind(&self) -> (bool, bool) {
        (self.text.contains("!CFGChecksum"), self.text.starts_with('['))
    }
}

/// Adds sample profiles with a release's tool and with `merge`, and says what differs.
fn compare_samples(shop: &Workshop, major: u32, files: &[&str], are_alike: bool) -> Option<String> {
    let profdata = format!("llvm-profdata-{major}");
    let stem = files.join("+");
    let [theirs, ours] = ["theirs", "ours"].map(|whose| format!("{whose} {major} {stem}"));
    let words = [&["merge", "--sample", "--text", "-o", &theirs][..], files].concat();
    let output = run(shop, &profdata, &words);
    let is_expected = output.status.success() && are_alike;
    let expected = is_expected.then(|| plain(&shop.read(&theirs)));
    let words = [&["merge", "--to", "llvm-sample-text", "-o", &ours][..], files].concat();
    let output = run(shop, TOOL, &words);
    let found = output.status.success().then(|| plain(&shop.read(&ours)));
    let what =
        || format!("LLVM {major}, {stem}: {found:?}, {}expected {expected:?}", text(&output));
    (found != expected).then(what)
}

/// The file of a sample profile in a form, if the release has that for it.
fn sample_file(shop: &Workshop, major: u32, samples: &Samples, form: &str) -> Option<String> {
    if samples.since > major {
        return None;
    }
    let text = format!("{major} {}", samples.name);
    shop.write(&text, samples.text);
    if form == "text" {
        return Some(text);
    }
    let name = format!("{text} {form}");
    let words = ["merge", "--sample", &format!("--{form}"), &text, "-o", &name];
    run(shop, &format!("llvm-profdata-{major}"), &words).status.success().then_some(name)
}

#[test]
#[ignore = "slow"]
fn kinds_and_pairs_of_sample_profiles() {
    let shop = Workshop::new();
    let found = installed().into_par_iter().flat_map(|major| of_samples(&shop, major));
    assert_none(found.collect());
}

/// All differences from a release.
fn of_samples(shop: &Workshop, major: u32) -> Vec<String> {
    let forms = ["text", "binary", "extbinary", "compbinary"];
    let mut files = Vec::new();
    for samples in &SAMPLES {
        files.push(forms.map(|form| sample_file(shop, major, samples, form)));
    }
    let mut found = Vec::new();
    for one in files.iter().flatten().flatten() {
        // Twice, so that all counts are added.
        found.extend(compare_samples(shop, major, &[one, one], true));
    }
    for (first, a) in files.iter().enumerate() {
        for (second, b) in files.iter().enumerate() {
            let forms =
                [[0, 2, 0, 1][(first + second) % 4], [0, 2, 0, 1][(first + 2 * second + 1) % 4]];
            if let (Some(a), Some(b)) = (&a[forms[0]], &b[forms[1]])
                && first != second
            {
                let are_alike = SAMPLES[first].kind() == SAMPLES[second].kind();
                found.extend(compare_samples(shop, major, &[a, b], are_alike));
            }
        }
    }
    found
}

/// Which traces stay of more runs than are kept, also of files that are such a choice themselves.
#[test]
#[ignore = "slow"]
fn temporal_profile_traces() {
    const KEPT: &str = "--temporal-profile-trace-reservoir-size";
    let shop = Workshop::new();
    let trace = |names: &str| {
        let functions: String =
            ["a", "b", "c", "d"].map(|name| format!("{name}\n1\n1\n5\n\n")).concat();
        format!(":ir\n:temporal_prof_traces\n1\n1\n1\n{names}\n\n{functions}")
    };
    let runs: Vec<String> = (0..130).map(|run| format!("run{run:03}")).collect();
    for (run, name) in runs.iter().enumerate() {
        let names = ["a, b,c", "b,a", "c", "d ,c,b,a", "a,c", "d,b"];
        shop.write(name, trace(names[run * run % 11 % 6]));
    }
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for major in installed().into_iter().filter(|&major| major >= 17) {
        let few = format!("few{major}");
        let words = ["merge", &format!("{KEPT}=2"), "-o", &few, "-num-threads=1"];
        let output =
            run(&shop, &format!("llvm-profdata-{major}"), &[&words[..], &runs[..5]].concat());
        assert!(output.status.success(), "{output:?}");
        let few = &*few;
        for files in [
            &[few][..],
            &[few, "run000"],
            &["run000", few],
            &[few, few],
            &["run001", "run002", few, "run003"],
            &runs,
        ] {
            for most in [0, 2, 3, 100] {
                // A thread with several files adds first the one that it happens to read first.
                for threads in
                    [1, 3].into_iter().filter(|&threads| threads == 1 || files.len() <= threads)
                {
                    let options = [format!("{KEPT}={most}"), format!("-num-threads={threads}")];
                    let words = ["merge", &options[0], &options[1], "--text"];
                    let words = [&words[..], files].concat();
                    let theirs = run(&shop, &format!("llvm-profdata-{major}"), &words);
                    let mut ours = shop.command(TOOL);
                    ours.arg("profdata").args(&words).env("COUNTERSINK_LLVM", major.to_string());
                    let ours = ours.output().unwrap();
                    if ours.stdout != theirs.stdout || ours.status != theirs.status {
                        found.push(format!("LLVM {major}: {words:?}: {}", text(&ours)));
                    }
                }
            }
        }
    }
    assert_none(found);
}
