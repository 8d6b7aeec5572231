//! The program for WASI: it writes its dump itself, into the file that its first argument names.

use std::fs::File;
use std::io::Write;

mod checksum;

fn main() {
    println!("checksum {}", checksum::checksum(100));
    let path = std::env::args().nth(1).expect("a path for the dump");
    let mut file = File::create(path).expect("a file for the dump");
    countersink::bare::write(|bytes| file.write_all(bytes)).expect("a dump");
}
