//! Where indirect calls stand, compared with gcc's own knowledge: a dump of the compiler prints the
//! statements in the order of their sites, with file and line.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use countersink::formats::afdo_v4;
use countersink::formats::gcno::{self, Notes};
use countersink::profile::{Position, SymbolId};
use countersink::program::counters::{Array, FunctionKey, Wanted};
use countersink::program::disassembly::listings;
use countersink::program::listing::Analysis;
use countersink::program::listing::{Callee, Listing, Tables};
use countersink::program::object_file::relocate;
use countersink::raw::dump::{Dump, Module};
use countersink::raw::gcov::Kind;

use crate::harness::{PROFILE, Workshop, have, succeed};
use crate::programs::objects::{compile_all, compile_once};
use crate::programs::{
    CLOCK, LUA, SHAPES, TELL, compile_lua, lua_sources, run_classes, run_rocksdb,
};

/// File, without its directory, and line.
type Line = (String, u32);

/// Object, cut at its first dot, and function by its assembler name.
type Function = (String, String);

/// For each function the possible lines of its indirect calls in site order.
fn told_by_gcc(shop: &Workshop) -> BTreeMap<Function, Vec<BTreeSet<Line>>> {
    let mut told = BTreeMap::new();
    for path in shop.files("profile") {
        let dump = String::from_utf8_lossy(&shop.read(&path)).into_owned();
        for function in dump.split(";; Function ").skip(1) {
            // `int f(int) (_Z1fi, funcdef_no=1, ...)`
            let (names, _) = function.split_once(", funcdef_no=").unwrap();
            let name = names.rsplit('(').next().unwrap();
            told.insert((stem(&path), name.to_owned()), calls_of_function(function));
        }
    }
    told
}

/// A file's name without its directory, cut at its first dot.
fn stem(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned()
}

fn calls_of_function(text: &str) -> Vec<BTreeSet<Line>> {
    let mut lines = BTreeMap::<String, BTreeSet<Line>>::new();
    for statement in text.lines() {
        if let Some(line) = first_place(statement) {
            lines.entry(without_places(statement)).or_default().insert(line);
        }
    }
    let statements = text.lines().filter_map(|line| line.strip_prefix("Stmt "));
    let calls = statements.filter(|statement| is_indirect_call(statement));
    calls.map(|call| lines.get(&without_places(call)).cloned().unwrap_or_default()).collect()
}

