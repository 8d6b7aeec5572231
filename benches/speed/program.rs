//! The large program: many objects. Each has functions with loops, branches, divisions and a call through a
//! pointer.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::harness::{PROFILE, succeed};

/// Functions of an object.
pub const FUNCTIONS: usize = 25;

/// Who compiles the program.
pub struct Compiler<'c> {
    /// The first part of the folder's name.
    pub folder: &'c str,
    pub driver: &'c str,
    pub flags: &'c [&'c str],
}

/// gcc on the path.
pub const GCC: Compiler<'static> =
    Compiler { folder: "sections", driver: "gcc", flags: &["-fdata-sections"] };

/// The folder with the program's objects. Compiles them unless they are there already.
pub fn objects(compiler: &Compiler<'_>, number: usize, functions: usize) -> PathBuf {
    let name = format!("{}-{number}-{functions}", compiler.folder);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let complete = directory.join("complete");
    if complete.exists() {
        return directory;
    }
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("main.c"), main_source(number)).unwrap();
    let (next, cores) = (AtomicUsize::new(0), std::thread::available_parallelism().unwrap());
    let compile_some = || {
        loop {
            let object = next.fetch_add(1, Ordering::Relaxed);
            if object > number {
                return;
            }
            let source = match object {
                0 => "main.c".to_owned(),
                object => format!("o{}.c", object - 1),
            };
            if object > 0 {
                if directory.join(&source).with_extension("o").exists() {
                    continue;
                }
                fs::write(directory.join(&source), object_source(object - 1, functions)).unwrap();
            }
            let mut compile = Command::new(compiler.driver);
            compile.current_dir(&directory).args(PROFILE).args(compiler.flags);
            succeed(compile.args(["-w", "-c", &source]));
        }
    };
    std::thread::scope(|scope| {
        (0..cores.get()).for_each(|_| drop(scope.spawn(compile_some)));
    });
    fs::write(complete, "").unwrap();
    directory
}

/// Calls every object. With the argument `wait` it ends when its standard input ends. LLVM's runtime writes in a
/// handler of `atexit`, before destructors.
fn main_source(objects: usize) -> String {
    let mut text = String::from(
        "#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void the_program_starts(void);
void the_program_ends(void);
__attribute__((constructor(101))) static void start(void) { the_program_starts(); }
#ifndef __clang__
__attribute__((destructor(101))) static void end(void) { the_program_ends(); }
#endif
",
    );
    (0..objects).for_each(|object| writeln!(text, "int o{object}(int);").unwrap());
    text += "int main(int argc, char **argv) {\n  char byte;\n  int sum = argc;\n#ifdef __clang__
  atexit(the_program_ends);\n#endif\n";
    (0..objects).for_each(|object| writeln!(text, "  sum += o{object}(argc + 6);").unwrap());
    text += "  if (argc > 1 && !strcmp(argv[1], \"wait\")) while (read(0, &byte, 1) > 0) {}
  return sum == 42;\n}\n";
    text
}

/// An object with this many functions, and one that calls them.
pub fn object_source(object: usize, functions: usize) -> String {
    let mut text = String::new();
    for function in 0..functions {
        writeln!(
            text,
            "__attribute__((noinline)) int o{object}_{function}(int n) {{
  int sum = {function};
  for (int i = 0; i < n; i++) {{
    if (i & 1) sum += i * n; else sum ^= i;
    if (sum > 1000) sum -= {object};
  }}
  return n > 2 ? sum / n : sum;
}}"
        )
        .unwrap();
    }
    write!(text, "static int (*volatile functions[])(int) = {{").unwrap();
    (0..functions).for_each(|function| write!(text, "o{object}_{function},").unwrap());
    write!(
        text,
        "}};
int o{object}(int n) {{
  int sum = 0;
  for (int i = 0; i < {functions}; i++)
    sum += functions[i](n + i % 3);
  return sum;
}}
"
    )
    .unwrap();
    text
}
