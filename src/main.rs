//! The tool `countersink`: arguments to the library, its answer to the shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersink::cli::run(std::env::args_os())
}