/// The place at the start of a statement: `[a.c:12:5] `.
fn first_place(statement: &str) -> Option<Line> {
    let (place, _) = statement.trim_start().strip_prefix('[')?.split_once(']')?;
    let mut parts = place.rsplitn(3, ':');
    let (_, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    let file = Path::new(file.split(' ').next()?).file_name()?.to_str()?;
    Some((file.to_owned(), line.parse().ok()?))
}

/// A statement as it would be printed without places and without remarks in brackets.
fn without_places(statement: &str) -> String {
    let mut text = String::new();
    for (number, part) in statement.split('[').enumerate() {
        match part.split_once("] ") {
            Some((place, rest)) if number > 0 && place.contains(':') => text += rest,
            _ if number > 0 => text += &format!("[{part}"),
            _ => text += part,
        }
    }
    let text = text.split("; [").next().unwrap().trim().trim_end_matches(';');
    without_class(&text.replace(" [tail call]", ""))
}

/// A virtual call without its class: `OBJ_TYPE_REF(_2;(const struct Shape)_7->2B) (_7)`.
fn without_class(statement: &str) -> String {
    let Some((before, class)) = statement.split_once(";(") else { return statement.into() };
    let mut open = 1;
    let end = class.bytes().position(|byte| {
        open += i32::from(byte == b'(') - i32::from(byte == b')');
        open == 0
    });
    format!("{before};{}", &class[end.unwrap() + 1..])
}

/// Whether the callee is a value, `_12` or `f_3(D)`, and not the name of a function.
fn is_indirect_call(statement: &str) -> bool {
    let call = statement.split_once(" = ").map_or(statement, |(_, call)| call);
    let Some((callee, _)) = call.split_once(" (") else { return false };
    let value = callee.trim_end_matches("(D)");
    let version = value.rsplit('_').next().unwrap();
    call.starts_with("OBJ_TYPE_REF")
        || (value.contains('_')
            && !version.is_empty()
            && version.bytes().all(|byte| byte.is_ascii_digit())
            && !callee.contains(' '))
}

/// Looks for the calls of sites: the function, the number of the site, and the line.
struct Sites;

impl Analysis for Sites {
    /// The names of files.
    type Unit = Vec<String>;
    type Finding = Vec<(u32, u32, Line)>;
    type Memory = ();

    fn unit(&self, tables: &Tables) -> Vec<String> {
        let path = |path: &std::sync::Arc<[u8]>| String::from_utf8(path.to_vec()).unwrap();
        let name = |path: String| path.rsplit('/').next().unwrap().to_owned();
        tables.files.iter().map(path).map(name).collect()
    }

    fn listing(&self, files: &Vec<String>, listing: &Listing, (): &mut ()) -> Self::Finding {
        let calls = listing.calls.iter().filter_map(|call| match call.callee {
            Callee::Site(function, site) => {
                let line = (files[call.piece.file as usize].clone(), call.piece.line);
                Some((function, site, line))
            }
            Callee::Address(_) => None,
        });
        calls.collect()
    }
}

/// The line of each site for each of these functions. A site has no line if no call of it was found, or if
/// copies of the call have different lines.
fn locate(program: &[u8], wanted: &[Wanted]) -> Vec<Vec<Option<Line>>> {
    let file = object::File::parse(program).unwrap();
    let mut found: Vec<Vec<BTreeSet<Line>>> =
        wanted.iter().map(|wanted| vec![BTreeSet::new(); wanted.sites()]).collect();
    listings(&file, &file, wanted, &<[u8]>::to_vec, &Sites, |_, findings| {
        for (function, site, line) in findings.into_iter().flatten() {
            found[function as usize][site as usize].insert(line);
        }
    })
    .unwrap();
    let only = |lines: BTreeSet<Line>| lines.first().filter(|_| lines.len() == 1).cloned();
    found.into_iter().map(|sites| sites.into_iter().map(only).collect()).collect()
}

/// The functions of a module that have indirect calls, each once.
fn wanted(module: &Module) -> Vec<Wanted> {
    let mut known = BTreeMap::new();
    for object in &module.objects {
        for function in module.functions(object).filter(|function| !function.is_absent()) {
            let wanted = Wanted::of(object, &function);
            let FunctionKey { ident, lineno_checksum, cfg_checksum } = wanted.function;
            known.entry((ident, lineno_checksum, cfg_checksum)).or_insert(wanted);
        }
    }
    known.into_values().filter(|wanted| wanted.sites() > 0).collect()
}

/// Number of executed sites, and of those with a place. The place must be the one that gcc tells.
fn placed(shop: &Workshop, dump: &str, program: &str) -> (usize, usize) {
    let told = told_by_gcc(shop);
    let (mut executed, mut placed) = (0, 0);
    let dump = Dump::parse(&shop.read(dump)).unwrap();
    let module = &dump.modules[0];
    let wanted = wanted(module);
    let places = locate(&shop.read(program), &wanted);
    let by_key: HashMap<FunctionKey, Vec<Option<Line>>> =
        wanted.iter().map(|wanted| wanted.function).zip(places).collect();
    for object in &module.objects {
        let path = String::from_utf8(object.path.clone()).unwrap();
        let stem = stem(Path::new(&path));
        let notes = path.replace(".gcda", ".gcno");
        let notes = shop.read(notes);
        let notes = Notes::decode(&notes).unwrap();
        for function in module.functions(object) {
            let key = FunctionKey::of(&function);
            let Some(places) = by_key.get(&key) else { continue };
            let named = notes.functions.iter().find(|notes| notes.ident == key.ident).unwrap();
            let name = std::str::from_utf8(named.name).unwrap();
            let calls = &told[&(stem.clone(), name.to_owned())];
            let sites = function.sites(Kind::INDIRECT_CALL);
            assert_eq!(calls.len(), sites.len(), "{name}");
            for ((site, place), expected) in sites.zip(places).zip(calls) {
                executed += usize::from(site.total != 0);
                let Some(found) = place else { continue };
                placed += usize::from(site.total != 0);
                assert!(expected.contains(found), "{name}: {found:?}, gcc says {expected:?}");
            }
        }
    }
    (executed, placed)
}

#[track_caller]
fn nearly_all(shop: &Workshop, dump: &str, program: &str) {
    let (executed, placed) = placed(shop, dump, program);
    assert!(executed > 0 && placed * 100 >= executed * 99, "{placed} of {executed} placed");
}

/// The files of Lua that call through pointers.
const CALLING: [&str; 6] = ["lauxlib.c", "ldo.c", "ldump.c", "lmem.c", "lstate.c", "lzio.c"];
/// The file with Lua's largest function.
const LARGEST: &str = "lvm.c";

/// Compiles and runs Lua, and looks for its calls.
fn lua_runs(compile: &[&str], link: &[&str]) -> Option<Workshop> {
    let shop = Workshop::new();
    let built = compile_lua(&shop, &[&[TELL], compile].concat())?;
    runs(&shop, &built.objects, link);
    Some(shop)
}

/// The same, with counters only in the files that [`CALLING`] and [`LARGEST`] name. Compilers take four times as long
/// for all of Lua, and find no more calls.
fn calling_lua_runs(compile: &[&str], link: &[&str]) -> Option<Workshop> {
    let shop = Workshop::new();
    let sources = lua_sources(&shop)?;
    let counts = |source: &String| CALLING.contains(&source.as_str()) || source == LARGEST;
    let (counted, others): (Vec<String>, Vec<String>) = sources.into_iter().partition(counts);
    let mut objects = compile_once(&shop, &others, &[&LUA[..], &["-O1"]].concat());
    objects.extend(compile_all(&shop, &counted, &[&PROFILE, &LUA[..], &[TELL], compile].concat()));
    runs(&shop, &objects, link);
    Some(shop)
}

fn runs(shop: &Workshop, objects: &[String], link: &[&str]) {
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    shop.link(&objects, "ours", &[&["-lm"], link].concat());
    shop.run("ours", &["benchmark.lua", "1"]);
    nearly_all(shop, "ours.csraw", "ours");
}

#[test]
#[ignore = "slow"]
fn lua_linked_in_other_ways() {
    let ways: [(&[&str], &[&str]); 4] = [
        (&["-O1"], &[]),
        (&["-O3"], &[]),
        (&["-O2", "-fno-pie", "-gdwarf-4"], &["-no-pie"]),
        (&["-O2", "-fpie"], &["-static-pie"]),
    ];
    for (compile, link) in ways {
        eprintln!("{compile:?} {link:?}");
        let Some(_) = calling_lua_runs(compile, link) else { return };
    }
}

#[test]
#[ignore = "slow"]
fn lua_optimised_as_a_whole() {
    lua_runs(&["-O2", "-flto"], &["-O2", "-flto"]);
}

#[test]
#[ignore = "slow"]
fn sqlite() {
    let shop = Workshop::new();
    let Some(built) = crate::programs::sqlite(&shop) else { return };
    built.link(&shop);
    shop.run("ours", &built.arguments());
    nearly_all(&shop, "ours.csraw", "ours");
}

/// Objects of C++ have groups of sections, and so have macros in debug information.
#[test]
fn objects_with_groups() {
    if !have("g++") {
        return;
    }
    let shop = Workshop::new();
    run_classes(&shop, &CLOCK, &["-g3"]);
    let whole = shop.tool_output(&["convert", "ours.csraw", "--to=v4"]);
    fs::remove_file(shop.path("ours")).unwrap();
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("; 2 objects used instead"), "{told}");
    assert!(output.stdout == whole, "{told}");
}

