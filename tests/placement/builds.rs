//! One dump of several builds: each file gets the counts of the build that it belongs to, and reports add them by line.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::harness::{Workshop, have, succeed};
use crate::llvm::all;

const ATOMS: &str = "int atom(int x)
{
#ifdef CHECK
    if (x == 99)
        return 0;
#endif
    if (x > 5)
        return 1;
    return 2;
}
";
const MAIN: &str = "int atom(int);
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += atom(i);
    return sum == 1;
}
";

/// A program whose objects of the first build come back, as from a cache. With a seed all builds have one stamp.
fn built_twice(seed: &[&str]) -> Workshop {
    let shop = Workshop::new();
    shop.write("atoms.c", ATOMS);
    shop.write("main.c", MAIN);
    let build = |defines: &[&str]| {
        for name in ["atoms", "main"] {
            let (source, object) = (format!("{name}.c"), format!("{name}.o"));
            let words = ["-O0", "-g", "--coverage", "-c", &source, "-o", &object];
            shop.gcc(&[&words, seed, defines].concat());
        }
    };
    let run = || {
        shop.link(&["atoms.o", "main.o"], "prog", &[]);
        shop.run("prog", &[]);
    };
    build(&[]);
    let kept = ["atoms.o", "atoms.gcno", "main.o", "main.gcno"];
    let kept = kept.map(|name| (name, shop.read(name)));
    run();
    build(&["-DCHECK"]);
    run();
    kept.iter().for_each(|(name, bytes)| _ = shop.write(name, bytes));
    run();
    shop
}

/// What gcov says of a line.
fn gcov(shop: &Workshop, line: u32) -> String {
    let printed = succeed(shop.command("gcov").args(["-t", "atoms.gcda"]));
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let is_it =
        |text: &&str| text.split(':').nth(1).is_some_and(|of| of.trim() == line.to_string());
    printed
        .lines()
        .find(is_it)
        .unwrap_or_default()
        .split(':')
        .next()
        .unwrap_or_default()
        .trim()
        .into()
}

