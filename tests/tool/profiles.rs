//! The commands for profiles: merge, diff, rewrite, show, and clap's part in all of them.

use std::fmt::Write;

use countersink::formats::afdo_v4::encode::{Encoding, encode};
use countersink::profile::{Function, Profile};
use serde_json::Value;

use crate::harness::Workshop;

/// Two functions, one of them a static that another file also has.
const DAY: &str = r#"filenames = { "a.c", "b.c" }
symbol_names = { 3 = "cb":0 }
"main":0(1:1:7) = {
  locations = { 1 = 10, 2.1 = 0, 3 = 5 },
  callsites = { 3 -> { 3 = 5 } },
  inlined = {
    2 = "util":0(2) = { locations = { 1 = 80 } },
    4 = "util":0(2) = { locations = { 1 = 0 } }
  }
}
"util":1(4:2:0) = { locations = { 1 = 5 } }
"#;

const NIGHT: &str = r#"filenames = { "a.c", "c.c" }
symbol_names = { 3 = "cb":0 }
"main":0(1:100:3) = {
  locations = { 1 = 99, 3 = 1 },
  callsites = { 3 -> { 3 = 1 } }
}
"only_at_night":1(4:2:9) = { locations = { 1 = 100 } }
"#;

fn shop() -> Workshop {
    let shop = Workshop::new();
    for (name, text) in [("day", DAY), ("night", NIGHT)] {
        shop.write("text", text);
        shop.tool_output(&["convert", "text", "--to=v4", "-o", name]);
    }
    shop
}

fn text(shop: &Workshop, arguments: &[&str]) -> String {
    String::from_utf8(shop.tool_output(arguments)).unwrap()
}

/// The functions of a profile as `show` prints them, without spaces at line ends.
fn functions(shop: &Workshop, file: &str, names: &[&str]) -> String {
    names.iter().map(|name| text(shop, &["show", file, "--function", name])).collect()
}

#[test]
fn merge_adds_counts_heads_and_targets() {
    let shop = shop();
    shop.tool_output(&["merge", "day", "--weight", "2=night", "-o", "sum"]);
    assert_eq!(text(&shop, &["check", "sum"]), "");
    assert_eq!(
        functions(&shop, "sum", &["main", "only_at_night", "util"]),
        "main (a.c)  head 201, first 3, total 295\n  \
           1: 208\n  2: inlined util (a.c)\n    1: 80\n  2.1: 0\n  3: 7  cb 7\n  \
           4: inlined util (a.c)\n    1: 0\n\
         only_at_night (c.c)  head 4, first 9, total 200\n  1: 200\n\
         util (b.c)  head 2, total 5\n  1: 5\n"
    );
}

/// Whatever the versions and the order, the sum has the same bytes.
#[test]
fn merge_takes_any_mixture_in_any_order() {
    let shop = shop();
    for (from, to, file) in [
        ("day", "v4-compact", "day.compact"),
        ("day", "v4-text", "day.text"),
        ("day", "v3", "day.v3"),
        ("night", "v3", "night.v3"),
    ] {
        shop.tool_output(&["convert", from, "--to", to, "-o", file]);
    }
    let merged = |inputs: &[&str], to| {
        shop.tool_output(&[&["merge"], inputs, &["--to", to, "-o", "-"]].concat())
    };
    for to in ["v4", "v4-compact", "v4-text", "v3", "v2", "v1", "v407", "json"] {
        let expected = merged(&["day", "day", "night", "night"], to);
        for inputs in [
            ["night.v3", "day.text", "night", "day.compact"],
            ["day.compact", "night", "day.v3", "night.v3"],
        ] {
            assert!(merged(&inputs, to) == expected, "{inputs:?} {to}");
        }
    }
    // Without a choice the output is like the first input.
    for (first, start) in
        [("day.v3", b"adcg\x03"), ("day.text", b"filen"), ("day.compact", b"gcov\0")]
    {
        assert!(shop.tool_output(&["merge", first, "night", "-o", "-"]).starts_with(start));
    }
}

/// Versions before 4 have no files, or not all. If only one function has a name, the name means that
/// function.
#[test]
fn merge_and_diff_find_the_files_of_names() {
    let shop = shop();
    for (from, to) in [("day", "v2"), ("day", "v1"), ("night", "v2"), ("night", "v3")] {
        shop.tool_output(&["convert", from, "--to", to, "-o", &format!("{from}.{to}")]);
    }
    let merged = |inputs: &[&str]| {
        let output = shop.tool(&[&["merge", "--to=v4", "-o", "sum"], inputs].concat());
        assert!(output.status.success(), "{output:?}");
        (shop.read("sum"), String::from_utf8(output.stderr).unwrap())
    };
    let (sum, said) = merged(&["night", "night.v2", "--weight=2=night.v3"]);
    assert_eq!(said, "");
    shop.tool_output(&["merge", "--weight=4=night", "-o", "four"]);
    assert!(sum == shop.read("four"));
    // There are two functions named `util`.
    let (sum, said) = merged(&["day", "night", "day.v1", "--weight=3=day.v2"]);
    assert_eq!(
        said,
        "countersink: sum: 1 name without a file kept apart, because several files have such a function\n"
    );
    assert!(sum == merged(&["day.v2", "--weight=2=day.v2", "day.v1", "night", "day"]).0);
    assert_eq!(
        functions(&shop, "sum", &["util"]),
        "util (b.c)  head 2, total 5\n  1: 5\nutil  head 8, total 20\n  1: 20\n"
    );
    let compared = text(&shop, &["diff", "night", "night.v2"]);
    assert!(compared.starts_with("overlap 100.00 % of the counts, 100.00 %"), "{compared}");
    let output = shop.tool(&["diff", "day", "day.v2", "--top", "0"]);
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("\n1 function in both, 1 only in the first, 1 only in"), "{stdout}");
    assert!(
        stderr.ends_with(
            "day.v2: 1 name without a file kept apart, because several files have such a function\n"
        ),
        "{stderr}"
    );
}

