//! A board whose host prints and has files for it, through a debugger or QEMU.

use core::fmt::Arguments;

use semihosting::io::Write;
use semihosting::{fs, println, process};

pub fn print(line: Arguments) {
    println!("{line}");
}

/// Writes `firmware.csraw` into the folder where the host runs.
pub fn write_dump() {
    let mut file = fs::File::create(c"firmware.csraw").expect("the host has a place for the dump");
    countersink::bare::write(|bytes| file.write_all(bytes)).expect("a dump");
}

pub fn exit() -> ! {
    process::exit(0)
}
