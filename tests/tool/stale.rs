//! The result of `stale` after edits of Lua's sources, beside the truth.
//!
//! The tests know the truth: they make the edits, and a new profile on the same input has the counts
//! of the edited program. For each position of the old profile:
//!
//! * its *line is the same* if the edit keeps the text of the line, and in each function around it the distance from
//!   the declaration;
//! * its *count is the same* if the new profile has the position, with a count that differs by 1 % at most.
//!
//! The second share is larger, because another line may have the same count by chance. The old counts are the weights
//! of both shares.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use countersink::formats::afdo_v4::decode::decode;
use countersink::profile::Profile;
use serde_json::Value;

use crate::harness::{PROFILE, Workshop, corpus, have, skip, succeed};
use crate::programs::lua_sources;

/// A change of the sources.
#[derive(Clone, Copy)]
struct Edit {
    /// The name in the book.
    name: &'static str,
    /// For each change the file, the old text, and the new text.
    texts: &'static [(&'static str, &'static str, &'static str)],
    /// The old and the new name of a file.
    moved: Option<(&'static str, &'static str)>,
    /// The old and the new name of a function, in all files.
    renamed: Option<(&'static str, &'static str)>,
    /// A file in which each opening brace of a function gets its own line.
    braces: Option<&'static str>,
}

const NOTHING: Edit =
    Edit { name: "nothing", texts: &[], moved: None, renamed: None, braces: None };

const EDITS: [Edit; 14] = [
    NOTHING,
    Edit {
        name: "a comment above a function",
        texts: &[(
            "lvm.c",
            "void luaV_execute (lua_State *L, CallInfo *ci) {",
            "/* The main loop. */\nvoid luaV_execute (lua_State *L, CallInfo *ci) {",
        )],
        ..NOTHING
    },
    Edit {
        name: "a comment in a function",
        texts: &[(
            "lvm.c",
            "      vmcase(OP_ADD) {\n",
            "      /* addition */\n      vmcase(OP_ADD) {\n",
        )],
        ..NOTHING
    },
    Edit {
        name: "a statement in a function",
        texts: &[(
            "ltable.c",
            "  Node *n = hashstr(t, key);\n  lua_assert(key->tt == LUA_VSHRSTR);\n",
            "  Node *n = hashstr(t, key);\n  if (n == NULL)\n    return &absentkey;\n  lua_assert(key->tt == LUA_VSHRSTR);\n",
        )],
        ..NOTHING
    },
    Edit {
        name: "a function with another name",
        renamed: Some(("luaH_getshortstr", "luaH_shortstr")),
        ..NOTHING
    },
    Edit {
        name: "a loop written otherwise",
        texts: &[(
            "ltable.c",
            "  for (;;) {  /* check whether 'key' is somewhere in the chain */
    if (keyisshrstr(n) && eqshrstr(keystrval(n), key))
      return gval(n);  /* that's it */
    else {
      int nx = gnext(n);
      if (nx == 0)
        return &absentkey;  /* not found */
      n += nx;
    }
  }
",
            "  while (!keyisshrstr(n) || !eqshrstr(keystrval(n), key)) {
    int nx = gnext(n);
    if (nx == 0)
      return &absentkey;  /* not found */
    n += nx;
  }
  return gval(n);  /* that's it */
",
        )],
        ..NOTHING
    },
    Edit { name: "a file in another folder", moved: Some(("lvm.c", "vm/lvm.c")), ..NOTHING },
    Edit { name: "a file with another name", moved: Some(("lvm.c", "lvmachine.c")), ..NOTHING },
    Edit {
        name: "a function deleted, its body put where it was called",
        texts: &[
            (
                "ldo.c",
                "l_sinline CallInfo *prepCallInfo (lua_State *L, StkId func, int nret,
                                                int mask, StkId top) {
  CallInfo *ci = L->ci = next_ci(L);  /* new frame */
  ci->func.p = func;
  ci->nresults = nret;
  ci->callstatus = mask;
  ci->top.p = top;
  return ci;
}
",
                "",
            ),
            (
                "ldo.c",
                "  L->ci = ci = prepCallInfo(L, func, nresults, CIST_C,
                               L->top.p + LUA_MINSTACK);
",
                "  L->ci = ci = next_ci(L);
  ci->func.p = func; ci->nresults = nresults;
  ci->callstatus = CIST_C; ci->top.p = L->top.p + LUA_MINSTACK;
",
            ),
            (
                "ldo.c",
                "      L->ci = ci = prepCallInfo(L, func, nresults, 0, func + 1 + fsize);\n",
                "      L->ci = ci = next_ci(L);
      ci->func.p = func;
      ci->nresults = nresults;
      ci->callstatus = 0;
      ci->top.p = func + 1 + fsize;
",
            ),
        ],
        ..NOTHING
    },
    Edit {
        name: "one more parameter",
        texts: &[
            (
                "ltable.c",
                "static Node *hashint (const Table *t, lua_Integer i) {",
                "static Node *hashint (const Table *t, lua_Integer i, int unused) {",
            ),
            ("ltable.c", "return hashint(t, i);", "return hashint(t, i, 0);"),
            ("ltable.c", "hashint(t, key);", "hashint(t, key, 0);"),
        ],
        ..NOTHING
    },
    Edit {
        name: "a call that became an indirect one",
        texts: &[
            (
                "lvm.c",
                "int luaV_lessthan (",
                "static int (*volatile compare) (lua_State *, const TValue *, const TValue *) = lessthanothers;\nint luaV_lessthan (",
            ),
            ("lvm.c", "  else return lessthanothers(L, l, r);", "  else return compare(L, l, r);"),
        ],
        ..NOTHING
    },
    Edit {
        name: "an indirect call that became a direct one",
        texts: &[
            (
                "ldo.c",
                "l_sinline int precallC (",
                "static __attribute__((noinline)) int calls (lua_CFunction f, lua_State *L) {
  return f(L);
}
l_sinline int precallC (",
            ),
            (
                "ldo.c",
                "  n = (*f)(L);  /* do the actual call */",
                "  n = calls(f, L);  /* do the actual call */",
            ),
        ],
        ..NOTHING
    },
    Edit { name: "a file reformatted", braces: Some("ldo.c"), ..NOTHING },
    Edit {
        name: "a function split in two",
        texts: &[
            (
                "ldo.c",
                "    case LUA_VLCL: {  /* Lua function */
      CallInfo *ci;
      Proto *p = clLvalue(s2v(func))->p;
      int narg = cast_int(L->top.p - func) - 1;  /* number of real arguments */
      int nfixparams = p->numparams;
      int fsize = p->maxstacksize;  /* frame size */
      checkstackGCp(L, fsize, func);
      L->ci = ci = prepCallInfo(L, func, nresults, 0, func + 1 + fsize);
      ci->u.l.savedpc = p->code;  /* starting point */
      for (; narg < nfixparams; narg++)
        setnilvalue(s2v(L->top.p++));  /* complete missing arguments */
      lua_assert(ci->top.p <= L->stack_last.p);
      return ci;
    }
",
                "    case LUA_VLCL:  /* Lua function */
      return precallLua(L, func, nresults);
",
            ),
            (
                "ldo.c",
                "CallInfo *luaD_precall (lua_State *L, StkId func, int nresults) {",
                "static CallInfo *precallLua (lua_State *L, StkId func, int nresults) {
  CallInfo *ci;
  Proto *p = clLvalue(s2v(func))->p;
  int narg = cast_int(L->top.p - func) - 1;
  int nfixparams = p->numparams;
  int fsize = p->maxstacksize;
  checkstackGCp(L, fsize, func);
  L->ci = ci = prepCallInfo(L, func, nresults, 0, func + 1 + fsize);
  ci->u.l.savedpc = p->code;
  for (; narg < nfixparams; narg++)
    setnilvalue(s2v(L->top.p++));
  lua_assert(ci->top.p <= L->stack_last.p);
  return ci;
}

CallInfo *luaD_precall (lua_State *L, StkId func, int nresults) {",
            ),
        ],
        ..NOTHING
    },
];

