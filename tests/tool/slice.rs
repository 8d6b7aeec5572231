//! Parts of a profile: every gcc makes the same assembler code with the part as with the whole profile, and a change of
//! counts changes the parts of those sources alone that have them.

use std::collections::BTreeMap;
use std::fs;

use crate::compilers::Compiler;
use crate::harness::{Workshop, succeed};
use crate::programs::{CLOCK, LUA, SHAPES, SQLITE, lua_sources, run_classes, sqlite_sources};

/// The name under which each compilation gets its profile, as names stand in debug information.
const PROFILE: &str = "used.afdo";

/// Makes the profile of `ours.csraw` for a compiler, in version 4 as `all.v4` and whole as `all.afdo`.
fn whole(shop: &Workshop, gcc: &str) {
    shop.tool_output(&["convert", "ours.csraw", "--to", "v4", "--for-gcc", gcc, "-o", "all.v4"]);
    shop.tool_output(&["convert", "ours.csraw", "--for-gcc", gcc, "-o", "all.afdo"]);
    shop.tool_output(&["convert", "all.v4", "--for-gcc", gcc, "-o", "again.afdo"]);
    assert!(shop.read("all.afdo") == shop.read("again.afdo"), "gcc {gcc}: version 4 loses counts");
}

/// The part of `all.v4` by what the source includes, and that by its preprocessed text; none if it has no functions.
fn parts(
    shop: &Workshop,
    compiler: &Compiler,
    source: &str,
    flags: &[&str],
) -> Option<[Vec<u8>; 2]> {
    let gcc = compiler.major().to_string();
    compiler.assembler_code(shop, source, "source.i", &[&["-E", "-O2"], flags].concat());
    compiler.assembler_code(shop, source, "source.d", &[&["-E", "-M", "-O2"], flags].concat());
    let cut = |choice: &[&str]| {
        let options = ["--for-gcc", &gcc, "--parts", "parts", "-o", "part.afdo"];
        let output = shop.tool(&[&["slice", "all.v4"], choice, &options].concat());
        output.status.success().then(|| shop.read("part.afdo"))
    };
    let by_text = cut(&["--preprocessed", "source.i"]);
    let by_files = cut(&["--source", source, "--depends", "source.d"]);
    // Without the flags of the training run, `main` has another name.
    Some([by_text?, by_files?])
}

/// The assembler code with a profile.
fn code(
    shop: &Workshop,
    compiler: &Compiler,
    source: &str,
    flags: &[&str],
    profile: &[u8],
) -> Vec<u8> {
    shop.write(PROFILE, profile);
    let helps = shop.tool_output(&["flags", "--optimise", &compiler.major().to_string()]);
    let helps = String::from_utf8(helps).unwrap();
    let helps: Vec<&str> = helps.split_whitespace().collect();
    let use_it = ["-O2", "-fauto-profile=used.afdo"];
    compiler.assembler_code(shop, source, "source.s", &[&use_it, &helps[..], flags].concat());
    shop.read("source.s")
}

/// Checks these sources with a compiler. Gives the number of those that have a part.
fn check(shop: &Workshop, compiler: &Compiler, sources: &[String], flags: &[&str]) -> usize {
    let gcc = compiler.major();
    whole(shop, &gcc.to_string());
    let all = shop.read("all.afdo");
    let mut checked = 0;
    for source in sources {
        let Some([by_text, by_files]) = parts(shop, compiler, source, flags) else { continue };
        checked += 1;
        assert!(by_text.len() <= by_files.len() && by_files.len() < all.len() + 100, "{source}");
        let expected = code(shop, compiler, source, flags, &all);
        assert!(
            code(shop, compiler, source, flags, &by_text) == expected,
            "gcc {gcc}, {source}: by text"
        );
        if by_files != by_text {
            let found = code(shop, compiler, source, flags, &by_files);
            assert!(found == expected, "gcc {gcc}, {source}: by files");
        }
    }
    checked
}

/// All compilers but those that share their rules with another one.
fn different() -> Vec<Compiler> {
    let mut compilers = crate::compilers::all();
    compilers.retain(|compiler| !matches!(compiler.major(), 14 | 15));
    compilers
}

/// Runs Lua, and gives its sources. `None` if it cannot be had.
fn counted_lua(shop: &Workshop) -> Option<Vec<String>> {
    let built = crate::programs::lua(shop)?;
    built.link(shop);
    shop.run("ours", &built.arguments());
    let mut sources = lua_sources(shop)?;
    sources.retain(|name| name.ends_with(".c"));
    Some(sources)
}

