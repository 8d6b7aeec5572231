//! Which file the counts go to.
//!
//! A process has one [`OutputPath`] for all its images. Its pattern comes from `COUNTERSINK_FILE` or
//! `countersink_set_file`. Without one an image uses the pattern it was linked with (`countersink flags
//! --file`), or else [`DEFAULT`]:
//!
//! | in the pattern | becomes |
//! |---|---|
//! | `%e` | name of the program |
//! | `%p` | process id |
//! | `%h` | name of the machine |
//! | `%m` | signature of the module, 16 hexadecimal digits |
//! | `%%` | `%` |
//!
//! Any other `%` stays as it is; the first one is reported. A relative path starts from the directory in
//! which the program started, not from where the program is at its end or when it opens a library.
//!
//! A program with more rights than its starter has only the name that it was linked with, and that must be absolute:
//! its starter chooses the directory and the environment, and may choose what the program says.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use super::message::{Line, decimal, hexadecimal};
use super::problem::MORE_RIGHTS;
use super::sys::{self, Errno};

/// Letters that may stand behind a percent sign.
pub const LETTERS: &[u8] = b"ephm%";

/// The pattern if nobody gives one.
pub const DEFAULT: &[u8] = b"%e.csraw";

/// Longest path of the system, its NUL included.
pub const LONGEST_PATH: usize = 4096;
/// Longest name in a directory.
const LONGEST_NAME: usize = 255;

/// A path of the system, as long as any can be.
#[derive(Debug)]
pub struct Path {
    length: usize,
    /// The path, and a NUL.
    bytes: [u8; LONGEST_PATH],
}

impl Path {
    /// The empty path.
    pub const fn new() -> Self {
        Self { length: 0, bytes: [0; LONGEST_PATH] }
    }

    /// The bytes, without the NUL.
    #[inline(never)]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The path as the system wants it.
    #[inline(never)]
    pub fn c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    /// Empties the path.
    pub fn clear(&mut self) {
        self.end_at(0);
    }

    /// Appends bytes.
    #[inline(never)]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let end = self.length.saturating_add(bytes.len());
        if end >= LONGEST_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        let free = self.bytes.get_mut(self.length..end).unwrap_or_default();
        free.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.end_at(end);
        Ok(())
    }

    /// Replaces the path; keeps it if the other is too long.
    pub fn set(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.len() >= LONGEST_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        self.clear();
        self.push(bytes)
    }

    /// Becomes the target of a symbolic link; empty if there is none.
    pub fn read_link(&mut self, link: &CStr) {
        self.fill(|free| sys::read_link(link, free));
    }

    /// The same of a link that is open itself.
    pub fn read_open_link(&mut self, link: &sys::File) {
        self.fill(|free| sys::read_open_link(link, free));
    }

    /// Becomes the working directory; empty if that has no path.
    pub fn read_working_directory(&mut self) {
        self.fill(sys::working_directory);
        // A process outside its root directory has a working directory without a path.
        if !self.bytes.starts_with(b"/") {
            self.clear();
        }
    }

    fn fill(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<usize, Errno>) {
        let free = self.bytes.get_mut(..LONGEST_PATH - 1).unwrap_or_default();
        let length = fill(free).unwrap_or(0);
        self.end_at(length);
    }

    fn end_at(&mut self, length: usize) {
        self.length = length.min(LONGEST_PATH - 1);
        if let Some(end) = self.bytes.get_mut(self.length) {
            *end = 0;
        }
    }

    /// The directory part, the slash included; empty if there is none.
    pub fn directory(&self) -> &[u8] {
        let bytes = self.bytes();
        let length = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        bytes.get(..length).unwrap_or_default()
    }
}

impl Default for Path {
    fn default() -> Self {
        Self::new()
    }
}

/// Where an image's counts go.
#[derive(Clone, Copy)]
pub struct Target {
    /// The process's.
    pub place: &'static OutputPath,
    /// The pattern that the image was linked with, empty if there is none.
    pub linked: &'static [u8],
}

impl Target {
    /// Writes the path for a module with this signature.
    #[inline(always)]
    pub fn expand(&self, signature: u64, path: &mut Path) -> Result<(), Errno> {
        self.place.expand(self.linked, signature, path)
    }
}

