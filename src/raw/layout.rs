//! Where every byte of a raw dump stands.
//!
//! Not here: what the payload of a module's sections looks like ([`super::gcov`] and [`super::llvm`]).
//!
//! **File header**, 16 bytes at offset 0:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | magic `89 43 53 52 41 57 0d 0a` (`\x89CSRAW\r\n`) |
//! | 8 | 4 | byte order of the program: 0x01020304 as its machine stores it |
//! | 12 | 2 | format version, [`VERSION`] |
//! | 14 | 1 | pointer width of the program in bytes, 4 or 8 |
//! | 15 | 1 | 0 |
//!
//! All other numbers have the lowest byte first, whatever the machine.
//!
//! **Section**, from offset 16 to the end of the file, each a multiple of 8 bytes:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | CRC-32 (IEEE) of everything that follows in the section |
//! | 4 | 4 | kind, [`SectionKind`] |
//! | 8 | 4 | length of the payload, a multiple of 8, at most [`MAX_PAYLOAD`] |
//! | 12 | 4 | sequence number: 0 for the first section of the file, then one more each |
//! | 16 | length | payload |
//!
//! **MODULE** payload, 64 bytes, opens a module:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | ABI of the instrumentation: 1 = gcov, 2 = LLVM |
//! | 4 | 4 | length of the build-id, 0 if the image has none |
//! | 8 | 32 | build-id, zero padded; the first 32 bytes of a longer one |
//! | 40 | 8 | signature: FNV-1a over the build-id, all records of OBJECTS and all object paths; without a build-id, which tells as much, also over the heads of all functions, without what is content there |
//! | 48 | 4 | number of objects |
//! | 52 | 4 | number of functions |
//! | 56 | 4 | length of the image's path, which opens STRINGS; 0 if unknown |
//! | 60 | 4 | length of STRINGS without its padding |
//!
//! The first 56 bytes are the module's identity: counts are added where they are equal. So must be OBJECTS, without the
//! places of paths, and the heads of all functions, but for the content that their family names. Identity is only what
//! every run of the same file has in common, wherever it is loaded and whatever other images export:
//!
//! | field | is | because |
//! |---|---|---|
//! | ABI, build-id, numbers of objects and functions | identity | the linker has put them into the file |
//! | version, stamp, checksum, rules, number of functions of an object | identity | the compiler has; each image has its own hidden copies of the symbols that lead there |
//! | path of an object | identity | a string of the file; gcov's prefixes are applied by readers |
//! | ident, checksums, name reference, hash, kinds and numbers of counters | identity | as above; records and counters have no symbol that another image could take over |
//! | whether a function's copy is in another object | identity | the linker has decided it |
//! | offset of a function ([`super::llvm`]) | content | the dynamic linker fills the function's address in, and may take another image's function |
//! | path of the image | content | files move |
//! | order of modules | content | it is the order of their ends |
//! | values of sites | content | they say what happened; addresses become offsets or names |
//! | signature | identity | it covers nothing but identity |
//!
//! **STRINGS** is the image's path followed by the objects' paths, without separators or NUL, padded
//! with zeros to 8 bytes. **OBJECTS** and **FUNCTIONS** follow, then **SUMS**, which closes the module with
//! what is known only after one walk over everything, 40 bytes.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | runs merged into these counts |
//! | 8 | 8 | sum over the runs of each run's largest arc counter |
//! | 16 | 8 | top-N events lost because the runtime's node region was full |
//! | 24 | 8 | number of counters in FUNCTIONS |
//! | 32 | 8 | number of top-N sites in FUNCTIONS |
//!
//! **END** (16 bytes) closes the file: number of modules (8), id of the live file whose counts were
//! added last, else 0 (8).

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::checksum::crc32;

/// First bytes of a raw dump.
pub const MAGIC: [u8; 8] = *b"\x89CSRAW\r\n";
/// The format version written and read by this release.
pub const VERSION: u16 = 4;
/// The oldest version that the tool reads. The runtime goes on only in dumps of [`VERSION`].
pub const OLDEST_VERSION: u16 = 2;
/// Byte-order mark: a machine of the same order reads this value.
pub const ORDER: u32 = 0x0102_0304;
/// Dumps are written in blocks of this size, each at a multiple of it in the file. Systems take two thirds of
/// the time for these that they take for blocks at any other place.
pub const BLOCK: usize = 64 * 1024;
/// Header and payload of the largest section: the buffer that a reader or writer needs. A section may end a
/// little behind a block.
pub const MAX_SECTION: usize = BLOCK + 2048;
/// Longest payload of a section, in bytes.
pub const MAX_PAYLOAD: usize = MAX_SECTION - size_of::<SectionHeader>();
/// `ModuleRecord::abi` of objects instrumented by GCC.
pub const ABI_GCOV: u32 = 1;
/// `ModuleRecord::abi` of objects instrumented by LLVM.
pub const ABI_LLVM: u32 = 2;
/// Bytes of a build-id that a module record keeps.
pub const BUILD_ID_CAPACITY: usize = 32;

/// The order of bytes in a program's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The lowest byte first.
    #[default]
    Little,
    /// The highest byte first.
    Big,
}

impl Order {
    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::Little => Self::Big,
            Self::Big => Self::Little,
        }
    }

    /// This machine's.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };
}

/// The program's machine, as the header of the file describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The order of the program's bytes.
    pub order: Order,
    /// Bytes of a pointer, 4 or 8.
    pub pointer_width: u8,
}

impl Machine {
    /// This machine.
    pub const NATIVE: Self =
        Self { order: Order::NATIVE, pointer_width: FileHeader::NATIVE.pointer_width };
}

