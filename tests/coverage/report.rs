//! Pages of `report`: their content, the texts that must not become markup, and their use in a browser.
//!
//! `report/browse.mjs` drives Chromium. `npm ci --prefix tests/report` installs its package.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::{Workshop, have, skip, succeed};

/// A program that has run, and its dump `shown.csraw`.
fn program() -> Workshop {
    let shop = Workshop::new();
    shop.program("shown.c");
    shop.compile("shown.c", &[]);
    shop.link(&["shown.o"], "shown", &[]);
    shop.run("shown", &[]);
    shop
}

/// A profile as text with one function of this name, which this file declares.
fn profile_of(name: &str, file: &str) -> String {
    format!(
        "filenames = {{ \"{file}\" }}\n\"{name}\":0(1:100:0) = {{ locations = {{ 1 = 100 }} }}\n"
    )
}

/// The page of some inputs.
fn page(shop: &Workshop, inputs: &[&str]) -> String {
    let output = shop.path("page.html");
    let arguments = [&["report"], inputs, &["-o", output.to_str().unwrap()]].concat();
    shop.tool_output(&arguments);
    fs::read_to_string(output).unwrap()
}

/// The JSON in a page.
fn model(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"model\">";
    let json = page.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// The page's note about the source file with this end of its path.
fn note_of(model: &Value, end: &str) -> Value {
    let file = texts(&model["files"]).iter().position(|path| path.ends_with(end)).unwrap();
    let mut sources = model["sources"].as_array().unwrap().iter();
    sources.find(|source| source["file"] == file).unwrap()["note"].clone()
}

/// All lines of sources in a page.
fn lines(model: &Value) -> String {
    let sources = model["sources"].as_array().unwrap().iter();
    let parts = sources.flat_map(|source| source["parts"].as_array().unwrap());
    parts.map(|part| part[1].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn error(shop: &Workshop, arguments: &[&str]) -> String {
    let output = shop.tool(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_page_is_one_file_that_loads_nothing() {
    let shop = program();
    let page = page(&shop, &["shown.csraw"]);
    // Sources name addresses in comments, and are text.
    let (before_json, json) = page.split_once("id=\"model\"").unwrap();
    let around_json = [before_json, json.split_once("</script>").unwrap().1].concat();
    for (number, what) in around_json.match_indices("://").collect::<Vec<_>>() {
        let before = &around_json[..number];
        // The namespace of drawings is no address that a browser loads.
        assert!(
            before.ends_with("createElementNS(\"http"),
            "{what} after {}",
            &before[number - 60..]
        );
    }
    for forbidden in ["src=", "<img", "<iframe", "@import", "url(", "fetch(", "eval(", "innerHTML"]
    {
        let scripts = page.rsplit_once("</script><script>").map_or("", |(before, _)| before);
        let scripts = scripts.split_once("</script>").unwrap().1;
        assert!(!before_json.contains(forbidden) && !scripts.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    assert!(!page.contains("unsafe-inline"));
    // The same input gives the same bytes.
    assert_eq!(page, self::page(&shop, &["shown.csraw"]));
}

#[test]
fn names_and_sources_are_never_markup() {
    let shop = program();
    let clean = page(&shop, &["shown.csraw"]);
    let elements = clean.matches("<script").count();
    // The source has such an element in a comment.
    assert!(lines(&model(&clean)).contains("</script><script>window.pwned = 2</script>"));
    assert_eq!(clean.matches("</script").count(), elements);

    for name in
        ["</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>"]
    {
        let path = format!("{name}.c");
        shop.write("hostile", profile_of(name, &path));
        fs::copy(shop.path("hostile"), shop.path(name.replace('/', "|"))).unwrap();
        let page = page(&shop, &["hostile", &name.replace('/', "|")]);
        assert_eq!(page.matches("<script").count(), elements, "{name}");
        assert_eq!(page.matches("</script").count(), elements, "{name}");
        assert!(!page.contains("<img") && !page.contains("<!--"), "{name}");
        let model = model(&page);
        assert_eq!((texts(&model["names"])[0], texts(&model["files"])[0]), (name, &*path));
    }
    // The user's title is no markup either.
    let titled = page(&shop, &["shown.csraw", "--title", "</title><script>alert(1)</script>"]);
    assert_eq!(titled.matches("<script").count(), elements);
}

#[test]
fn invisible_letters_are_spelled_out() {
    let shop = Workshop::new();
    shop.write("turned", profile_of("a\u{202e}b\u{2066}", "c\u{200b}.c"));
    let page = page(&shop, &["turned"]);
    assert!(!page.contains(['\u{202e}', '\u{2066}', '\u{200b}']));
    let model = model(&page);
    assert_eq!(texts(&model["names"]), [r"a\u{202e}b\u{2066}"]);
    assert_eq!(texts(&model["files"]), [r"c\u{200b}.c"]);
}

#[test]
fn sources_in_other_encodings() {
    let shop = Workshop::new();
    let source = "int main(void) {\n    return 0; /* é\u{202e} */\n}\n";
    let latin: Vec<u8> = source.chars().filter(|&c| c != '\u{202e}').map(|c| c as u8).collect();
    let wide: Vec<u8> = source.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes, flag, note, shown) in [
        ("utf8.c", source.as_bytes(), "-DX", None, r"/* é\u{202e} */"),
        ("latin.c", &*latin, "-finput-charset=ISO-8859-1", Some("Latin-1"), "/* é */"),
        ("wide.c", &*wide, "-finput-charset=UTF-16LE", Some("UTF-16"), r"/* é\u{202e} */"),
    ] {
        shop.write(name, bytes);
        // Without these flags gcc reads its own headers in the same encoding.
        let object = shop.compile(name, &[flag, "-ffreestanding", "-nostdinc"]);
        shop.link(&[&object], "encoded", &[]);
        shop.run("encoded", &[]);
        let model = model(&page(&shop, &["encoded.csraw"]));
        let found = note_of(&model, name);
        match note {
            None => assert_eq!(found, Value::Null),
            Some(note) => assert!(found.as_str().unwrap().contains(note), "{found}"),
        }
        assert!(lines(&model).contains(shown), "{name}: {}", lines(&model));
        fs::remove_file(shop.path("encoded.csraw")).unwrap();
    }
}

#[test]
fn sources_that_are_missing_or_newer() {
    let shop = program();
    let model_now = || model(&page(&shop, &["shown.csraw"]));
    assert_eq!(note_of(&model_now(), "shown.c"), Value::Null);

    // The source changes after the program was made, and before it ran.
    let program = shop.path("shown").metadata().unwrap().modified().unwrap();
    let source = File::options().append(true).open(shop.path("shown.c")).unwrap();
    source.set_modified(program + Duration::from_millis(5)).unwrap();
    File::options()
        .append(true)
        .open(shop.path("shown.csraw"))
        .unwrap()
        .set_modified(SystemTime::now() + Duration::from_secs(9))
        .unwrap();
    let model = model_now();
    let note = note_of(&model, "shown.c");
    assert!(note.as_str().unwrap().contains("has changed since the program"), "{note}");
    assert!(texts(&model["notes"]).concat().contains("have changed since the program"), "{model}");

    fs::remove_file(shop.path("shown.c")).unwrap();
    let model = model_now();
    let note = note_of(&model, "shown.c");
    assert!(note.as_str().unwrap().contains("is missing"), "{note}");
    assert!(
        texts(&model["notes"]).concat().contains("Source files that are missing: 1"),
        "{model}"
    );
    assert!(!lines(&model).contains("calls"));
}

#[test]
fn bad_input_and_output() {
    let shop = program();
    let report = |arguments: &[&str]| error(&shop, &[&["report"], arguments].concat());
    assert!(report(&["shown.csraw"]).contains("--output"));
    assert!(report(&["none", "-o", "x.html"]).contains("none: No such file"));
    shop.write("text", "hello");
    assert!(report(&["text", "-o", "x.html"]).starts_with("countersink: text: "));
    fs::write(shop.path("cut"), &shop.read("shown.csraw")[..200]).unwrap();
    assert!(report(&["cut", "-o", "x.html"]).starts_with("countersink: cut: 0x"));
    assert!(report(&["shown.csraw", "-o", "shown.csraw"]).contains("is an input, too"));
    assert!(
        report(&["shown.csraw", "--against", "shown.csraw", "-o", "shown.csraw"])
            .contains("is an input")
    );
    assert!(report(&["-", "--against", "-", "-o", "x.html"]).contains("given twice"));
    assert!(report(&["shown.csraw", "-o", "/proc/none/x.html"]).contains("/proc/none"));
    assert!(report(&["shown.gcno", "-o", "x.html"]).contains("expected a profile"));
    assert!(!shop.path("x.html").exists());

    shop.write("v4", profile_of("f", "f.c"));
    assert!(report(&["v4", "--notes", ".", "-o", "x.html"]).contains("--notes is for raw dumps"));
    shop.write("llvm.proftext", ":ir\nmain\n1\n1\n5\n\n");
    let text = report(&["llvm.proftext", "--path-map", "a=b", "-o", "x.html"]);
    assert!(text.contains("the optimiser inserted its counters"), "{text}");
    let text = report(&["llvm.proftext", "--notes", ".", "-o", "x.html"]);
    assert!(text.contains("--notes is of no use here"), "{text}");
    assert!(
        report(&["llvm.proftext", "v4", "-o", "x.html"]).contains("have no places in the source")
    );
    let printed = shop.tool_output(&["report", "v4", "-o", "-"]);
    assert!(printed.starts_with(b"<!DOCTYPE html>"));
}

#[test]
fn every_version_has_a_page() {
    let shop = program();
    for format in ["v4", "v4-compact", "v4-text", "v3", "v2", "v1"] {
        shop.tool_output(&["convert", "shown.csraw", "--to", format, "-o", format]);
        let model = model(&page(&shop, &[format]));
        assert!(texts(&model["names"]).contains(&"calls"), "{format}");
        assert!(
            texts(&model["notes"]).concat().contains("A profile counts lines from"),
            "{format}"
        );
    }
    for format in ["v4", "v3", "v2"] {
        let model = model(&page(&shop, &[format, "--binary", "shown"]));
        assert!(lines(&model).contains("sum += work[i % 3](i);"), "{format}");
    }
    let text = error(&shop, &["report", "v4", "--binary", "shown.c", "-o", "x.html"]);
    assert!(text.contains("shown.c: 0x0: expected a program"), "{text}");
    shop.write("llvm.proftext", ":ir\nfile.c;main\n1\n2\n5\n7\n\n");
    for format in ["profdata", "profraw"] {
        shop.tool_output(&["convert", "llvm.proftext", "--to", format, "-o", format]);
        let model = model(&page(&shop, &[format]));
        assert_eq!((texts(&model["names"])[0], texts(&model["files"])[0]), ("main", "file.c"));
        assert_eq!(model["by_function"], true);
        assert!(texts(&model["notes"]).concat().contains("the optimiser inserted its counters"));
        assert_eq!(model["sides"][0]["total"], 12);
    }
}

#[test]
fn counters_of_clang_have_lines_from_the_coverage_mapping() {
    if !have("clang-22") {
        return;
    }
    let shop = Workshop::new();
    shop.program("shown.c");
    let build = |program: &str, flags: &[&str]| {
        let mut clang = shop.command("clang-22");
        clang.args(["-g", "shown.c", "-o", program]).args(flags);
        succeed(clang.args(["-L.", "-lcountersink_rt"]));
        shop.run(program, &[]);
    };
    let mapped = ["-fprofile-instr-generate", "-fcoverage-mapping"];
    build("mapped", &mapped);
    let of_lines = model(&page(&shop, &["mapped.csraw"]));
    assert_eq!(of_lines["by_function"], false);
    assert!(lines(&of_lines).contains("sum += work[i % 3](i);"));
    assert_eq!(note_of(&of_lines, "shown.c"), Value::Null);
    let names = texts(&of_lines["names"]);
    let calls = names.iter().position(|name| *name == "calls").unwrap();
    assert_eq!(of_lines["sides"][0]["heads"][calls], 10);

    // A program without a mapping is shown by its counters, and so is what it is compared with.
    build("bare", &mapped[..1]);
    for inputs in [&["bare.csraw"][..], &["bare.csraw", "--against", "mapped.csraw"]] {
        let of_counters = model(&page(&shop, inputs));
        assert_eq!(of_counters["by_function"], true);
        let notes = texts(&of_counters["notes"]).concat();
        assert!(notes.contains("no coverage mapping"), "{notes}");
    }
    let text = error(&shop, &["report", "bare.csraw", "--binary", "bare", "-o", "x.html"]);
    assert!(text.contains("no coverage mapping"), "{text}");

    // A profile does not say which program it counted.
    shop.tool_output(&["convert", "mapped.csraw", "--to", "profdata", "-o", "mapped.profdata"]);
    assert_eq!(model(&page(&shop, &["mapped.profdata"]))["by_function"], true);
    let named = model(&page(&shop, &["mapped.profdata", "--binary", "mapped"]));
    assert!(lines(&named).contains("sum += work[i % 3](i);"));
}

#[test]
fn files_are_added_up_and_sides_compared() {
    let shop = program();
    let once = model(&page(&shop, &["shown.csraw"]));
    fs::copy(shop.path("shown.csraw"), shop.path("again.csraw")).unwrap();
    let twice = model(&page(&shop, &["shown.csraw", "again.csraw"]));
    let total = |model: &Value, side: usize| model["sides"][side]["total"].as_u64().unwrap();
    assert_eq!(total(&twice, 0), 2 * total(&once, 0));
    assert_eq!(twice["changes"], Value::Null);
    let inputs = ["shown.csraw", "--against", "shown.csraw", "--against", "again.csraw"];
    let compared = model(&page(&shop, &inputs));
    assert_eq!([total(&compared, 0), total(&compared, 1)], [2 * total(&once, 0), total(&once, 0)]);
    assert!((compared["changes"]["overlap"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(compared["changes"]["became_hot"], Value::Array(Vec::new()));
}

/// A program may be that of one side only.
#[test]
fn a_program_of_one_side() {
    let shop = program();
    shop.compile("shown.c", &["-DAGAIN", "-O1"]);
    shop.link(&["shown.o"], "later", &[]);
    shop.run("later", &[]);
    let sides = ["report", "later.csraw", "--against", "shown.csraw", "-o", "x.html"];
    let output = shop.tool(&[&sides[..], &["--binary", "shown"]].concat());
    let told = String::from_utf8(output.stderr).unwrap();
    let without = "countersink: later.csraw: shown is not the program of this file, which goes on without it\n";
    assert!(told.contains(without), "{told}");
    assert!(!told.contains("rebuilt"), "{told}");
    shop.compile("shown.c", &["-DTHIRD", "-O0"]);
    shop.link(&["shown.o"], "third", &[]);
    let text = error(&shop, &[&sides[..], &["--binary", "third"]].concat());
    assert!(text.contains("third: "), "{text}");
}

#[test]
fn counts_beyond_what_javascript_counts() {
    let shop = Workshop::new();
    let many = u64::MAX / 4;
    let text = profile_of("f", "f.c").replace("1 = 100", &format!("1 = {many}, 2 = {many}"));
    shop.write("many", text);
    let model = model(&page(&shop, &["many"]));
    let total = (2 * u128::from(many)).to_string();
    assert_eq!(model["sides"][0]["totals"][0].as_str(), Some(&*total));
}

/// More functions than a page has room for, with long names and many lines.
/// The table of files: its counts are those of the tracefile.
#[test]
fn files_of_the_page() {
    let shop = program();
    shop.write("other.h", "static int other(int n) { return n && n > 2; }\n");
    let main = "#include \"other.h\"\n#line 1 \"gone.y\"\nstatic int gone(void) { return 2; }\n#line 5 \"main.c\"\n\
                int main(void) {\n    if (gone() == 3) // LCOV_EXCL_LINE\n        return 1;\n    return other(1);\n}\n";
    shop.write("main.c", main);
    succeed(shop.command("gcc").args(["--coverage", "-c", "main.c"]));
    shop.link(&["main.o"], "main", &[]);
    shop.run("main", &[]);
    let names = |options: &[&str]| -> Vec<String> {
        let found = model(&page(&shop, &[&["main.csraw"], options].concat()));
        let files = found["coverage"]["files"].as_array().unwrap().iter();
        files.map(|file| file[0].as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect()
    };
    let found = model(&page(&shop, &["main.csraw"]));
    let files = found["coverage"]["files"].as_array().unwrap();
    let tracefile = shop.tool_output(&["convert", "main.csraw", "--to", "lcov"]);
    let mut expected = Vec::new();
    for record in String::from_utf8(tracefile).unwrap().split("end_of_record\n") {
        let Some(path) = record.lines().find_map(|line| line.strip_prefix("SF:")) else { continue };
        let number = |kind: &str| -> u64 {
            let kind = format!("{kind}:");
            record.lines().find_map(|line| line.strip_prefix(&kind)).unwrap().parse().unwrap()
        };
        let pairs = ["L", "BR", "FN"]
            .map(|kind| [number(&format!("{kind}F")), number(&format!("{kind}H"))]);
        expected.push((path.to_owned(), pairs));
    }
    assert_eq!(expected.len(), 2);
    for (file, (path, pairs)) in files.iter().zip(&expected) {
        assert!(path.ends_with(file[0].as_str().unwrap()), "{file} {path}");
        let found: Vec<[u64; 2]> = serde_json::from_value(file[1].clone()).unwrap();
        assert_eq!((&found[..3], found[3]), (&pairs[..], [0, 0]), "{path}");
    }
    // The excluded line has two of main's branches.
    assert_eq!(expected[0].1, [[3, 2], [0, 0], [1, 1]]);
    assert!(found["coverage"]["missing"][0].as_str().unwrap().ends_with("gone.y"), "{found}");
    assert_eq!(names(&["--exclude", "*.h"]), ["main.c"]);
    assert_eq!(names(&["--include", "*.h"]), ["other.h"]);
    let found = model(&page(&shop, &["main.csraw", "--include", "*.h"]));
    let notes = texts(&found["notes"]).concat();
    assert!(
        notes.contains("The page leaves out 2 functions of files that were not chosen."),
        "{notes}"
    );
    assert_eq!(found["functions"], 1);
    let said = error(&shop, &["report", "main.csraw", "-o", "x.html", "--include", "none"]);
    assert!(said.contains("no function is left"), "{said}");
    // Profiles have no lines to execute.
    shop.tool_output(&["convert", "main.csraw", "--to", "v4", "-o", "main.gcov"]);
    assert!(model(&page(&shop, &["main.gcov"]))["coverage"].is_null());
}

#[test]
#[ignore = "slow"]
fn pages_stay_below_their_limit() {
    const LARGEST: usize = 30_000_000;
    let shop = Workshop::new();
    let mut text = String::from("filenames = { \"a.c\" }\n");
    for number in 0..110_000 {
        let lines: Vec<String> =
            (0..12).map(|line| format!("{line} = {}", u64::MAX / 1_000_000 - number)).collect();
        let name = format!("{number:06}{}", "<name>".repeat(15));
        text += &format!(
            "\"{name}\":0({}:9:0) = {{ locations = {{ {} }} }}\n",
            number + 1,
            lines.join(", ")
        );
    }
    shop.write("large", text);
    let page = page(&shop, &["large"]);
    assert!((LARGEST / 2..LARGEST).contains(&page.len()), "{}", page.len());
    let model = model(&page);
    let [functions, detailed] = ["functions", "detailed"].map(|key| model[key].as_u64().unwrap());
    assert!(0 < detailed && detailed < functions && functions < 110_000, "{detailed} {functions}");
    let notes = texts(&model["notes"]).concat();
    for part in ["There was no room for", "There was room for the lines of"] {
        assert!(notes.contains(part), "{notes}");
    }
}

/// Lines that do not run, and others that the coverage leaves out.
const LISTED: &str = "\
int pick(int n)
{
    if (n > 5)
        return 1;
    if (n > 4) /* LCOV_EXCL_BR_LINE */
        return 2; /* LCOV_EXCL_LINE */
    return n > 3 && n < 9 ? 3 : 0;
}
int never(int n) /* </script> */
{
    return n;
}
int main(void)
{
    return pick(2);
}
";

/// The page has the whole text of a file with code, the count of each line, and what is left out.
#[test]
fn whole_files() {
    let shop = program();
    shop.write("listed.c", LISTED);
    succeed(shop.command("gcc").args(["--coverage", "-c", "listed.c"]));
    shop.link(&["listed.o"], "listed", &[]);
    shop.run("listed", &[]);
    let found = model(&page(&shop, &["listed.csraw"]));
    let file: Value =
        serde_json::from_str(found["coverage"]["texts"][0].as_str().unwrap()).unwrap();
    assert_eq!(file["text"], LISTED);
    let lines = r#"[[1,1],[3,1],[4,0],[5,1],[7,1],[9,0],[11,0],[13,1],[15,1]]"#;
    assert_eq!(file["lines"].to_string(), lines);
    assert_eq!(file["branches"].to_string(), "[[3,[0,1]],[7,[0,1,0,0]]]");
    assert_eq!(file["excluded"].to_string(), "[[5,2],[6,null]]");
}

#[test]
#[ignore = "slow"]
fn pages_work_in_a_browser() {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report");
    let chromium = std::env::var("COUNTERSINK_CHROMIUM");
    if !have("node") || !have(chromium.as_deref().unwrap_or("chromium")) {
        return;
    }
    if !driver.join("node_modules/playwright-core").exists() {
        skip("playwright-core is not installed: npm ci --prefix tests/report");
        return;
    }
    let shop = program();
    let write =
        |inputs: &[&str], name: &str| fs::write(shop.path(name), page(&shop, inputs)).unwrap();
    write(&["shown.csraw"], "program.html");
    shop.write("half.c", "int half(int n) {\n    if (n)\n        return 1;\n    return 0;\n}\n");
    shop.write("whole.c", "int half(int);\nint main(void) {\n    return half(0);\n}\n");
    for name in ["half", "whole"] {
        succeed(shop.command("gcc").args(["--coverage", "-c", &format!("{name}.c")]));
    }
    shop.link(&["half.o", "whole.o"], "covered", &[]);
    shop.run("covered", &[]);
    write(&["covered.csraw"], "coverage.html");
    shop.write("listed.c", LISTED);
    succeed(shop.command("gcc").args(["--coverage", "-c", "listed.c"]));
    shop.link(&["listed.o"], "listed", &[]);
    shop.run("listed", &[]);
    write(&["listed.csraw"], "listing.html");

    let names = [
        "</script><script>window.pwned = 3</script>",
        "<img src=x onerror='window.pwned = 4'>",
        "turn\u{202e}ed",
        "a&amp;b",
        "<!--<script>",
    ];
    for (number, name) in names.iter().enumerate() {
        shop.write(&format!("markup/{number}"), profile_of(name, &format!("{name}.c")));
    }
    let inputs: Vec<String> = (0..names.len()).map(|number| format!("markup/{number}")).collect();
    write(&inputs.iter().map(String::as_str).collect::<Vec<_>>(), "markup.html");

    for (time, day, night, target) in [("day", 900, 0, "one"), ("night", 0, 800, "two")] {
        shop.write(
            time,
            format!(
                "filenames = {{ \"a.c\" }}\nsymbol_names = {{ 7 = \"{target}\":0, 8 = \"three\":0 }}\n\
                 \"main\":0(1:1000:0) = {{ locations = {{ 1 = 100, 2 = 50 }}, \
                 callsites = {{ 2 -> {{ 7 = 40, 8 = 10 }} }} }}\n\
                 \"hot by day\":0(2:{day}:0) = {{ locations = {{ 1 = {day} }} }}\n\
                 \"hot by night\":0(3:{night}:0) = {{ locations = {{ 1 = {night} }} }}\n"
            ),
        );
    }
    write(&["night", "--against", "day"], "comparison.html");

    let calls = "1\n# Number of values\n0\n1\n2\ntwice:3\nelsewhere:1\n";
    shop.write("counted.proftext", format!(":ir\nmain\n1\n2\n1\n4\n{calls}\ntwice\n2\n1\n3\n\n"));
    write(&["counted.proftext"], "counters.html");

    shop.write("idle", profile_of("f", "f.c").replace("1 = 100", "1 = 0"));
    write(&["idle"], "nothing.html");

    let mut node = Command::new("node");
    succeed(node.arg(driver.join("browse.mjs")).arg(shop.path("")));
}
