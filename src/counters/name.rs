//! Names as LLVM's profiles refer to them.

use md5::{Digest, Md5};

/// The number that stands for a name in records, value data and traces: the first 8 bytes of its MD5,
/// little-endian.
pub fn name_ref(name: &[u8]) -> u64 {
    let digest = Md5::digest(name);
    digest.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The file and the symbol in a name. That of a local function starts with its file: `file.c;symbol`, in older
/// releases `file.c:symbol`.
pub fn file_and_symbol(name: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let separator = name.iter().rposition(|byte| matches!(byte, b';' | b':'));
    let parts = separator.map(|place| (&name[..place], &name[place + 1..]));
    match parts.filter(|(file, symbol)| !file.is_empty() && !symbol.is_empty()) {
        Some((file, symbol)) => (Some(file), symbol),
        None => (None, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_names() {
        // `printf main | md5sum` begins with fad58de7366495db.
        assert_eq!(name_ref(b"main"), 0xdb95_6436_e78d_d5fa);
    }

    #[test]
    fn files_of_local_functions() {
        for name in [&b"a/b.c;twice"[..], b"a/b.c:twice"] {
            assert_eq!(file_and_symbol(name), (Some(&b"a/b.c"[..]), &b"twice"[..]));
        }
        for name in [&b"main"[..], b"", b":x", b"x;"] {
            assert_eq!(file_and_symbol(name), (None, name));
        }
    }
}