/// Output for gcc 12 and older has only the largest count of each line, and cut names.
#[test]
fn merge_and_diff_of_profiles_without_discriminators() {
    let shop = Workshop::new();
    shop.write(
        "full",
        "filenames = { \"a.c\" }\n\"f.constprop.0\":0(1:5:0) = { locations = { 1 = 5, 2 = 5, 2.1 = 90, 2.2 = 80 } }",
    );
    for major in ["12", "13", "16"] {
        shop.tool_output(&["convert", "full", "--for-gcc", major, "-o", major]);
    }
    for inputs in [["full", "12"], ["13", "12"], ["16", "12"], ["12", "full"]] {
        let arguments = [&["merge"], &inputs[..], &["--for-gcc=12", "-o", "sum"]].concat();
        shop.tool_output(&arguments);
        assert_eq!(functions(&shop, "sum", &["f"]), "f  head 10, total 190\n  1: 10\n  2: 180\n");
        // For a gcc that distinguishes them they stay apart.
        shop.tool_output(&[&["merge"], &inputs[..], &["--for-gcc=13", "-o", "sum"]].concat());
        assert_eq!(
            functions(&shop, "sum", &["f"]),
            "f  head 10, total 275\n  1: 10\n  2: 95\n  2.1: 90\n  2.2: 80\n"
        );
    }
    // `convert` adds as `merge` does. The function added here is the same in both.
    shop.write("full", String::from_utf8(shop.read("full")).unwrap().replace(".constprop.0", ""));
    for inputs in [["full", "12"], ["12", "full"]] {
        shop.tool_output(&[&["merge"], &inputs[..], &["--for-gcc=12", "-o", "sum"]].concat());
        let converted = shop.tool_output(&[&["convert"], &inputs[..], &["--for-gcc=12"]].concat());
        assert!(converted == shop.read("sum"), "{inputs:?}");
    }
    for pair in [["full", "12"], ["12", "16"], ["16", "full"], ["13", "16"], ["13", "full"]] {
        let compared = text(&shop, &["diff", pair[0], pair[1]]);
        assert!(compared.starts_with("overlap 100.00 % of the counts"), "{pair:?} {compared}");
    }
}

