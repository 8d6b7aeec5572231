//! Which file the counts go to.
//!
//! A pattern from `COUNTERSINK_FILE` or `countersink_set_file`, else [`DEFAULT`]:
//!
//! | in the pattern | becomes |
//! |---|---|
//! | `%e` | name of the program |
//! | `%p` | process id |
//! | `%h` | name of the machine |
//! | `%m` | signature of the module, 16 hexadecimal digits |
//! | `%%` | `%` |
//!
//! Anything else stays as it is, which is told once. A relative result is taken from the directory in
//! which the program started, not from where it happens to be at its end.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};

use super::identity::without_deleted;
use super::message::{Line, decimal, hexadecimal};
use super::sys::{self, Errno};

/// The pattern when nothing is said.
pub const DEFAULT: &[u8] = b"%e.csraw";

/// Longest path of the system, its NUL included.
pub const LONGEST: usize = 4096;

/// A path of the system, as long as any can be. Empty, or ended by a NUL.
#[derive(Debug, Default)]
pub struct Path(heapless::Vec<u8, LONGEST>);

impl Path {
    /// The empty path.
    pub const fn new() -> Self {
        Self(heapless::Vec::new())
    }

    /// The bytes, without the NUL.
    #[inline(never)]
    pub fn bytes(&self) -> &[u8] {
        self.0.split_last().map_or(&[], |(_, bytes)| bytes)
    }

    /// The path as the system wants it.
    #[inline(never)]
    pub fn c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or(c"")
    }

    /// Empties the path.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends bytes.
    #[inline(never)]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        if self.bytes().len().saturating_add(bytes.len()) >= LONGEST {
            return Err(Errno::NAMETOOLONG);
        }
        self.0.pop();
        let _ = self.0.extend_from_slice(bytes);
        let _ = self.0.push(0);
        Ok(())
    }

    /// Replaces the path, which stays if the other is too long.
    pub fn set(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.len() >= LONGEST {
            return Err(Errno::NAMETOOLONG);
        }
        self.clear();
        self.push(bytes)
    }

    /// Becomes the target of a symbolic link; empty if there is none.
    pub fn read_link(&mut self, link: &CStr) {
        self.fill(|free| sys::read_link(link, free));
    }

    /// Becomes the working directory; empty if that has no path.
    pub fn read_working_directory(&mut self) {
        self.fill(sys::working_directory);
        // Outside the reach of its root a process has a directory without a path.
        if !self.0.starts_with(b"/") {
            self.clear();
        }
    }

    fn fill(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<usize, Errno>) {
        let _ = self.0.resize_default(LONGEST - 1);
        let length = fill(&mut self.0).unwrap_or(0);
        self.0.truncate(length);
        let _ = self.0.push(0);
    }

    /// The directory part, the slash included; empty if there is none.
    pub fn directory(&self) -> &[u8] {
        let bytes = self.bytes();
        let length = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        bytes.get(..length).unwrap_or_default()
    }
}

/// Where a program's counts go, as far as it is known before they are written.
#[derive(Debug, Default)]
pub struct Place {
    /// Empty for [`DEFAULT`].
    pattern: Path,
    /// Where the program started, empty if unknown.
    directory: Path,
}

impl Place {
    /// The default place, for a program whose directory is not known yet.
    pub const fn new() -> Self {
        Self { pattern: Path::new(), directory: Path::new() }
    }

    /// Remembers the directory in which the program starts.
    pub fn start_here(&mut self) {
        self.directory.read_working_directory();
    }

    /// Takes another pattern; an empty one stands for the default.
    pub fn set_pattern(&mut self, pattern: &[u8]) -> Result<(), Errno> {
        self.pattern.set(pattern)
    }

