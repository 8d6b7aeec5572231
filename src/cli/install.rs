//! `countersink install`.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use super::error::{Context, Result};
use super::{Outcome, archive, output};

/// Write the runtime, its header, and what pkg-config and CMake want to know
///
/// Writes lib/libcountersink_rt.a, lib/libcountersink_rt_bare.a for programs without an operating
/// system, lib/libcountersink_rt_live.a with lib/countersink_live.ld for live counters, include/countersink.h, lib/pkgconfig/countersink.pc and lib/cmake/countersink below the
/// prefix.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink install --prefix /opt/countersink
  export PKG_CONFIG_PATH=/opt/countersink/lib/pkgconfig
  gcc -fprofile-generate prog.c $(pkg-config --cflags --libs countersink)

In CMake: find_package(countersink) and target_link_libraries(prog PRIVATE countersink::runtime), \
with -DCMAKE_PREFIX_PATH=/opt/countersink.")]
pub struct Install {
    /// Directory below which the files are written
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

impl Install {
    pub fn run(&self) -> Result<Outcome> {
        let prefix = std::path::absolute(&self.prefix).about(&self.prefix)?;
        let lib = prefix.join("lib");
        for archive in archive::ALL {
            output::replace(&lib.join(archive.file_name()), archive.bytes)?;
        }
        output::replace(&lib.join(archive::SCRIPT_NAME), archive::SCRIPT.as_bytes())?;
        output::replace(&prefix.join("include/countersink.h"), archive::HEADER.as_bytes())?;
        output::replace(&lib.join("pkgconfig/countersink.pc"), pkg_config(&prefix).as_bytes())?;
        let cmake = lib.join("cmake/countersink");
        let [config, version] = ["config", "config-version"]
            .map(|name| cmake.join(format!("countersink-{name}.cmake")));
        output::replace(&config, cmake_config().as_bytes())?;
        output::replace(&version, cmake_version().as_bytes())?;
        Ok(Outcome::Done)
    }
}

fn pkg_config(prefix: &Path) -> String {
    format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: countersink\nDescription: Profile runtime for programs instrumented by gcc\n\
         Version: {}\nCflags: -I${{includedir}}\nLibs: {} -L${{libdir}} -lcountersink_rt {}\n",
        prefix.display(),
        env!("CARGO_PKG_VERSION"),
        archive::UNDEFINED,
        archive::EXPORTED,
    )
}

fn cmake_config() -> String {
    format!(
        "get_filename_component(_countersink_prefix \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         if(NOT TARGET countersink::runtime)\n  \
         add_library(countersink::runtime STATIC IMPORTED)\n  \
         set_target_properties(countersink::runtime PROPERTIES\n    \
         IMPORTED_LOCATION \"${{_countersink_prefix}}/lib/{}\"\n    \
         INTERFACE_INCLUDE_DIRECTORIES \"${{_countersink_prefix}}/include\"\n    \
         INTERFACE_LINK_OPTIONS \"{};{}\")\nendif()\n",
        archive::HOSTED.file_name(),
        archive::UNDEFINED,
        archive::EXPORTED,
    )
}

/// Who asks for a version gets it from one of the same series that is as new.
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
