//! `countersink install`.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use super::error::{Context, Result};
use super::{Outcome, archive, output};

/// Write the runtime, its header, and what pkg-config and CMake want to know
///
/// Writes lib/libcountersink_rt.a, include/countersink.h, lib/pkgconfig/countersink.pc and
/// lib/cmake/countersink/countersink-config.cmake below the prefix.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink install --prefix /opt/countersink
  export PKG_CONFIG_PATH=/opt/countersink/lib/pkgconfig
  gcc -fprofile-generate prog.c -o prog $(pkg-config --cflags --libs countersink)

In CMake: find_package(countersink) and target_link_libraries(prog PRIVATE countersink::runtime),
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
        output::replace(&lib.join(archive::FILE_NAME), archive::ARCHIVE)?;
        output::replace(&prefix.join("include/countersink.h"), archive::HEADER.as_bytes())?;
        output::replace(&lib.join("pkgconfig/countersink.pc"), pkg_config(&prefix).as_bytes())?;
        let cmake = lib.join("cmake/countersink/countersink-config.cmake");
        output::replace(&cmake, cmake_config().as_bytes())?;
        Ok(Outcome::Done)
    }
}

fn pkg_config(prefix: &Path) -> String {
    format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: countersink\nDescription: Profile runtime for programs instrumented by gcc\n\
         Version: {}\nCflags: -I${{includedir}}\nLibs: {} -L${{libdir}} -lcountersink_rt\n",
        prefix.display(),
        env!("CARGO_PKG_VERSION"),
        archive::UNDEFINED,
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
         INTERFACE_LINK_OPTIONS \"{}\")\nendif()\n",
        archive::FILE_NAME,
        archive::UNDEFINED,
    )
}