/// Where a process's counts go, as far as that is known before they are written.
#[repr(C)]
pub struct OutputPath {
    is_begun: AtomicBool,
    /// Where the program started, empty if unknown.
    directory: Text<LONGEST_PATH>,
    /// Name of the program, empty if unknown.
    program: Text<LONGEST_NAME>,
    /// Empty for each image's own.
    pattern: Text<LONGEST_PATH>,
}

impl OutputPath {
    /// A place before anything is known.
    pub const fn new() -> Self {
        let (directory, program, pattern) = (Text::new(), Text::new(), Text::new());
        Self { is_begun: AtomicBool::new(false), directory, program, pattern }
    }

    /// Remembers where the program starts, its name, and the `user`'s pattern. Only the first call does
    /// anything. `scratch` is room for a path.
    pub fn begin<'u>(&self, user: impl FnOnce() -> Option<&'u [u8]>, scratch: &mut Path) {
        if self.is_begun.swap(true, Ordering::Relaxed) {
            return;
        }
        scratch.read_working_directory();
        self.directory.set(scratch.bytes());
        scratch.read_link(c"/proc/self/exe");
        let program = without_deleted(scratch.bytes()).rsplit(|&byte| byte == b'/').next();
        self.program.set(program.unwrap_or_default());
        if let Some(Err(error)) = user().map(|pattern| self.set_pattern(pattern)) {
            let mut line = Line::about(b"name of the file");
            line.error(error).text(b"; the default file name is used").print();
        }
    }

    /// Takes another pattern. An empty one stands for each image's own.
    pub fn set_pattern(&self, pattern: &[u8]) -> Result<(), Errno> {
        if sys::has_more_rights() {
            return Err(Errno::PERM);
        }
        if pattern.len() >= LONGEST_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        self.pattern.set(pattern);
        Ok(())
    }

    fn expand(&self, linked: &[u8], signature: u64, path: &mut Path) -> Result<(), Errno> {
        path.clear();
        if !self.pattern.is_empty() {
            return self.expand_bytes(&mut self.pattern.bytes(), signature, path);
        }
        let pattern = if linked.is_empty() { DEFAULT } else { linked };
        self.expand_bytes(&mut pattern.iter().copied(), signature, path)?;
        if sys::has_more_rights() && !linked.starts_with(b"/") {
            return Err(MORE_RIGHTS);
        }
        Ok(())
    }

    fn expand_bytes(
        &self,
        bytes: &mut dyn Iterator<Item = u8>,
        signature: u64,
        path: &mut Path,
    ) -> Result<(), Errno> {
        let mut is_first = true;
        while let Some(byte) = bytes.next() {
            if core::mem::take(&mut is_first) && byte != b'/' && !self.directory.is_empty() {
                self.directory.push_to(path)?;
                path.push(b"/")?;
            }
            match byte {
                b'%' => self.push_letter(bytes.next(), signature, path)?,
                byte => path.push(&[byte])?,
            }
        }
        Ok(())
    }

    /// Appends what a letter behind a percent sign stands for.
    fn push_letter(
        &self,
        letter: Option<u8>,
        signature: u64,
        path: &mut Path,
    ) -> Result<(), Errno> {
        match letter {
            Some(b'e') if self.program.is_empty() => path.push(b"program"),
            Some(b'e') => self.program.push_to(path),
            Some(b'p') => path.push(&decimal(u64::from(sys::process()))),
            Some(b'h') => sys::with_host(|host| path.push(host)),
            Some(b'm') => path.push(&hexadecimal(signature, 16)),
            Some(b'%') => path.push(b"%"),
            Some(other) => {
                tell_unknown(&[other]);
                path.push(&[b'%', other])
            }
            None => {
                tell_unknown(b"");
                path.push(b"%")
            }
        }
    }
}

impl Default for OutputPath {
    fn default() -> Self {
        Self::new()
    }
}

/// Tells of the first unknown `%`, once; a child does not repeat what its parent told.
// A function, so that the line does not lie below every flush.
#[cold]
#[inline(never)]
fn tell_unknown(letter: &[u8]) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::Relaxed) {
        Line::about(b"name of the file").text(b"unknown %").text(letter).text(b" stays").print();
    }
}