#[test]
#[ignore = "slow"]
fn lua() {
    // More sources for one compiler of each kind.
    lua_with(|gcc| if matches!(gcc, 12 | 16) { 3 } else { 6 });
}

/// `cargo test --test tool -- --ignored slice::lua_by_hand`
#[test]
#[ignore = "a minute for each compiler"]
fn lua_by_hand() {
    lua_with(|_| 1);
}

/// Checks each source, each third, and so on: a step for the major version of the compiler.
fn lua_with(step: impl Fn(u32) -> usize) {
    let shop = Workshop::new();
    let Some(sources) = counted_lua(&shop) else { return };
    for compiler in different() {
        let gcc = compiler.major();
        let sources: Vec<String> = sources.iter().step_by(step(gcc)).cloned().collect();
        let checked = check(&shop, &compiler, &sources, &LUA);
        assert!(checked * 5 > sources.len() * 4, "gcc {gcc}: {checked} of {}", sources.len());
    }
}

/// Each compilation takes the better part of a minute: `cargo test --test tool -- --ignored sqlite_by_hand`.
#[test]
#[ignore = "minutes for each compiler"]
fn sqlite_by_hand() {
    let shop = Workshop::new();
    let Some(built) = crate::programs::sqlite(&shop) else { return };
    built.link(&shop);
    shop.run("ours", &built.arguments());
    let sources = sqlite_sources(&shop).unwrap();
    for compiler in different() {
        assert_eq!(check(&shop, &compiler, &sources, &SQLITE), 2);
    }
}

/// Inline functions of headers are in several sources, and have copies inlined in each.
#[test]
#[ignore = "slow"]
fn cxx_programs() {
    for program in [SHAPES, CLOCK] {
        let shop = Workshop::new();
        run_classes(&shop, &program, &["-std=gnu++17"]);
        let sources = [program[1], program[2]].map(str::to_owned);
        for compiler in different().iter().filter(|compiler| compiler.has_cxx()) {
            assert_eq!(check(&shop, compiler, &sources, &["-std=gnu++17"]), 2, "{program:?}");
        }
    }
}

/// A program of two sources and a header. `calls` are those of `second`.
fn pair(calls: u32) -> Workshop {
    let shop = Workshop::new();
    shop.write("both.h", "static inline int half(int x)\n{\n    return x & 1 ? x * 3 + 1 : x / 2;\n}\nint second(int);\n");
    let main = format!(
        "#include \"both.h\"\n\
         static int helper(int x)\n{{\n    return half(x) + 7;\n}}\n\
         int main(void)\n{{\n    int sum = 0;\n    for (int i = 0; i < 100000; i++)\n        sum += helper(i);\n    \
         for (int i = 0; i < {calls}; i++)\n        sum += second(i);\n    return sum == 42;\n}}\n"
    );
    shop.write("first.c", main);
    shop.write(
        "second.c",
        "#include \"both.h\"\n\
         static int helper(int x)\n{\n    return x > 3 ? half(x) : 2;\n}\n\
         int second(int x)\n{\n    int sum = 0;\n    while (x-- > 0)\n        sum += helper(x);\n    return sum;\n}\n",
    );
    let objects = ["first.c", "second.c"].map(|source| shop.compile(source, &[]));
    shop.link(&[&objects[0], &objects[1]], "ours", &[]);
    shop.run("ours", &[]);
    shop
}

/// Statics of one name, and an inline function of a header.
#[test]
fn functions_of_one_name() {
    let shop = pair(50);
    let sources = ["first.c", "second.c"].map(str::to_owned);
    for compiler in crate::compilers::all() {
        assert_eq!(check(&shop, &compiler, &sources, &[]), 2);
    }
}

