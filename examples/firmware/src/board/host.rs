//! The machine of the developer, where the same tests run. LLVM's own runtime writes the counts at the end.

use core::fmt::Arguments;

pub fn print(line: Arguments) {
    println!("{line}");
}

pub fn write_dump() {}

pub fn exit() -> ! {
    std::process::exit(0)
}