/// A text that the handler of a fault may read during a change. It then finds a mix of both.
#[repr(C)]
struct Text<const N: usize> {
    length: AtomicUsize,
    bytes: [AtomicU8; N],
}

impl<const N: usize> Text<N> {
    const fn new() -> Self {
        Self { length: AtomicUsize::new(0), bytes: [const { AtomicU8::new(0) }; N] }
    }

    fn is_empty(&self) -> bool {
        self.length.load(Ordering::Relaxed) == 0
    }

    fn set(&self, text: &[u8]) {
        self.bytes.iter().zip(text).for_each(|(to, &from)| to.store(from, Ordering::Relaxed));
        self.length.store(text.len().min(N), Ordering::Relaxed);
    }

    fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        let bytes = self.bytes.iter().take(self.length.load(Ordering::Relaxed));
        bytes.map(|byte| byte.load(Ordering::Relaxed))
    }

    fn push_to(&self, path: &mut Path) -> Result<(), Errno> {
        self.bytes().try_for_each(|byte| path.push(&[byte]))
    }
}

/// A path from the system without the mark of a deleted file.
pub fn without_deleted(path: &[u8]) -> &[u8] {
    match path.split_last_chunk() {
        Some((path, b" (deleted)")) => path,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};

    use super::*;

    fn begun(user: Option<&[u8]>) -> OutputPath {
        let place = OutputPath::new();
        place.begin(|| user, &mut Path::new());
        place
    }

    fn path_of(place: &OutputPath, linked: &[u8]) -> String {
        let mut path = Path::new();
        place.expand(linked, 0xabc, &mut path).unwrap();
        String::from_utf8(path.bytes().to_vec()).unwrap()
    }

    /// What a user's pattern becomes, relative to the directory in which the tests run.
    fn expanded(pattern: &str) -> String {
        let path = path_of(&begun(Some(pattern.as_bytes())), b"");
        let here = std::env::current_dir().unwrap();
        path.strip_prefix(here.join("").to_str().unwrap()).unwrap_or(&path).to_string()
    }

    #[test]
    fn patterns() {
        let own = std::env::current_exe().unwrap();
        let own = own.file_name().unwrap().to_str().unwrap();
        let process = std::process::id().to_string();
        assert_eq!(expanded(""), own.to_string() + ".csraw");
        assert_eq!(expanded("/x/%p.%%.%q%"), "/x/".to_string() + &process + ".%.%q%");
        assert_eq!(expanded("%m"), "0000000000000abc");
        assert_eq!(expanded("sub/x"), "sub/x");
    }

    #[test]
    fn the_user_before_the_linker() {
        let place = begun(Some(b"/user"));
        assert_eq!(path_of(&place, b"/linker/%p%%"), "/user");
        place.set_pattern(b"").unwrap();
        let expected = std::format!("/linker/{}%", std::process::id());
        assert_eq!(path_of(&place, b"/linker/%p%%"), expected);
        assert_eq!(path_of(&begun(None), b"/linker"), "/linker");
        assert_eq!(path_of(&begun(Some(b"")), b"/linker"), "/linker");
    }

    #[test]
    fn only_the_first_begins() {
        let place = begun(Some(b"/first"));
        place.begin(|| Some(b"/second"), &mut Path::new());
        assert_eq!(path_of(&place, b""), "/first");
    }

    #[test]
    fn too_long_is_an_error() {
        let place = OutputPath::new();
        assert_eq!(place.set_pattern(&[b'x'; LONGEST_PATH]), Err(Errno::NAMETOOLONG));
        place.set_pattern(&[b'x'; LONGEST_PATH - 1]).unwrap();
        let mut path = Path::new();
        assert_eq!(place.expand(b"", 0, &mut path), Ok(()));
        place.set_pattern(&[b"%m".as_slice(), &[b'x'; LONGEST_PATH - 3]].concat()).unwrap();
        assert_eq!(place.expand(b"", 0, &mut path), Err(Errno::NAMETOOLONG));
    }
}
