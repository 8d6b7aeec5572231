//! The CMake package: what it defines, and for which machine it is.

use std::prelude::v1::*;

use super::{Way, Wrap, compile_options, up, ways, wraps};
use crate::cli::archives::archive::{Archive, Target};

/// The package's targets. `libdir` has the archives, `place` this file; both are seen from the prefix.
pub fn config(target: &Target, libdir: &str, place: &str) -> String {
    format!(
        "if(TARGET countersink::bare)\n  return()\nendif()\n\
         get_filename_component(_countersink_prefix \"${{CMAKE_CURRENT_LIST_DIR}}{}\" ABSOLUTE)\n\
         {}{}",
        up(place),
        ways(target).map(|(way, archive)| way.cmake(&archive, libdir)).collect::<String>(),
        wraps(target).map(Wrap::cmake).collect::<String>(),
    )
}

/// A request for a version accepts this one if both are of one series and this one is no older. Other machines'
/// packages may lie beside this one, and CMake goes on to the next where one does not suit.
pub fn version(target: &Target) -> String {
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
         endif()\nendif()\n{}",
        suits(target)
    )
}

/// Refuses other machines. `COUNTERSINK_TARGET` decides where a toolchain file does not tell enough.
fn suits(target: &Target) -> String {
    let name = target.name;
    let refuse = "set(PACKAGE_VERSION_UNSUITABLE TRUE)\n";
    let processor = processor(name);
    // The tool's own archives are for this machine, whatever CMake calls it, and for its boards.
    let is_its = format!("CMAKE_SYSTEM_PROCESSOR MATCHES \"^({processor})$\"");
    let is_linux = "CMAKE_SYSTEM_NAME STREQUAL \"Linux\"";
    let differs = match (target.is_own(), target.hosted()) {
        (true, _) => format!("CMAKE_CROSSCOMPILING AND NOT {is_its}"),
        (false, Some(_)) => format!("NOT ({is_linux} AND {is_its})"),
        (false, None) => format!("{is_linux} OR NOT {is_its}"),
    };
    format!(
        "if(DEFINED COUNTERSINK_TARGET)\n  \
         if(NOT COUNTERSINK_TARGET STREQUAL \"{name}\")\n    {refuse}  endif()\n\
         elseif({differs})\n  {refuse}endif()\n"
    )
}

/// A regular expression for the names that toolchain files give to a target's processor.
fn processor(name: &str) -> String {
    let first = name.split('-').next().unwrap_or(name);
    match first {
        "x86_64" => "x86_64|AMD64|amd64".to_owned(),
        "i586" | "i686" => "i[3-6]86|x86".to_owned(),
        "aarch64" => "aarch64|arm64|cortex-a.*".to_owned(),
        _ if first.starts_with("riscv64") => "riscv64|riscv".to_owned(),
        _ if first.starts_with("riscv32") => "riscv32|riscv".to_owned(),
        _ if first.starts_with("arm") || first.starts_with("thumb") => {
            "[aA][rR][mM].*|cortex-.*".to_owned()
        }
        _ => first.to_owned(),
    }
}

impl Way {
    fn cmake(&self, archive: &Archive, libdir: &str) -> String {
        let Self { target, .. } = self;
        format!(
            "add_library(countersink::{target} STATIC IMPORTED)\n\
             set_target_properties(countersink::{target} PROPERTIES\n  \
             IMPORTED_LOCATION \"${{_countersink_prefix}}/{libdir}/{}\"\n  \
             INTERFACE_INCLUDE_DIRECTORIES \"${{_countersink_prefix}}/include\"\n  \
             INTERFACE_COMPILE_OPTIONS \"{}\"\n  \
             INTERFACE_LINK_OPTIONS \"{}\")\n",
            archive.file_name(),
            compile_options(archive),
            archive.options(format!("${{_countersink_prefix}}/{libdir}")).join(";"),
        )
    }
}

impl Wrap {
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
