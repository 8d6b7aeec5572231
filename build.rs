//! Makes the archives that the tool carries inside itself, which is the work of `src/build`. For firmware that depends on
//! this crate, puts a linker script where the linker looks for it.

#[cfg(feature = "archives")]
#[path = "src/build/mod.rs"]
mod build;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    refuse_to_count_itself();
    // Not `CARGO_FEATURE_ARCHIVES`, which the second cargo would inherit: what this was compiled with.
    #[cfg(feature = "archives")]
    build::provide();
    if std::env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|system| system == "none") {
        let folder = std::env::var("OUT_DIR").expect("cargo names a folder");
        let script = include_str!("src/bare/countersink.x");
        std::fs::write(format!("{folder}/countersink.x"), script).expect("OUT_DIR is writable");
        println!("cargo::rustc-link-search={folder}");
    }
}

/// `RUSTFLAGS` instrument every crate. Without an operating system this one is the runtime: what it counts with would
/// count itself, without end.
fn refuse_to_count_itself() {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let has_system = !matches!(&*variable("CARGO_CFG_TARGET_OS"), "none" | "unknown" | "wasi");
    if !has_system && (flags.contains("instrument-coverage") || flags.contains("profile-generate"))
    {
        println!(
            "cargo::error=RUSTFLAGS would instrument countersink itself; instrument your package alone, with \
             rustc-workspace-wrapper: see docs/src/bare.md"
        );
    }
}