/// Without the program its objects tell the same as with it.
fn objects_tell_the_same(shop: Option<Workshop>, number: usize) {
    let Some(shop) = shop else { return };
    let whole = shop.tool_output(&["convert", "ours.csraw", "--to=v4"]);
    fs::remove_file(shop.path("ours")).unwrap();
    let output = shop.tool(&["convert", "ours.csraw", "--to=v4"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("ours: No such file or directory"), "{told}");
    assert!(told.contains(&format!("; {number} objects used instead")), "{told}");
    assert!(output.stdout == whole, "{told}");
}

/// Objects of [`CALLING`] and [`LARGEST`] tell the same as their program.
fn calling_objects_tell_the_same(compile: &[&str], link: &[&str]) {
    objects_tell_the_same(calling_lua_runs(compile, link), CALLING.len() + 1);
}

#[test]
fn objects_without_optimisation() {
    calling_objects_tell_the_same(&["-O0"], &[]);
}

#[test]
#[ignore = "slow"]
fn objects_with_compressed_debug_information() {
    calling_objects_tell_the_same(&["-O2", "-gz"], &["-static"]);
}

#[test]
#[ignore = "slow"]
fn objects_with_a_section_for_each_function() {
    calling_objects_tell_the_same(&["-O3", "-ffunction-sections", "-fdata-sections"], &[]);
}

#[test]
#[ignore = "slow"]
fn objects_made_for_size() {
    calling_objects_tell_the_same(&["-Os"], &[]);
}

/// All of Lua.
#[test]
#[ignore = "slow"]
fn objects_for_libraries() {
    objects_tell_the_same(lua_runs(&["-O2", "-fPIC"], &[]), 31);
}

#[test]
#[ignore = "slow"]
fn objects_with_descriptors_of_thread_local_storage() {
    calling_objects_tell_the_same(&["-O2", "-fPIC", "-mtls-dialect=gnu2"], &[]);
}

/// General-dynamic thread-local storage and TLS descriptors, in a library.
#[test]
fn a_library() {
    for dialect in ["-mtls-dialect=gnu", "-mtls-dialect=gnu2"] {
        let shop = Workshop::new();
        shop.write("library.c", LIBRARY);
        shop.write("main.c", "int drive(int); int main(void) { return drive(10) != 135; }\n");
        let library = shop.compile("library.c", &["-fPIC", dialect, TELL]);
        shop.link(&[&library], "library.so", &["-shared"]);
        shop.gcc(&["-O2", "main.c", "-o", "ours", "./library.so"]);
        shop.run("ours", &[]);
        nearly_all(&shop, "ours.csraw", "library.so");
    }
}

const LIBRARY: &str = "\
static int twice(int x) { return 2 * x; }
static int same(int x) { return x; }
int (*table[])(int) = {twice, same};
__attribute__((noinline)) int drive(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += table[i % 1](i);
        sum += table[1](
            i);
    }
    return sum;
}
";

