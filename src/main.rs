//! The tool `countersink`: passes arguments to the library, and its answer to the shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersink::cli::run(std::env::args_os())
}
