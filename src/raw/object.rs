//! Object records, of every family, and the signature of a module.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::layout::{Identity, Signature};

/// One instrumented translation unit. The fields are gcov's; [`super::llvm`] says what it holds in them.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | version word of the compiler |
/// | 4 | 4 | stamp |
/// | 8 | 4 | checksum over the functions' checksums; 0 before GCC 12 |
/// | 12 | 4 | number of functions |
/// | 16 | 8 | counter kinds in use with their merge rules, four bits a kind |
/// | 24 | 4 | offset of the `.gcda` path in STRINGS |
/// | 28 | 4 | length of the `.gcda` path |
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ObjectRecord {
    /// See [`super::gcov::Version`].
    pub version: u32,
    /// Time of compilation, equal in the `.gcno` file.
    pub stamp: u32,
    /// Checksum of the object's functions.
    pub checksum: u32,
    /// Functions that follow for this object.
    pub functions: u32,
    /// See [`super::kind::Rules`].
    pub rules: u64,
    /// Where the path of the `.gcda` file starts in STRINGS.
    pub path_offset: u32,
    /// Its length in bytes.
    pub path_length: u32,
}

/// A module's signature covers the build-id and the objects in the order of the file. Without a build-id it
/// also covers the heads of each object's functions, behind the object, word by word.
impl Signature {
    /// Begins the signature of a module.
    pub fn of(identity: &Identity) -> Self {
        let mut signature = Self::new();
        signature.bytes(identity.build_id());
        signature
    }

    /// Adds an object.
    pub fn object(&mut self, record: &ObjectRecord, path: &[u8]) {
        self.halves(record.version, record.stamp);
        self.halves(record.checksum, record.functions);
        self.word(record.rules);
        self.bytes(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_size_of_the_table() {
        assert_eq!(size_of::<ObjectRecord>(), 32);
    }
}
