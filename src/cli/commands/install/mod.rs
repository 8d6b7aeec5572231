//! `countersink install`.

mod cmake;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::prelude::v1::*;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::archives::archive;
use crate::cli::archives::archive::{Archive, Target};
use crate::cli::archives::target::Choice;
use crate::cli::commands::{completions, man, profdata};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output;
use crate::cli::terminal::error::{Context, Error, Result};

/// Install the runtime, its header, packages for pkg-config and CMake, man pages and completions
///
/// Writes below the prefix:
///
/// lib: libcountersink_rt.a; libcountersink_rt_bare.a for programs without an operating system;
/// libcountersink_rt_live.a and countersink_live.ld for live counters; pkgconfig/*.pc and cmake/countersink
///
/// include: countersink.h
///
/// With --target or --cc the archives of another machine go to lib/TARGET instead, with its pkgconfig folder, and
/// its CMake package to lib/cmake/countersink-TARGET. Both may be in one prefix with those of this machine.
///
/// libexec/countersink: llvm-profdata, a link to this tool; see `countersink profdata`
///
/// share: man pages, completions for bash, zsh and fish, and the licences of what the archives add to a program
///
/// The pkg-config files and the CMake package find the prefix by their own place, so the prefix can be moved,
/// unless it has a blank. With the variable DESTDIR all files go below that directory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink install --prefix /opt/countersink
  # For a package of a distribution
  DESTDIR=/tmp/package countersink install --prefix /usr --libdir lib64
  export PKG_CONFIG_PATH=/opt/countersink/lib/pkgconfig
  gcc $(countersink flags --compile) -c prog.c
  gcc -fprofile-generate prog.o $(pkg-config --cflags --libs countersink)
  # What `flags --live --wrap-exit` gives
  live='countersink-live countersink-wrap-exit'
  gcc -fprofile-generate prog.o $(pkg-config --cflags --libs $live)

In CMake: find_package(countersink), target_link_libraries(prog PRIVATE countersink::runtime) and \
target_compile_options(prog PRIVATE -g -fprofile-generate -ftest-coverage), with \
-DCMAKE_PREFIX_PATH=/opt/countersink.

For what `countersink flags` gives with its options there are the packages countersink-live, \
countersink-bare and, beside one of the first two, countersink-wrap-exit and countersink-wrap-signal; in \
CMake the targets countersink::live, countersink::bare, countersink::wrap_exit and countersink::wrap_signal. \
--file is for `flags` only.

For another machine, after the same installation without --target or beside others:
  countersink install --prefix /opt/countersink \
    --target aarch64-unknown-linux-gnu
  export PKG_CONFIG_PATH=/opt/countersink/lib/aarch64-unknown-linux-gnu/pkgconfig
find_package finds the package of the machine that the toolchain file names in CMAKE_SYSTEM_NAME and \
CMAKE_SYSTEM_PROCESSOR. Where several would do, as for Cortex-M, -DCOUNTERSINK_TARGET=thumbv7em-none-eabihf \
chooses.

Where the prefix has a blank, pkg-config puts a backslash before it, which $(...) does not understand: \
let the shell read it again, with eval. CMake and Meson need nothing.")]
pub struct Install {
    /// Directory below which the files are written
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
    /// Directory of the archives, below the prefix: lib64, or /usr/lib64 with the prefix /usr [default: lib, or
    /// lib/TARGET]
    #[arg(long, value_name = "DIR")]
    libdir: Option<PathBuf>,
    #[command(flatten)]
    machine: Choice,
}

/// A way to link, for pkg-config and CMake.
struct Way {
    archive: fn(&Target) -> Option<Archive>,
    package: &'static str,
    target: &'static str,
    description: &'static str,
}

const WAYS: [Way; 3] = [
    Way {
        archive: Target::hosted,
        package: "countersink",
        target: "runtime",
        description: "Profile runtime for programs instrumented by gcc",
    },
    Way {
        archive: Target::live,
        package: "countersink-live",
        target: "live",
        description: "Profile runtime with counters in a file from the start",
    },
    Way {
        archive: Target::bare,
        package: "countersink-bare",
        target: "bare",
        description: "Profile runtime for programs without an operating system",
    },
];

/// A way to link in which our calls stand in for others.
struct Wrap {
    package: &'static str,
    target: &'static str,
    description: &'static str,
    options: &'static [&'static str],
}

