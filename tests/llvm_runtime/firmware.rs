//! Firmware and WebAssembly in Rust that depend on the crate: the examples, by the commands that they name, and their
//! coverage beside llvm-cov's.

use std::path::Path;
use std::process::Command;

use crate::harness::{Workshop, have, python_with, say_skipped, skip, succeed};
use crate::llvm::Llvm;

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

/// cargo in an example, without what this cargo says of its own build. All tests have the build's files in one folder,
/// `build`, so that what they share is compiled once. The coverage mapping has the lines, so no debug information is
/// made.
fn example(shop: &Workshop, example: &str) -> Command {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    if !shop.path("build").exists() {
        std::fs::create_dir_all(&shared).unwrap();
        std::os::unix::fs::symlink(&shared, shop.path("build")).unwrap();
    }
    let mut cargo = shop.command("cargo");
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("CARGO_") && name != "CARGO_HOME")
    {
        cargo.env_remove(name);
    }
    cargo.current_dir(Path::new(ROOT).join("examples").join(example));
    cargo.env("CARGO_TARGET_DIR", shop.path("build")).env_remove("RUSTFLAGS");
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    cargo
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
    lines(&llvm_cov(shop, major, "x.profdata", program))
}

/// The tracefile of llvm-cov.
fn llvm_cov(shop: &Workshop, major: u32, profile: &str, program: &str) -> Vec<u8> {
    let profile = format!("-instr-profile={profile}");
    let mut cov = shop.command(format!("llvm-cov-{major}"));
    succeed(cov.args(["export", "-format=lcov", &profile, program]))
}

/// The lines of the file that the boards and the developer's machine share.
fn shared(lines: &[String]) -> Vec<String> {
    let from_there = lines.iter().skip_while(|line| !line.ends_with("src/frames.rs")).skip(1);
    from_there.take_while(|line| line.starts_with("DA:")).cloned().collect()
}

/// What LLVM's own runtime counts where the same tests run on this machine.
fn lines_of_this_machine(shop: &Workshop, llvm: Llvm) -> Vec<String> {
    let host = succeed(Command::new("rustc").args(["--print=host-tuple"]));
    let host = String::from_utf8(host).unwrap().trim().to_owned();
    let mut cargo = example(shop, "firmware");
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "").env("RUSTFLAGS", "-Cinstrument-coverage");
    cargo.env("LLVM_PROFILE_FILE", shop.path("build-%p.profraw"));
    succeed(cargo.args(["build", "--locked", "--target", &host]));
    let program = format!("build/{host}/debug/firmware");
    succeed(shop.command(shop.path(&program)).env("LLVM_PROFILE_FILE", "host.profraw"));
    assert!(
        llvm.profdata(shop, &["merge", "-o", "host.profdata", "host.profraw"]).status.success()
    );
    lines(&llvm_cov(shop, llvm.major, "host.profdata", &program))
}

/// Runs the tests on the boards of these targets. What they count is what LLVM's own runtime counts here.
fn thirty_tests(boards: &[(&str, &str)]) {
    let Some(llvm) = crate::llvm::of_rustc() else { return };
    let shop = Workshop::new();
    let expected = shared(&lines_of_this_machine(&shop, llvm));
    assert!(
        expected.len() > 40 && !expected.iter().any(|line| line.ends_with(",0")),
        "{expected:?}"
    );
    for (target, emulator) in boards {
        if !have(emulator) || !have_target(target) {
            continue;
        }
        succeed(example(&shop, "firmware").args(["build", "--locked", "--target", target]));
        let program = format!("build/{target}/debug/firmware");
        let run = Path::new(ROOT).join("examples/firmware/boards/run");
        let printed = succeed(shop.command(run).arg(shop.path(&program)));
        assert!(String::from_utf8_lossy(&printed).contains("\n30 tests passed\n"), "{target}");
        if target.starts_with("x86_64") {
            shop.write("serial.log", printed);
            shop.tool_output(&["extract", "serial.log", "-o", "firmware.csraw"]);
        }
        let convert =
            ["convert", "firmware.csraw", "--binary", &program, "--to=lcov", "-o", "x.info"];
        shop.tool_output(&convert);
        let ours = lines(&shop.read("x.info"));
        assert_eq!(ours, lines_of_llvm(&shop, llvm.major, "firmware.csraw", &program), "{target}");
        assert_eq!(shared(&ours), expected, "{target}");
        std::fs::remove_file(shop.path("firmware.csraw")).unwrap();
    }
}

/// A processor without exchanges, where additions mask interrupts, and one with them.
#[test]
#[ignore = "slow"]
fn boards_with_and_without_exchanges() {
    thirty_tests(&[
        ("thumbv6m-none-eabi", "qemu-system-arm"),
        ("x86_64-unknown-none", "qemu-system-x86_64"),
    ]);
}

