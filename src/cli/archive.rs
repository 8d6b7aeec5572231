//! The archive that the tool carries, and its header.

use std::path::PathBuf;
use std::prelude::v1::*;

use etcetera::BaseStrategy;

use super::error::{Error, Result};
use super::output;

/// `libcountersink_rt.a`, for the target that this program was compiled for.
pub static ARCHIVE: &[u8] = include_bytes!(env!("COUNTERSINK_ARCHIVE_PATH"));

/// `countersink.h`.
pub static HEADER: &str = include_str!("../../runtime-c/countersink.h");

/// File name of the archive.
pub const FILE_NAME: &str = "libcountersink_rt.a";

/// What makes the linker take the archive's members, wherever on the line the archive stands: in
/// front of the objects that need them, too, and before the compiler's own `-lgcov`.
pub const UNDEFINED: &str = "-Wl,--undefined=__gcov_init";

/// A directory that holds this very archive, in the user's cache folder.
pub fn directory() -> Result<PathBuf> {
    let cache = etcetera::choose_base_strategy().map_err(Error::new)?.cache_dir();
    let version = env!("CARGO_PKG_VERSION");
    let checksum = crc32fast::hash(ARCHIVE);
    let directory = cache.join("countersink").join(format!("{version}-{checksum:08x}"));
    let file = directory.join(FILE_NAME);
    if std::fs::read(&file).is_ok_and(|bytes| bytes == ARCHIVE) {
        return Ok(directory);
    }
    output::replace(&file, ARCHIVE)?;
    Ok(directory)
}
