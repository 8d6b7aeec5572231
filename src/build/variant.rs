//! The archives of a target: what each is made of.

/// An archive.
pub struct Variant {
    /// Its name: `lib` before and `.a` behind make the file's.
    pub name: &'static str,
    /// Its field in the tool's table.
    pub field: &'static str,
    /// The feature of the package.
    pub feature: &'static str,
    /// Whether it is for programs with an operating system.
    pub is_hosted: bool,
    /// Its part of `runtime-c`.
    pub shims: &'static [&'static str],
    /// Further flags of rustc and of the C compiler.
    pub rustc: &'static [&'static str],
    pub cc: &'static [&'static str],
}

/// All archives.
pub const ALL: [Variant; 3] = [
    Variant {
        name: "countersink_rt",
        field: "hosted",
        feature: "runtime",
        is_hosted: true,
        shims: &[
            "exec.c",
            "image.c",
            "indirect_call.c",
            "llvm.c",
            "llvm_directory.c",
            "llvm_names.c",
            "llvm_runtime.c",
            "signal.c",
            "wrap.c",
            "wrap_fork.c",
            "wrap_signal.c",
        ],
        rustc: &[],
        cc: &["-fPIC"],
    },
    Variant {
        name: "countersink_rt_live",
        field: "live",
        feature: "live",
        is_hosted: true,
        shims: &[
            "exec.c",
            "image.c",
            "indirect_call.c",
            "live.c",
            "llvm.c",
            "llvm_directory.c",
            "llvm_names.c",
            "llvm_runtime.c",
            "signal.c",
            "wrap.c",
            "wrap_fork.c",
            "wrap_signal.c",
        ],
        rustc: &[],
        cc: &["-fPIC"],
    },
    // Interrupts may use the stack below the stack pointer. There is only one image, and no loader
    // that finds its thread-local variables.
    Variant {
        name: "countersink_rt_bare",
        field: "bare",
        feature: "bare",
        is_hosted: false,
        shims: &["indirect_call.c", "llvm.c", "llvm_family.c", "nodes.c"],
        rustc: &["-Cno-redzone=yes"],
        cc: &["-ftls-model=local-exec", "-ffreestanding", "-mno-red-zone"],
    },
];

impl Variant {
    /// Name of the file.
    pub fn file_name(&self) -> String {
        format!("lib{}.a", self.name)
    }
}
