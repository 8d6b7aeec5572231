//! One program twice, of the same objects: `stock` with LLVM's own runtime, `ours` with the archive.

use std::fs;
use std::path::Path;
use std::process::Command;

use countersink::convert::llvm::profile;
use countersink::formats::proftext::encode::encode;
use countersink::raw::dump::Dump;

use super::Llvm;
use crate::harness::{Workshop, say_skipped, succeed};

/// What links the archive.
pub const OURS: [&str; 2] = ["-L.", "-lcountersink_rt"];

impl Llvm {
    /// Runs clang with these words.
    pub fn clang(self, shop: &Workshop, words: &[&str]) {
        succeed(shop.command(format!("clang++-{}", self.major)).args(words));
    }

    /// Compiles a source to an object.
    pub fn object(self, shop: &Workshop, source: &str, flags: &[&str]) -> String {
        let object = Path::new(source).with_extension("o").to_str().unwrap().to_owned();
        let driver = if source.ends_with(".c") { "clang" } else { "clang++" };
        let mut clang = shop.command(format!("{driver}-{}", self.major));
        succeed(clang.args(["-w", "-I.", "-c", source, "-o", &object]).args(flags));
        object
    }

    /// The object that a source becomes without a profile, or with an indexed one, about which clang has nothing to
    /// say.
    pub fn optimised(
        self,
        shop: &Workshop,
        source: &str,
        profile: Option<&str>,
        flags: &[&str],
    ) -> Vec<u8> {
        let use_it = profile.map(|profile| format!("-fprofile-use={profile}"));
        let driver = if source.ends_with(".c") { "clang" } else { "clang++" };
        let mut clang = shop.command(format!("{driver}-{}", self.major));
        clang.args(["-I.", "-c", source, "-o", "optimised.o"]).args(flags).args(use_it);
        clang.args(["-Werror", "-Wprofile-instr-missing", "-Wprofile-instr-out-of-date"]);
        let output = clang.output().unwrap();
        let about = format!("LLVM {}, {source}, {profile:?}", self.major);
        assert!(output.status.success() && output.stderr.is_empty(), "{about}: {output:?}");
        shop.read("optimised.o")
    }

    /// Whether LLVM's linker of this version is there.
    pub fn has_lld(self) -> bool {
        let clang = format!("clang++-{}", self.major);
        let found = succeed(Command::new(clang).arg("-print-prog-name=ld.lld"));
        let found = String::from_utf8(found).unwrap();
        if !found.starts_with('/') {
            say_skipped(&format!("LLVM {} has no linker", self.major));
        }
        found.starts_with('/')
    }

    /// Links objects with each of the runtimes. Nothing of LLVM's own comes into ours.
    pub fn link_both(self, shop: &Workshop, objects: &[String], flags: &[&str]) {
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        self.clang(shop, &[&objects, flags, &["-o", "stock"]].concat());
        self.clang(shop, &[&objects, flags, &["-o", "ours"], &OURS].concat());
        let stock = of_stock(shop, "ours");
        assert!(stock.is_empty(), "LLVM {}, {flags:?}: {stock:?}", self.major);
    }

    /// What `llvm-profdata` makes of raw profiles of the folder.
    pub fn merged(self, shop: &Workshop, profiles: &[&str]) -> String {
        let mut words = vec!["merge", "--text", "-o", "merged"];
        // Without it the names of virtual tables are lost.
        if self.major >= 19 {
            words.push("--keep-vtable-symbols");
        }
        words.extend(profiles);
        let output = self.profdata(shop, &words);
        assert!(output.status.success(), "{profiles:?}: {output:?}");
        String::from_utf8(shop.read("merged")).unwrap()
    }

    /// What `llvm-profdata` makes of the text of a dump.
    pub fn text_of_dump(self, shop: &Workshop, dump: &str) -> String {
        self.text(shop, text_of_dump(shop, dump).as_bytes()).unwrap()
    }

    /// Runs both programs, and compares what they counted.
    #[track_caller]
    pub fn assert_same_counts(self, shop: &Workshop, arguments: &[&str], about: &str) {
        let _ = fs::remove_file(shop.path("ours.csraw"));
        let run = |program: &str| {
            // Under one name, so that the stacks start alike.
            let _ = fs::remove_file(shop.path("program"));
            fs::hard_link(shop.path(program), shop.path("program")).unwrap();
            let mut command = shop.command(shop.path("program"));
            command.env_clear().env("LLVM_VP_MAX_NUM_VALS_PER_SITE", "255");
            command.env("LLVM_PROFILE_FILE", "stock.profraw").env("COUNTERSINK_FILE", "ours.csraw");
            if program == "ours" {
                command.env("MALLOC_IS_SEALED", "1");
            }
            command.args(arguments).output().unwrap()
        };
        let (stock, ours) = (run("stock"), run("ours"));
        assert!(stock.status.success() && stock.stderr.is_empty(), "{about}: {stock:?}");
        assert_eq!(ours, stock, "{about}");
        let stock = with_one_unknown_table(&self.merged(shop, &["stock.profraw"]));
        let ours = with_one_unknown_table(&self.text_of_dump(shop, "ours.csraw"));
        assert!(stock.contains("main"), "{about}: {stock}");
        assert_same_text(&ours, &stock, &format!("LLVM {}, {about}", self.major));
        self.assert_same_bytes(shop, about);
    }

