//! Firmware and WebAssembly in Rust that depend on the crate: the examples, by the commands that they name, and their
//! coverage beside llvm-cov's.

mod harness;
mod llvm;

use std::path::Path;
use std::process::Command;

use harness::{Workshop, have, say_skipped, skip, succeed};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Whether rustc has the library core of a target. If not, the test is skipped.
fn have_target(target: &str) -> bool {
    let folder = succeed(Command::new("rustc").args(["--print=target-libdir", "--target", target]));
    let have = Path::new(String::from_utf8(folder).unwrap().trim()).is_dir();
    let why = format!("rustc has no library core of {target}: rustup target add {target}");
    match std::env::var_os("COUNTERSINK_WITHOUT_TARGETS") {
        _ if have => {}
        Some(_) => say_skipped(&why),
        None => skip(&why),
    }
    have
}

/// cargo in an example, with the build's files in a folder of ours, and without what this cargo says of its own build.
fn cargo(shop: &Workshop, example: &str, words: &[&str]) -> String {
    let mut cargo = shop.command("cargo");
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("CARGO_") && name != "CARGO_HOME")
    {
        cargo.env_remove(name);
    }
    cargo.current_dir(Path::new(ROOT).join("examples").join(example));
    cargo.env("CARGO_TARGET_DIR", shop.path("build")).env_remove("RUSTFLAGS");
    String::from_utf8(succeed(cargo.args(words))).unwrap()
}

/// Lines and their counts, of each file.
fn lines(tracefile: &[u8]) -> Vec<String> {
    let text = String::from_utf8(tracefile.to_vec()).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("SF:") || line.starts_with("DA:"));
    lines.map(str::to_owned).collect()
}

/// Lines and counts of llvm-cov from our counters.
fn lines_of_llvm(shop: &Workshop, major: u32, dump: &str, program: &str) -> Vec<String> {
    let version = major.to_string();
    shop.tool_output(&[
        "convert",
        dump,
        "--to=profdata",
        "--for-llvm",
        &version,
        "-o",
        "x.profdata",
    ]);
    let mut cov = shop.command(format!("llvm-cov-{major}"));
    lines(&succeed(cov.args(["export", "-format=lcov", "-instr-profile=x.profdata", program])))
}

/// The processor without exchanges, too, where additions mask interrupts. The board is the same.
#[test]
fn thirty_tests_on_a_board() {
    let Some(llvm) = llvm::of_rustc() else { return };
    if !have("qemu-system-arm") {
        return;
    }
    for target in ["thumbv7m-none-eabi", "thumbv6m-none-eabi"] {
        if !have_target(target) {
            continue;
        }
        let shop = Workshop::new();
        let printed = cargo(&shop, "firmware", &["run", "--locked", "--target", target]);
        assert!(printed.ends_with("30 tests passed\n"), "{printed}");
        let dump = Path::new(ROOT).join("examples/firmware/firmware.csraw");
        std::fs::rename(&dump, shop.path("firmware.csraw")).unwrap();
        let program = format!("build/{target}/debug/firmware");
        let convert =
            ["convert", "firmware.csraw", "--binary", &program, "--to=lcov", "-o", "x.info"];
        shop.tool_output(&convert);
        let ours = lines(&shop.read("x.info"));
        assert_eq!(ours, lines_of_llvm(&shop, llvm.major, "firmware.csraw", &program));
        let uncovered = ours.iter().filter(|line| line.ends_with(",0")).count();
        assert!(ours.len() > 100 && uncovered == 0, "{ours:?}");
    }
}

#[test]
fn a_module_whose_host_reads_its_counts() {
    let Some(llvm) = llvm::of_rustc() else { return };
    if !have("node") || !have_target("wasm32-unknown-unknown") {
        return;
    }
    let shop = Workshop::new();
    cargo(&shop, "wasm", &["build", "--locked"]);
    let program = "build/wasm32-unknown-unknown/debug/wasm.wasm";
    let run = Path::new(ROOT).join("examples/wasm/run.mjs");
    let printed = succeed(shop.command("node").arg(run).args([program, "wasm.csraw"]));
    assert_eq!(String::from_utf8(printed).unwrap(), "checksum 15\n");
    let lines = lines_of_llvm(&shop, llvm.major, "wasm.csraw", program);
    shop.tool_output(&["convert", "wasm.csraw", "--binary", program, "--to=lcov", "-o", "x.info"]);
    assert_eq!(self::lines(&shop.read("x.info")), lines);
    let module = shop.read(program);
    shop.write("cut.wasm", &module[..module.len() / 2]);
    let cut = ["convert", "wasm.csraw", "--binary", "cut.wasm", "--to=lcov"];
    let output = shop.tool(&cut);
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("countersink: cut.wasm: "), "{told}");
    // The sum of 100 numbers, eight steps each, and the function that nobody calls.
    for line in ["DA:14,800", "DA:18,800", "DA:24,0"] {
        assert!(lines.iter().any(|found| found == line), "{line} not in {lines:?}");
    }
}
