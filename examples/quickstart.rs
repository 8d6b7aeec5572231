//! The whole way of a profile, in a temporary folder: builds `quickstart.c` with the runtime, runs it several
//! times with merging and a fork, converts the dump to AutoFDO version 4, lets gcc optimise with the profile,
//! and measures the gain.
//!
//! `cargo run --example quickstart`. Needs gcc, or its command in `CC`: `gcc-12`, `ccache gcc`. The lines
//! after `$` show what a user would type; here they call the tool as a function.

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use clap::Parser;
use countersink::cli::{Cli, CompilerCommand, with_profile};

const SOURCE: &str = include_str!("quickstart.c");

/// Each program is measured this many times; odd, for the median.
const REPETITIONS: usize = 11;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("quickstart: no temporary folder: {error}");
            return ExitCode::FAILURE;
        }
    };
    match compiler().and_then(|compiler| session(&compiler, folder.path())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quickstart: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The compiler that `CC` names.
fn compiler() -> Result<CompilerCommand> {
    let command = env::var("CC").unwrap_or("gcc".into());
    Ok(CompilerCommand::new("CC", &command)?)
}

fn session(compiler: &CompilerCommand, folder: &Path) -> Result<()> {
    env::set_current_dir(folder)?;
    fs::write("quickstart.c", SOURCE)?;
    let major = major_version(compiler)?;

    title("Build with the runtime in place of libgcov");
    tool("install --prefix .")?;
    let link = "-Wl,--undefined=__gcov_init -Llib -lcountersink_rt \
                -Wl,--export-dynamic-symbol=countersink_images";
    let instrument = "-O2 -g -fprofile-generate -ftest-coverage";
    compile(compiler, &format!("{instrument} quickstart.c -o quickstart {link}"))?;

    title("Run: every process adds to the same file, forked ones too");
    shell("./quickstart key 20")?;
    shell("./quickstart key 20")?;
    shell("./quickstart name 2 3")?;
    tool("show quickstart.csraw --top 3")?;

    title("Convert to AutoFDO version 4");
    for (format, file) in [("v4", "v4.gcov"), ("v4-compact", "compact.gcov"), ("v4-text", "text")] {
        tool(&format!("convert quickstart.csraw --to {format} -o {file}"))?;
    }
    println!("$ cat text");
    print!("{}", fs::read_to_string("text")?);
    sizes(&["quickstart.csraw", "text", "v4.gcov", "compact.gcov"])?;

    title("Optimise with the profile");
    compile(compiler, "-O2 quickstart.c -o plain")?;
    tool("convert quickstart.csraw --to gcda")?;
    // Compiled alone, as gcc looks for a .gcda named after the object.
    compile(compiler, "-O2 -fprofile-use -c quickstart.c -o quickstart.o")?;
    compile(compiler, "quickstart.o -o gcda")?;
    let mut programs = vec!["plain", "gcda"];
    tool(&format!("convert quickstart.csraw --for-gcc {major} -o quickstart.afdo"))?;
    tool(&format!("flags --optimise {major}"))?;
    let options = with_profile(major, false).join(" ");
    let optimise = format!("-O2 -fauto-profile=quickstart.afdo {options}");
    compile(compiler, &format!("{} quickstart.c -o autofdo", optimise.trim_end()))?;
    programs.push("autofdo");
    speed_up(&programs, &["key", "150"])
}

/// Major version of the compiler; an error if it is not gcc.
fn major_version(compiler: &CompilerCommand) -> Result<u32> {
    let run = |argument| match compiler.command().arg(argument).output() {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => Err(format!("{compiler}: {error}; install gcc, or name it in CC")),
    };
    if !run("--version")?.contains("Free Software Foundation") {
        return Err(format!("{compiler} is not gcc; name one in CC").into());
    }
    let version = run("-dumpversion")?;
    let major = version.trim().split('.').next().unwrap_or_default();
    major.parse().map_err(|_| format!("{compiler}: no version in {version:?}").into())
}

fn title(text: &str) {
    println!("\n== {text}");
}

/// Runs the tool, as `countersink WORDS` would.
fn tool(words: &str) -> Result<()> {
    println!("$ countersink {words}");
    let words = ["countersink"].into_iter().chain(words.split(' '));
    Cli::try_parse_from(words)?.run()?;
    Ok(())
}

/// Runs the compiler, which must succeed.
fn compile(compiler: &CompilerCommand, words: &str) -> Result<()> {
    println!("$ {compiler} {words}");
    run(compiler.command().args(words.split(' ')))?;
    Ok(())
}

/// Runs another program, which must succeed.
fn shell(words: &str) -> Result<()> {
    println!("$ {words}");
    let mut words = words.split(' ');
    let output = run(Command::new(words.next().unwrap_or_default()).args(words))?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

fn run(command: &mut Command) -> Result<Output> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error: io::Error| format!("{program}: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{program}: {}\n{errors}", output.status).into());
    }
    eprint!("{errors}");
    Ok(output)
}

fn sizes(files: &[&str]) -> Result<()> {
    println!("$ wc -c {}", files.join(" "));
    for file in files {
        println!("{:8} {file}", fs::metadata(file)?.len());
    }
    Ok(())
}

/// Runs the programs in turn, so that other work of the machine disturbs all alike, and prints their median
/// times beside the first one's.
fn speed_up(programs: &[&str], arguments: &[&str]) -> Result<()> {
    title(&format!("Speed-up: {}, median of {REPETITIONS}", arguments.join(" ")));
    let mut times = vec![Vec::with_capacity(REPETITIONS); programs.len()];
    for _ in 0..REPETITIONS {
        for (program, times) in programs.iter().zip(&mut times) {
            let start = Instant::now();
            run(Command::new(format!("./{program}")).args(arguments))?;
            times.push(start.elapsed());
        }
    }
    let medians: Vec<Duration> = times.into_iter().map(median).collect();
    for (program, time) in programs.iter().zip(&medians) {
        let faster = 100.0 * (medians[0].as_secs_f64() / time.as_secs_f64() - 1.0);
        println!("{program:8} {:.3} s  {faster:+5.1} %", time.as_secs_f64());
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
