//! Debug information that was split off from a binary, found as gdb and binutils find it.
//!
//! | where | name |
//! |---|---|
//! | `/usr/lib/debug/.build-id/ab/` | `cdef....debug`, from the build-id `abcdef...` |
//! | beside the binary, in `.debug` there, and below `/usr/lib/debug` | as in `.gnu_debuglink` |

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use object::Object;

use super::input::read_regular;
use crate::cli::terminal::names::hexadecimal;

const GLOBAL: &str = "/usr/lib/debug";

/// The contents of a binary's debug file, if the binary has no debug information, and the file is found and
/// belongs to it.
pub fn find(path: &Path, binary: &object::File<'_>) -> Option<Vec<u8>> {
    find_for(path, binary, |file| file.section_by_name(".debug_line").is_some())
}

/// The contents of a binary's debug file, if the binary does not have what is wanted.
pub fn find_for(
    path: &Path,
    binary: &object::File<'_>,
    has: impl Fn(&object::File<'_>) -> bool,
) -> Option<Vec<u8>> {
    if has(binary) {
        return None;
    }
    let build_id = binary.build_id().ok().flatten().unwrap_or_default();
    let link = binary.gnu_debuglink().ok().flatten();
    let read = |candidate: PathBuf| {
        let bytes = read_regular(&candidate).ok()?;
        belongs(&bytes, build_id, link.map(|(_, checksum)| checksum)).then_some(bytes)
    };
    candidates(path, build_id, link.map(|(name, _)| name)).into_iter().find_map(read)
}

/// The installed debug file of a program of which only the build-id is known.
pub fn by_build_id(build_id: &[u8]) -> Option<PathBuf> {
    candidates(Path::new(""), build_id, None).into_iter().find(|path| path.is_file())
}

/// Whether a file has the build-id, or else the checksum in the link.
fn belongs(bytes: &[u8], build_id: &[u8], checksum: Option<u32>) -> bool {
    let Ok(file) = object::File::parse(bytes) else { return false };
    match file.build_id() {
        Ok(Some(found)) if !build_id.is_empty() => found == build_id,
        _ => checksum == Some(crc32fast::hash(bytes)),
    }
}

fn candidates(path: &Path, build_id: &[u8], link: Option<&[u8]>) -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    if let Some((first, rest)) = build_id.split_first() {
        let directory = Path::new(GLOBAL).join(".build-id").join(hexadecimal(&[*first]));
        candidates.push(directory.join(format!("{}.debug", hexadecimal(rest))));
    }
    let name = link.and_then(|name| std::str::from_utf8(name).ok());
    // A name and not a path, whatever a damaged file says.
    if let Some(name) = name.filter(|name| !name.contains('/')) {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let directory = whole.parent().unwrap_or(Path::new("/"));
        let below = directory.strip_prefix("/").unwrap_or(directory);
        let places = [directory.into(), directory.join(".debug"), Path::new(GLOBAL).join(below)];
        candidates.extend(places.map(|place| place.join(name)));
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_debug_files_may_be() {
        let found = candidates(Path::new("/opt/x/prog"), &[0xab, 0xcd, 0xef], Some(b"prog.debug"));
        let expected = [
            "/usr/lib/debug/.build-id/ab/cdef.debug",
            "/opt/x/prog.debug",
            "/opt/x/.debug/prog.debug",
            "/usr/lib/debug/opt/x/prog.debug",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        assert!(candidates(Path::new("/prog"), &[], Some(b"../x")).is_empty());
    }
}