/// Compilers for other machines: the command, and flags that choose the machine.
const MACHINES: [(&str, &[&str]); 5] = [
    ("aarch64-linux-gnu-gcc", &[]),
    ("riscv64-linux-gnu-gcc", &[]),
    ("arm-linux-gnueabihf-gcc", &["-mthumb"]),
    ("arm-linux-gnueabihf-gcc", &["-marm"]),
    ("i686-linux-gnu-gcc", &[]),
];

/// Code for another machine is only read, not run. Nothing tells which sites a run would have counted, so all
/// sites are looked for. A function may lack some: the compiler later found out what these call.
/// The compiler keeps addresses of the stack where the dynamic linker then puts that of a thread's variable.
#[test]
fn a_variadic_function_of_a_library() {
    let shop = Workshop::new();
    shop.write(
        "say.c",
        "#include <stdarg.h>\n\
         struct log { int level; void (*log)(struct log *, const char *, va_list); };\n\
         void say(struct log *log, int level, const char *format, ...)\n\
         {\n\
             va_list arguments;\n\
             if (log->level < level)\n\
                 return;\n\
             va_start(arguments, format);\n\
             log->log(log, format, arguments);\n\
             va_end(arguments);\n\
         }\n",
    );
    shop.write(
        "main.c",
        "#include <stdarg.h>\n\
         struct log { int level; void (*log)(struct log *, const char *, va_list); };\n\
         void say(struct log *, int, const char *, ...);\n\
         static int said;\n\
         static void sink(struct log *log, const char *format, va_list arguments) { said++; }\n\
         int main(void)\n\
         {\n\
             struct log log = { 5, sink };\n\
             for (int i = 0; i < 1000; i++)\n\
                 say(&log, i % 10, \"%d\", i);\n\
             return said == 0;\n\
         }\n",
    );
    for optimise in ["-O0", "-O1", "-O2", "-Os"] {
        let library = shop.compile("say.c", &[optimise, "-fPIC"]);
        shop.link(&[&library], "libsay.so", &["-shared"]);
        let program = shop.compile("main.c", &[optimise]);
        shop.link(&[&program], "ours", &["libsay.so", "-Wl,-rpath,."]);
        shop.run("ours", &[]);
        let bytes = shop.tool_output(&["convert", "ours.csraw", "--to=v4", "--fail-under", "100"]);
        let profile = afdo_v4::decode::decode(&bytes).unwrap().profile;
        let named = |symbol: &SymbolId| profile.symbols.name(*symbol);
        let say = profile.functions.iter().find(|(symbol, _)| named(symbol) == b"say").unwrap().1;
        let record = &say.body.positions[&Position::line(6)];
        let targets: Vec<_> =
            record.targets.iter().map(|(to, calls)| (named(to), *calls)).collect();
        assert_eq!(targets, [(&b"sink"[..], 600)], "{optimise}");
        fs::remove_file(shop.path("ours.csraw")).unwrap();
    }
}

