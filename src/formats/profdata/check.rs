//! What can be wrong with a file, and what a reader may tolerate.

/// A defect and where it is.
pub type Finding = crate::formats::Finding<Defect>;

/// Defects, grouped by kind.
pub type Findings = crate::formats::Findings<Finding>;

/// Is told each defect that is tolerated.
pub(super) type Tell<'t> = &'t mut dyn FnMut(Finding);

/// A part of a file, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Part {
    /// Magic, version, offsets.
    #[error("header")]
    Header,
    /// How the counts are distributed.
    #[error("summary")]
    Summary,
    /// The hash table, and its items before the records.
    #[error("hash table")]
    Table,
    /// The records of a function, within its item.
    #[error("records")]
    Records,
    /// Build-ids.
    #[error("build-ids")]
    BinaryIds,
    /// Names of virtual tables.
    #[error("names of virtual tables")]
    VTables,
    /// Temporal profile traces.
    #[error("traces")]
    Traces,
}

/// A defect of an indexed profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Another magic.
    #[error("expected the magic of an indexed LLVM profile")]
    Magic,
    /// A version that is not known.
    #[error(
        "expected version {oldest} to {newest}, found {0}",
        oldest = super::Version::OLDEST.number(),
        newest = super::Version::NEWEST.number()
    )]
    Version(u32),
    /// Another hash than MD5.
    #[error("expected hash kind 0, found {0}")]
    HashKind(u64),
    /// A memory profile, which is not read.
    #[error("the file has a memory profile (memprof), which is not supported; merge without it")]
    MemoryProfile,
    /// The file ends early, or a part does.
    #[error("{part} cut short: expected {expected} more bytes, found {found}")]
    Truncated {
        /// What was being read.
        part: Part,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// More things announced than the bytes left can hold.
    #[error("{part}: {found} announced, but there are bytes for {most} at most")]
    Count {
        /// What was being read.
        part: Part,
        /// Most that the bytes left can hold.
        most: u64,
        /// The number found.
        found: u64,
    },
    /// An offset of a part that cannot be there.
    #[error("{part}: expected an offset in the file from {least:#x} on, found {found:#x}")]
    Offset {
        /// The part.
        part: Part,
        /// The smallest that is possible.
        least: u64,
        /// The offset found.
        found: u64,
    },
    /// A number of buckets that is not a power of two.
    #[error("expected a power of two as the number of buckets, found {0}")]
    Buckets(u64),
    /// A bucket that begins within the one before it.
    #[error("bucket begins within another one")]
    Overlap,
    /// Another number of names than the hash table says.
    #[error("expected {expected} functions in the hash table, found {found}")]
    Entries {
        /// The number in the table.
        expected: u64,
        /// The number of items.
        found: u64,
    },
    /// An item whose hash is not that of its name.
    #[error("expected {expected:#x} as the hash of the name, found {found:#x}")]
    NameHash {
        /// The name's.
        expected: u64,
        /// The item's.
        found: u64,
    },
    /// An item in a bucket where no reader looks for it.
    #[error("expected the function in bucket {expected}, found it in {found}")]
    Bucket {
        /// Where it should be.
        expected: u64,
        /// Where it is.
        found: u64,
    },
    /// An unknown value kind, or one that the record had before.
    #[error("unexpected value kind {0}")]
    ValueKind(u32),
    /// Value data of another size than announced.
    #[error("value data takes {expected} bytes, but {found} are announced")]
    ValueSize {
        /// Bytes taken.
        expected: u64,
        /// Bytes announced.
        found: u64,
    },
    /// A number of more than 64 bits.
    #[error("number of more than 64 bits")]
    Leb128,
    /// Compressed names that cannot be unpacked to the announced length.
    #[error("compressed names cannot be unpacked")]
    Compressed,
    /// A second record of this name and hash.
    #[error("second record of this name and hash")]
    DuplicateRecord,
    /// A second item of this name.
    #[error("second function of this name")]
    DuplicateName,
    /// Bits of the variant that are not known.
    #[error("unknown bits {0:#x} beside the version")]
    Variant(u64),
    /// Another number of totals or of cutoffs than LLVM writes.
    #[error("expected a summary of 6 totals and 16 cutoffs, found {totals} and {cutoffs}")]
    SummaryShape {
        /// Number of totals.
        totals: u64,
        /// Number of cutoffs.
        cutoffs: u64,
    },
    /// The summary does not fit the counts.
    #[error("summary differs from the counts")]
    Summary,
    /// A bitmap of uniformity, which is not kept.
    #[error("bitmap of uniformity, which is not kept")]
    Uniformity,
    /// Something between parts that should be zeros.
    #[error("{0}: expected zeros between parts")]
    Padding(Part),
    /// Bytes that belong to nothing.
    #[error("{0} bytes that belong to nothing")]
    Unused(u64),
}

impl Defect {
    /// Whether the rest of the file can be trusted all the same.
    pub const fn is_tolerable(&self) -> bool {
        matches!(
            self,
            Self::NameHash { .. }
                | Self::Bucket { .. }
                | Self::DuplicateRecord
                | Self::DuplicateName
                | Self::Variant(_)
                | Self::SummaryShape { .. }
                | Self::Summary
                | Self::Uniformity
                | Self::Padding(_)
                | Self::Unused(_)
        )
    }
}