#[test]
fn gcda_files_have_the_build_that_the_notes_fit() {
    if !have("gcov") {
        return;
    }
    for seed in [&[][..], &["-frandom-seed=1"]] {
        let shop = built_twice(seed);
        let output = shop.tool(&["convert", "prog.csraw", "--to", "gcda"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        assert!(told.contains("1 object left out") && !told.contains("no notes say"), "{told}");
        // Two runs of the first build.
        assert_eq!(gcov(&shop, 7), "20", "{seed:?}");
        fs::remove_file(shop.path("atoms.gcno")).unwrap();
        let output = shop.tool(&["convert", "prog.csraw", "--to", "gcda", "--prefix", "elsewhere"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        for part in ["atoms.gcda: no notes say which build", "2 runs of ", "1 run of "] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}

const SHARED: &str = "int shared(int x) {
#ifdef WIDE
  if (x > 3)
    return x * 4;
#endif
  if (x & 1)
    return x;
  return -x;
}
";

/// The counts of lines of a file in a report for lcov.
fn lines(shop: &Workshop, dumps: &[&str], file: &str) -> Vec<(u32, u64)> {
    let arguments = [&["convert"], dumps, &["--to", "lcov", "-o", "-"]].concat();
    let report = String::from_utf8(shop.tool_output(&arguments)).unwrap();
    let section =
        report.split("end_of_record").find(|section| section.contains(&format!("/{file}\n")));
    let counts =
        section.unwrap().lines().filter_map(|line| line.strip_prefix("DA:")?.split_once(','));
    counts.map(|(line, count)| (line.parse().unwrap(), count.parse().unwrap())).collect()
}

/// Programs share a function, but not its macros, and each has a `main` with the same control flow.
#[test]
fn lines_of_programs_that_share_a_function() {
    for llvm in all() {
        let shop = Workshop::new();
        shop.write("shared.c", SHARED);
        for (number, defines) in [(10, &[][..]), (4, &["-DWIDE"])] {
            let main = format!(
                "int shared(int);\nint main(void) {{\n  int s = 0;\n  for (int i = 0; i < {number}; i++)\n    \
                 s += shared(i);\n  return s == 12345;\n}}\n"
            );
            let (source, program) = (format!("main{number}.c"), format!("p{number}"));
            shop.write(&source, main);
            let mode = ["-fprofile-instr-generate", "-fcoverage-mapping"];
            let mut objects = Vec::new();
            for source in ["shared.c", &source] {
                objects.push(llvm.object(&shop, source, &[&mode, defines].concat()));
            }
            let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
            let link =
                [&objects[..], &[mode[0], "-o", &program], &crate::llvm::both::OURS].concat();
            llvm.clang(&shop, &link);
        }
        for order in [["p10", "p4"], ["p4", "p10"]] {
            _ = fs::remove_file(shop.path("both.csraw"));
            for program in order {
                let dump = format!("{program}.csraw");
                _ = fs::remove_file(shop.path(&dump));
                for file in ["both.csraw", &dump] {
                    succeed(shop.command(shop.path(program)).env("COUNTERSINK_FILE", file));
                }
            }
            let expected = [(1, 14), (3, 4), (4, 0), (6, 14), (7, 7), (8, 7), (9, 14)];
            for dumps in [&["both.csraw"][..], &["p10.csraw", "p4.csraw"]] {
                let about = format!("LLVM {}, {order:?}, {dumps:?}", llvm.major);
                let found = lines(&shop, dumps, "shared.c");
                let of_code = |(line, _): &(u32, u64)| expected.iter().any(|(of, _)| of == line);
                let found: Vec<_> = found.into_iter().filter(of_code).collect();
                assert_eq!(found, expected, "{about}");
                for (file, count) in [("main10.c", 10), ("main4.c", 4)] {
                    assert!(lines(&shop, dumps, file).contains(&(5, count)), "{about}, {file}");
                }
            }
        }
    }
}

/// Each source is as old as its own program.
#[test]
fn a_report_compares_each_source_with_its_program() {
    let shop = Workshop::new();
    let minutes = |minutes: u64| SystemTime::now() - Duration::from_secs(60 * minutes);
    let change = |name: &str, time: SystemTime| {
        let file = fs::File::options().append(true).open(shop.path(name)).unwrap();
        file.set_modified(time).unwrap();
    };
    for (name, age) in [("a", 50), ("b", 30)] {
        let source = format!("{name}.c");
        shop.write(&source, "int main(int argc, char **argv)\n{\n    return argc > 9;\n}\n");
        shop.compile(&source, &["-g"]);
        shop.link(&[&format!("{name}.o")], name, &[]);
        shop.run(name, &[]);
        change(&source, minutes(age));
        change(name, minutes(age - 5));
        change(&format!("{name}.csraw"), minutes(age - 10));
    }
    let report = ["report", "a.csraw", "b.csraw", "-o", "page.html"];
    let told = || String::from_utf8(shop.tool(&report).stderr).unwrap();
    assert!(!told().contains("has changed"), "{}", told());
    change("a.c", minutes(35));
    let told = told();
    assert!(told.contains("a.c: has changed") && !told.contains("b.c: has changed"), "{told}");
}

/// With a folder for the counts, gcc writes the folder, a slash and the object's absolute name.
#[test]
fn notes_of_objects_with_absolute_names() {
    let shop = Workshop::new();
    shop.write("main.c", MAIN);
    shop.write("atoms.c", ATOMS);
    let folder = format!("-fprofile-generate={}", shop.path("counts").display());
    let mut objects = Vec::new();
    for name in ["main", "atoms"] {
        let object = shop.path(format!("{name}.o")).display().to_string();
        let source = format!("{name}.c");
        shop.gcc(&["-g", &folder, "-ftest-coverage", "-c", &source, "-o", &object]);
        objects.push(object);
    }
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    shop.link(&objects, "prog", &[]);
    shop.run("prog", &[]);
    assert!(lines(&shop, &["prog.csraw"], "atoms.c").contains(&(7, 10)));
}

/// A path has one spelling in all outputs.
#[test]
fn paths_have_no_dots() {
    let shop = Workshop::new();
    for folder in ["src", "train"] {
        fs::create_dir(shop.path(folder)).unwrap();
    }
    shop.write("src/atoms.c", ATOMS);
    shop.write("src/main.c", MAIN);
    for name in ["atoms", "main"] {
        let words = ["-g", "-fprofile-generate", "-ftest-coverage", "-c"];
        let mut gcc = shop.command("gcc");
        gcc.current_dir(shop.path("train")).args(words).arg(format!("../src/{name}.c"));
        succeed(&mut gcc);
    }
    shop.link(&["train/atoms.o", "train/main.o"], "prog", &[]);
    shop.run("prog", &[]);
    shop.tool_output(&["convert", "prog.csraw", "--to", "v4", "-o", "prog.v4"]);
    for arguments in [
        &["show", "prog.v4", "--json"][..],
        &["convert", "prog.csraw", "--to", "lcov"],
        &["convert", "prog.csraw", "--to", "cobertura"],
        &["convert", "prog.csraw", "--to", "v4-text", "-o", "-"],
        &["report", "prog.csraw", "-o", "-"],
        &["stale", "prog.v4", "--binary", "prog", "--json"],
    ] {
        let text = String::from_utf8(shop.tool_output(arguments)).unwrap();
        assert!(
            text.contains("src/atoms.c") && !text.contains("train/.."),
            "{arguments:?}: {text}"
        );
    }
}
