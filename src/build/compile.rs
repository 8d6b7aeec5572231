//! Makes an archive.
//!
//! An archive is this package compiled again: `src/lib.rs` with only its own feature and with
//! `cfg(countersink_archive)`, so that no feature, flag or dependency of the tool reaches code that
//! is linked into other people's programs. A second cargo does it, in a target directory of its own
//! and without the variables that tell how this build is made. One member of the Rust static library
//! is ours. The 300 others are compiler_builtins, and every C compiler links the same functions. The C
//! files of `runtime-c` join our member.
//!
//! On x86-64 crc32fast uses std to find out which instructions the processor has. [`strip`] removes the
//! rest of std.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use object::read::archive::ArchiveFile;

use super::target::Target;
use super::variant::Variant;
use super::{c_compiler, strip, var};

/// Makes an archive of a target in a folder of its own.
pub fn archive(variant: &Variant, target: &Target, out: &Path, folder: &Path) {
    let objects = runtime_objects(variant, target, out, folder);
    with_shims(variant, target, &objects, folder);
}

/// The runtime as object files: what every program needs, and what only programs that LLVM instruments
/// need besides.
fn runtime_objects(variant: &Variant, target: &Target, out: &Path, folder: &Path) -> Vec<PathBuf> {
    let library = compile_runtime(variant, target, out);
    let bytes = fs::read(&library).expect("the static library was just made");
    let archive = ArchiveFile::parse(&*bytes).expect("rustc makes good archives");
    let members: Vec<_> = archive
        .members()
        .map(|member| member.expect("rustc makes good archives"))
        .filter(|member| member.name().starts_with(b"countersink-"))
        .collect();
    let [ref ours] = members[..] else {
        panic!("expected one object of ours in {}, found {}", library.display(), members.len());
    };
    let object = ours.data(&*bytes).expect("rustc makes good archives");
    let parts: Vec<(&str, Vec<u8>)> = match target.is_wasm {
        // Its linker drops what nothing reaches, function by function.
        true => [("", object.to_vec())].into(),
        false => strip::parts(object).to_vec(),
    };
    let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
    let write = |(suffix, part): (&str, Vec<u8>)| {
        let object = folder.join(format!("{}{suffix}.o", variant.name));
        fs::write(&object, part).expect("OUT_DIR is writable");
        object
    };
    parts.map(write).collect()
}

fn compile_runtime(variant: &Variant, target: &Target, out: &Path) -> PathBuf {
    // A folder is locked while cargo works in it.
    let directory = out.join("runtime").join(&target.name);
    // The machine already has what this build needed. The network is needed only if the lock file
    // names other versions.
    let offline = cargo_rustc(variant, target, &directory, &["--offline"]);
    if !offline.status.success() {
        let online = cargo_rustc(variant, target, &directory, &[]);
        assert!(
            online.status.success(),
            "the runtime was not built for {}:\n{}\nand before, without network:\n{}",
            target.name,
            String::from_utf8_lossy(&online.stderr),
            String::from_utf8_lossy(&offline.stderr),
        );
    }
    let library = directory.join(&target.name).join("archive/libcountersink.a");
    rerun_if_sources_change(&library.with_extension("d"));
    library
}

fn cargo_rustc(variant: &Variant, target: &Target, directory: &Path, network: &[&str]) -> Output {
    let root = var("CARGO_MANIFEST_DIR");
    let checksum =
        if variant.is_hosted && target.has_fast_checksum { ",crc32fast/std" } else { "" };
    let mut cargo = Command::new(var("CARGO"));
    cargo
        .current_dir(&root)
        .args(["rustc", "--lib", "--crate-type=staticlib", "--profile=archive", "--locked"])
        .args(["--no-default-features", "--features", &format!("{}{checksum}", variant.feature)])
        .args(["--target", &target.name])
        .args(network)
        .arg("--target-dir")
        .arg(directory);
    if target.needs_core {
        cargo.arg(if target.has_fast_checksum {
            "-Zbuild-std=std,panic_abort"
        } else {
            "-Zbuild-std=core"
        });
    }
    cargo
        .args(["--", "--cfg=countersink_archive", target.addresses().0])
        .args(variant.rustc)
        .arg(format!("--remap-path-prefix={root}=countersink"));
    for (name, _) in env::vars_os().filter(|(name, _)| is_about_this_build(name)) {
        cargo.env_remove(name);
    }
    // Set rather than removed, so that flags in configuration files do not come in either.
    let exchange =
        if target.has_exchange { "" } else { "--cfg=portable_atomic_unsafe_assume_single_core" };
    cargo.env("CARGO_ENCODED_RUSTFLAGS", exchange);
    if target.needs_core {
        // Only cargo's option is unstable. `core` is compiled by the compiler that it belongs to.
        cargo.env("RUSTC_BOOTSTRAP", "1");
    }
    cargo.output().unwrap_or_else(|error| panic!("{cargo:?}: {error}"))
}

/// Whether a variable tells how this build is made, and not where things are on the machine.
fn is_about_this_build(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let about = [
        "CARGO_BUILD_",
        "CARGO_CFG_",
        "CARGO_FEATURE_",
        "CARGO_MANIFEST_",
        "CARGO_PKG_",
        "CARGO_PROFILE_",
        "CARGO_TARGET_",
        "DEP_",
        "__CARGO_",
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CLIPPY_ARGS",
        "OUT_DIR",
    ];
    about.iter().any(|prefix| name.starts_with(prefix))
}

/// Only files that the compiler read make this script run again, not the tool's.
fn rerun_if_sources_change(dependencies: &Path) {
    let text = fs::read_to_string(dependencies).expect("cargo writes what it read");
    let files = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        .flat_map(|(_, files)| files.split(' ').map(str::to_owned).collect::<Vec<_>>());
    for file in files.chain(["Cargo.toml", "runtime-c"].map(str::to_owned)) {
        println!("cargo::rerun-if-changed={file}");
    }
}

/// Puts the objects and the C files into the archive.
fn with_shims(variant: &Variant, target: &Target, objects: &[PathBuf], folder: &Path) {
    let mut cc = c_compiler::find(target);
    // Fixed, whatever the outer profile and the user say. All builds of the tool get the same
    // archive, and nothing in it makes programs link more, as a stack protector would.
    cc.opt_level_str("s")
        .debug(false)
        .pic(false)
        .warnings(true)
        .extra_warnings(true)
        .out_dir(folder);
    for shim in variant.shims {
        cc.file(Path::new("runtime-c").join(shim));
    }
    for flag in [
        "-std=gnu99",
        "-ffunction-sections",
        "-fno-asynchronous-unwind-tables",
        "-fno-exceptions",
        "-fno-lto",
        "-fno-profile-arcs",
        "-fno-profile-generate",
        "-fno-stack-protector",
        "-fno-test-coverage",
        "-fno-unwind-tables",
        "-fvisibility=hidden",
        // Compilers for boards do not say that the stack holds no code.
        "-Wa,--noexecstack",
        "-mgeneral-regs-only",
    ]
    .iter()
    .chain([&target.addresses().1])
    .chain(variant.cc)
    .filter(|flag| target.has_red_zone || !flag.ends_with("-red-zone"))
    {
        cc.flag_if_supported(flag);
    }
    cc.objects(objects);
    if let Err(error) = cc.try_compile(variant.name) {
        c_compiler::refuse(target, &error.to_string());
    }
}