/// The Lua script. No key depends on an address.
const SCRIPT: &str = "
local Point = {}
Point.__index = Point
Point.__lt = function(a, b) return a.x < b.x end
Point.__add = function(a, b) return setmetatable({x = a.x + b.x}, Point) end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local points, words = {}, {}
for i = 1, 400 do points[i] = setmetatable({x = i * 7919 % 401}, Point) end
table.sort(points)
local sum = points[1]
for i = 2, 400 do sum = sum + points[i] end
for word in (\"the quick brown fox jumps over the lazy dog \"):rep(60):gmatch(\"%a+\") do
  words[word] = (words[word] or 0) + 1
end
print(fib(16), sum.x, words.the, (\"x\"):rep(100):gsub(\"x\", \"%0%0\"))
";

const FLAGS: [&str; 9] = [
    "-O2",
    "-g",
    "-fprofile-generate",
    "-ftest-coverage",
    "-std=gnu99",
    "-DLUA_USE_POSIX",
    "-fno-merge-constants",
    "-Dluai_makeseed(L)=0",
    "-I.",
];

/// Lua in a folder, with its objects.
struct Lua {
    shop: Workshop,
    sources: Vec<String>,
}

impl Lua {
    fn new() -> Option<Self> {
        let shop = Workshop::new();
        let sources = lua_sources(&shop)?;
        shop.write("script.lua", SCRIPT);
        let lua = Self { shop, sources };
        lua.compile(&lua.sources);
        Some(lua)
    }

    fn compile(&self, sources: &[String]) {
        for source in sources {
            let object = Path::new(source).with_extension("o");
            self.shop.gcc(&[&FLAGS[..], &["-c", source, "-o", object.to_str().unwrap()]].concat());
        }
    }

    /// Links the objects of these sources, runs them, and writes a profile.
    fn profile(&self, sources: &[String], profile: &str) -> Profile {
        let objects: Vec<String> =
            sources.iter().map(|source| source.replace(".c", ".o")).collect();
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        let _ = fs::remove_file(self.shop.path("dump.csraw"));
        self.shop.link(&objects, "prog", &["-lm"]);
        let mut command = self.shop.command(self.shop.path("prog"));
        let output = command.arg("script.lua").env("COUNTERSINK_FILE", "dump.csraw").output();
        assert!(output.as_ref().unwrap().status.success(), "{output:?}");
        self.shop.tool_output(&["convert", "dump.csraw", "--to", "v4", "-o", profile]);
        decode(&self.shop.read(profile)).unwrap().profile
    }

    /// Makes an edit. Gives all sources, and those to compile.
    fn edit(&self, edit: &Edit) -> (Vec<String>, Vec<String>) {
        let (mut sources, mut changed) = (self.sources.clone(), Vec::new());
        let mut rewrite = |file: &str, change: &dyn Fn(String) -> String| {
            let before = String::from_utf8(self.shop.read(file)).unwrap();
            let after = change(before.clone());
            if after != before {
                self.shop.write(file, after);
                changed.push(file.to_owned());
            }
        };
        for (file, old, new) in edit.texts {
            rewrite(file, &|text| {
                assert!(text.contains(old), "{file}: {old}");
                text.replace(old, new)
            });
        }
        if let Some((old, new)) = edit.renamed {
            let files = self.shop.files("c").into_iter().chain(self.shop.files("h"));
            files.for_each(|file| rewrite(file.to_str().unwrap(), &|text| text.replace(old, new)));
        }
        if let Some(file) = edit.braces {
            rewrite(file, &|text| text.replace(") {\n  ", ")\n{\n  "));
        }
        if let Some((from, to)) = edit.moved {
            self.shop.write(to, self.shop.read(from));
            sources.iter_mut().filter(|source| *source == from).for_each(|s| *s = to.to_owned());
            changed.push(to.to_owned());
        }
        changed.retain(|file| file.ends_with(".c"));
        changed.sort();
        changed.dedup();
        (sources, changed)
    }

    fn stale(&self, arguments: &[&str]) -> Value {
        let output = self.shop.tool_output(&[&["stale"], arguments, &["--json"]].concat());
        serde_json::from_slice(&output).unwrap()
    }
}

/// A function: its name, and the last part of its file's path.
type Function = (String, String);
/// The functions around a count, the outermost first, each with its line.
type Place = Vec<(Function, i64)>;

/// The counts of a profile by line.
fn counts(profile: &Profile) -> BTreeMap<Place, u64> {
    let symbols = &profile.symbols;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut counts = BTreeMap::new();
    profile.for_each_stack(&mut |frames, record| {
        let frame = |frame: &countersink::profile::stacks::Frame| {
            let path = text(symbols.declared_in(frame.symbol).unwrap_or_default());
            let file = path.rsplit('/').next().unwrap().to_owned();
            ((text(symbols.name(frame.symbol)), file), frame.position.signed_line())
        };
        if let Some(count) = record.count {
            *counts.entry(frames.iter().map(frame).collect()).or_default() += count;
        }
    });
    counts
}

/// The lines of declarations in the debug information.
fn declarations(stale: &Value) -> BTreeMap<Function, i64> {
    let functions = stale["functions"].as_array().unwrap().iter();
    let known = functions.filter_map(|of| {
        let file = of["file"].as_str()?.rsplit('/').next()?.to_owned();
        Some(((of["name"].as_str()?.to_owned(), file), of["line"].as_i64()?))
    });
    known.collect()
}

/// For each line of the old text in the longest common subsequence, the line of the new text. Lines count from 1.
fn same_lines(old: &str, new: &str) -> BTreeMap<i64, i64> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let mut same: BTreeMap<i64, i64> = (1..=start as i64).map(|line| (line, line)).collect();
    for back in 0..end {
        same.insert((old.len() - back) as i64, (new.len() - back) as i64);
    }
    let (a, b) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut longest = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = match a[i] == b[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            same.insert((start + i + 1) as i64, (start + j + 1) as i64);
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    same
}

/// The true effect of an edit.
struct Truth<'t> {
    edit: &'t Edit,
    old: BTreeMap<Function, i64>,
    new: BTreeMap<Function, i64>,
    /// For each file, the result of [`same_lines`].
    lines: BTreeMap<String, BTreeMap<i64, i64>>,
}

impl Truth<'_> {
    /// Whether a function has the same line at the same distance.
    fn is_same(&self, (function, distance): &(Function, i64)) -> bool {
        let (_, file) = function;
        if self
            .edit
            .moved
            .is_some_and(|(from, to)| from == file && !to.ends_with(&format!("/{file}")))
        {
            return false;
        }
        let Some(lines) = self.lines.get(file) else { return true };
        let (Some(old), Some(new)) = (self.old.get(function), self.new.get(function)) else {
            return false;
        };
        // The line may have lost or gained text at its end, but it is where it was.
        lines.get(&(old + distance)).is_some_and(|line| *line == new + distance)
    }
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    name: &'static str,
    fits: f64,
    may_fit: f64,
    same_line: f64,
    same_count: f64,
}

fn row(lua: &Lua, edit: &'static Edit, old: &Profile, declared: &BTreeMap<Function, i64>) -> Row {
    let texts = |lua: &Lua| -> BTreeMap<String, String> {
        let read = |name: &String| (name.clone(), String::from_utf8(lua.shop.read(name)).unwrap());
        lua.sources.iter().map(read).collect()
    };
    let before = texts(lua);
    let (sources, changed) = lua.edit(edit);
    lua.compile(&changed);
    let new = lua.profile(&sources, "new.gcov");
    let stale = lua.stale(&["old.gcov", "--binary", "prog"]);
    let after = texts(lua);
    let mut lines = BTreeMap::new();
    for (name, text) in &before {
        let mut now = after[name].clone();
        if let Some((old, new)) = edit.renamed {
            now = now.replace(new, old);
        }
        if now != *text || edit.renamed.is_some() {
            lines.insert(name.clone(), same_lines(text, &now));
        }
    }
    let (old_counts, new_counts) = (counts(old), counts(&new));
    let truth = Truth { edit, old: declared.clone(), new: declarations(&stale), lines };
    let all: u64 = old_counts.values().sum();
    let share = |is: &dyn Fn(&Place, u64) -> bool| {
        let fits = old_counts.iter().filter(|(place, count)| is(place, **count));
        fits.map(|(_, count)| *count).sum::<u64>() as f64 * 100.0 / all as f64
    };
    let same_count = share(&|place, count| {
        new_counts.get(place).is_some_and(|&new| new.abs_diff(count) <= count / 100)
    });
    let same_line = share(&|place, _| place.iter().all(|frame| truth.is_same(frame)));
    let executions = &stale["executions"];
    let part = |name: &str| {
        executions[name].as_f64().unwrap() * 100.0 / executions["all"].as_f64().unwrap()
    };
    // Back to the old sources.
    before.iter().for_each(|(name, text)| _ = lua.shop.write(name, text));
    if let Some((_, to)) = edit.moved {
        fs::remove_file(lua.shop.path(to)).unwrap();
    }
    if edit.renamed.is_some() {
        lua_sources(&lua.shop);
    }
    lua.compile(&changed.into_iter().filter(|file| before.contains_key(file)).collect::<Vec<_>>());
    Row { name: edit.name, fits: part("fit"), may_fit: part("open"), same_line, same_count }
}

const TITLE: &str = "| edit | fits | may fit | same line | same count |\n|---|---|---|---|---|\n";

fn table(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let Row { name, fits, may_fit, same_line, same_count } = row;
        format!("| {name} | {fits:.1} | {may_fit:.1} | {same_line:.1} | {same_count:.1} |\n")
    };
    TITLE.to_owned() + &rows.iter().map(line).collect::<String>()
}

