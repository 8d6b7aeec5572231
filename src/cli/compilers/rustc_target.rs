//! Finds the rustc target of a C compiler, from the macros that the compiler predefines.

use std::collections::BTreeMap;
use std::io::Read;
use std::prelude::v1::*;
use std::process::{Command, Stdio};
use std::thread;

use super::command::CompilerCommand;
use crate::cli::terminal::error::{Error, Result};

/// Letters of a compiler's message or triple that are repeated to the user.
const LONGEST_QUOTE: usize = 200;
/// Bytes of a compiler's output that are read. All macros are a tenth of that.
const MOST_OUTPUT: u64 = 1 << 20;

/// The names of the targets whose archives a compiler's programs may link, the best first. `command` is the
/// compiler with the flags that choose a processor.
pub fn names(command: &str) -> Result<Vec<String>> {
    let compiler = CompilerCommand::new("--cc", command)?;
    let flags = without_outputs(compiler.arguments());
    let ask = |question: &[&str]| {
        answer(Command::new(compiler.program()).args(&flags).args(question))
            .map_err(|error| compiler.not_started("--cc", &error))
    };
    let macros = ask(&["-dM", "-E", "-x", "c", "/dev/null"])?;
    if !macros.is_success {
        let complaint = first_line(&macros.errors);
        let complaint = complaint.unwrap_or("it does not print its predefined macros".into());
        return Err(Error::about(command, complaint));
    }
    let machine = Machine::new(&macros.output);
    let names = machine.names();
    if !names.is_empty() {
        return Ok(names);
    }
    if machine.macros.is_empty() {
        let what =
            "printed no predefined macros; expected a C compiler and flags that choose a processor";
        return Err(Error::about(command, what));
    }
    let triple = ask(&["-dumpmachine"]).ok().and_then(|triple| first_line(&triple.output));
    let triple = triple.unwrap_or("an unknown machine".into());
    let why = machine.why_none();
    Err(Error::about(command, format!("compiles for {triple}, {why}")))
}

/// The flags that do not make the compiler write files.
fn without_outputs<'w>(words: impl Iterator<Item = &'w str>) -> Vec<&'w str> {
    let mut flags = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        match word {
            "-o" | "-MF" | "-MT" | "-MQ" | "-MJ" | "-dumpdir" | "-dumpbase" => drop(words.next()),
            "-c" | "-S" => {}
            _ if ["-o", "-M", "-save-temps", "--save-temps"]
                .into_iter()
                .any(|output| word.starts_with(output)) => {}
            _ => flags.push(word),
        }
    }
    flags
}

/// What a compiler printed, up to [`MOST_OUTPUT`].
struct Answer {
    is_success: bool,
    output: String,
    errors: String,
}

/// Runs a compiler. It may be any program, so it gets no input, and its output is cut.
fn answer(command: &mut Command) -> std::io::Result<Answer> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let errors = child.stderr.take();
    let errors = thread::spawn(|| beginning(errors));
    let output = beginning(child.stdout.take());
    let status = child.wait()?;
    let errors = errors.join().unwrap_or_default();
    Ok(Answer { is_success: status.success(), output, errors })
}