/// What is dropped is named with its place and its size.
#[test]
fn dropped_calls_are_named() {
    let shop = Workshop::new();
    shop.write(
        "calls.c",
        "__attribute__((noipa)) static int inc(int n) { return n + 1; }\n\
         int main(void)\n\
         {\n\
             int (*volatile f)(int) = inc;\n\
             int n = 0;\n\
             for (int i = 0; i < 70; i++) {\n\
                 n += i;\n\
                 n = f(n);\n\
             }\n\
             return n == 0;\n\
         }\n",
    );
    let object = shop.compile("calls.c", &["-O2"]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    // The notes alone do not tell which line of the block has the call.
    fs::remove_file(shop.path("ours")).unwrap();
    fs::remove_file(shop.path(object)).unwrap();
    let told =
        String::from_utf8(shop.tool(&["convert", "-v", "--to=v4", "ours.csraw"]).stderr).unwrap();
    let expected =
        "calls.c:8: 70 calls in main, site 0, without machine code to look into; dropped";
    assert!(told.lines().any(|line| line.ends_with(expected)), "{told}");
}

/// Two ways for each of these machines.
#[test]
#[ignore = "slow"]
fn code_of_other_machines() {
    for (at, machine) in MACHINES[..3].iter().enumerate() {
        code_of_machine(*machine, &[at, at + 1]);
    }
}

#[test]
#[ignore = "a minute"]
fn code_of_all_machines_by_hand() {
    MACHINES.into_iter().for_each(|machine| code_of_machine(machine, &[0, 1, 2, 3]));
}

fn code_of_machine((compiler, machine): (&str, &[&str]), chosen: &[usize]) {
    if !have(compiler) {
        return;
    }
    let ways: [(&[&str], &[&str]); 4] = [
        (&["-O0"], &[]),
        (&["-O3"], &["-static"]),
        (&["-Os", "-fno-pie"], &["-no-pie"]),
        (&["-O2", "-fPIC"], &["-shared"]),
    ];
    let shop = Workshop::new();
    let Some(sources) = lua_sources(&shop) else { return };
    let is_other = |source: &&str| !CALLING.contains(source);
    let others: Vec<&str> = sources.iter().map(String::as_str).filter(is_other).collect();
    let quickly = [machine, &["-O0", "-fPIC", "-std=gnu99", "-w"]].concat();
    let others = compile_with(compiler, &shop, &others, &quickly);
    for (compile, link) in chosen.iter().map(|at| ways[*at]) {
        let compile = [machine, compile].concat();
        eprintln!("{compiler} {compile:?} {link:?}");
        code_of(compiler, &shop, &others, &compile, link);
    }
}

/// Compiles each source with this compiler. Gives the names of the objects.
fn compile_with(compiler: &str, shop: &Workshop, sources: &[&str], flags: &[&str]) -> Vec<String> {
    let compile = |source: &&str| {
        let object = source.replace(".c", ".o");
        succeed(shop.command(compiler).args(flags).args(["-c", source, "-o", &object]));
        object
    };
    sources.iter().map(compile).collect()
}

/// Objects for boards need no C library. Nothing links them here.
#[test]
fn code_of_boards() {
    let boards: [(&str, &[&str]); 4] = [
        ("arm-linux-gnueabihf-gcc", &["-mthumb", "-mcpu=cortex-m3", "-mfloat-abi=soft"]),
        ("arm-linux-gnueabihf-gcc", &["-mthumb", "-mcpu=cortex-m4", "-fno-pie"]),
        ("riscv64-linux-gnu-gcc", &["-march=rv32imac", "-mabi=ilp32"]),
        ("riscv64-linux-gnu-gcc", &["-march=rv32im", "-mabi=ilp32", "-fno-pie"]),
    ];
    for (compiler, machine) in boards.into_iter().filter(|(compiler, _)| have(compiler)) {
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let shop = Workshop::new();
            shop.program("machines.c");
            let flags = ["-g", "-fprofile-generate", "-ftest-coverage", TELL, "-ffreestanding"];
            let arguments = [&flags[..], machine, &[level, "-c", "machines.c"]].concat();
            succeed(shop.command(compiler).args(arguments));
            let told = told_by_gcc(&shop);
            let sites = sites_of_notes(&shop.read("machines.gcno"), "machines", &told);
            let laid_out = relocate(&shop.read("machines.o")).unwrap();
            assert_eq!(found(&laid_out, sites), (1, 1), "{compiler} {machine:?} {level}");
        }
    }
}