/// The 16 bytes that open a file.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct FileHeader {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`ORDER`].
    pub order: u32,
    /// [`VERSION`].
    pub version: u16,
    /// 4 or 8.
    pub pointer_width: u8,
    /// 0.
    pub reserved: u8,
}

impl FileHeader {
    /// The header this machine writes.
    pub const NATIVE: &Self = &Self {
        magic: MAGIC,
        order: ORDER,
        version: VERSION,
        pointer_width: size_of::<usize>() as u8,
        reserved: 0,
    };
}

/// The 16 bytes before every payload.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct SectionHeader {
    /// See [`checksum`].
    pub crc: u32,
    /// A [`SectionKind`] as a number.
    pub kind: u32,
    /// Bytes of payload.
    pub length: u32,
    /// Position of the section in the file, counted from 0.
    pub sequence: u32,
}

/// CRC-32 of a section, header and payload, without the field that holds it.
pub fn checksum(section: &[u8]) -> u32 {
    crc32(section.get(size_of::<u32>()..).unwrap_or_default())
}

/// What a section's payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SectionKind {
    /// One [`ModuleRecord`].
    Module = 1,
    /// Paths.
    Strings = 2,
    /// Object records of the module's ABI.
    Objects = 3,
    /// Function records of the module's ABI, and the functions' counts.
    Functions = 4,
    /// One [`SumsRecord`].
    Sums = 5,
    /// One [`EndRecord`].
    End = 6,
}

impl SectionKind {
    /// The kind with this number, if this version knows it.
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Module,
            2 => Self::Strings,
            3 => Self::Objects,
            4 => Self::Functions,
            5 => Self::Sums,
            6 => Self::End,
            _ => return None,
        })
    }

    /// Name as used in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Module => "MODULE",
            Self::Strings => "STRINGS",
            Self::Objects => "OBJECTS",
            Self::Functions => "FUNCTIONS",
            Self::Sums => "SUMS",
            Self::End => "END",
        }
    }
}

/// A 64-bit word of a stream of words, in the machine's byte order.
pub type Word = [u8; 8];

/// A build-id: its length and its first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildId {
    /// Length in the image. This may exceed what is kept.
    pub length: usize,
    /// The bytes, zero padded.
    pub bytes: [u8; BUILD_ID_CAPACITY],
}

impl From<&[u8]> for BuildId {
    fn from(id: &[u8]) -> Self {
        let mut kept = Self { length: id.len(), ..Self::default() };
        kept.bytes.iter_mut().zip(id).for_each(|(to, from)| *to = *from);
        kept
    }
}

/// The build of an image that a module is. Equal identities mean equal layout of all counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Identity {
    /// [`ABI_GCOV`] or [`ABI_LLVM`].
    pub abi: u32,
    /// Length of the build-id in bytes.
    pub build_id_length: u32,
    /// The build-id, zero padded.
    pub build_id: [u8; BUILD_ID_CAPACITY],
    /// Hash over everything that distinguishes builds.
    pub signature: u64,
    /// Number of object records.
    pub objects: u32,
    /// Number of function records.
    pub functions: u32,
}

impl Identity {
    /// The build-id, empty if there is none.
    pub fn build_id(&self) -> &[u8] {
        self.build_id.get(..self.build_id_length as usize).unwrap_or(&self.build_id)
    }
}

/// What the runs of a module add up to, besides the counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Sums {
    /// Runs merged into the counts.
    pub runs: u64,
    /// Sum over the runs of the largest arc counter of each.
    pub sum_max: u64,
    /// Top-N events lost for want of a node.
    pub dropped: u64,
}

impl Sums {
    /// The sum of both, at most the largest number.
    pub fn plus(self, other: Self) -> Self {
        Self {
            runs: self.runs.saturating_add(other.runs),
            sum_max: self.sum_max.saturating_add(other.sum_max),
            dropped: self.dropped.saturating_add(other.dropped),
        }
    }
}

/// Opens a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ModuleRecord {
    /// The module's identity.
    pub identity: Identity,
    /// Bytes of the image's path.
    pub path_length: u32,
    /// Bytes of STRINGS.
    pub strings_length: u32,
}

/// Closes a module.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct SumsRecord {
    /// What the module's runs add up to.
    pub sums: Sums,
    /// Number of the module's counters, those of top-N sites left out.
    pub counters: u64,
    /// Number of the module's top-N sites.
    pub sites: u64,
}

/// Closes a file.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct EndRecord {
    /// Number of modules in the file.
    pub modules: u64,
    /// Id of the live file whose counts were added last, 0 if there was none.
    pub added: u64,
}

/// Running 64-bit FNV-1a hash over words of 64 bits: the signature of a module.
#[derive(Clone, Copy, Debug)]
pub struct Signature(u64);

impl Signature {
    /// The hash of nothing.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds one word.
    #[inline(always)]
    pub fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// Adds two halves of a word.
    #[inline(always)]
    pub fn halves(&mut self, low: u32, high: u32) {
        self.word(u64::from(high) << 32 | u64::from(low));
    }

    /// Adds a string with its length before it.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for &byte in bytes {
            self.word(u64::from(byte));
        }
    }

    /// The hash so far.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Signature {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_sizes_of_the_table() {
        assert_eq!(size_of::<FileHeader>(), 16);
        assert_eq!(size_of::<SectionHeader>(), 16);
        assert_eq!(size_of::<Identity>(), 56);
        assert_eq!(size_of::<ModuleRecord>(), 64);
        assert_eq!(size_of::<SumsRecord>(), 40);
        assert_eq!(size_of::<EndRecord>(), 16);
        assert_eq!(MAX_PAYLOAD % 8, 0);
    }
}
