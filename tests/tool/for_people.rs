//! What people see: colours and short names on a terminal, neither of them in a pipe, and Markdown for pull requests.

use crate::harness::{Workshop, have, succeed};

const TOOL: &str = env!("CARGO_BIN_EXE_countersink");

/// `day` and `night`: one function is hot by day only, one by night, and a call changes its target.
fn profiles() -> Workshop {
    let shop = Workshop::new();
    let name = "_ZNSt3mapINSt7__cxx1112basic_stringIcEEiE3getERKi";
    for (profile, hot, cold, target) in [("day", 900, 0, "one"), ("night", 1, 800, "two")] {
        shop.write(
            profile,
            format!(
                "filenames = {{ \"src/a.c\", \"src/map.cc\" }}\n\
                 symbol_names = {{ 7 = \"{target}\":0, 8 = \"three\":0 }}\n\
                 \"main\":0(1:1000:0) = {{ locations = {{ 1 = 100, 2 = 50 }}, \
                 callsites = {{ 2 -> {{ 7 = 40, 8 = 10 }} }} }}\n\
                 \"{name}\":1(2:{hot}:0) = {{ locations = {{ 1 = {hot} }} }}\n\
                 \"cold|f\":0(3:{cold}:0) = {{ locations = {{ 1 = {cold} }} }}\n"
            ),
        );
    }
    shop
}

