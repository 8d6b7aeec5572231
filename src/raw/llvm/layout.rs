//! Where the fields of a function's record are: in a program's memory, and in a raw profile.
//!
//! Checked against clang 13 to 16, 19 and 22 and rustc 1.95 on x86-64, and against raw profiles of clang 13, 16 and 22
//! on i386. Versions 5, 9 and 11 are from the published layouts alone.

use super::Version;

/// Offsets in the record of a function.
///
/// | field | bytes | in version |
/// |---|---|---|
/// | number of the name | 8 | all |
/// | hash | 8 | all |
/// | counters | pointer | all |
/// | uniform counters | pointer | 11 |
/// | bitmap | pointer | since 9 |
/// | function: its address, or 0 | pointer | all |
/// | values | pointer | all |
/// | number of counters | 4 | all |
/// | number of sites of each kind | 2 each | all |
/// | size of a wave | 2 | 11 |
/// | number of bitmap bytes, at a multiple of 4 | 4 | since 9 |
///
/// Zeros up to a multiple of 8 follow. In 64-bit profiles that makes 48 bytes up to version 8, 64 up to version
/// 10, 72 in version 11; in 32-bit ones 40, 48 and 56.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes from one record to the next.
    pub stride: usize,
    /// Pointer to the counters: an address up to version 7, an offset from the record since.
    pub counters: usize,
    /// Offset of the bitmap from the record.
    pub bitmap: Option<usize>,
    /// The function's address.
    pub function: usize,
    /// Pointer to the lists of values.
    pub values: usize,
    /// Number of counters.
    pub counters_number: usize,
    /// Numbers of sites.
    pub sites: usize,
    /// Number of bitmap bytes.
    pub bitmap_bytes: Option<usize>,
}

impl Layout {
    /// Bytes of a virtual table's record, with pointers of this size.
    pub const fn vtable_stride(pointer: usize) -> usize {
        if pointer == 8 { 24 } else { 16 }
    }

    /// The layout of a version with pointers of this size.
    pub const fn of(version: Version, pointer: usize) -> Self {
        let (has_bitmap, is_11) = (version as u32 >= 9, version as u32 >= 11);
        let counters = 16;
        let bitmap = counters + pointer * if is_11 { 2 } else { 1 };
        let function = bitmap + if has_bitmap { pointer } else { 0 };
        let values = function + pointer;
        let counters_number = values + pointer;
        let sites = counters_number + 4;
        let wave = sites + 2 * version.kinds();
        let bitmap_bytes = (wave + if is_11 { 2 } else { 0 }).next_multiple_of(4);
        let end = bitmap_bytes + if has_bitmap { 4 } else { 0 };
        Self {
            stride: end.next_multiple_of(8),
            counters,
            bitmap: if has_bitmap { Some(bitmap) } else { None },
            function,
            values,
            counters_number,
            sites,
            bitmap_bytes: if has_bitmap { Some(bitmap_bytes) } else { None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides() {
        let strides = |pointer| Version::ALL.map(|version| Layout::of(version, pointer).stride);
        assert_eq!(strides(8), [48, 48, 48, 64, 64, 72]);
        assert_eq!(strides(4), [40, 40, 40, 48, 48, 56]);
    }

    #[test]
    fn offsets_in_version_10() {
        let layout = Layout::of(Version::V10, 8);
        assert_eq!((layout.function, layout.counters_number, layout.sites), (32, 48, 52));
        assert_eq!((layout.bitmap, layout.bitmap_bytes), (Some(24), Some(60)));
    }
}