    /// Writes the path for a module with this signature. `scratch` is room for another path.
    pub fn expand(&self, signature: u64, path: &mut Path, scratch: &mut Path) -> Result<(), Errno> {
        let pattern = match self.pattern.bytes() {
            b"" => DEFAULT,
            pattern => pattern,
        };
        path.clear();
        if !pattern.starts_with(b"/") && !self.directory.bytes().is_empty() {
            path.push(self.directory.bytes())?;
            path.push(b"/")?;
        }
        let mut parts = pattern.split(|&byte| byte == b'%');
        path.push(parts.next().unwrap_or_default())?;
        // What follows a percent sign: a letter and literal text; nothing between two signs.
        while let Some(part) = parts.next() {
            match part.split_first() {
                Some((&letter, text)) => {
                    push_letter(letter, signature, path, scratch)?;
                    path.push(text)?;
                }
                None => {
                    path.push(b"%")?;
                    match parts.next() {
                        Some(text) => path.push(text)?,
                        None => tell_unknown(b""),
                    }
                }
            }
        }
        Ok(())
    }
}

fn push_letter(
    letter: u8,
    signature: u64,
    path: &mut Path,
    scratch: &mut Path,
) -> Result<(), Errno> {
    match letter {
        b'e' => push_program(path, scratch),
        b'p' => path.push(&decimal(u64::from(sys::process()))),
        b'h' => sys::with_host(|host| path.push(host)),
        b'm' => path.push(&hexadecimal(signature, 16)),
        other => {
            tell_unknown(&[other]);
            path.push(&[b'%', other])
        }
    }
}

/// Of the first one, and once, children included.
// A function, so that the line does not lie below every flush.
#[cold]
#[inline(never)]
fn tell_unknown(letter: &[u8]) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::Relaxed) {
        Line::about(b"name of the file").text(b"unknown %").text(letter).text(b" stays").print();
    }
}

fn push_program(path: &mut Path, program: &mut Path) -> Result<(), Errno> {
    program.read_link(c"/proc/self/exe");
    match without_deleted(program.bytes()).rsplit(|&byte| byte == b'/').next() {
        Some(name) if !name.is_empty() => path.push(name),
        _ => path.push(b"program"),
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};

    use super::*;

    fn expanded(pattern: &[u8]) -> String {
        let mut place = Place::new();
        place.set_pattern(pattern).unwrap();
        let mut path = Path::new();
        place.expand(0xabc, &mut path, &mut Path::new()).unwrap();
        String::from_utf8(path.bytes().to_vec()).unwrap()
    }

    #[test]
    fn patterns() {
        let own = std::env::current_exe().unwrap();
        let own = own.file_name().unwrap().to_str().unwrap();
        let process = std::process::id().to_string();
        assert_eq!(expanded(b""), own.to_string() + ".csraw");
        assert_eq!(expanded(b"/x/%p.%%.%q%"), "/x/".to_string() + &process + ".%.%q%");
        assert_eq!(expanded(b"%m"), "0000000000000abc");
    }

    #[test]
    fn relative_to_the_start() {
        let mut place = Place::new();
        place.start_here();
        place.set_pattern(b"sub/x").unwrap();
        let mut path = Path::new();
        place.expand(0, &mut path, &mut Path::new()).unwrap();
        let expected = std::env::current_dir().unwrap().join("sub/x");
        assert_eq!(path.bytes(), expected.to_str().unwrap().as_bytes());
    }

    #[test]
    fn too_long_is_an_error() {
        let mut place = Place::new();
        assert_eq!(place.set_pattern(&[b'x'; LONGEST]), Err(Errno::NAMETOOLONG));
        place.set_pattern(&[b'x'; LONGEST - 1]).unwrap();
        let mut path = Path::new();
        assert_eq!(place.expand(0, &mut path, &mut Path::new()), Ok(()));
        place.set_pattern(&[b"%m".as_slice(), &[b'x'; LONGEST - 3]].concat()).unwrap();
        assert_eq!(place.expand(0, &mut path, &mut Path::new()), Err(Errno::NAMETOOLONG));
    }
}
