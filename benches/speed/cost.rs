//! The cost of a command: time and memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::succeed;

/// Runs commands (`cost.c`).
pub struct Observer {
    program: PathBuf,
}

/// The cost of one command.
#[derive(Default)]
pub struct Cost {
    /// Time until its end, in milliseconds.
    pub elapsed: f64,
    /// Processor time of all its threads, in milliseconds.
    pub processor: f64,
    /// Peak of memory in MB.
    pub peak: f64,
}

/// How many cores a command may use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cores {
    One,
    All,
}

impl Observer {
    /// Compiles the program into a folder.
    pub fn compile(directory: &Path) -> Self {
        let (source, program) = (directory.join("cost.c"), directory.join("cost"));
        std::fs::write(&source, include_bytes!("cost.c")).unwrap();
        succeed(Command::new("gcc").args(["-O2", "-w"]).arg(source).arg("-o").arg(&program));
        Self { program }
    }

    /// Runs a command in a folder. It must succeed.
    pub fn run(&self, cores: Cores, directory: &Path, command: &[String]) -> Cost {
        let mut run = Command::new(&self.program);
        run.current_dir(directory).arg(if cores == Cores::One { "1" } else { "0" }).args(command);
        let printed = String::from_utf8(succeed(&mut run)).unwrap();
        let mut numbers = printed.split_whitespace().map(|number| number.parse::<f64>().unwrap());
        let mut next = || numbers.next().unwrap() / 1e3;
        Cost { elapsed: next(), processor: next(), peak: next() }
    }
}
