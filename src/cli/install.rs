//! `countersink install`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use super::archive::Archive;
use super::error::{Context, Error, Result};
use super::{Outcome, archive, output, profdata};

/// Write the runtime, its header, and what pkg-config and CMake want to know
///
/// Writes below the prefix, into lib, the archives libcountersink_rt.a, libcountersink_rt_bare.a for
/// programs without an operating system, and libcountersink_rt_live.a with countersink_live.ld for live
/// counters; include/countersink.h; pkg-config files into lib/pkgconfig and a CMake package into
/// lib/cmake/countersink; and the tool under the name llvm-profdata into libexec/countersink, for programs that
/// call that: see `countersink profdata`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink install --prefix /opt/countersink
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

Where the prefix has a blank, pkg-config puts a backslash before it, which $(...) does not understand: \
let the shell read it again, with eval. CMake and Meson need nothing.")]
pub struct Install {
    /// Directory below which the files are written
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

/// A way to link, for pkg-config and CMake.
struct Way {
    archive: &'static Archive,
    package: &'static str,
    target: &'static str,
    description: &'static str,
}

const WAYS: [Way; 3] = [
    Way {
        archive: &archive::HOSTED,
        package: "countersink",
        target: "runtime",
        description: "Profile runtime for programs instrumented by gcc",
    },
    Way {
        archive: &archive::LIVE,
        package: "countersink-live",
        target: "live",
        description: "Profile runtime with counters in a file from the start",
    },
    Way {
        archive: &archive::BARE,
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
    pub fn run(&self) -> Result<Outcome> {
        let prefix = std::path::absolute(&self.prefix).about(&self.prefix)?;
        let text =
            prefix.to_str().filter(|text| !text.contains(['"', '\\', '$', '#', '\n', ',', ';']));
        let Some(text) = text else {
            let what = "pkg-config or the linker would misread a character of this path";
            return Err(Error::about(prefix, what));
        };
        let lib = prefix.join("lib");
        let write = |name: &str, bytes: &[u8]| output::replace(&lib.join(name), bytes);
        for archive in archive::ALL {
            write(&archive.file_name(), archive.bytes)?;
        }
        write(archive::SCRIPT_NAME, archive::SCRIPT.as_bytes())?;
        output::replace(&prefix.join("include/countersink.h"), archive::HEADER.as_bytes())?;
        for way in &WAYS {
            write(&format!("pkgconfig/{}.pc", way.package), way.pkg_config(text).as_bytes())?;
        }
        for wrap in &WRAPS {
            write(&format!("pkgconfig/{}.pc", wrap.package), wrap.pkg_config().as_bytes())?;
        }
        let cmake = "cmake/countersink/countersink-config";
        write(&format!("{cmake}.cmake"), cmake_config().as_bytes())?;
        write(&format!("{cmake}-version.cmake"), cmake_version().as_bytes())?;
        link(&prefix.join("libexec/countersink").join(profdata::NAME), &prefix)?;
        Ok(Outcome::Done)
    }
}

/// Links the tool to another name. The link is relative if the tool is below the prefix, so that both can move.
fn link(name: &Path, prefix: &Path) -> Result<()> {
    let tool = std::env::current_exe().about("the tool")?;
    let target = match tool.strip_prefix(prefix) {
        Ok(below) => Path::new("../..").join(below),
        Err(_) => tool,
    };
    let directory = name.parent().unwrap_or(prefix);
    fs::create_dir_all(directory).about(directory)?;
    // A link has its place at once or not at all.
    let make = |temporary: &Path| symlink(&target, temporary);
    let made = tempfile::Builder::new().make_in(directory, make).about(name)?;
    made.into_temp_path().persist(name).map_err(|error| error.error).about(name)
}

impl Way {
    /// Flags that objects must be compiled with.
    fn compile_options(&self) -> &'static str {
        if self.archive == &archive::LIVE { archive::FOR_SCRIPT } else { "" }
    }

    /// Quotes keep blanks in the prefix together.
    fn pkg_config(&self, prefix: &str) -> String {
        let options = self.archive.options("${libdir}").into_iter();
        let options: Vec<String> = options.map(|option| format!("\"{option}\"")).collect();
        let Self { archive, package, description, .. } = self;
        format!(
            "prefix={prefix}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
             Name: {package}\nDescription: {description}\nVersion: {VERSION}\n\
             Cflags: -I\"${{includedir}}\" {}\nLibs: {} -L\"${{libdir}}\" -l{}\n",
            self.compile_options(),
            options.join(" "),
            archive.name,
        )
    }

    fn cmake(&self) -> String {
        let Self { archive, target, .. } = self;
        format!(
            "add_library(countersink::{target} STATIC IMPORTED)\n\
             set_target_properties(countersink::{target} PROPERTIES\n  \
             IMPORTED_LOCATION \"${{_countersink_prefix}}/lib/{}\"\n  \
             INTERFACE_INCLUDE_DIRECTORIES \"${{_countersink_prefix}}/include\"\n  \
             INTERFACE_COMPILE_OPTIONS \"{}\"\n  \
             INTERFACE_LINK_OPTIONS \"{}\")\n",
            archive.file_name(),
            self.compile_options(),
            archive.options("${_countersink_prefix}/lib").join(";"),
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

    fn cmake(&self) -> String {
        let Self { target, options, .. } = self;
        format!(
            "add_library(countersink::{target} INTERFACE IMPORTED)\n\
             set_target_properties(countersink::{target} PROPERTIES\n  \
             INTERFACE_LINK_OPTIONS \"{}\")\n",
            options.join(";")
        )
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn cmake_config() -> String {
    format!(
        "if(TARGET countersink::runtime)\n  return()\nendif()\n\
         get_filename_component(_countersink_prefix \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         {}{}",
        WAYS.iter().map(Way::cmake).collect::<String>(),
        WRAPS.iter().map(Wrap::cmake).collect::<String>(),
    )
}

/// A request for a version accepts this one if both are of one series and this one is no older.
fn cmake_version() -> String {
    let (version, minor) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_VERSION_MINOR"));
    let series = format!("{}.{minor}", env!("CARGO_PKG_VERSION_MAJOR"));
    format!(
        "set(PACKAGE_VERSION {version})\n\
         if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  \
         set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         elseif(PACKAGE_FIND_VERSION VERSION_LESS {series})\n  \
         set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         else()\n  \
         set(PACKAGE_VERSION_COMPATIBLE TRUE)\n  \
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n    \
         set(PACKAGE_VERSION_EXACT TRUE)\n  \
         endif()\nendif()\n"
    )
}
