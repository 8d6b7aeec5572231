//! Live files beside dumps, by their names: `FILE.live.N`. `countersink fold` adds them to their dumps.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::sync::{Mutex, PoisonError};

use crate::cli::terminal::visible::visible;
use crate::raw::live;

/// Whether a file is a live file of a dump.
pub fn is_beside(live: &Path, dump: &Path) -> bool {
    let name = live.as_os_str().as_encoded_bytes();
    let suffix = name.strip_prefix(dump.as_os_str().as_encoded_bytes());
    suffix.is_some_and(|suffix| suffix.starts_with(b".live."))
}

/// Whether the name of a file is that of a live file of some dump.
pub fn is_live(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let mut parts = name.rsplit(|&byte| byte == b'.');
    parts.next().is_some_and(|number| number.iter().all(u8::is_ascii_digit))
        && parts.next() == Some(b"live")
}

/// Number of live files beside a dump. Reads a folder once, as many dumps may lie in it.
pub fn number_beside(dump: &Path) -> usize {
    static FOLDERS: Mutex<BTreeMap<PathBuf, Vec<OsString>>> = Mutex::new(BTreeMap::new());
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = directory(dump);
    let live_files = folders.entry(folder.to_owned()).or_insert_with(|| live_files_in(folder));
    let is_of =
        |live: &&OsString| dump.file_name().is_some_and(|dump| number_of(live, dump).is_some());
    live_files.iter().filter(is_of).count()
}

fn live_files_in(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names
        .filter(|name| name.as_encoded_bytes().rsplit(|&byte| byte == b'.').nth(1) == Some(b"live"))
        .collect()
}

/// The number of a dump's live file with this name.
fn number_of(live: &OsStr, dump: &OsStr) -> Option<u64> {
    let suffix = live.as_encoded_bytes().strip_prefix(dump.as_encoded_bytes())?;
    let number = str::from_utf8(suffix.strip_prefix(b".live.")?).ok()?.parse().ok()?;
    (number < live::MOST_FILES).then_some(number)
}

/// The dump of a live file, by its name.
pub fn dump_of(live: &Path) -> Option<String> {
    let (dump, _) = live.to_str()?.rsplit_once(".live.")?;
    number_of(live.as_os_str(), dump.as_ref()).filter(|_| live.is_file())?;
    Some(visible(dump))
}

pub fn directory(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