/// Largest difference of a share from the truth, in percent of all executions.
const MOST_DIFFERENCE: f64 = 8.0;

/// For each edit, the reported share is near the true one. The book has the table:
/// `cargo test --test tool -- --ignored edits_of_lua_by_hand`
#[test]
#[ignore = "three minutes"]
fn edits_of_lua_by_hand() {
    let Some(lua) = Lua::new() else { return };
    let old = lua.profile(&lua.sources, "old.gcov");
    let declared = declarations(&lua.stale(&["old.gcov", "--binary", "prog"]));
    let rows: Vec<Row> = EDITS.iter().map(|edit| row(&lua, edit, &old, &declared)).collect();
    let table = table(&rows);
    eprintln!("{table}");
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/cookbook/stale.md"));
    let page = page.unwrap();
    for row in &rows {
        let difference = row.fits + row.may_fit / 2.0 - row.same_line;
        assert!(difference.abs() < MOST_DIFFERENCE, "{row:?}\n{table}");
        assert!(row.same_line <= row.same_count + 1.5, "{row:?}\n{table}");
        assert!(page.contains(&format!("| {} | ", row.name)), "the book has no row for {row:?}");
    }
    // Not 100 %: one small function that hardly executes looks like another one.
    assert!(rows[0].fits > 99.99, "{table}");
}