/// Compiles the files with calls through pointers, and links them with the other objects of Lua.
fn code_of(compiler: &str, shop: &Workshop, others: &[String], compile: &[&str], link: &[&str]) {
    let flags = ["-g", "-fprofile-generate", "-ftest-coverage", TELL, "-std=gnu99", "-w"];
    let objects = compile_with(compiler, shop, &CALLING, &[&flags[..], compile].concat());
    let mut link_all = shop.command(compiler);
    link_all.arg("-fprofile-generate").args(&objects).args(others).args(["-o", "ours", "-lm"]);
    succeed(link_all.args(link));

    let told = told_by_gcc(shop);
    let of_object = |object: &String| {
        let notes = shop.read(object.replace(".o", ".gcno"));
        sites_of_notes(&notes, &stem(Path::new(object)), &told)
    };
    let linked = found(&shop.read("ours"), objects.iter().flat_map(of_object).collect());
    let unlinked = objects.iter().map(|object| {
        let laid_out = relocate(&shop.read(object)).unwrap();
        found(&laid_out, of_object(object))
    });
    let unlinked = unlinked.fold((0, 0), |sum, (sites, placed)| (sum.0 + sites, sum.1 + placed));
    for (sites, placed) in [linked, unlinked] {
        eprintln!("{compiler} {compile:?} {link:?}: {placed} of {sites}");
        // With 32-bit ARM one call may be missing.
        let missing = usize::from(compiler.starts_with("arm"));
        assert!(sites > 0 && placed + missing >= sites);
    }
}

/// A function's sites, for each place that the object may have for them, and their lines.
type Expected = Vec<([Wanted; 3], Vec<BTreeSet<Line>>)>;

fn sites_of_notes(
    notes: &[u8],
    stem: &str,
    told: &BTreeMap<Function, Vec<BTreeSet<Line>>>,
) -> Expected {
    let functions = Notes::decode(notes).unwrap().functions.into_iter();
    let sites = functions.filter_map(|function| {
        let name = std::str::from_utf8(function.name).unwrap();
        let calls = &told[&(stem.to_owned(), name.to_owned())];
        let gcno::Function { ident, lineno_checksum, cfg_checksum, .. } = function;
        let function = FunctionKey { ident, lineno_checksum, cfg_checksum };
        let sites = calls.len();
        // Arcs, values, indirect calls, time: each object has all of these or fewer.
        let wanted = [1, 2, 3].map(|slot| {
            let calls = Array { slot, counters: 3 * sites };
            Wanted { function, arcs: Array::default(), calls, stride: 3 }
        });
        (sites > 0).then(|| (wanted, calls.clone()))
    });
    sites.collect()
}