/// The counts of one function are changed in the text form.
#[test]
#[ignore = "slow"]
fn a_change_concerns_those_that_have_it() {
    let shop = Workshop::new();
    let Some(sources) = counted_lua(&shop) else { return };
    let compiler = crate::compilers::all()
        .into_iter()
        .find(|compiler| compiler.major() == crate::harness::gcc_major());
    let Some(compiler) = compiler else { return };
    for gcc in ["12", "16"] {
        shop.tool_output(&[
            "convert",
            "ours.csraw",
            "--to",
            "v4",
            "--for-gcc",
            gcc,
            "-o",
            "all.v4",
        ]);
        let cut = || -> BTreeMap<String, Vec<u8>> {
            let cut = |source: &String| {
                compiler.assembler_code(&shop, source, "source.i", &[&["-E"], &LUA[..]].concat());
                let options = ["--preprocessed", "source.i", "--for-gcc", gcc, "-o", "part.afdo"];
                let output = shop.tool(&[&["slice", "all.v4"], &options[..]].concat());
                let part = output.status.success().then(|| shop.read("part.afdo"));
                (source.clone(), part.unwrap_or_default())
            };
            sources.iter().map(cut).collect()
        };
        let before = cut();
        shop.tool_output(&["convert", "all.v4", "--to", "v4-text", "-o", "all.txt"]);
        let text = String::from_utf8(shop.read("all.txt")).unwrap();
        // A function of lstrlib.c that no other source calls or has inlined.
        let at = text.find("\"str_reverse\":").expect("str_reverse is in the profile");
        let (head, rest) = text.split_at(at);
        let changed = rest.replacen(" = 0", " = 1", 1);
        let changed = if gcc == "16" { rest.replacen(" = 1", " = 2", 1) } else { changed };
        assert_ne!(changed, rest);
        shop.write("all.txt", format!("{head}{changed}"));
        shop.tool_output(&["convert", "all.txt", "--to", "v4", "-o", "all.v4"]);
        let after = cut();
        let differ: Vec<&String> =
            sources.iter().filter(|source| before[*source] != after[*source]).collect();
        assert_eq!(differ, ["lstrlib.c"], "gcc {gcc}");
    }
}

#[test]
fn bad_input() {
    let shop = pair(3);
    whole(&shop, "12");
    let fails = |arguments: &[&str], why: &str| {
        let options = ["--for-gcc", "12", "--parts", "parts", "-o", "part.afdo"];
        let output = shop.tool(&[&["slice"], arguments, &options].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(why) && errors.lines().count() == 1, "{arguments:?}: {errors}");
        assert!(!shop.path("part.afdo").exists(), "{arguments:?}");
    };
    shop.write("no.d", "int x;\n");
    fails(&["all.v4", "--source", "third.c"], "all.v4: no function of third.c in the profile; ");
    fails(&["all.v4", "--source", "second.c", "--depends", "none.d"], "none.d: No such file");
    fails(
        &["all.v4", "--source", "second.c", "--depends", "no.d"],
        "no.d: expected a rule of make",
    );
    shop.write("other.i", "# 1 \"other.c\"\nint other(void) { return 1; }\n");
    fails(
        &["all.v4", "--preprocessed", "other.i"],
        "all.v4: it has no function of this compilation",
    );
    fails(&["none.v4", "--source", "first.c"], "none.v4: No such file");
    fails(
        &["all.afdo", "--source", "first.c"],
        "all.afdo: 0x0: expected version 4, found an AutoFDO profile, version 2",
    );
    fails(
        &["first.c", "--source", "first.c"],
        "first.c: 0x0: expected version 4, found a file of no known kind",
    );
    fails(&["parts", "--source", "first.c"], "parts: ");
    fails(&["/dev/null", "--source", "first.c"], "/dev/null: is not a regular file");
    succeed(shop.command("mkfifo").arg("pipe"));
    fails(&["pipe", "--source", "first.c"], "pipe: is not a regular file");
    let good = shop.read("all.v4");
    for length in [0, 7, 9, 60, good.len() / 2, good.len() - 1] {
        shop.write("cut.v4", &good[..length]);
        fails(&["cut.v4", "--source", "first.c"], "cut.v4: 0x");
    }
    let mut flipped = good.clone();
    // The version.
    flipped[7] = 5;
    shop.write("cut.v4", &flipped);
    fails(&["cut.v4", "--source", "first.c"], "cut.v4: 0x");
}

/// A catalogue belongs to a file as it is: another file under the same name gets its own. A damaged one is made again.
#[test]
fn the_catalogue_follows_the_profile() {
    let shop = pair(3);
    let cut = || {
        let arguments =
            ["slice", "all.v4", "--source", "second.c", "--for-gcc", "12", "--parts", "parts"];
        shop.tool_output(&[&arguments[..], &["-o", "-"]].concat())
    };
    whole(&shop, "12");
    let first = cut();
    assert_eq!(cut(), first);
    for entry in fs::read_dir(shop.path("parts")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    assert_eq!(cut(), first);
    shop.run("ours", &[]);
    whole(&shop, "12");
    assert_ne!(cut(), first);
}