/// A program with a local, an inlined and a global function, and an indirect call.
const SOURCE: &str = "static int twice(int x)
{
    return x * 2;
}

__attribute__((noinline)) static int odd(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        if (i & 1)
            sum += i;
    return sum;
}

__attribute__((noinline)) int even(int x)
{
    return x < 3 ? twice(x) : x;
}

int main(int argc, char **argv)
{
    int (*volatile call)(int) = argc > 1 ? even : odd;
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += call(i) + even(i);
    return sum < 0;
}
";

/// A folder with the program's profile and dump, and the program of the changed source.
fn edited(change: impl Fn(&str) -> String) -> Workshop {
    let shop = Workshop::new();
    let build = |source: &str| {
        shop.write("p.c", source);
        shop.gcc(&[&PROFILE[..], &["-c", "p.c", "-o", "p.o"]].concat());
        shop.link(&["p.o"], "p", &[]);
    };
    build(SOURCE);
    shop.run("p", &[]);
    shop.tool_output(&["convert", "p.csraw", "-o", "p.gcov", "--to", "v4"]);
    fs::rename(shop.path("p.csraw"), shop.path("old.csraw")).unwrap();
    build(&change(SOURCE));
    shop
}

fn stale(shop: &Workshop, arguments: &[&str]) -> Value {
    let output = shop.tool_output(&[&["stale"], arguments, &["--json"]].concat());
    serde_json::from_slice(&output).unwrap()
}