const WRAPS: [Wrap; 2] = [
    Wrap {
        package: "countersink-wrap-exit",
        target: "wrap_exit",
        description: "counts of programs that end by _exit and the like",
        options: &archive::WRAPPED,
    },
    Wrap {
        package: "countersink-wrap-signal",
        target: "wrap_signal",
        description: "counts of programs that handle signals themselves",
        options: &archive::WRAPPED_SIGNALS,
    },
];

impl Install {
    pub fn run(&self, tool: Command) -> Result<Outcome> {
        let prefix = std::path::absolute(&self.prefix).about(&self.prefix)?;
        let target = self.machine.find()?;
        let libdir = &self.libdir_below(&prefix, target)?;
        let for_pkg_config = prefix_for_pkg_config(plain_prefix(&prefix)?, libdir);
        let root = staged(&prefix);
        let lib = root.join(libdir);
        let write = |name: &str, bytes: &[u8]| output::replace(&lib.join(name), bytes);
        for archive in target.archives() {
            write(&archive.file_name(), archive.bytes)?;
        }
        if target.live().is_some() {
            write(archive::SCRIPT_NAME, archive::SCRIPT.as_bytes())?;
        }
        output::replace(&root.join("include/countersink.h"), archive::HEADER.as_bytes())?;
        for (way, archive) in ways(target) {
            let text = way.pkg_config(&archive, &for_pkg_config, libdir);
            write(&format!("pkgconfig/{}.pc", way.package), text.as_bytes())?;
        }
        for wrap in wraps(target) {
            write(&format!("pkgconfig/{}.pc", wrap.package), wrap.pkg_config().as_bytes())?;
        }
        let place = self.cmake_folder(libdir, target);
        let cmake = root.join(&place);
        let (config, version) = (cmake::config(target, libdir, &place), cmake::version(target));
        output::replace(&cmake.join("countersink-config.cmake"), config.as_bytes())?;
        output::replace(&cmake.join("countersink-config-version.cmake"), version.as_bytes())?;
        link(&root.join("libexec/countersink").join(profdata::NAME), &prefix)?;
        share(&root.join("share"), tool)?;
        Ok(Outcome::Done)
    }

    /// The directory of the archives as seen from the prefix: both move together.
    fn libdir_below(&self, prefix: &Path, target: &Target) -> Result<String> {
        let Some(libdir) = &self.libdir else {
            let of_own = target.is_own();
            return Ok(if of_own { LIB.to_owned() } else { format!("{LIB}/{}", target.name) });
        };
        let below = libdir.strip_prefix(prefix).unwrap_or(libdir);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let is_below = below.components().next().is_some() && below.components().all(is_plain);
        let is_letter = |letter: char| letter.is_alphanumeric() || "/._+-".contains(letter);
        let text = below.to_str().filter(|text| is_below && text.chars().all(is_letter));
        let what = "--libdir: expected a path below the prefix, such as lib64, of letters, digits and ._+-";
        let text = text.map(|text| text.trim_end_matches('/').to_owned());
        text.ok_or_else(|| Error::about(libdir, what))
    }

    /// The directory of the CMake package, seen from the prefix. CMake looks into those whose names begin with the
    /// package's, below lib.
    fn cmake_folder(&self, libdir: &str, target: &Target) -> String {
        match (target.is_own(), &self.libdir) {
            (true, _) => format!("{libdir}/cmake/countersink"),
            (false, Some(_)) => format!("{libdir}/cmake/countersink-{}", target.name),
            (false, None) => format!("{LIB}/cmake/countersink-{}", target.name),
        }
    }
}

const LIB: &str = "lib";

/// The ways that a target has.
fn ways(target: &Target) -> impl Iterator<Item = (&'static Way, Archive)> {
    WAYS.iter().filter_map(|way| Some((way, (way.archive)(target)?)))
}

/// The calls to wrap, where there is an operating system that has them.
fn wraps(target: &Target) -> impl Iterator<Item = &'static Wrap> {
    WRAPS.iter().filter(|_| target.hosted().is_some())
}

/// The prefix, if pkg-config, CMake and the compiler can read its path.
fn plain_prefix(prefix: &Path) -> Result<&str> {
    if prefix.components().any(|part| part == Component::ParentDir) {
        return Err(Error::about(prefix, "--prefix: expected a path without .."));
    }
    let is_plain = |text: &&str| !text.contains(['"', '\\', '$', '#', '\n', ',', ';']);
    let what = "pkg-config or the linker would misread a character of this path";
    prefix.to_str().filter(is_plain).ok_or_else(|| Error::about(prefix, what))
}

