//! The spelling of the paths of source files.

use alloc::vec::Vec;

/// The path of a source file called `name` in `directory`, without `.` and `..`: one spelling for each file, as lcov
/// and LLVM write it.
pub fn source_path(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let directory = if name.starts_with(b"/") { b"" } else { directory };
    let mut path = Vec::with_capacity(directory.len() + name.len() + 2);
    let parts = [directory, name].into_iter().flat_map(|path| path.split(|&byte| byte == b'/'));
    for part in parts.filter(|part| !matches!(*part, b"" | b".")) {
        if part == b".." {
            let parent = path.iter().rposition(|&byte| byte == b'/');
            path.truncate(parent.unwrap_or(0));
            continue;
        }
        path.push(b'/');
        path.extend_from_slice(part);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn paths_of_sources() {
        let path = |directory: &str, name: &str| {
            String::from_utf8(source_path(directory.as_bytes(), name.as_bytes())).unwrap()
        };
        assert_eq!(path("/home/u", "a.c"), "/home/u/a.c");
        assert_eq!(path("/home/u", "./x//a.c"), "/home/u/x/a.c");
        assert_eq!(path("/home/u", "../a.h"), "/home/a.h");
        assert_eq!(path("/home/u", "../../../x/a.h"), "/x/a.h");
        assert_eq!(path("/home/u/..", "a.h"), "/home/a.h");
        assert_eq!(path("/home/u", "/usr/include/a.h"), "/usr/include/a.h");
    }
}