/// The kinds of reasons of a function.
fn reasons(stale: &Value, function: &str) -> Vec<String> {
    let functions = stale["functions"].as_array().unwrap();
    let of = functions.iter().find(|of| of["name"] == function);
    let of = of.unwrap_or_else(|| panic!("{function}: {stale:#}"));
    let kinds = of["reasons"].as_array().unwrap().iter();
    kinds.map(|reason| reason["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_same_program_fits() {
    let shop = edited(str::to_owned);
    for arguments in [&["p.gcov", "--binary", "p"][..], &["p.gcov", "--notes", "."], &["old.csraw"]]
    {
        let stale = stale(&shop, arguments);
        assert_eq!(stale["share"], 1.0, "{arguments:?}: {stale:#}");
        assert!(stale["executions"]["all"].as_u64() > Some(100), "{stale:#}");
    }
    for to in ["v1", "v2", "v3", "v4-compact", "v4-text"] {
        shop.tool_output(&["convert", "p.gcov", "--to", to, "-o", "q"]);
        let stale = stale(&shop, &["q", "--binary", "p"]);
        assert_eq!(stale["share"], 1.0, "{to}: {stale:#}");
    }
    let output = shop.tool(&["stale", "p.gcov", "--binary", "p", "--fail-under", "100"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("no function has counts that do not fit\n"), "{text}");
}

/// The debug information has no linkage names of functions that are local to an object: instances of templates for a
/// lambda are such.
#[test]
#[ignore = "slow"]
fn functions_without_linkage_names() {
    let shop = Workshop::new();
    let source = "#include <algorithm>\n#include <vector>\nint main() {\n  std::vector<int> v;\n  unsigned s = 1;\n\
        for (int i = 0; i < 10000; i++)\n    v.push_back((s = s * 1664525u + 1013904223u) >> 8);\n\
        std::sort(v.begin(), v.end(), [](int a, int b) { return a % 1000 < b % 1000; });\n  return v[5] < 0;\n}\n";
    shop.write("sorts.cc", source);
    shop.compile("sorts.cc", &["-O2", "-g"]);
    shop.link(&["sorts.o"], "sorts", &["-lstdc++"]);
    shop.run("sorts", &[]);
    shop.tool_output(&["convert", "sorts.csraw", "--to", "v4", "-o", "sorts.gcov"]);
    shop.gcc(&["-O2", "-g", "sorts.cc", "-lstdc++", "-o", "now"]);
    for program in ["sorts", "now"] {
        let stale = stale(&shop, &["sorts.gcov", "--binary", program]);
        assert!(stale["share"].as_f64() > Some(0.9), "{program}: {stale:#}");
    }
}

/// C++ as people write it: members that leave no code, lambdas, which the debug information does not name as the object
/// file does, deleting destructors, and instances of templates.
const CLASSES: &str = "#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Table {
    std::unique_ptr<int[]> cells;
    int size;
    explicit Table(int n) : cells(new int[n]()), size(n) {}
    int &at(int i) { return cells[i]; }
    bool has(int i) const { return cells[i] != 0; }
};

struct Shape {
    virtual ~Shape() {}
    virtual long area() const = 0;
};

struct Square : Shape {
    long side;
    explicit Square(long s) : side(s) {}
    ~Square() override {}
    long area() const override { return side * side; }
};

__attribute__((noinline)) long fill(Table &t, int step)
{
    long seen = 0;
    for (int i = 0; i < t.size; i += step) {
        if (t.has(i))
            seen++;
        t.at(i) += step;
    }
    return seen;
}

__attribute__((noinline)) long words(const char *text)
{
    std::map<std::string, int> counts;
    std::string word;
    for (const char *p = text; *p; p++) {
        if (*p == ' ') {
            counts[word]++;
            word.clear();
        } else {
            word += *p;
        }
    }
    long sum = 0;
    for (const auto &[name, count] : counts)
        sum += count * static_cast<long>(name.size());
    return sum;
}

int main(int argc, char **)
{
    Table t(1000);
    long n = 0;
    for (int s = 1; s < 200; s++)
        n += fill(t, s);
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int s = 0; s < 100; s++)
        shapes.push_back(std::make_unique<Square>(s * 7919 % 101));
    std::sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) {
        return a->area() < b->area();
    });
    std::function<long(long)> adds = [=](long x) {
        if (x > 3)
            return x + argc;
        return x;
    };
    auto twice = [](long x) { return 2 * x; };
    for (const auto &shape : shapes)
        n += adds(shape->area()) + twice(n % 7);
    for (int i = 0; i < 50; i++)
        n += words(\"the quick brown fox jumps over the lazy dog again and again \");
    std::printf(\"%ld\\n\", n);
}
";

/// Two files with local functions of equal names, and of equal names of the files' own.
const FIRST: &str = "static int next(int x)
{
    return x * 3 + 1;
}

__attribute__((noinline)) static int walk(int x)
{
    int steps = 0;

    while (x != 1) {
        x = x % 2 ? next(x) : x / 2;

        steps++;
    }
    return steps;
}

int second(int x);
int main(void)
{
    int sum = 0;
    for (int i = 1; i < 300; i++)
        sum += walk(i) + second(i);
    return sum == 0;
}
";
const SECOND: &str = "/* Another file. */

__attribute__((noinline)) static int next(int x)
{
    int i, sum = 0;
    for (i = 0; i < x; i++)

        if (i % 3)
            sum += i;
    return sum;
}

__attribute__((noinline)) static int walk(int x)
{
    if (x > 100)
        return next(x - 100);

    return next(x) + next(x / 2);
}

int second(int x)
{
    return walk(x);
}
";

/// Compiles sources of C++ or C to an instrumented program, runs it, and gives its dump the program's name.
fn counted(shop: &Workshop, sources: &[(&str, &str)], program: &str) {
    let mut objects = Vec::new();
    for (name, source) in sources {
        if let Some((folder, _)) = name.rsplit_once('/') {
            fs::create_dir_all(shop.path(folder)).unwrap();
        }
        shop.write(name, source);
        objects.push(shop.compile(name, &["-O2", "-g"]));
    }
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    shop.link(&objects, program, &["-lstdc++", "-lm"]);
    shop.run(program, &[]);
}

/// A program fits its own dump, and every profile of it.
#[track_caller]
fn assert_fits_itself(shop: &Workshop, program: &str) {
    let dump = format!("{program}.csraw");
    let whole = |profile: &str, arguments: &[&str]| {
        let stale = stale(shop, &[&[profile], arguments].concat());
        let (fit, all) = (&stale["executions"]["fit"], &stale["executions"]["all"]);
        let lossy = stale["functions"].as_array().unwrap().iter();
        let lossy = lossy.filter(|of| of["reasons"] != serde_json::json!([]));
        let lossy: Vec<_> = lossy.collect();
        assert!(fit == all && lossy.is_empty(), "{program}, {profile}: {fit} of {all}: {lossy:#?}");
        assert_eq!(stale["calls"]["fit"], stale["calls"]["all"], "{program}, {profile}");
    };
    whole(&dump, &[]);
    whole(&dump, &["--binary", program]);
    for to in ["v2", "v3", "v4"] {
        shop.tool_output(&["convert", &dump, "--to", to, "-o", to]);
        whole(to, &["--binary", program]);
    }
}

#[test]
fn programs_fit_themselves() {
    let shop = Workshop::new();
    counted(&shop, &[("classes.cc", CLASSES)], "classes");
    assert_fits_itself(&shop, "classes");
    // Readers compare the last part of the path at most, so they cannot tell these functions apart.
    for second in ["second.c", "other/first.c"] {
        counted(&shop, &[("first.c", FIRST), (second, SECOND)], "statics");
        assert_fits_itself(&shop, "statics");
        fs::remove_file(shop.path("statics.csraw")).unwrap();
    }
}

/// What debug information tells little of: inherited constructors, functions that initialise static objects and
/// variables of threads, classes in unnamed namespaces, and aliases.
#[test]
#[ignore = "slow"]
fn functions_that_debug_information_hardly_describes() {
    for optimise in ["-O0", "-O2"] {
        let shop = Workshop::new();
        for name in ["inherited.cc", "static_objects.cc", "unnamed_namespace.cc", "aliased.c"] {
            shop.program(name);
            let object = shop.compile(name, &[optimise, "-g"]);
            let program = object.strip_suffix(".o").unwrap();
            shop.link(&[&object], program, &["-lstdc++"]);
            shop.output(program, &[]);
            assert_fits_itself(&shop, program);
        }
    }
}

/// The counts of an alias are those of the function, which has them in the profile, inlined or not.
#[test]
fn aliases_have_no_counts_of_their_own() {
    let shop = Workshop::new();
    shop.program("aliased.c");
    let object = shop.compile("aliased.c", &["-O2", "-g"]);
    shop.link(&[&object], "aliased", &[]);
    shop.output("aliased", &[]);
    let profile =
        decode(&shop.tool_output(&["convert", "aliased.csraw", "--to", "v4"])).unwrap().profile;
    let mut names = Vec::new();
    profile.for_each_stack(&mut |frames, _| {
        names.extend(frames.iter().map(|frame| profile.symbols.name(frame.symbol).to_vec()));
    });
    assert!(names.contains(&b"twice_impl".to_vec()));
    for alias in ["twice", "another_twice"] {
        assert!(!names.contains(&alias.as_bytes().to_vec()), "{alias}");
    }
}

/// Nested functions of Ada and C have a number in the object file, and none in the debug information once they are
/// inlined.
#[test]
fn nested_functions_of_ada() {
    let shop = Workshop::new();
    shop.program("tasks.adb");
    if !have("gnatbind") || !have("gnatlink") {
        return;
    }
    let compiled = [&PROFILE[..], &["-O2", "-g", "-c", "tasks.adb"]].concat();
    if !shop.command("gcc").args(compiled).output().unwrap().status.success() {
        return skip("gcc without Ada");
    }
    succeed(shop.command("gnatbind").arg("tasks.ali"));
    let link = ["tasks.ali", "-o", "tasks", "-fprofile-generate", "-L.", "-lcountersink_rt"];
    succeed(shop.command("gnatlink").args(link));
    shop.run("tasks", &[]);
    assert_fits_itself(&shop, "tasks");
}

/// The share falls with edits of C++, as far as they move counts.
#[test]
#[ignore = "slow"]
fn edits_of_classes() {
    let shop = Workshop::new();
    counted(&shop, &[("classes.cc", CLASSES)], "classes");
    for to in ["v2", "v3", "v4"] {
        shop.tool_output(&["convert", "classes.csraw", "--to", to, "-o", to]);
    }
    for (old, new, functions) in [
        // Lines are added in the middle of a function.
        (
            "    std::string word;\n",
            "    std::string word;\n    // A word\n    // ends at\n    // a blank.\n",
            &["words"][..],
        ),
        ("words(", "all_words(", &["words"]),
        ("        if (t.has(i))\n            seen++;\n", "", &["fill"]),
        (" fill(", " fill_up(", &["fill"]),
        (
            "adds = [=](long x) {\n        if (x > 3)",
            "adds = [=](long x) {\n\n\n\n\n\n        if (x > 3)",
            &["main"],
        ),
    ] {
        let source = CLASSES.replace(old, new);
        assert_ne!(source, CLASSES, "{old}");
        shop.write("classes.cc", &source);
        shop.compile("classes.cc", &["-O2", "-g"]);
        shop.link(&["classes.o"], "now", &["-lstdc++"]);
        for profile in ["v2", "v3", "v4"] {
            let stale = stale(&shop, &[profile, "--binary", "now"]);
            let lossy = stale["functions"].as_array().unwrap().iter();
            let lossy = lossy.filter(|of| of["reasons"] != serde_json::json!([]));
            let lossy: Vec<&str> = lossy.map(|of| of["name"].as_str().unwrap()).collect();
            assert!(stale["share"].as_f64() < Some(1.0), "{profile}, {old}: {stale:#}");
            for function in functions {
                assert!(
                    lossy.iter().any(|name| name.contains(function)),
                    "{profile}, {old}: {lossy:?}"
                );
            }
        }
    }
}

#[test]
fn functions_that_are_gone_or_renamed() {
    let shop = edited(|source| source.replace("odd", "uneven").replace("twice(x)", "x * 2"));
    let stale = stale(&shop, &["p.gcov", "--binary", "p"]);
    assert_eq!(reasons(&stale, "odd"), ["gone"]);
    let odd = stale["functions"].as_array().unwrap().iter().find(|of| of["name"] == "odd");
    assert_eq!(odd.unwrap()["reasons"][0]["name"], "uneven");
    // A call through a pointer may have any target.
    assert_eq!(stale["calls"]["fit"], stale["calls"]["all"]);
    let output = shop.tool(&["stale", "p.gcov", "--binary", "p", "--fail-under", "90"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("% of executions fit; --fail-under asks for 90 %"), "{errors}");
}

#[test]
fn calls_that_are_no_calls_any_more() {
    let shop = edited(|source| source.replace("call(i) + even(i)", "even(i) + (call == odd)"));
    let stale = stale(&shop, &["p.gcov", "--binary", "p"]);
    assert_eq!(stale["calls"]["fit"], 0, "{stale:#}");
    assert_eq!(reasons(&stale, "main"), ["no-call"]);
}

/// A dump needs only the notes of the program as it is now.
#[test]
fn checksums_of_a_dump() {
    let moved = edited(|source| format!("\n\n{source}"));
    assert_eq!(stale(&moved, &["old.csraw"])["share"], 1.0);
    let shop = edited(|source| {
        source
            .replace("even", "straight")
            .replace("        if (i & 1)\n", "")
            .replace("= 0;\n    for (int i = 0; i < 1", "= 1;\n    for (int i = 0; i < 1")
    });
    let stale = stale(&shop, &["old.csraw", "--notes", "."]);
    let functions = stale["functions"].as_array().unwrap();
    let like = |of: &&Value| of["reasons"][0]["name"] == "straight";
    assert_eq!(functions.iter().filter(like).count(), 1, "{stale:#}");
    assert_eq!(reasons(&stale, "odd"), ["control-flow"]);
    assert_eq!(reasons(&stale, "main"), [""; 0]);
    fs::remove_file(shop.path("p.gcno")).unwrap();
    let output = shop.tool(&["stale", "old.csraw"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2) && errors.contains("its objects have no notes"),
        "{errors}"
    );
}

/// Code hosts want a file and a line for each result. Version 2 has no files, so a function that is gone has none.
#[test]
fn sarif_has_a_file_and_a_line_for_each_result() {
    let shop = edited(|source| source.replace("odd", "uneven"));
    shop.tool_output(&["convert", "p.gcov", "--to", "v2", "-o", "p 2.gcov"]);
    for (profile, file) in [("p.gcov", None), ("p 2.gcov", Some("p%202.gcov"))] {
        let text = shop.tool_output(&["stale", profile, "--binary", "p", "--sarif"]);
        let json: Value = serde_json::from_slice(&text).unwrap();
        let results = json["runs"][0]["results"].as_array().unwrap();
        for result in results {
            let location = &result["locations"][0]["physicalLocation"];
            assert!(location["artifactLocation"]["uri"].is_string(), "{result:#}");
            assert!(location["region"]["startLine"].as_u64() >= Some(1), "{result:#}");
        }
        let gone = results.iter().find(|result| result["ruleId"] == "gone").unwrap();
        let location = &gone["locations"][0]["physicalLocation"];
        let uri = location["artifactLocation"]["uri"].as_str().unwrap();
        assert!(file.map_or(uri.ends_with("/p.c"), |file| uri == file), "{gone:#}");
        assert_eq!(location["region"]["startLine"], 1);
    }
}

/// Names and paths have characters with a meaning in JSON, URIs and HTML.
#[test]
fn sarif_is_sarif() {
    let Some(package) = corpus("serde-sarif") else { return };
    let shop = edited(|source| {
        source.replace("odd", "uneven").replace("return x < 3", "\n\n    return x < 3")
    });
    let map = format!("{}=/a b/<i>&%", shop.path("").display().to_string().trim_end_matches('/'));
    let arguments = ["stale", "p.gcov", "--binary", "p", "--sarif", "--path-map", &map];
    let text = shop.tool_output(&arguments);
    crate::schema::validate(&shop, &text, &package.join("src/schema.json"));
    let json: Value = serde_json::from_slice(&text).unwrap();
    let results = json["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|result| result["ruleId"] == "gone"), "{json:#}");
    let location = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "file:///a%20b/%3Ci%3E%26%25/p.c");
}

#[test]
fn what_cannot_be_compared() {
    let shop = edited(str::to_owned);
    shop.gcc(&["-O2", "p.c", "-o", "plain"]);
    shop.write("prog.proftext", "main\n1\n1\n3\n");
    shop.write("none/x", "");
    for (arguments, message) in [
        (
            &["p.gcov"][..],
            "p.gcov: name the program as it is now with --binary, or its notes with --notes",
        ),
        (&["p.gcov", "--binary", "plain"], "plain: has no debug information; compile with -g"),
        (&["p.gcov", "--binary", "p.c"], "p.c: 0x0: expected a program, library or object"),
        (&["p.gcov", "--binary", "absent"], "absent: No such file"),
        (&["p.gcov", "--notes", "none"], "--notes: no .gcno files with functions there"),
        (&["prog.proftext", "--binary", "p"], "counters by function"),
        (&["p.c", "--binary", "p"], "expected a raw dump, a profile"),
        (&["p.gcov", "--binary", "p", "--fail-under", "101"], "expected a percentage"),
    ] {
        let output = shop.tool(&[&["stale"], arguments].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(message), "{arguments:?}: {errors}");
    }
}

/// Damaged programs and notes give messages, and no panics.
#[test]
fn damaged_programs() {
    let shop = edited(str::to_owned);
    let program = shop.read("p");
    for part in 1..24 {
        let mut damaged = program.clone();
        let start = program.len() * part / 24;
        damaged[start..(start + 64).min(program.len())].fill(0xa5);
        shop.write("damaged", damaged);
        let output = shop.tool(&["stale", "p.gcov", "--binary", "damaged"]);
        assert!(output.status.code().is_some_and(|code| code == 0 || code == 2), "{output:?}");
        shop.write("damaged", &program[..start]);
        let output = shop.tool(&["stale", "p.gcov", "--binary", "damaged"]);
        assert!(output.status.code().is_some_and(|code| code == 0 || code == 2), "{output:?}");
    }
}