/// The others: `cargo test --test llvm_runtime -- --ignored other_boards_by_hand`.
#[test]
#[ignore = "two minutes, for further processors of the same kinds"]
fn other_boards_by_hand() {
    thirty_tests(&[
        ("riscv32imc-unknown-none-elf", "qemu-system-riscv32"),
        ("aarch64-unknown-none", "qemu-system-aarch64"),
        ("thumbv7m-none-eabi", "qemu-system-arm"),
        ("thumbv7em-none-eabihf", "qemu-system-arm"),
        ("thumbv8m.main-none-eabihf", "qemu-system-arm"),
        ("riscv32imac-unknown-none-elf", "qemu-system-riscv32"),
        ("riscv64gc-unknown-none-elf", "qemu-system-riscv64"),
    ]);
}

/// The commands of the example itself.
#[test]
#[ignore = "slow"]
fn cargo_runs_a_board() {
    if !have("qemu-system-arm") || !have_target("thumbv7m-none-eabi") {
        return;
    }
    let shop = Workshop::new();
    let printed = succeed(example(&shop, "firmware").args(["run", "--locked"]));
    assert!(String::from_utf8(printed).unwrap().ends_with("\n30 tests passed\n"));
    std::fs::remove_file(Path::new(ROOT).join("examples/firmware/firmware.csraw")).unwrap();
}

#[test]
#[ignore = "slow"]
fn a_module_whose_host_reads_its_counts() {
    let Some(llvm) = crate::llvm::of_rustc() else { return };
    if !have("node") || !have_target("wasm32-unknown-unknown") {
        return;
    }
    let shop = Workshop::new();
    succeed(example(&shop, "wasm").args(["build", "--lib", "--locked"]));
    let program = "build/wasm32-unknown-unknown/debug/wasm.wasm";
    let run = Path::new(ROOT).join("examples/wasm/run.mjs");
    let printed = succeed(shop.command("node").arg(run).args([program, "wasm.csraw"]));
    assert_eq!(String::from_utf8(printed).unwrap(), "checksum 15\n");
    let lines = lines_of_module(&shop, llvm, program);
    let module = shop.read(program);
    let doctor = String::from_utf8(shop.tool_output(&["doctor", program])).unwrap();
    assert!(doctor.contains("instrumented  by LLVM\n"), "{doctor}");
    let nameless = shop.tool(&["convert", "wasm.csraw", "--to=lcov"]);
    let told = String::from_utf8(nameless.stderr).unwrap();
    assert!(told.contains("does not name its program") && told.contains("--binary"), "{told}");
    shop.write("cut.wasm", &module[..module.len() / 2]);
    let cut = ["convert", "wasm.csraw", "--binary", "cut.wasm", "--to=lcov"];
    let output = shop.tool(&cut);
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("countersink: cut.wasm: "), "{told}");
    // The function that nobody calls.
    assert!(lines.iter().any(|line| line == "DA:21,0"), "{lines:?}");
    let Some(python) = python_with("wasmtime") else { return };
    let dump = shop.read("wasm.csraw");
    in_wasmtime(&shop, &python, program);
    assert!(shop.read("wasm.csraw") == dump, "wasmtime counts what node counts");
}

/// The program writes its dump itself.
#[test]
#[ignore = "slow"]
fn a_program_for_wasi() {
    let Some(llvm) = crate::llvm::of_rustc() else { return };
    if !have_target("wasm32-wasip1") {
        return;
    }
    let Some(python) = python_with("wasmtime") else { return };
    let shop = Workshop::new();
    let build = ["build", "--locked", "--target=wasm32-wasip1", "--bin=wasi"];
    succeed(example(&shop, "wasm").args(build));
    let program = "build/wasm32-wasip1/debug/wasi.wasm";
    in_wasmtime(&shop, &python, program);
    lines_of_module(&shop, llvm, program);
}

fn in_wasmtime(shop: &Workshop, python: &str, module: &str) {
    let run = Path::new(ROOT).join("examples/wasm/run.py");
    let printed = succeed(shop.command(python).arg(run).args([module, "wasm.csraw"]));
    assert_eq!(String::from_utf8(printed).unwrap(), "checksum 15\n");
}

/// The lines of a module, which are those of llvm-cov.
fn lines_of_module(shop: &Workshop, llvm: Llvm, module: &str) -> Vec<String> {
    let expected = lines_of_llvm(shop, llvm.major, "wasm.csraw", module);
    shop.tool_output(&["convert", "wasm.csraw", "--binary", module, "--to=lcov", "-o", "x.info"]);
    let lines = lines(&shop.read("x.info"));
    assert_eq!(lines, expected);
    // The sum of 100 numbers, eight steps each.
    for line in ["DA:5,800", "DA:9,800"] {
        assert!(lines.iter().any(|found| found == line), "{line} not in {lines:?}");
    }
    lines
}
