//! What an instrumented program pays with libgcov and with countersink, side by side.
//!
//! `cargo bench --bench speed [-- OPTIONS]` prints one table: figure, ours, theirs, their ratio,
//! the ratio to reach, and whether it was reached. Both runtimes take turns, so that what else the
//! machine does falls on both alike; figures are medians. Programs that take long to compile are
//! kept in Cargo's target directory.

#[path = "../../tests/harness/mod.rs"]
mod harness;

mod accuracy;
mod calls;
mod endings;
mod program;
mod table;

use clap::Parser;

use table::Table;

/// Figures of countersink beside libgcov's.
#[derive(Parser)]
struct Options {
    /// Runs of which the median is taken
    #[arg(long, default_value_t = 15)]
    repetitions: usize,
    /// Objects of the large program, of 25 functions each
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// Processes that end together
    #[arg(long, default_value_t = 100)]
    processes: usize,
    /// Only these parts
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// A part of the table.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Profiled calls
    Calls,
    /// What is kept of a site with many values
    Accuracy,
    /// Start, end, memory and size of a large program
    Endings,
}

fn main() {
    let options = Options::parse();
    let wanted = |part| options.only.is_empty() || options.only.contains(&part);
    let mut table = Table::new();
    if wanted(Part::Calls) {
        calls::measure(options.repetitions, &mut table);
    }
    if wanted(Part::Accuracy) {
        accuracy::measure(&mut table);
    }
    if wanted(Part::Endings) {
        let Options { objects, repetitions, processes, .. } = options;
        endings::measure(objects, repetitions, processes, &mut table);
    }
    table.finish();
}
