//! Names as LLVM's profiles refer to them.

use md5::{Digest, Md5};

/// The number that stands for a name in records, value data and traces: the first 8 bytes of its MD5,
/// little-endian.
pub fn name_ref(name: &[u8]) -> u64 {
    let digest = Md5::digest(name);
    digest.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_names() {
        // `printf main | md5sum` begins with fad58de7366495db.
        assert_eq!(name_ref(b"main"), 0xdb95_6436_e78d_d5fa);
    }
}
