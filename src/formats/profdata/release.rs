//! Which version to write for a release of LLVM.

use super::Version;
use crate::counters::{Function, Profile, ValueKind, Variant};

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

/// The oldest version that holds all that a profile has, so that as many compilers as possible read it. Build-ids need
/// version 9, and stay only if `keep_ids` says so. Compilers do not ask for them, and clang 13 and 14 read no version
/// after 7.
pub fn oldest_version(profile: &Profile, hashes: Hashes, keep_ids: bool) -> Version {
    let has = |bits: Variant| profile.variant.has(bits);
    let has_sites =
        |function: &Function| !function.values[ValueKind::VirtualTable as usize].is_empty();
    let needs = [
        (has(Variant::SINGLE_BYTE) || has(Variant::FUNCTION_ENTRY_ONLY), 8),
        (keep_ids && !profile.binary_ids.is_empty(), 9),
        (has(Variant::TEMPORAL) || !profile.traces.is_empty(), 10),
        (profile.functions.iter().any(|function| !function.bitmap.is_empty()), 11),
        (!profile.vtables.is_empty() || profile.functions.iter().any(has_sites), 12),
        (has(Variant::LOOP_ENTRIES), 12),
        (hashes == Hashes::New, 13),
    ];
    let needed = needs.into_iter().filter(|&(is_needed, _)| is_needed);
    let newest = needed.map(|(_, version)| version).fold(OLDEST_CHOSEN, u32::max);
    Version::new(newest).unwrap_or(Version::OLDEST_WRITTEN)
}

/// The oldest version that [`oldest_version`] chooses. Clang reads front ends' hashes from it as LLVM 11 to 21 make
/// them.
const OLDEST_CHOSEN: u32 = 7;

/// How the hashes of a front end's functions were made. Clang expects those of its own front end, and knows them by the
/// version of the profile: from 13 on, they are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hashes {
    /// They are the same in all releases: the functions are small, or were not counted by clang's front end.
    Same,
    /// As LLVM 11 to 21 make them.
    Old,
    /// As LLVM 22 and later make them.
    New,
    /// One function alone does not tell.
    Unknown,
}

impl Hashes {
    /// What the hashes of a profile tell. New ones have four bits that are 0, old ones by chance.
    pub fn of(profile: &Profile) -> Self {
        if profile.variant.has(Variant::IR) {
            return Self::Same;
        }
        if has_old_hashes(profile) {
            return Self::Old;
        }
        let is_large =
            |function: &&Function| function.hash >= LARGE_HASH && !is_of_rust(&function.name);
        match profile.functions.iter().filter(is_large).take(2).count() {
            0 => Self::Same,
            1 => Self::Unknown,
            _ => Self::New,
        }
    }
}

/// A smaller hash is no MD5, in all likelihood, but lists the few branches of a function.
const LARGE_HASH: u64 = 1 << 54;

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
    fn oldest_versions() {
        let of = |hashes: &[u64], variant| {
            let function = |&hash| Function { name: b"f".into(), hash, ..Function::default() };
            let functions = hashes.iter().map(function).collect();
            let profile = Profile { functions, variant, ..Profile::default() };
            (Hashes::of(&profile), oldest_version(&profile, Hashes::of(&profile), true).number())
        };
        let front_end = Variant::default();
        assert_eq!(of(&[1, 1 << 63], front_end), (Hashes::Old, 7));
        assert_eq!(of(&[1, 1 << 30], front_end), (Hashes::Same, 7));
        assert_eq!(of(&[1, 1 << 58], front_end), (Hashes::Unknown, 7));
        assert_eq!(of(&[1 << 57, 1 << 58], front_end), (Hashes::New, 13));
        assert_eq!(of(&[1 << 57, 1 << 58], Variant::IR), (Hashes::Same, 7));
        for (bits, version) in [
            (Variant::CONTEXT_SENSITIVE, 7),
            (Variant::SINGLE_BYTE, 8),
            (Variant::TEMPORAL, 10),
            (Variant::LOOP_ENTRIES, 12),
        ] {
            assert_eq!(of(&[1], Variant(Variant::IR.0 | bits.0)).1, version);
        }
    }

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
