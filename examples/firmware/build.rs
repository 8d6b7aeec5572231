//! Tells the linker where the memory of the board is.

use std::env::var;

fn main() {
    let target = var("TARGET").unwrap();
    if var("CARGO_CFG_TARGET_OS").unwrap() != "none" {
        return;
    }
    let arguments: &[&str] = match target.split('-').next().unwrap() {
        "thumbv8m.main" => &["-Lboards/mps2-an505", "-Tlink.x", "-Tcountersink.x"],
        thumb if thumb.starts_with("thumb") => {
            &["-Lboards/mps2-an385", "-Tlink.x", "-Tcountersink.x"]
        }
        riscv if riscv.starts_with("riscv") => {
            &["-Lboards/riscv-virt", "-Tmemory.x", "-Tlink.x", "-Tcountersink.x"]
        }
        // QEMU loads all sections where they belong, so the linker may choose their places.
        "aarch64" => &["--image-base=0x40080000", "--entry=start"],
        "x86_64" => &["--image-base=0x100000", "--entry=start"],
        _ => panic!("no board for {target}"),
    };
    for argument in arguments {
        println!("cargo:rustc-link-arg={argument}");
    }
    println!("cargo:rerun-if-changed=boards");
}
