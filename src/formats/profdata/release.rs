//! Which version to write for a release of LLVM.

use super::Version;
use crate::counters::{Function, Profile, Variant};

/// Bits that are zero in hashes of front ends from LLVM 22 on.
const UNUSED_HASH_BITS: u64 = 0xf << 60;

/// The newest version that all readers of an LLVM release take: compilers, `llvm-profdata`, `llvm-cov`.
///
/// Clang's front end chooses the algorithm of its hashes by the version of the profile. LLVM 22 changed it,
/// together with version 13. So a profile of clang's front end whose hashes are of the old kind gets version 12.
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
        _ if has_old_hashes(profile) => 12,
        22 => 13,
        _ => 14,
    };
    Version::new(newest).unwrap_or(Version::OLDEST_WRITTEN)
}

/// Whether clang's front end before LLVM 22 made the hashes. Those of rustc's coverage use all bits in any release.
fn has_old_hashes(profile: &Profile) -> bool {
    let is_old =
        |function: &Function| function.hash & UNUSED_HASH_BITS != 0 && !is_of_rust(&function.name);
    !profile.variant.has(Variant::IR) && profile.functions.iter().any(is_old)
}

/// Whether a name is mangled as rustc does, in its own way or with a hash behind a C++ name.
fn is_of_rust(name: &[u8]) -> bool {
    let has_hash = || name.windows(3).rev().nth(17).is_some_and(|length| length == b"17h");
    name.starts_with(b"_R") || name.starts_with(b"_ZN") && has_hash()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_hashes() {
        let version = |name: &[u8], hash, variant| {
            let function = Function { name: name.into(), hash, ..Function::default() };
            let functions = [function].into();
            let profile = Profile { functions, variant, ..Profile::default() };
            [19, 22, 23].map(|major| version_for_llvm(major, &profile).number())
        };
        let front_end = Variant::default();
        assert_eq!(version(b"f", 1, front_end), [12, 13, 14]);
        assert_eq!(version(b"f", 1 << 63, front_end), [12; 3]);
        assert_eq!(version(b"f", 1 << 60, Variant::IR), [12, 13, 14]);
        for name in [&b"_RNvCs1_1a1f"[..], b"_ZN1a1f17h0123456789abcdefE"] {
            assert_eq!(version(name, 1 << 63, front_end), [12, 13, 14]);
        }
    }
}