/// The output on a terminal of 60 columns.
fn on_terminal(shop: &Workshop, arguments: &str) -> String {
    let mut script = shop.command("script");
    let run = format!("stty cols 60; '{TOOL}' {arguments}");
    script.args(["-q", "-e", "-c", &run, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm");
    String::from_utf8(succeed(&mut script)).unwrap().replace('\r', "")
}

/// Only a shell that puts it into a command needs the name of a file that does not exist.
#[test]
fn a_misspelt_command() {
    if !have("script") {
        return;
    }
    let shop = Workshop::new();
    let piped = shop.tool(&["flag"]).stdout;
    assert_eq!(piped, b"countersink-flags-failed:wrong_option\n");
    assert!(shop.tool(&[]).stdout.is_empty());
    let shown = on_terminal(&shop, "flag || true");
    assert!(shown.contains("flag") && !shown.contains("countersink-flags-failed"), "{shown}");
}

#[test]
fn colours_on_terminals_only() {
    if !have("script") {
        return;
    }
    let shop = profiles();
    let shown = on_terminal(&shop, "show day");
    let long = shown.lines().find(|line| line.contains("get")).unwrap();
    assert!(long.contains("std::map::get (map.cc)"), "{shown}");
    assert!(shown.contains("\x1b["), "{shown}");
    for plain in ["show day --color never", "show day --function main --color never"] {
        assert!(!on_terminal(&shop, plain).contains('\x1b'));
    }

    let show = |variable: &str, color: &str| {
        let mut show = shop.command(TOOL);
        show.args(["show", "day", "--color", color]).env(variable, "1");
        String::from_utf8(succeed(&mut show)).unwrap()
    };
    let piped = show("UNUSED", "auto");
    assert!(!piped.contains('\x1b') && piped.contains("_ZNSt3map"), "{piped}");
    assert!(show("UNUSED", "always").contains('\x1b'));
    assert!(!show("NO_COLOR", "auto").contains('\x1b'));
}

/// The lines and texts that `show` has beside the counts of a function.
fn beside(shown: &str) -> Vec<(usize, &str)> {
    let rows = shown.lines().filter_map(|row| row.split_once(" | "));
    rows.map(|(_, source)| source.trim_start().split_once(' ').unwrap_or((source.trim(), "")))
        .map(|(line, text)| (line.parse().unwrap(), text))
        .collect()
}

/// The names of targets do not move the source of other rows.
#[test]
fn the_source_stands_beside_long_names() {
    let shop = Workshop::new();
    let target = "a_target_whose_name_takes_the_whole_width_of_a_terminal";
    shop.write(
        "prog.c",
        format!(
            "static int {target}(int x)\n{{\n    return x + 1;\n}}\n\
             int (*volatile pointer)(int) = {target};\n\
             int main(void)\n{{\n    int sum = pointer(0);\n    return sum == 0;\n}}\n"
        ),
    );
    let object = shop.compile("prog.c", &[]);
    shop.link(&[&object], "prog", &[]);
    shop.run("prog", &[]);
    let shown = shop.tool_output(&["show", "prog.csraw", "--function", "main"]);
    let shown = String::from_utf8(shown).unwrap();
    let rows = shown.lines().filter_map(|row| row.split_once(" | "));
    let (long, others): (Vec<_>, Vec<_>) = rows.partition(|(counts, _)| counts.contains(target));
    assert!(!long.is_empty() && !others.is_empty(), "{shown}");
    // `  0: 1`
    assert!(others.iter().all(|(counts, _)| counts.len() < 10), "{shown}");
}

#[test]
fn the_source_stands_beside_the_counts_of_a_dump() {
    let shop = Workshop::new();
    let text = "\
#include \"twice.h\"

int main(void)
{
\tint sum = 0;
    for (int i = 0; i < 10; i++)
        sum += twice(i);
    return sum == 0;
}
";
    shop.write("prog.c", text);
    shop.write("twice.h", "\n\nstatic inline int twice(int x)\n{\n    if (x % 3)\n        x *= 2;\n    return x;\n}\n");
    shop.gcc(&["-O2", "-g", "-fprofile-generate", "-ftest-coverage", "-c", "prog.c"]);
    shop.link(&["prog.o"], "prog", &[]);
    shop.run("prog", &[]);
    let show = ["show", "prog.csraw", "--function", "main", "--inline", "nested"];
    let output = shop.tool(&show);
    let shown = String::from_utf8(output.stdout).unwrap();
    let found = beside(&shown);
    let whole: Vec<String> = text.lines().map(|line| line.replace('\t', "    ")).collect();
    for line in [3, 6, 7, 8] {
        assert!(found.contains(&(line, &whole[line - 1])), "{line}: {shown}");
    }
    assert!(found.contains(&(6, "        x *= 2;")), "twice.h: {shown}");
    let changed = |output: &[u8]| String::from_utf8_lossy(output).contains("has changed since");
    assert!(!changed(&output.stderr), "{:?}", output.stderr);

    // A line that a program wrote may be very long.
    shop.write(
        "prog.c",
        text.replace("sum == 0;", &format!("sum == 0;{}", " ".repeat(1 << 20) + "x")),
    );
    let long = shop.tool_output(&show);
    assert!(long.len() < 4096, "{}", long.len());
    shop.write("prog.c", text);

    // A profile's file does not say where functions are declared.
    shop.tool_output(&["convert", "prog.csraw", "--to=v4", "-o", "prog.gcov"]);
    let without = shop.tool_output(&["show", "prog.gcov", "--function", "main"]);
    assert_eq!(beside(&String::from_utf8(without).unwrap()), []);

    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let source = std::fs::File::options().append(true).open(shop.path("prog.c")).unwrap();
    source.set_modified(later).unwrap();
    let output = shop.tool(&show);
    assert!(changed(&output.stderr), "{output:?}");
    std::fs::remove_file(shop.path("prog.c")).unwrap();
    let output = shop.tool(&show);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !beside(&shown).iter().any(|row| row.0 == 8), "{shown}");
}

#[test]
fn markdown_of_a_difference() {
    let shop = profiles();
    let output = shop.tool(&["diff", "day", "night", "--markdown"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "\
### Profile overlap: 14.39 %

The functions' totals overlap by 14.39 %. The first profile has 3 functions, the second 3.

#### Became hot

| function | before | after |
|---|---:|---:|
| `cold\\|f (src/a.c)` | 0.00 % | 84.12 % |

#### Became cold

| function | before | after |
|---|---:|---:|
| `std::map<std::__cxx11::basic_string<char>, int>::get(int const&) (src/map.cc)` | 85.71 % | 0.11 % |

#### Calls with another most frequent target

| function and line | before | after |
|---|---|---|
| `main +2` | `one` | `two` |

A function is hot if it is among those that make up 99 % of all counts.
"
    );
    let same = shop.tool_output(&["diff", "day", "day", "--markdown"]);
    assert!(!String::from_utf8(same).unwrap().contains("####"));
}
