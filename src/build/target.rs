//! What rustc knows of a target, and where its `core` comes from.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use super::variant::{self, Variant};
use super::{refuse, var};

/// A target.
pub struct Target {
    /// rustc's name for it.
    pub name: String,
    /// Whether the target runs Linux. Other targets have no operating system.
    has_system: bool,
    /// Whether crc32fast needs std, to find out which instructions the processor has. Other targets need only
    /// `core`.
    pub has_fast_checksum: bool,
    /// Whether `core` has to be compiled, too.
    pub needs_core: bool,
    /// Whether its processor exchanges a word in one step. Others mask interrupts, and have one core.
    pub has_exchange: bool,
    /// Whether functions may use the stack below the stack pointer.
    pub has_red_zone: bool,
    /// Whether its objects are WebAssembly, and not ELF.
    pub is_wasm: bool,
}

impl Target {
    /// Asks rustc about a target.
    pub fn new(name: String) -> Self {
        let facts = ask(&["--print", "cfg", "--target", &name])
            .unwrap_or_else(|error| refuse(&format!("{name}: {error}")));
        let is = |fact: &str| facts.lines().any(|line| line == fact);
        if is("target_endian=\"big\"") {
            refuse(&format!("{name}: the runtime is for little-endian machines"));
        }
        let has_system = is("target_os=\"linux\"");
        let is_wasm = is("target_family=\"wasm\"");
        if !has_system && !is_wasm && !is("target_os=\"none\"") {
            refuse(&format!(
                "{name}: the runtime is for Linux, WebAssembly, or no operating system (none)"
            ));
        }
        let has_exchange = is("target_has_atomic=\"ptr\"");
        let has_red_zone = is("target_arch=\"x86_64\"");
        let has_fast_checksum = has_system && has_red_zone;
        let needs_core = needs_core(&name);
        Self {
            name,
            has_system,
            has_fast_checksum,
            needs_core,
            has_exchange,
            has_red_zone,
            is_wasm,
        }
    }

    /// The archives that it has.
    pub fn variants(&self) -> impl Iterator<Item = &'static Variant> {
        variant::ALL.iter().filter(|variant| self.has_system || !variant.is_hosted)
    }

    /// Whether it is the tool's own.
    pub fn is_own(&self) -> bool {
        self.name == var("TARGET")
    }

    /// Relocation flags for rustc and for the C compiler. With an operating system, code must run at any load address,
    /// even code of the archive that needs no system. Code for boards runs at the address where it was linked.
    pub fn addresses(&self) -> (&'static str, &'static str) {
        match self.has_system {
            true => ("-Crelocation-model=pic", "-fPIE"),
            false => ("-Crelocation-model=static", "-fno-pic"),
        }
    }

    /// The variables that name a C compiler for this target alone.
    pub fn variables(&self) -> [String; 2] {
        [&self.name, &self.name.replace('-', "_")].map(|name| format!("CC_{name}"))
    }

    /// A C compiler for the target, if `cc` does not find one by the target's name.
    pub fn compiler(&self) -> Option<String> {
        let is_chosen = self.variables().iter().any(|name| env::var_os(name).is_some());
        let is_bare_aarch64 = !self.has_system && self.name.starts_with("aarch64-");
        if is_chosen || !is_bare_aarch64 {
            return None;
        }
        // The last one compiles for Linux. That makes no difference to files that use no C library.
        let prefixes = ["aarch64-none-elf", "aarch64-elf", "aarch64-linux-gnu"];
        prefixes.into_iter().map(|prefix| format!("{prefix}-gcc")).find(|name| is_program(name))
    }
}

fn is_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Whether rustc has `core` for a target only as source. Ends the build if rustc has neither a library nor the source.
fn needs_core(target: &str) -> bool {
    let folder = ask(&["--print", "target-libdir", "--target", target]).unwrap_or_default();
    let files = fs::read_dir(folder.trim()).into_iter().flatten().flatten();
    let mut names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    if names.any(|name| name.starts_with("libcore-") && name.ends_with(".rlib")) {
        return false;
    }
    let root = ask(&["--print", "sysroot"]).unwrap_or_default();
    let source = Path::new(root.trim()).join("lib/rustlib/src/rust/library/core/src/lib.rs");
    if source.is_file() {
        return true;
    }
    refuse(&format!(
        "{target}: this rustc has no library core for it, nor the source of core: \
         rustup target add {target}, or where rustup has no such library, rustup component add rust-src"
    ))
}

/// rustc's output, or its error message.
fn ask(question: &[&str]) -> Result<String, String> {
    let rustc = var("RUSTC");
    let output = Command::new(&rustc).args(question).output();
    let output = output.map_err(|error| format!("{rustc}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(complaint.lines().next().unwrap_or("rustc does not say why").to_owned())
}