/// The number of sites, and of those with a place. The place must be the one that gcc tells.
fn found(program: &[u8], expected: Expected) -> (usize, usize) {
    let wanted: Vec<Wanted> = expected.iter().flat_map(|(wanted, _)| *wanted).collect();
    let places = locate(program, &wanted);
    let lines = expected.iter().flat_map(|(_, calls)| [calls, calls, calls]);
    let mut placed = 0;
    for (places, calls) in places.iter().zip(lines) {
        for (place, expected) in places.iter().zip(calls) {
            let Some(found) = place else { continue };
            placed += 1;
            assert!(expected.contains(found), "{found:?}, gcc says {expected:?}");
        }
    }
    (expected.iter().map(|(_, calls)| calls.len()).sum(), placed)
}

/// Virtual calls, some of them in code that exists only inlined.
#[test]
#[ignore = "slow"]
fn virtual_calls() {
    if !have("g++") {
        return;
    }
    for level in ["-O0", "-O2", "-O3"] {
        let shop = Workshop::new();
        run_classes(&shop, &SHAPES, &[level, TELL]);
        nearly_all(&shop, "ours.csraw", "ours");
    }
}

/// Virtual calls that gcc resolved, some beside the real ones and some altogether. Also in functions of a
/// header, with counters in every object.
#[test]
fn calls_that_gcc_resolved() {
    if !have("g++") {
        return;
    }
    for level in ["-O1", "-O2", "-O3"] {
        let shop = Workshop::new();
        run_classes(&shop, &CLOCK, &[level, TELL]);
        nearly_all(&shop, "ours.csraw", "ours");
    }
}

/// All of RocksDB, a large program with more than a thousand kinds of virtual calls. Not run by default,
/// because it takes a quarter of an hour to compile: `cargo test --release --test placement -- --ignored
/// call_places::rocksdb_by_hand`.
#[test]
#[ignore = "compiles for a quarter of an hour"]
fn rocksdb_by_hand() {
    let shop = Workshop::new();
    let Some(_) = run_rocksdb(&shop, &[TELL]) else { return };
    nearly_all(&shop, "ours.csraw", "ours");
}

/// From 16 on gcc's discriminators also distinguish copies of code, by bits that a compiler which reads the
/// profile has not set yet. Made by hand here, with two calls on one line.
#[test]
fn copies_of_code_are_not_told_apart() {
    let shop = Workshop::new();
    shop.write(
        "calls.c",
        "static int one(int n) { return n + 1; }\nstatic int two(int n) { return n + 2; }\n\
         int (*volatile f)(int) = one, (*volatile g)(int) = two;\n\
         int main(int argc, char **argv)\n{\n    int sum = 0;\n    for (int i = 0; i < 90; i++)\n        \
         sum += i % 3 ? f(i) : g(i);\n    return sum == argc;\n}\n",
    );
    shop.gcc(&[&PROFILE[..], &["-S", "calls.c"]].concat());
    let assembler = String::from_utf8(shop.read("calls.s")).unwrap();
    let changed = |line: &str| match line.split_once(" discriminator ") {
        Some((before, after)) => {
            let (number, after) = after.split_once(' ').unwrap_or((after, ""));
            let copy = number.parse::<u32>().unwrap() | 4 << 8 | 3 << 15;
            format!("{before} discriminator {copy} {after}\n")
        }
        None => line.replace("\"GNU C17 ", "\"GNU C17 16.2.0 ") + "\n",
    };
    let of_16: String = assembler.lines().map(changed).collect();
    assert_ne!(of_16.lines().collect::<Vec<_>>(), assembler.lines().collect::<Vec<_>>());
    shop.write("of_16.s", of_16);
    let converted = |source: &str| {
        shop.gcc(&["-c", source, "-o", "calls.o"]);
        shop.link(&["calls.o"], "ours", &[]);
        let _ = std::fs::remove_file(shop.path("ours.csraw"));
        shop.run("ours", &[]);
        String::from_utf8(shop.tool_output(&["convert", "ours.csraw", "--to=v4-text"])).unwrap()
    };
    let plain = converted("calls.s");
    assert!(plain.contains("    4.1 -> {"), "{plain}");
    assert_eq!(converted("of_16.s"), plain);
}