#[test]
fn merge_of_many_files() {
    let shop = shop();
    let day = shop.read("day");
    let names: Vec<String> = (0..1000).map(|number| format!("many/{number}")).collect();
    names.iter().for_each(|name| drop(shop.write(name, &day)));
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    shop.tool_output(&[&["merge"], &many[..], &["-o", "sum"]].concat());
    shop.tool_output(&["merge", "--weight", "1000=day", "-o", "weighted"]);
    assert_eq!(shop.read("sum"), shop.read("weighted"));
    // The message names the damaged file.
    shop.write("many/700", &day[..day.len() - 1]);
    let output = shop.tool(&[&["merge"], &many[..], &["-o", "sum"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.starts_with("countersink: many/700: 0x"), "{errors}");
}

/// Thousands of names of several kilobytes share all but their ends. A table that wrote each beginning once
/// would be a bomb.
#[test]
#[ignore = "slow"]
fn sums_of_long_names_can_be_read() {
    let shop = Workshop::new();
    for first in [1000, 3000] {
        let mut profile = String::from("filenames = { \"a.c\" }\n");
        for number in first..first + 1000 {
            let name = "x".repeat(20_000);
            let _ = writeln!(
                profile,
                "\"{name}{number}\":0({number}:1:0) = {{ locations = {{ 1 = 5 }} }}"
            );
        }
        shop.write(&first.to_string(), profile);
    }
    for to in ["v4", "v4-compact"] {
        shop.tool_output(&["merge", "1000", "3000", "--to", to, "-o", "sum"]);
        shop.tool_output(&["merge", "sum", "1000", "3000", "--to", to, "-o", "sum"]);
        assert_eq!(text(&shop, &["check", "sum"]), "", "{to}");
        shop.tool_output(&["rewrite", "sum", "--scale=1/2", "-o", "half"]);
        shop.tool_output(&["merge", "--to", to, "1000", "3000", "-o", "once"]);
        assert!(shop.read("half") == shop.read("once"), "{to}");
    }
}

/// `check` prints a limited number of defects of each kind, and all with `--all`.
#[test]
fn check_prints_as_much_as_is_asked_for() {
    let shop = Workshop::new();
    let many = "1 = 0, ".repeat(300);
    shop.write(
        "many",
        format!("filenames = {{ }}\n\"f\":-1(1:0:0) = {{ locations = {{ {many}}} }}"),
    );
    let checked = |arguments: &[&str]| {
        let output = shop.tool(&[&["check", "many"], arguments].concat());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    let (some, all) = (checked(&[]), checked(&["--all"]));
    let some: Vec<&str> = some.lines().collect();
    let all: Vec<&str> = all.lines().collect();
    assert_eq!((some.len(), all.len()), (102, 300));
    assert_eq!(some[..100], all[..100]);
    assert_eq!(all[299], "many: 1:1: there is no summary");
    assert_eq!(
        some[101],
        "many: 199 more like 2:45: second record of its kind for this place; --all prints them"
    );
}

/// Files of some kilobytes whose names, written out, have megabytes. Neither many nor few of them take more
/// memory than there is.
#[test]
#[ignore = "slow"]
fn merge_of_bombs() {
    let shop = Workshop::new();
    for number in 0..24 {
        let (mut profile, beginning) = (Profile::default(), format!("{number:02}").repeat(10_000));
        for name in 1000..1850 {
            let symbol = profile.symbols.symbol(format!("{beginning}{name}").as_bytes(), None);
            profile.add(symbol, Function::default());
        }
        let bytes = encode(&profile, Encoding::Compact).unwrap();
        assert!(bytes.len() < 60_000, "{}", bytes.len());
        shop.write(&number.to_string(), bytes);
    }
    let merged = |files: &str, kilobytes: u32| {
        let tool = env!("CARGO_BIN_EXE_countersink");
        let script = format!("ulimit -v {kilobytes}; '{tool}' -j2 merge {files} -o sum");
        shop.command("sh").args(["-c", &script]).output().unwrap()
    };
    // All at once would be 540 MB.
    let output = merged(&"0 1 ".repeat(16), 450_000);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&shop, &["check", "sum"]), "");
    // Together they mean something out of all proportion. The old file stays.
    let sum = shop.read("sum");
    let output = merged(&(0..24).map(|number| format!("{number} ")).collect::<String>(), 1_200_000);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("countersink: the sum: ") && said.lines().count() == 1, "{said}");
    assert!(shop.read("sum") == sum);
}