    /// Makes `stock.profdata` with `llvm-profdata`, which our conversion of the same raw profile equals, and
    /// `ours.profdata` of the dump.
    #[track_caller]
    fn assert_same_bytes(self, shop: &Workshop, about: &str) {
        let merged = self.profdata(shop, &["merge", "-o", "stock.profdata", "stock.profraw"]);
        assert!(merged.status.success(), "{about}: {merged:?}");
        let clang = format!("clang-{}", self.major);
        for (from, to) in [("stock.profraw", "converted"), ("ours.csraw", "ours.profdata")] {
            let convert = ["convert", from, "--to", "profdata", "--for-llvm", &clang, "-o", to];
            shop.tool_output(&convert);
        }
        let converted = shop.read("converted");
        let same = converted == shop.read("stock.profdata");
        let text = self.merged(shop, &["stock.profraw"]);
        if !same && text.contains("VTable") {
            // We keep the names of virtual tables, and do not compress them.
            assert_eq!(self.text(shop, &converted).unwrap(), text, "{about}");
            return;
        }
        assert!(same, "LLVM {}, {about}: other bytes than llvm-profdata's", self.major);
    }

    /// Compiles a source with `stock.profdata` and with `ours.profdata`: clang makes the same object, and another one
    /// than without.
    #[track_caller]
    pub fn assert_same_object(self, shop: &Workshop, source: &str, flags: &[&str]) {
        let profiles = [None, Some("stock.profdata"), Some("ours.profdata")];
        let [plain, stock, ours] =
            profiles.map(|profile| self.optimised(shop, source, profile, flags));
        assert!(ours == stock, "LLVM {}, {source}: another object", self.major);
        assert!(ours != plain, "LLVM {}, {source}: the profile changes nothing", self.major);
    }
}

/// Says where texts differ.
#[track_caller]
pub fn assert_same_text(ours: &str, stock: &str, about: &str) {
    let differs = ours.lines().zip(stock.lines()).position(|(ours, stock)| ours != stock);
    let Some(line) = differs.or_else(|| (ours.len() != stock.len()).then_some(0)) else { return };
    let around = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(line.saturating_sub(30)).take(45).collect();
        lines.join("\n")
    };
    panic!("{about}: line {line}\nOURS\n{}\nSTOCK\n{}", around(ours), around(stock));
}

/// A text in which all virtual tables of a site that have no name are one. A dump keeps only those of the image
/// apart, LLVM's profiles keep all addresses apart.
fn with_one_unknown_table(text: &str) -> String {
    const UNKNOWN: &str = "** External Symbol **:";
    let (mut lines, mut of_tables) = (text.lines().peekable(), false);
    let mut merged = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("# ValueKind") {
            of_tables = line.contains("VTable");
        }
        let has_values = lines.peek().is_some_and(|next| next.contains(':'));
        let number = line.parse::<usize>().ok().filter(|_| of_tables && has_values);
        let Some(number) = number else {
            merged.push(line.to_owned());
            continue;
        };
        let values: Vec<&str> = lines.by_ref().take(number).collect();
        let count = |value: &&str| value.strip_prefix(UNKNOWN)?.parse::<u64>().ok();
        let unknown: u64 = values.iter().filter_map(count).sum();
        let mut site: Vec<String> =
            values.iter().filter(|value| count(value).is_none()).map(|&v| v.to_owned()).collect();
        if unknown > 0 {
            site.push(format!("{UNKNOWN}{unknown}"));
        }
        merged.push(site.len().to_string());
        merged.extend(site);
    }
    merged.join("\n")
}

/// A dump as LLVM's text.
pub fn text_of_dump(shop: &Workshop, dump: &str) -> String {
    let dump = Dump::parse(&shop.read(dump)).unwrap();
    let converted = profile(&dump).unwrap();
    assert_eq!(converted.nameless, 0);
    String::from_utf8(encode(&converted.profile).unwrap()).unwrap()
}

/// Symbols of a program that only LLVM's own runtime has.
pub fn of_stock(shop: &Workshop, program: &str) -> Vec<String> {
    let symbols = String::from_utf8(succeed(shop.command("nm").arg(program))).unwrap();
    let names = symbols.lines().filter_map(|line| line.split_whitespace().last());
    let theirs = |name: &&str| {
        name.starts_with("lprof") && *name != "lprofSetMaxValsPerSite"
            || ["initBufferWriter", "VPMaxNumValsPerSite", "VPMergeHook", "CurrentVNode"]
                .contains(name)
    };
    names.filter(theirs).map(str::to_owned).collect()
}
