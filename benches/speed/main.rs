//! The price of instrumentation with libgcov or LLVM's runtime, and with countersink, side by side.
//!
//! `cargo bench --bench speed [-- OPTIONS]` prints one table: figure, ours, theirs, their ratio, the ratio to
//! reach, and whether it was reached. Both runtimes take turns, so that other work of the machine affects
//! both alike. Figures are medians. Programs that take long to compile are kept in Cargo's target directory.

#[path = "../../tests/harness/mod.rs"]
mod harness;
#[path = "../../tests/llvm/mod.rs"]
mod llvm;
#[path = "../../tests/programs/mod.rs"]
mod programs;

mod accuracy;
mod calls;
mod conversion;
mod cost;
mod coverage;
mod endings;
mod generated;
mod llvm_calls;
mod llvm_endings;
mod llvm_merging;
mod program;
mod scratch;
mod table;

use clap::Parser;

use scratch::Scratch;
use table::Table;

/// Figures of countersink beside libgcov's and LLVM's.
#[derive(Parser)]
struct Options {
    /// Number of runs; the figures are their medians
    #[arg(long, default_value_t = 15)]
    repetitions: usize,
    /// Objects of the large program, of 25 functions each
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// Processes that end together
    #[arg(long, default_value_t = 100)]
    processes: usize,
    /// Functions of the largest program that is converted
    #[arg(long, default_value_t = 100_000)]
    functions: usize,
    /// Raw profiles of LLVM that are merged
    #[arg(long, default_value_t = 10_000)]
    profiles: usize,
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
    /// Conversion and merging
    Conversion,
    /// Line coverage from `.gcda` files
    Coverage,
    /// Profiled calls and memory operations in programs of clang
    LlvmCalls,
    /// End of a large program of clang
    LlvmEndings,
    /// Merging of LLVM's raw profiles
    LlvmMerging,
}

fn main() {
    let options = Options::parse();
    let wanted = |part| options.only.is_empty() || options.only.contains(&part);
    let (mut table, scratch) = (Table::new(), Scratch::new());
    if wanted(Part::Calls) {
        calls::measure(options.repetitions, &mut table);
    }
    if wanted(Part::Accuracy) {
        accuracy::measure(&mut table);
    }
    if wanted(Part::Endings) {
        let Options { objects, repetitions, processes, .. } = options;
        endings::measure(objects, repetitions, processes, &scratch, &mut table);
    }
    if wanted(Part::Conversion) {
        conversion::measure(&options, &scratch, &mut table);
    }
    if wanted(Part::Coverage) {
        coverage::measure(&options, &scratch, &mut table);
    }
    let of_llvm = [Part::LlvmCalls, Part::LlvmEndings, Part::LlvmMerging];
    if of_llvm.into_iter().any(wanted)
        && let Some(newest) = llvm::all().pop()
    {
        if wanted(Part::LlvmCalls) {
            llvm_calls::measure(newest, options.repetitions, &mut table);
        }
        if wanted(Part::LlvmEndings) {
            llvm_endings::measure(newest, &options, &scratch, &mut table);
        }
        if wanted(Part::LlvmMerging) {
            llvm_merging::measure(newest, &options, &scratch, &mut table);
        }
    }
    if wanted(Part::Endings) {
        let Options { objects, repetitions, .. } = options;
        endings::measure_after_deletion(objects, repetitions, &scratch, &mut table);
    }
    table.finish();
}