/// A compiler's rules are applied to the sum, as in `convert`.
#[test]
fn merge_for_a_compiler_adds_before_it_chooses() {
    let shop = Workshop::new();
    for (name, counts) in [("a", [10, 0, 3]), ("b", [0, 20, 4]), ("c", [5, 5, 5])] {
        let [first, second, third] = counts;
        shop.write(
            name,
            format!(
                "filenames = {{ \"x/a.c\", \"y/a.c\" }}
symbol_names = {{ 9 = \"cb.part.0\":0 }}
\"f\":0(1:{first}:0) = {{
  locations = {{ 3.1 = {first}, 3.2 = {second}, 70000 = 1 }},
  callsites = {{ 3.2 -> {{ 9 = {second} }} }},
  inlined = {{ 4 = \"g\":0(2) = {{ locations = {{ 1 = {third}, 1.1 = {second} }} }} }}
}}
\"g\":1(3:{third}:0) = {{ locations = {{ 1 = {third}, 1.4 = {first} }} }}
\"g.constprop.0\":0(4:{second}:0) = {{ locations = {{ 1 = {first}, 1.4 = {second} }} }}
"
            ),
        );
    }
    for chosen in [
        "--to=v1",
        "--to=v2",
        "--to=v3",
        "--to=v407",
        "--to=v4",
        "--to=v4-text",
        "--to=json",
        "--for-gcc=10",
        "--for-gcc=12",
        "--for-gcc=13",
        "--for-gcc=16",
    ] {
        let converted = shop.tool_output(&["convert", "a", "b", "c", chosen]);
        for order in [["a", "b", "c"], ["c", "b", "a"]] {
            let merged = shop.tool_output(&[&["merge"], &order[..], &[chosen, "-o", "-"]].concat());
            assert!(merged == converted, "{chosen} {order:?}");
        }
    }
    shop.tool_output(&["merge", "a", "b", "--for-gcc=12", "-o", "sum"]);
    assert!(functions(&shop, "sum", &["f"]).contains("\n  3: 20  cb 20\n"));
}

/// The order of reading makes no difference.
#[test]
fn warnings_have_the_order_of_the_inputs() {
    let shop = shop();
    let odd = "summary = { total_count = 1 }\n";
    shop.write("odd", DAY.replace("symbol_names", &format!("{odd}symbol_names")));
    shop.tool_output(&["convert", "odd", "--keep-summary", "-o", "odd.v4"]);
    let mut inputs = Vec::new();
    for number in 0..20 {
        let name = format!("{number:02}");
        // Files that take long come before files that do not.
        let many = "1 = 1, ".repeat(if number % 3 == 0 { 20_000 } else { 0 });
        let text = format!(
            "filenames = {{ }}\n{odd}\"f\":-1(1:0:0) = {{ locations = {{ {many}2 = 1 }} }}"
        );
        match number % 3 {
            1 => shop.write(&name, shop.read("odd.v4")),
            _ => shop.write(&name, text),
        };
        inputs.push(name);
    }
    let merged = |more: &[&str]| {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let output = shop.tool(&[&["merge", "-o", "sum"], &inputs[..], more].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = merged(&["-j1"]);
    let names: Vec<&str> = said.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert!(names.is_sorted() && names.len() == 27, "{said}");
    for _ in 0..5 {
        assert_eq!(merged(&["-j2"]), said);
    }
    // Messages come in the order of the files: nothing about an unreadable file before what concerns earlier
    // ones.
    shop.write("10", "nothing");
    let (one, two) = (merged(&["-j1"]), merged(&["-j2"]));
    assert_eq!(one, two);
    assert!(one.lines().last().unwrap().starts_with("countersink: 10: "), "{one}");
    assert!(said.starts_with(one.rsplit_once("countersink: 10: ").unwrap().0));
}

/// The first file to be read decides the numbers of symbols, and nothing else.
#[test]
fn the_order_of_the_inputs_does_not_matter() {
    let shop = Workshop::new();
    let symbols = ["\"same\":0", "\"same\":1", "\"other\":-1", "\"_Zother\":1"];
    let counts = [10_000_000_000_000_001u64, 333_333_333_333_333_333, 7, 77_777_777_777_777_777];
    for (name, order) in [("a", [0, 1, 2, 3]), ("b", [3, 2, 1, 0])] {
        let each = |line: &dyn Fn(usize, usize) -> String| {
            order
                .iter()
                .enumerate()
                .map(|(id, &place)| line(id, place))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let names = each(&|id, place| format!("{id} = {}", symbols[place]));
        let targets = each(&|id, _| format!("{id} = 7"));
        let inlined = each(&|id, place| {
            let (symbol, count) = (symbols[place], counts[place]);
            format!("3 = {symbol}({id}) = {{ locations = {{ 1 = 1, 2 = {count} }} }}")
        });
        shop.write(
            name,
            format!(
                "filenames = {{ \"x.c\", \"y.c\" }}\nsymbol_names = {{ {names} }}\n\"f\":0(5:1:0) = {{ \
                 locations = {{ 1 = 7, 2 = 0 }}, callsites = {{ 1 -> {{ {targets} }} }}, \
                 inlined = {{ {inlined} }} }}\n"
            ),
        );
    }
    for to in ["json", "v4", "v4-text", "v3", "v2", "v1"] {
        let converted = |first, second| shop.tool_output(&["convert", first, second, "--to", to]);
        assert!(converted("a", "b") == converted("b", "a"), "{to}");
    }
    for command in [&["show", "--json"][..], &["show", "--function=f"], &["show"]] {
        assert_eq!(
            text(&shop, &[command, &["a"]].concat()),
            text(&shop, &[command, &["b"]].concat())
        );
    }
    shop.tool_output(&["rewrite", "a", "--scale=1/3", "-o", "c"]);
    let compared = |file| shop.tool(&["diff", file, "c", "--json"]).stdout;
    assert_eq!(compared("a"), compared("b"));
}

/// Asking for a template gives its instances, and the number of functions or the names that come near.
#[test]
fn functions_are_found_as_users_name_them() {
    let shop = Workshop::new();
    let mut profile =
        String::from("filenames = { \"/src/lib/Vector.cc\", \"/src/app/main.cc\" }\n");
    for (id, name) in [
        (1, "_Z3fooIiEvT_"),
        (2, "_Z3fooIcEvT_"),
        (3, "_ZN2ns3fooIcEEvT_"),
        (4, "_ZN1AIiE3getIcEEvv"),
        (5, "_ZN1AIiE3putEv"),
        (6, "main"),
    ] {
        let file = usize::from(name == "main");
        let _ = writeln!(profile, "\"{name}\":{file}({id}:1:0) = {{ locations = {{ 1 = 1 }} }}");
    }
    shop.write("text", profile);
    shop.tool_output(&["convert", "text", "--to=v4", "-o", "binary"]);
    for file in ["text", "binary"] {
        let asked = |option: &str, name: &str| {
            let output = shop.tool(&["show", file, option, name]);
            let heads = String::from_utf8(output.stdout).unwrap();
            let heads: Vec<&str> = heads.lines().filter(|line| line.starts_with('_')).collect();
            let said = String::from_utf8(output.stderr).unwrap();
            (heads.len(), said.lines().last().unwrap().to_owned())
        };
        let found = |name, number| {
            let (functions, said) = asked("--function", name);
            let s = if number == 1 { "" } else { "s" };
            assert_eq!(functions, number, "{name} {file}");
            assert_eq!(said, format!("countersink: {file}: {number} function{s} found"));
        };
        found("foo", 2);
        found("foo<int>", 1);
        found("ns::foo", 1);
        found("A::get", 1);
        found("get", 1);
        found("A<int>::get", 1);
        found("*::foo*", 1);
        let near = |option, name, said: &str| {
            assert_eq!(asked(option, name), (0, format!("countersink: {file}: {said}")));
        };
        near("--function", "Main", "no function Main in the profile; near it: main");
        near("--function", "mian", "no function mian in the profile; near it: main");
        near("--function", "B::put", "no function B::put in the profile; near it: A<int>::put");
        near(
            "--function",
            "quite_another",
            "no function quite_another in the profile; --top 10 shows the hottest",
        );
        near(
            "--source",
            "vector.cc",
            "no function of vector.cc in the profile; near it: /src/lib/Vector.cc",
        );
        near(
            "--source",
            "x/main.cc",
            "no function of x/main.cc in the profile; near it: /src/app/main.cc",
        );
        near(
            "--source",
            "x.rs",
            "no function of x.rs in the profile; there is /src/app/main.cc, /src/lib/Vector.cc",
        );
    }
}

#[test]
fn merge_refuses_mixtures_with_dumps() {
    let shop = shop();
    shop.program("hello.c");
    let object = shop.compile("hello.c", &[]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    for arguments in [
        ["merge", "ours.csraw", "day", "-o", "-"],
        ["merge", "day", "ours.csraw", "-o", "-"],
        ["merge", "ours.csraw", "--to=v4", "-o", "-"],
        ["rewrite", "ours.csraw", "--flatten", "-o", "-"],
        ["merge", "day", "--to=gcda", "-o", "-"],
    ] {
        assert_eq!(shop.tool(&arguments).status.code(), Some(2), "{arguments:?}");
    }
    // But a comparison converts first.
    let output = shop.tool(&["diff", "ours.csraw", "ours.csraw"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn parts_of_files_and_what_is_missing() {
    let shop = shop();
    for (to, parts, cut, said) in [
        (
            "v3",
            &["header", "summary", "file names", "names", "functions", "modules", "working set"][..],
            0x196,
            "0x194: file names cut short: expected 4 more bytes, found 2",
        ),
        (
            "v407",
            &["header", "names", "functions", "modules", "working set"],
            0x5e,
            "0x48: functions: 2 announced, but the file has bytes for 0 at most",
        ),
        (
            "v4",
            &["summary", "file names", "string table", "symbol names", "symbol info"],
            0x150,
            "0x10: section of 369 bytes at 0xb0 ends 209 bytes behind the end of the file",
        ),
    ] {
        shop.tool_output(&["convert", "day", "--to", to, "-o", "whole"]);
        let whole = shop.read("whole");
        let sections = text(&shop, &["show", "whole", "--sections"]);
        let rows: Vec<Vec<&str>> =
            sections.lines().map(|line| line.split_whitespace().collect()).collect();
        let names: Vec<String> = rows.iter().map(|row| row[2..].join(" ")).collect();
        assert_eq!(names[..parts.len()], *parts, "{to}");
        // One after the other up to the end of the file.
        let start = |row: &Vec<&str>| usize::from_str_radix(&row[0][2..], 16).unwrap();
        let end = |row: &Vec<&str>| start(row) + row[1].parse::<usize>().unwrap();
        assert!(rows.windows(2).all(|pair| end(&pair[0]) == start(&pair[1])), "{sections}");
        assert_eq!(end(rows.last().unwrap()), whole.len());
        shop.write("cut", &whole[..cut]);
        let found = String::from_utf8(shop.tool(&["check", "cut"]).stdout).unwrap();
        assert!(found.starts_with(&format!("cut: {said}\n")), "{to}: {found}");
    }
    // JSON is for other programs.
    shop.tool_output(&["convert", "day", "--to=json", "-o", "json"]);
    for arguments in
        [&["show", "json"][..], &["check", "json"], &["merge", "day", "json", "-o", "-"]]
    {
        let output = shop.tool(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(errors.starts_with("countersink: json: 0x0: JSON is only written"), "{errors}");
    }
    // Only one command makes counter files, and only from dumps.
    for command in ["merge", "rewrite"] {
        assert!(!text(&shop, &[command, "--help"]).contains("- gcda: "), "{command}");
    }
    assert!(text(&shop, &["convert", "--help"]).contains("- gcda: "));
}

#[test]
fn names_of_targets_are_written_as_asked() {
    let shop = shop();
    let stubs = text(&shop, &["convert", "day", "--to=v4-text", "--text-stubs"]);
    assert!(
        !stubs.contains("symbol_names") && stubs.contains("\"cb\":0(1:0:0) = { }\n"),
        "{stubs}"
    );
    shop.write("stubs", stubs);
    shop.tool_output(&["convert", "stubs", "--to=v4", "-o", "again"]);
    assert!(shop.read("again") == shop.read("day"));
    assert_eq!(shop.tool(&["convert", "day", "--text-stubs"]).status.code(), Some(2));
}

#[test]
fn summaries_are_made_anew_or_kept() {
    let shop = shop();
    let kept = "summary = {\n  total_count = 77,\n  max_count = 5,\n  max_fn_count = 3,\n  num_counts = 2,\n  \
                num_functions = 9,\n  num_detailed_entries = 1,\n  detailed_entries = {\n    \
                {cutoff = 10000, min_count = 5, num_counts = 1}\n  }\n}\n";
    shop.write("odd.text", DAY.replace("symbol_names", &format!("{kept}symbol_names")));
    let output = shop.tool(&["convert", "odd.text", "--to=v4", "-o", "anew"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"countersink: odd.text: 2:1: summary differs from the counts\n");
    assert!(shop.read("anew") == shop.read("day"));
    for to in ["v4", "v4-compact", "v4-text"] {
        shop.tool_output(&["convert", "odd.text", "--keep-summary", "--to", to, "-o", "kept"]);
        let back = text(&shop, &["convert", "kept", "--keep-summary", "--to=v4-text"]);
        assert!(back.contains(kept), "{to}: {back}");
        assert_eq!(shop.tool(&["check", "kept"]).status.code(), Some(1));
    }
    // One line is enough, even if there is more to say about the file.
    for to in ["v1", "v2", "v407"] {
        shop.tool_output(&["convert", "day", "--to", to, "-o", "odd"]);
        shop.write("odd", [&shop.read("odd")[..], b"more"].concat());
        let output = shop.tool(&["convert", "odd", "--keep-summary", "-o", "new"]);
        assert_eq!(output.stderr, b"countersink: odd: has no summary to keep\n", "{to}");
    }
    shop.write("none.text", DAY);
    let output = shop.tool(&["check", "none.text"]);
    assert_eq!(output.stdout, b"none.text: 1:1: there is no summary\n");
    // A version whose readers believe the summary, a missing summary, and a sum.
    for wrong in [&["odd.text", "--to=v3"][..], &["v2"], &["none.text"], &["day", "night"]] {
        shop.tool_output(&["convert", "day", "--to=v2", "-o", "v2"]);
        let output = shop.tool(&[&["convert", "--keep-summary", "-o", "new"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn diff_compares_shares() {
    let shop = shop();
    let output = shop.tool(&["diff", "day", "night"]);
    assert_eq!(output.status.code(), Some(1));
    // By day main's lines have 10 and 5 of 100 counts, by night 99 and 1 of 200.
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "overlap 10.50 % of the counts, 50.00 % of the functions' totals\n\
         1 function in both, 1 only in the first, 1 only in the second\n  \
         first   second  overlap  function\n      \
         -  50.00 %   0.00 %  only_at_night (c.c)\n\
         95.00 %  50.00 %  11.53 %  main (a.c)\n \
         5.00 %        -   0.00 %  util (b.c)\n"
    );
    // Functions with equal shares say nothing.
    assert_eq!(text(&shop, &["diff", "day", "day"]).lines().count(), 2);
    shop.tool_output(&["merge", "--weight", "3=day", "-o", "longer"]);
    let same = text(&shop, &["diff", "day", "longer", "--top", "0"]);
    assert!(same.starts_with("overlap 100.00 % of the counts, 100.00 %"), "{same}");
    assert_eq!(shop.tool(&["diff", "day", "night", "--at-least", "10"]).status.code(), Some(0));
    assert_eq!(shop.tool(&["diff", "day", "night", "--at-least", "10.6"]).status.code(), Some(1));

    // Seven counts of one seventh each are a little less than all.
    let lines: Vec<String> = (0..7).map(|line| format!("{line} = 1")).collect();
    let seven = format!("\"f\":-1(1:1:0) = {{ locations = {{ {} }} }}", lines.join(", "));
    shop.write("text", seven);
    shop.tool_output(&["diff", "text", "text", "--at-least", "100"]);

    let output = shop.tool(&["diff", "day", "night", "--json", "--function", "util"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let help = text(&shop, &["diff", "--help"]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for key in keys(&json).into_iter().chain(keys(&json["functions"][0])) {
        assert!(help.contains(&format!("\"{key}\"")), "{key} is not in the help");
    }
    assert_eq!(json["functions"][0]["shares"], serde_json::json!([0.05, null]));
}

#[test]
fn rewrite_changes_what_it_is_asked_to() {
    let shop = shop();
    let rewritten = |options: &[&str]| {
        shop.tool_output(&[&["rewrite", "day", "-o", "new"], options].concat());
        assert_eq!(text(&shop, &["check", "new"]), "");
        text(&shop, &["show", "new", "--source", "a.c"])
    };
    let whole = "main (a.c)  head 1, first 7, total 95\n  1: 10\n  2: inlined util (a.c)\n    \
                 1: 80\n  2.1: 0\n  3: 5  cb 5\n  4: inlined util (a.c)\n    1: 0\n";
    let pruned = whole.replace("  4: inlined util (a.c)\n    1: 0\n", "");
    assert_eq!(rewritten(&[]), whole);
    assert_eq!(rewritten(&["--prune-cold-inlined"]), pruned);
    assert_eq!(rewritten(&["--drop-zeros"]), pruned.replace("  2.1: 0\n", ""));
    assert_eq!(rewritten(&["--keep-hot", "95"]), whole);
    assert_eq!(text(&shop, &["show", "new", "--json"]).matches("head_count").count(), 1);
    assert_eq!(
        rewritten(&["--flatten", "--scale", "0.5"]),
        "main (a.c)  head 1, first 7, total 48\n  1: 5\n  2: 40  util 40\n  2.1: 0\n  3: 3  cb 3\n  \
         4: 0  util 0\nutil (a.c)  head 40, total 40\n  1: 40\n"
    );
    let renamed = rewritten(&["--rename", "^(.)ain$", "${1}ill", "--rename", "^mill", "wheel"]);
    assert_eq!(renamed, whole.replace("main", "wheel"));
    // In any form, more than compilers can hold becomes the most that they can hold.
    for most in ["18446744073709551615", "18446744073709551615/1", "18446744073709.551615"] {
        assert!(rewritten(&["--scale", most]).contains("\n  2.1: 0\n"), "{most}");
    }
    for wrong in [
        &["--scale", "18446744073709551616"][..],
        &["--scale", "0.0000001"],
        &["--scale", "1/0"],
        &["--scale", "-1"],
        &["--scale", "x"],
        &["--keep-hot", "101"],
        &["--rename", "(", ""],
    ] {
        let arguments = [&["rewrite", "day", "-o", "new"], wrong].concat();
        assert_eq!(shop.tool(&arguments).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn names_are_demangled_on_request() {
    let shop = Workshop::new();
    let mut profile = String::from("filenames = { }\n");
    for (id, name) in [(1, "_ZN3foo3barEi"), (2, "_RNvC6_123foo3bar"), (3, "plain"), (4, "_Zwrong")]
    {
        let _ = writeln!(profile, "\"{name}\":-1({id}:1:0) = {{ locations = {{ 65534 = 1 }} }}");
    }
    shop.write("profile", profile);
    let shown = text(&shop, &["show", "profile", "--top", "9", "--demangle"]);
    for name in ["foo::bar(int)", "123foo::bar", "plain", "_Zwrong"] {
        assert!(shown.lines().any(|line| line.ends_with(&format!("  {name}"))), "{shown}");
    }
    // They may also be asked for in this form, in part or by a pattern.
    shop.tool_output(&["convert", "profile", "--to=v4", "-o", "binary"]);
    for (asked, found) in [
        ("_ZN3foo3barEi", &["_ZN3foo3barEi"][..]),
        ("foo::bar(int)", &["_ZN3foo3barEi"]),
        ("foo::bar", &["_ZN3foo3barEi"]),
        ("123foo::bar", &["_RNvC6_123foo3bar"]),
        ("bar", &["_RNvC6_123foo3bar", "_ZN3foo3barEi"]),
        ("*foo::b*", &["_RNvC6_123foo3bar", "_ZN3foo3barEi"]),
        ("p*n", &["plain"]),
        ("lain", &[]),
        ("foo", &[]),
    ] {
        for profile in ["profile", "binary"] {
            let shown = shop.tool(&["show", profile, "--function", asked]).stdout;
            let shown = String::from_utf8(shown).unwrap();
            let heads = shown.lines().filter(|line| !line.starts_with(' '));
            let names: Vec<&str> = heads.map(|line| line.split(' ').next().unwrap()).collect();
            assert_eq!(names, found, "{asked} {profile}");
        }
    }
    // Lines before the declaration have a sign.
    assert!(text(&shop, &["show", "profile", "--function", "plain"]).contains("\n  -2: 1\n"));
}

/// A short name can stand for millions of letters. Then it is shown unchanged.
#[test]
fn names_that_grow_without_end_stay_as_they_are() {
    let back = |number: usize| match number {
        0..=35 => char::from_digit(number as u32, 36).unwrap().to_ascii_uppercase().to_string(),
        _ => format!("1{}", number - 36),
    };
    let doubled: String = (0..38).map(|k| format!("S_IS{0}_S{0}_E", back(k))).collect();
    let name = format!("_Z1f1AIiiE{doubled}");
    let shop = Workshop::new();
    shop.write("text", DAY.replace("\"main\"", &format!("\"{name}\"")));
    let shown = text(&shop, &["show", "text", "--demangle"]);
    assert!(shown.contains(&name), "{shown}");
}

#[test]
fn completions_and_man_pages_know_all_commands() {
    let shop = Workshop::new();
    let commands = crate::harness::commands(&shop);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&shop, &["completions", shell]);
        assert!(commands.iter().all(|command| script.contains(command)), "{shell}");
    }
    let page = text(&shop, &["man"]);
    assert!(page.contains(".TH countersink 1"), "{page}");
    for section in ["ENVIRONMENT", "FILES", "\"EXIT STATUS\"", "\"SEE ALSO\""] {
        assert!(page.contains(&format!(".SH {section}\n")), "{section} not in {page}");
    }
    assert!(
        page.contains("COUNTERSINK_ON_SIGNAL") && page.contains("countersink\\-convert"),
        "{page}"
    );
    shop.tool_output(&["man", "--directory", "man1"]);
    let convert = String::from_utf8(shop.read("man1/countersink-convert.1")).unwrap();
    assert!(convert.contains("\\-\\-for\\-gcc"), "{convert}");
    assert!(commands.iter().all(|name| shop.path(format!("man1/countersink-{name}.1")).exists()));
    assert!(!convert.contains("EXTRA"), "{convert}");
    let synopsis = convert.lines().skip_while(|line| !line.contains("SYNOPSIS")).nth(1).unwrap();
    let plain = synopsis.replace("\\fB", "").replace("\\fI", "").replace("\\fR", "");
    for words in
        ["[\\-o FILE]", "[\\-\\-notes DIR]...", "[\\-\\-binary FILE]...", "[\\-v]", " FILE..."]
    {
        assert!(plain.contains(words), "{words} not in {plain}");
    }
    assert!(convert.contains(".SH EXAMPLES\n.nf\n") && convert.contains(".fi\n.SH NOTES\n.PP\n"));
    if crate::harness::have("man") {
        let mut man = shop.command("man");
        man.args(["--warnings", "-l", "man1/countersink.1", "man1/countersink-rewrite.1"]);
        let output = man.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

/// In profiles as in dumps, by any command.
#[test]
fn files_that_have_moved_have_their_new_names() {
    let shop = Workshop::new();
    for place in ["old", "new"] {
        for (file, text) in [("day", DAY), ("night", NIGHT)] {
            let text = text.replace("{ \"", &format!("{{ \"/{place}/"));
            shop.write(&format!("{file}.{place}"), text);
        }
    }
    let map = "--path-map=/old=/new";
    for to in ["v4", "v4-text", "v3", "v2", "json", "v407"] {
        let to = format!("--to={to}");
        for inputs in [&["day"][..], &["day", "night"]] {
            let converted = |place: &str, options: &[&str]| {
                let names: Vec<String> =
                    inputs.iter().map(|input| format!("{input}.{place}")).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                shop.tool_output(&[&["convert", &to], options, &names].concat())
            };
            assert!(converted("old", &[map]) == converted("new", &[]), "{to} {inputs:?}");
        }
    }
    shop.tool_output(&["convert", "day.old", "--to=v4", "-o", "binary"]);
    let kept = text(&shop, &["convert", "binary", "--keep-summary", map, "--to=v4-text"]);
    assert!(kept.contains("\"/new/a.c\"") && !kept.contains("/old/"), "{kept}");
    for file in ["day.old", "binary"] {
        let shown = text(&shop, &["show", file, "--source=/new/a.c", map]);
        assert!(shown.starts_with("main (/new/a.c)  head 1"), "{shown}");
        shop.tool_output(&["diff", file, "day.new", map]);
    }
}

#[test]
fn options_of_no_use_are_refused() {
    let shop = shop();
    let refused = |arguments: &[&str], said: &str| {
        let output = shop.tool(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(errors, format!("countersink: {said}\n"));
    };
    let profile = "and this is an AutoFDO profile, version 4";
    for (option, value) in [("--notes", "."), ("--binary", "main"), ("--inline", "flat")] {
        let said = format!("day: {option} is for raw dumps, {profile}");
        for command in [&["convert", "day", "night"][..], &["show", "day"], &["diff", "day", "day"]]
        {
            refused(&[command, &[option, value]].concat(), &said);
        }
    }
}

/// Statics of one name. Readers of older versions make one function of them.
#[test]
fn functions_that_a_version_does_not_tell_apart_are_counted() {
    let shop = Workshop::new();
    let function = |(id, (name, file)): (usize, &(&str, usize))| {
        format!("\"{name}\":{file}({id}:1:0) = {{ locations = {{ 1 = 5 }} }}\n")
    };
    let functions =
        [("f", 0), ("f", 1), ("f", 2), ("g", 0), ("g.part.0", 0), ("h", 2), ("h.cold", 0)];
    let functions: String = functions.iter().enumerate().map(function).collect();
    shop.write("text", format!("filenames = {{ \"x/a.c\", \"y/a.c\", \"b.c\" }}\n{functions}"));
    let mixed = |to: &str| {
        let output = shop.tool(&["convert", "text", to, "-o", "new"]);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let number = said.lines().find_map(|line| {
            let line = line.strip_prefix("countersink: new: ")?;
            let (number, what) = line.split_once(" function")?;
            let added = " added to functions of the same name in other files: this version";
            let noun = if number == "1" { "" } else { "s" };
            what.strip_prefix(noun)?.starts_with(added).then_some(number)
        });
        number.map_or(0, |number| number.parse().unwrap())
    };
    for (to, number) in [
        // One of the three `f` has a file with a unique base name. A part of `h` is in another file.
        ("--to=v3", 1),
        ("--for-gcc=12", 3),
        ("--to=v1", 3),
        ("--to=v407", 2),
        ("--to=v4", 0),
        ("--to=v4-text", 0),
        ("--to=json", 0),
    ] {
        assert_eq!(mixed(to), number, "{to}");
    }
}