/// Reads the first bytes, and closes the pipe: whoever writes more gets SIGPIPE.
fn beginning(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What came before an error tells enough.
        let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn first_line(text: &str) -> Option<String> {
    text.lines().next().map(|line| line.chars().take(LONGEST_QUOTE).collect())
}

/// A machine as a compiler's macros describe it.
struct Machine {
    macros: BTreeMap<String, String>,
}

impl Machine {
    /// Takes lines of `#define NAME VALUE`.
    fn new(text: &str) -> Self {
        let definitions = text.lines().filter_map(|line| line.strip_prefix("#define "));
        let macros = definitions.map(|line| match line.split_once(' ') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (line.to_owned(), String::new()),
        });
        Self { macros: macros.collect() }
    }

    fn has(&self, name: &str) -> bool {
        self.macros.contains_key(name)
    }

    fn number(&self, name: &str) -> u32 {
        self.macros.get(name).and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    /// Why no archive is for it.
    fn why_none(&self) -> &'static str {
        let is_bare = self.has("__ELF__") && !self.has("__unix__");
        match () {
            () if self.has("__riscv") && !self.has("__riscv_compressed") => {
                "without compressed instructions: the archives need RISC-V's extension `c`"
            }
            () if is_bare && self.has("__ARMEL__") && self.number("__ARM_ARCH") < 6 => {
                "an old processor that the compiler takes by default: choose yours with -mcpu="
            }
            () if is_bare && self.has("__x86_64__") && !self.has("__ILP32__") => {
                "without an operating system: leave out --cc, and take --bare"
            }
            () => "for which there are no archives",
        }
    }

    fn names(&self) -> Vec<String> {
        let is_linux = self.has("__linux__") && !self.has("__ANDROID__");
        let has_other_system = [
            "__ANDROID__",
            "__APPLE__",
            "_WIN32",
            "__CYGWIN__",
            "__FreeBSD__",
            "__NetBSD__",
            "__OpenBSD__",
            "__DragonFly__",
            "__sun__",
        ];
        if has_other_system.into_iter().any(|name| self.has(name)) {
            return Vec::new();
        }
        let names: Vec<&str> = match () {
            () if self.has("__x86_64__") && is_linux && !self.has("__ILP32__") => {
                vec!["x86_64-unknown-linux-gnu"]
            }
            () if self.has("__i386__") && is_linux => vec!["i686-unknown-linux-gnu"],
            () if self.has("__AARCH64EL__") && !self.has("__ILP32__") => match is_linux {
                true => vec!["aarch64-unknown-linux-gnu"],
                false if self.has("__ARM_FP") => vec!["aarch64-unknown-none"],
                false => vec!["aarch64-unknown-none-softfloat"],
            },
            () if self.has("__ARMEL__") => match is_linux {
                true => return self.arm_linux(),
                false => return self.arm_bare(),
            },
            () if self.has("__riscv") => self.riscv(is_linux),
            () if self.has("__wasm32__") && self.has("__wasi__") => vec!["wasm32-wasip1"],
            () if self.has("__wasm32__") => vec!["wasm32-unknown-unknown"],
            () => Vec::new(),
        };
        names.into_iter().map(str::to_owned).collect()
    }

    /// 32-bit ARM with Linux. Code for older processors runs on newer ones.
    fn arm_linux(&self) -> Vec<String> {
        let (architecture, float) = (self.number("__ARM_ARCH"), self.float());
        let of = [(7, "armv7"), (7, "thumbv7neon"), (6, "arm"), (5, "armv5te")];
        let possible = of.into_iter().filter(|(least, _)| architecture >= *least);
        possible.map(|(_, name)| format!("{name}-unknown-linux-gnueabi{float}")).collect()
    }

    /// 32-bit ARM without an operating system.
    fn arm_bare(&self) -> Vec<String> {
        let float = self.float();
        let mut names = match () {
            () if self.has("__ARM_ARCH_6M__") => vec!["thumbv6m-none-eabi".to_owned()],
            () if self.has("__ARM_ARCH_7M__") => Vec::new(),
            () if self.has("__ARM_ARCH_7EM__") => vec![format!("thumbv7em-none-eabi{float}")],
            () if self.has("__ARM_ARCH_8M_BASE__") => vec!["thumbv8m.base-none-eabi".to_owned()],
            () if self.is_main_of_version_8() => vec![format!("thumbv8m.main-none-eabi{float}")],
            () if self.has("__ARM_ARCH_7A__") => vec![format!("armv7a-none-eabi{float}")],
            () if self.has("__ARM_ARCH_7R__") => vec![format!("armv7r-none-eabi{float}")],
            () => Vec::new(),
        };
        let runs_7m =
            ["__ARM_ARCH_7M__", "__ARM_ARCH_7EM__"].into_iter().any(|name| self.has(name));
        if float.is_empty() && (runs_7m || self.is_main_of_version_8()) {
            names.push("thumbv7m-none-eabi".to_owned());
        }
        names
    }

    fn is_main_of_version_8(&self) -> bool {
        self.has("__ARM_ARCH_8M_MAIN__") || self.has("__ARM_ARCH_8_1M_MAIN__")
    }

    /// The suffix of the target's name: `hf` if calls pass floating-point numbers in floating-point registers.
    fn float(&self) -> &'static str {
        if self.has("__ARM_PCS_VFP") { "hf" } else { "" }
    }

    fn riscv(&self, is_linux: bool) -> Vec<&'static str> {
        let is_compressed = self.has("__riscv_compressed");
        if !self.has("__riscv_atomic") {
            let is_small = self.number("__riscv_xlen") == 32 && self.has("__riscv_float_abi_soft");
            let runs = is_small && is_compressed && self.has("__riscv_mul") && !is_linux;
            return if runs { vec!["riscv32imc-unknown-none-elf"] } else { Vec::new() };
        }
        let is = |name| self.has(name) && is_compressed;
        let (soft, single) = (is("__riscv_float_abi_soft"), is("__riscv_float_abi_single"));
        let double = is("__riscv_float_abi_double");
        match (self.number("__riscv_xlen"), is_linux) {
            (64, true) if double => vec!["riscv64gc-unknown-linux-gnu"],
            (64, false) if double => vec!["riscv64gc-unknown-none-elf"],
            (64, false) if soft => vec!["riscv64imac-unknown-none-elf"],
            (32, false) if soft => vec!["riscv32imac-unknown-none-elf"],
            (32, false) if single => vec!["riscv32imafc-unknown-none-elf"],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The macros that gcc predefines for a few processors, reduced to those that decide.
    #[test]
    fn macros_tell_the_target() {
        for (macros, expected) in [
            ("__x86_64__ __linux__", &["x86_64-unknown-linux-gnu"][..]),
            ("__x86_64__ __ILP32__ __linux__", &[]),
            ("__x86_64__ __ELF__", &[]),
            ("__i386__ __ELF__", &[]),
            ("__i386__ __linux__", &["i686-unknown-linux-gnu"]),
            ("__AARCH64EL__ __linux__ __ARM_FP", &["aarch64-unknown-linux-gnu"]),
            ("__AARCH64EL__ __linux__ __ANDROID__", &[]),
            ("__AARCH64EL__ __ARM_FP", &["aarch64-unknown-none"]),
            ("__AARCH64EB__ __linux__", &[]),
            ("__ARMEL__ __ARM_ARCH_6M__ __ARM_ARCH=6", &["thumbv6m-none-eabi"]),
            ("__ARMEL__ __ARM_ARCH_7M__ __ARM_ARCH=7", &["thumbv7m-none-eabi"]),
            ("__ARMEL__ __ARM_ARCH_7EM__ __ARM_PCS_VFP", &["thumbv7em-none-eabihf"]),
            ("__ARMEL__ __ARM_ARCH_7EM__", &["thumbv7em-none-eabi", "thumbv7m-none-eabi"]),
            ("__ARMEL__ __ARM_ARCH_8M_MAIN__", &["thumbv8m.main-none-eabi", "thumbv7m-none-eabi"]),
            (
                "__ARMEL__ __linux__ __ARM_ARCH=6 __ARM_PCS_VFP",
                &["arm-unknown-linux-gnueabihf", "armv5te-unknown-linux-gnueabihf"],
            ),
            (
                "__riscv __riscv_xlen=32 __riscv_atomic __riscv_compressed __riscv_float_abi_soft",
                &["riscv32imac-unknown-none-elf"],
            ),
            (
                "__riscv __riscv_xlen=32 __riscv_mul __riscv_compressed __riscv_float_abi_soft",
                &["riscv32imc-unknown-none-elf"],
            ),
            ("__riscv __riscv_xlen=32 __riscv_mul __riscv_float_abi_soft", &[]),
            ("__wasm__ __wasm32__", &["wasm32-unknown-unknown"]),
            ("__wasm__ __wasm32__ __wasi__", &["wasm32-wasip1"]),
            (
                "__riscv __riscv_xlen=64 __linux__ __riscv_atomic __riscv_compressed \
                 __riscv_float_abi_double",
                &["riscv64gc-unknown-linux-gnu"],
            ),
            ("__s390x__ __linux__", &[]),
        ] {
            let lines =
                macros.split(' ').map(|word| format!("#define {}\n", word.replace('=', " ")));
            assert_eq!(Machine::new(&lines.collect::<String>()).names(), expected, "{macros}");
        }
    }
}
