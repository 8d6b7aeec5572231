//! Which version to write for a release of LLVM.

use super::Version;
use crate::counters::{Profile, Variant};

/// Bits that are zero in hashes of front ends from LLVM 22 on.
const UNUSED_HASH_BITS: u64 = 0xf << 60;

/// The newest version that all readers of an LLVM release take: compilers, `llvm-profdata`, `llvm-cov`.
///
/// Front ends choose the algorithm of their hashes by the version of the profile. LLVM 22 changed it, together
/// with version 13. So a front end's profile whose hashes are of the old kind gets version 12.
pub fn version_for_llvm(major: u32, profile: &Profile) -> Version {
    let newest = match major {
        ..=8 => 4,
        9..=10 => 5,
        11..=12 => 6,
        13..=14 => 7,
        15 => 8,
        16 => 9,
        17 => 10,
        18 => 11,
        19..=21 => 12,
        22 if has_old_hashes(profile) => 12,
        22 => 13,
        _ if has_old_hashes(profile) => 12,
        _ => 14,
    };
    Version::new(newest).unwrap_or(Version::OLDEST_WRITTEN)
}

/// Whether a front end before LLVM 22 made the hashes.
fn has_old_hashes(profile: &Profile) -> bool {
    let is_old = |hash: u64| hash & UNUSED_HASH_BITS != 0;
    !profile.variant.has(Variant::IR)
        && profile.functions.iter().any(|function| is_old(function.hash))
}
