//! A profile of a program without an operating system: builds a freestanding x86-64 image with the archive
//! for such programs, runs it under QEMU, cuts the dump out of what it wrote to the serial line, and converts
//! the dump to AutoFDO version 4.
//!
//! `cargo run --example bare [DIR]` puts the files into DIR, or into a temporary folder. Needs gcc and
//! qemu-system-x86_64. The lines after `$` show what a user would type; here they call the tool as a
//! function.

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

use clap::Parser;
use countersink::cli::Cli;

const SOURCES: [(&str, &str); 4] = [
    ("program.c", include_str!("program.c")),
    ("image.c", include_str!("image.c")),
    ("start.s", include_str!("start.s")),
    ("image.ld", include_str!("image.ld")),
];

/// Code for a processor in the state that `start.s` leaves it in.
const FREESTANDING: &str = "-O2 -g -ffreestanding -fno-pic -fno-pie -mno-red-zone -fno-stack-protector -fcf-protection=none";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let result = match env::args_os().nth(1) {
        Some(folder) => session(Path::new(&folder)),
        None => tempfile::tempdir().map_err(Into::into).and_then(|folder| session(folder.path())),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bare: {error}");
            ExitCode::FAILURE
        }
    }
}

fn session(folder: &Path) -> Result<()> {
    env::set_current_dir(folder)?;
    for (name, source) in SOURCES {
        fs::write(name, source)?;
    }
    tool("install --prefix .")?;
    shell(&format!("gcc {FREESTANDING} -fprofile-generate -ftest-coverage -c program.c"))?;
    shell(&format!("gcc {FREESTANDING} -Iinclude -c image.c"))?;
    shell("gcc -c start.s")?;
    let link = "-nostdlib -static -no-pie -Wl,--build-id=none,-T,image.ld";
    let objects = "start.o image.o program.o";
    shell(&format!("gcc {link} {objects} -Llib -lcountersink_rt_bare -o image.elf"))?;

    let machine = "-display none -no-reboot -device isa-debug-exit,iobase=0xf4,iosize=4";
    // The exit status is what the image writes to that device, doubled and plus one.
    run(&format!("qemu-system-x86_64 {machine} -serial file:serial.log -kernel image.elf"), 1)?;
    println!("$ cat serial.log\n{}", fs::read_to_string("serial.log")?);

    tool("extract serial.log -o image.csraw")?;
    tool("convert image.csraw --binary image.elf --to v4 -o image.gcov")?;
    tool("check image.gcov")?;
    tool("convert image.csraw --binary image.elf --to v4-text -o image.txt")?;
    println!("$ cat image.txt\n{}", fs::read_to_string("image.txt")?);
    Ok(())
}

/// Runs the tool, as `countersink WORDS` would.
fn tool(words: &str) -> Result<()> {
    println!("$ countersink {words}");
    let words = ["countersink"].into_iter().chain(words.split(' '));
    Cli::try_parse_from(words)?.run()?;
    Ok(())
}

/// Runs another program, which must succeed.
fn shell(words: &str) -> Result<()> {
    run(words, 0)
}

fn run(words: &str, expected: i32) -> Result<()> {
    println!("$ {words}");
    let mut words = words.split(' ');
    let program = words.next().unwrap_or_default();
    let status = Command::new(program).args(words).status();
    let status = status.map_err(|error| format!("{program}: {error}"))?;
    match status.code() {
        Some(code) if code == expected => Ok(()),
        _ => Err(format!("{program}: {status}").into()),
    }
}
