//! Makes the archives that the tool carries inside itself. `src/build` does the work.

#[cfg(feature = "cli")]
#[path = "src/build/mod.rs"]
mod build;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Not `CARGO_FEATURE_CLI`, which the second cargo would inherit: what this was compiled with.
    #[cfg(feature = "cli")]
    build::provide();
}
