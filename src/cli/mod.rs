//! The tool: the subcommands are in `commands`, what they share in the other folders.
//!
//! It takes arguments, calls the library, and gives messages and an exit status: 0 done, 1 found something, 2 error;
//! `commands/man.rs` lists what each command finds. Nothing here knows a byte of any format.

pub mod archives;
mod commands;
mod compilers;
mod cores;
mod inputs;
mod outcome;
mod outputs;
mod terminal;

use std::ffi;
use std::io::{self, IsTerminal};
use std::prelude::v1::*;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub use commands::flags::with_profile;
use commands::{
    carry, check, completions, convert, diff, doctor, extract, flags, fold, install, launch, man,
    merge, profdata, report, rewrite, show, slice, stale, targets, tests,
};
pub use compilers::command::CompilerCommand;
use inputs::tarball;
use outcome::Outcome;
pub use terminal::error::Error;
use terminal::error::Result;
use terminal::message::say;
use terminal::print;

/// Profiles from instrumented programs, for gcc, clang and rustc.
#[derive(Debug, Parser)]
#[command(name = "countersink", version, max_term_width = 100, after_long_help = SESSION)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    jobs: cores::Jobs,
    #[command(flatten)]
    color: colorchoice_clap::Color,
}

const SESSION: &str = "\
A session:
  gcc -O2 -g -fprofile-generate -ftest-coverage prog.c -o prog $(countersink flags)
  ./prog input1 && ./prog input2        # adds up in prog.csraw
  countersink convert prog.csraw --for-gcc gcc -o prog.afdo
  gcc -O2 -fauto-profile=prog.afdo prog.c -o prog-opt

The same with clang:
  clang -O2 -fprofile-generate prog.c -o prog $(countersink flags)
  COUNTERSINK_FILE=prog.csraw ./prog input1
  countersink convert prog.csraw --for-llvm clang -o prog.profdata
  clang -O2 -fprofile-use=prog.profdata prog.c -o prog-opt

Each command has an example of its own: countersink help COMMAND";

#[derive(Debug, Subcommand)]
enum Command {
    Flags(flags::Flags),
    Install(install::Install),
    Targets(targets::Targets),
    Doctor(doctor::Doctor),
    // Much larger than the others.
    Convert(Box<convert::Convert>),
    Merge(merge::Merge),
    Fold(fold::Fold),
    Show(show::Show),
    Check(check::Check),
    Extract(extract::Extract),
    Diff(diff::Diff),
    Stale(stale::Stale),
    Carry(carry::Carry),
    Report(report::Report),
    Tests(tests::Tests),
    Rewrite(rewrite::Rewrite),
    Slice(slice::Slice),
    Launch(launch::Launch),
    Profdata(profdata::Profdata),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Cli {
    /// Does what the arguments ask for.
    pub fn run(&self) -> Result<Outcome> {
        self.jobs.apply();
        self.color.write_global();
        match &self.command {
            Command::Flags(flags) => flags.run(),
            Command::Install(install) => install.run(Self::command()),
            Command::Targets(targets) => targets.run(),
            Command::Doctor(doctor) => doctor.run(),
            Command::Convert(convert) => convert.run(),
            Command::Merge(merge) => merge.run(),
            Command::Fold(fold) => fold.run(),
            Command::Show(show) => show.run(),
            Command::Check(check) => check.run(),
            Command::Extract(extract) => extract.run(),
            Command::Diff(diff) => diff.run(),
            Command::Stale(stale) => stale.run(),
            Command::Carry(carry) => carry.run(),
            Command::Report(report) => report.run(),
            Command::Tests(tests) => tests.run(),
            Command::Rewrite(rewrite) => rewrite.run(),
            Command::Slice(slice) => slice.run(),
            Command::Launch(launch) => launch.run(),
            Command::Profdata(profdata) => profdata.run(),
            Command::Completions(completions) => completions.run(Self::command()),
            Command::Man(man) => man.run(Self::command()),
        }
    }
}

/// Runs the tool with these arguments, the program's name first, and reports on standard error what went
/// wrong. Called as `llvm-profdata`, it is that tool.
pub fn run(arguments: impl IntoIterator<Item = impl Into<ffi::OsString> + Clone>) -> ExitCode {
    let arguments: Vec<ffi::OsString> = arguments.into_iter().map(Into::into).collect();
    if let Some((program, arguments)) = arguments.split_first()
        && let Some(name) = profdata::meant_by(program)
    {
        return exit(profdata::run(arguments.to_vec(), Some(name)));
    }
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come here, too.
            let printed = print::printed(error.print());
            if let (Err(why), false) = (printed, error.use_stderr()) {
                say(why);
                return exit(Outcome::Failed);
            }
            if error.use_stderr() && asks_for_flags(&arguments) && !io::stdout().is_terminal() {
                let _ =
                    print::print(format!("{}\n", flags::missing_input("wrong option")).as_bytes());
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let result = cli.run();
    tarball::remove_all();
    match result {
        Ok(outcome) => exit(outcome),
        Err(error) => {
            say(error);
            exit(Outcome::Failed)
        }
    }
}

/// Whether the first command among the arguments is `flags`, or perhaps a misspelt one.
fn asks_for_flags(arguments: &[ffi::OsString]) -> bool {
    if arguments.len() < 2 {
        return false;
    }
    let tool = Cli::command();
    let mut commands = arguments.iter().skip(1).filter_map(|word| tool.find_subcommand(word));
    commands.next().is_none_or(|command| command.get_name() == "flags")
}

fn exit(outcome: Outcome) -> ExitCode {
    ExitCode::from(outcome as u8)
}
