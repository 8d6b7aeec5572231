//! Line coverage from `.gcda` files of libgcov, beside lcov, fastcov and gcovr, as far as these are installed:
//! processor time and memory for a tracefile with branches.
//!
//! The program is generated: many objects of a hundred lines, and a header that all include.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Options;
use crate::cost::{Cores, Cost, Observer};
use crate::harness::{have, succeed};
use crate::scratch::Scratch;
use crate::table::{Row, Table, median};

/// Functions of an object, without the one that calls them.
const FUNCTIONS: usize = 6;
/// The other tools, what they are called with, and the ratio to reach.
const OTHERS: [(&str, &[&str], f64); 3] = [
    (
        "lcov",
        &["-q", "-c", "-d", ".", "--rc", "lcov_branch_coverage=1", "-o", "../theirs.info"],
        0.02,
    ),
    ("fastcov", &["-b", "--lcov", "-d", ".", "-o", "../theirs.info"], 0.1),
    ("gcovr", &["-r", ".", "--lcov=../theirs.info", "."], 0.02),
];

pub fn measure(options: &Options, scratch: &Scratch, table: &mut Table) {
    let directory = scratch.path().join("coverage");
    fs::create_dir_all(&directory).unwrap();
    write(&directory, options.objects);
    let compile =
        "ls *.c | xargs -P 2 -n 10 gcc --coverage -c && gcc --coverage *.o -o program && ./program";
    succeed(Command::new("sh").args(["-c", compile]).current_dir(&directory));
    let observer = Observer::compile(scratch.path());
    let ours =
        [env!("CARGO_BIN_EXE_countersink"), "convert", ".", "--to", "lcov", "-o", "../ours.info"];
    let run = |command: &[&str]| {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        observer.run(Cores::All, &directory, &command)
    };
    for (tool, arguments, target) in OTHERS.into_iter().filter(|(tool, ..)| have(tool)) {
        let theirs = [&[tool], arguments].concat();
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..options.repetitions.div_ceil(3) {
            own.push(run(&ours));
            other.push(run(&theirs));
        }
        let both = |figure: fn(&Cost) -> f64| {
            [&own, &other].map(|costs| median(costs.iter().map(figure).collect()))
        };
        let [ours, theirs] = both(|cost| cost.processor);
        let figure =
            format!("{} objects: coverage beside {tool}, processor time (ms)", options.objects);
        table.row(Row { figure: &figure, ours, theirs, target });
        let [ours, theirs] = both(|cost| cost.peak);
        table.plain(&format!("coverage beside {tool}, memory (MB)"), ours, Some(theirs));
    }
}

/// Writes the sources.
fn write(directory: &Path, objects: usize) {
    let header = "static inline int clamp(int value, int low, int high) {
  if (value < low)
    return low;
  if (value > high && low < high)
    return high;
  return value;
}
";
    fs::write(directory.join("common.h"), header).unwrap();
    let mut main = String::new();
    (0..objects).for_each(|object| writeln!(main, "int o{object}(int);").unwrap());
    main += "int main(int argc, char **argv) {\n  int sum = argc;\n";
    (0..objects).for_each(|object| writeln!(main, "  sum += o{object}(argc + 6);").unwrap());
    main += "  return sum == 42;\n}\n";
    fs::write(directory.join("main.c"), main).unwrap();
    for object in 0..objects {
        fs::write(directory.join(format!("o{object}.c")), source(object)).unwrap();
    }
}

fn source(object: usize) -> String {
    let mut text = String::from("#include \"common.h\"\n");
    let mut calls = String::new();
    for function in 0..FUNCTIONS {
        let body = format!(
            "int o{object}_{function}(int n) {{
  int sum = {function};
  for (int i = 0; i < n; i++) {{
    if (i & 1)
      sum += i * n;
    else
      sum ^= i;
    if (sum > 1000 && i % 3 == 0)
      sum -= {object};
    switch (sum & 3) {{
    case 0:
      sum += 3;
      break;
    case 1:
      sum ^= n;
      break;
    default:
      sum = clamp(sum, -5000, 5000);
    }}
  }}
  return n > 2 ? sum / n : sum;
}}
"
        );
        text += &body;
        writeln!(calls, "  sum += o{object}_{function}(n + {function});").unwrap();
    }
    write!(text, "int o{object}(int n) {{\n  int sum = 0;\n{calls}  return sum;\n}}\n").unwrap();
    text
}
