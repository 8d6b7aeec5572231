//! Divides the command of a compiler into words: `gcc -m32`, `ccache gcc`, `"/opt/my tools/gcc" -m64`. The build script
//! does it, too.
//!
//! As in a shell, with quotes and backslashes, and nothing else of it: no variable, no pattern. A path with blanks
//! needs no quotes if there is such a file.

use std::path::Path;
use std::prelude::v1::*;

/// The words; `None` if a quote is not closed, or a backslash ends the command.
pub fn split(command: &str) -> Option<Vec<String>> {
    let command = command.trim();
    let (path, rest) = path_with_blanks(command).unwrap_or(("", command));
    let path = (!path.is_empty()).then(|| path.to_owned());
    Some(path.into_iter().chain(shlex::split(rest)?).collect())
}

/// The path that begins a text, if it has blanks and there is such a file, and the rest. The longest one counts.
fn path_with_blanks(text: &str) -> Option<(&str, &str)> {
    let blanks = text.match_indices(char::is_whitespace).map(|(at, _)| at);
    let ends = blanks.chain([text.len()]).skip(1).collect::<Vec<_>>();
    let is_file = |end: &usize| text.contains('/') && Path::new(&text[..*end]).is_file();
    let end = ends.into_iter().rev().find(is_file)?;
    Some(text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_in_a_shell() {
        for (text, expected) in [
            ("gcc", &["gcc"][..]),
            ("  gcc\t-m32 ", &["gcc", "-m32"]),
            ("ccache gcc-12 -m64", &["ccache", "gcc-12", "-m64"]),
            ("'/opt/my tools/gcc' -m32", &["/opt/my tools/gcc", "-m32"]),
            (r"/opt/my\ tools/gcc -m32", &["/opt/my tools/gcc", "-m32"]),
            (r#"gcc -DNAME="\"a b\"" '-DX=$Y'"#, &["gcc", "-DNAME=\"a b\"", "-DX=$Y"]),
            ("gcc ''", &["gcc", ""]),
        ] {
            assert_eq!(split(text).unwrap(), expected, "{text}");
        }
        for text in ["'gcc -m32", "gcc \\", "\""] {
            assert_eq!(split(text), None, "{text}");
        }
        for text in ["", " \t"] {
            assert_eq!(split(text).unwrap(), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_file_with_blanks_is_one_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::create_dir(path("my tools")).unwrap();
        for name in ["my tools/gcc", "my tools/it's a gcc", "my tools/it's"] {
            std::fs::write(path(name), "").unwrap();
            let path = path(name);
            assert_eq!(split(&path).unwrap(), [&*path]);
            assert_eq!(split(&format!(" {path}  -m32 'a b'")).unwrap(), [&*path, "-m32", "a b"]);
        }
        // A folder is no program, and what is no file is divided.
        let (none, first) = (path("my tools/none"), path("my"));
        assert_eq!(split(&none).unwrap(), [&*first, "tools/none"]);
        assert_eq!(split(&path("my tools")).unwrap(), [&*first, "tools"]);
    }
}