/// Lines that `#line` has put far from their function stand where gcc looks for them: it keeps 16 bits of the
/// distance (`get_combined_location` in its `auto-profile.cc`).
#[test]
fn lines_far_from_their_function() {
    let shop = Workshop::new();
    shop.write("far.c", "int main(int argc, char **argv)\n{\n    int n = argc + 1;\n#line 20000000\n    return n * argc == 7;\n}\n");
    let object = shop.compile("far.c", &["-O0"]);
    shop.link(&[&object], "ours", &[]);
    shop.run("ours", &[]);
    let far = (20_000_000 - 1) & 0xffff;
    for to in ["v4", "v4-text", "v2"] {
        let told = shop.tool(&["convert", "ours.csraw", "--to", to, "-o", "profile"]).stderr;
        let told = String::from_utf8(told).unwrap();
        assert!(!told.contains("dropped"), "{told}");
        assert_eq!(shop.tool(&["check", "profile"]).status.code(), Some(0));
        let text = shop.tool_output(&["convert", "profile", "--to", "v4-text"]);
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(&format!("    {far} = 1")), "{text}");
    }
}

/// A site with more targets than are kept states the error bound of their counts.
#[test]
fn a_full_site_is_marked() {
    let shop = Workshop::new();
    let functions: Vec<String> = (0..100).map(|n| format!("f{n}")).collect();
    let definitions =
        functions.iter().map(|name| format!("static int {name}(void) {{ return 1; }}\n"));
    let main = "
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++) {
        sum += table[i % 100]();
        sum += table[i % 2]();
    }
    return sum != 2000;
}
";
    let table = format!("static int (*table[])(void) = {{{}}};\n", functions.join(", "));
    shop.write("full.c", definitions.collect::<String>() + &table + main);
    shop.compile("full.c", &[]);
    shop.link(&["full.o"], "ours", &[]);
    shop.run("ours", &[]);
    let json = shop.tool_output(&["convert", "ours.csraw", "--to", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let main = json["functions"].as_array().unwrap().iter().find(|f| f["name"] == "main").unwrap();
    let calls: Vec<_> = main["locations"].as_array().unwrap().iter().collect();
    let calls: Vec<_> = calls.iter().filter(|at| at["targets"].is_array()).collect();
    let [full, exact] = calls[..] else { panic!("{calls:?}") };
    assert!(full["target_error"].as_u64().unwrap() >= 10, "{full}");
    assert!(exact["target_error"].is_null(), "{exact}");
    let text = shop.tool_output(&["show", "ours.csraw", "--function", "main"]);
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches("each may be wrong by ").count(), 1, "{text}");
}

/// Two objects have a function of equal size at different lines. The program has the first one's code, and
/// the tables of both objects describe it.
#[test]
fn the_function_that_the_linker_kept() {
    if !have("g++") {
        return;
    }
    let header = |lines: &str| {
        let call = "__attribute__((noinline)) inline int call(int (*f)(int), int x)";
        format!("{call}\n{{{lines}\n    return f(x) + 1;\n}}\nint other(int);\n")
    };
    let shop = Workshop::new();
    shop.write("one.h", header(""));
    shop.write("two.h", header("\n\n\n"));
    let function = "static int same(int x) { return x; }\n";
    let main = "int main() { return call(same, 1) + other(2) != 5; }\n";
    shop.write("one.cc", format!("#include \"one.h\"\n{function}{main}"));
    let other = "int other(int x) { return call(same, x); }\n";
    shop.write("two.cc", format!("#include \"two.h\"\n{function}{other}"));
    let objects = ["one.cc", "two.cc"].map(|source| shop.compile(source, &[TELL]));
    shop.link(&[&objects[0], &objects[1]], "ours", &["-lstdc++"]);
    shop.run("ours", &[]);
    nearly_all(&shop, "ours.csraw", "ours");
}