/// The prefix in a pkg-config file: relative to the file's own place. Implementations of pkg-config differ in how they
/// escape blanks of that place.
fn prefix_for_pkg_config(prefix: &str, libdir: &str) -> String {
    match prefix.contains(char::is_whitespace) {
        true => prefix.to_owned(),
        false => format!("${{pcfiledir}}/..{}", up(libdir)),
    }
}

/// `DESTDIR`: below it a package is put together.
fn destination() -> Option<OsString> {
    std::env::var_os("DESTDIR").filter(|directory| !directory.is_empty())
}

/// Where the files of a prefix are written.
fn staged(prefix: &Path) -> PathBuf {
    match destination() {
        Some(destination) => {
            Path::new(&destination).join(prefix.strip_prefix("/").unwrap_or(prefix))
        }
        None => prefix.to_owned(),
    }
}

/// Writes man pages, completions and licences.
fn share(share: &Path, mut tool: Command) -> Result<()> {
    for (name, page) in man::pages(tool.clone())? {
        output::replace(&share.join("man/man1").join(name), &page)?;
    }
    for (shell, place) in [
        (Shell::Bash, "bash-completion/completions/countersink"),
        (Shell::Zsh, "zsh/site-functions/_countersink"),
        (Shell::Fish, "fish/vendor_completions.d/countersink.fish"),
    ] {
        output::replace(&share.join(place), &completions::script(shell, &mut tool))?;
    }
    for (name, text) in LICENCES {
        output::replace(&share.join("doc/countersink").join(name), text.as_bytes())?;
    }
    Ok(())
}

/// Licences of this project, and of what else the archives hold.
const LICENCES: [(&str, &str); 3] = [
    ("LICENSE-MIT", include_str!("../../../../LICENSE-MIT")),
    ("LICENSE-APACHE", include_str!("../../../../LICENSE-APACHE")),
    ("THIRD-PARTY.md", include_str!("../../../../THIRD-PARTY.md")),
];

/// Links the tool to another name. The link is relative if the tool is below the prefix, or will be in a package: so
/// both can move.
fn link(name: &Path, prefix: &Path) -> Result<()> {
    let tool = std::env::current_exe().about("the tool")?;
    let target = match tool.strip_prefix(prefix) {
        Ok(below) => Path::new("../..").join(below),
        Err(_) if destination().is_some() => Path::new("../../bin").join(env!("CARGO_PKG_NAME")),
        Err(_) => tool,
    };
    let directory = name.parent().unwrap_or(prefix);
    fs::create_dir_all(directory).about(directory)?;
    // A link has its place at once or not at all.
    let make = |temporary: &Path| symlink(&target, temporary);
    let made = tempfile::Builder::new().make_in(directory, make).about(name)?;
    made.into_temp_path().persist(name).map_err(|error| error.error).about(name)
}

/// Flags that objects must be compiled with.
fn compile_options(archive: &Archive) -> &'static str {
    if archive.is_live() { archive::FOR_SCRIPT } else { "" }
}

impl Way {
    /// Quotes keep blanks in the prefix together.
    fn pkg_config(&self, archive: &Archive, prefix: &str, libdir: &str) -> String {
        let options = archive.options("${libdir}").into_iter();
        let options: Vec<String> = options.map(|option| format!("\"{option}\"")).collect();
        let Self { package, description, .. } = self;
        format!(
            "prefix={prefix}\nlibdir=${{prefix}}/{libdir}\nincludedir=${{prefix}}/include\n\n\
             Name: {package}\nDescription: {description}\nVersion: {VERSION}\n\
             Cflags: -I\"${{includedir}}\" {}\nLibs: {} -L\"${{libdir}}\" -l{}\n",
            compile_options(archive),
            options.join(" "),
            archive.name,
        )
    }
}

impl Wrap {
    fn pkg_config(&self) -> String {
        let Self { package, description, options, .. } = self;
        format!(
            "Name: {package}\nDescription: With countersink or countersink-live, {description}\n\
             Version: {VERSION}\nLibs: {}\n",
            options.join(" ")
        )
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The way from a directory up to the prefix.
fn up(directory: &str) -> String {
    "/..".repeat(directory.split('/').count())
}
