//! Raw profiles of LLVM: ours against `llvm-profdata`'s reading of what clang's and rustc's runtimes wrote.

use countersink::counters::{Profile, Variant};
use countersink::formats::profraw::check::{Defect, Section};
use countersink::formats::profraw::decode::{Decoded, decode};
use countersink::formats::profraw::encode::{EncodeError, encode, encode_for};
use countersink::formats::profraw::image::Images;
use countersink::formats::profraw::{MAGICS, Machine, Version, is_profraw};
use countersink::formats::proftext;

use crate::harness::Workshop;
use crate::llvm::Llvm;

const MACHINES: [Machine; 4] = [
    Machine::X86_64,
    Machine { big_endian: false, pointer: 4 },
    Machine { big_endian: true, pointer: 8 },
    Machine { big_endian: true, pointer: 4 },
];

fn text(profile: &Profile) -> String {
    String::from_utf8(proftext::encode::encode(profile).unwrap()).unwrap()
}

#[track_caller]
fn sound(file: &[u8]) -> Profile {
    let Decoded { profile, findings, .. } = decode(file).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    profile
}

/// The profile of a small program, made by the newest clang there is.
fn newest(shop: &Workshop, flags: &[&str]) -> Option<(Llvm, Vec<u8>)> {
    let llvm = crate::llvm::all().pop()?;
    shop.program("values.cc");
    Some((llvm, llvm.profile(shop, "values.cc", flags)))
}

/// The value of a word of the header of version 10.
fn word(file: &[u8], place: usize) -> u64 {
    u64::from_le_bytes(file[8 * place..8 * place + 8].try_into().unwrap())
}

fn set(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Where the records of a file of version 10 start.
fn records(file: &[u8]) -> usize {
    128 + word(file, 2) as usize
}

fn refused(file: &[u8]) -> (u64, Defect) {
    let finding = decode(file).unwrap_err();
    assert!(!finding.defect.is_tolerable());
    (finding.offset, finding.defect)
}

fn tolerated(file: &[u8]) -> Vec<(u64, Defect)> {
    let findings = decode(file).unwrap().findings;
    assert!(findings.iter().all(|finding| finding.defect.is_tolerable()));
    findings.iter().map(|finding| (finding.offset, finding.defect)).collect()
}

#[test]
#[ignore = "slow"]
fn what_llvm_profdata_reads() {
    for llvm in crate::llvm::all() {
        let shop = Workshop::new();
        for (mode, file) in crate::llvm::profiles(llvm, &shop) {
            let profile = sound(&file);
            let expected = llvm.text(&shop, &file).unwrap();
            assert_eq!(text(&profile), expected, "{mode} of LLVM {}", llvm.major);
            assert_eq!(decode(&file).unwrap().version, llvm.raw_version());
            written_again(llvm, &shop, &profile, &expected);
        }
    }
}

#[test]
fn what_rustc_writes() {
    let Some(llvm) = crate::llvm::of_rustc() else { return };
    let shop = Workshop::new();
    for (mode, file) in crate::llvm::profiles_of_rustc(&shop) {
        let profile = sound(&file);
        let expected = llvm.text(&shop, &file).unwrap();
        assert_eq!(text(&profile), expected, "{mode}");
        written_again(llvm, &shop, &profile, &expected);
    }
}

/// Files that clang's own runtime wrote for `tests/golden/i386.c`, compiled with `-m32 -O1` and `-fprofile-generate`,
/// the last with `-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc`. They have counters, targets of calls,
/// sizes of copies, conditions.
const I386: [(u32, &[u8]); 4] = [
    (13, include_bytes!("../golden/i386-7.profraw")),
    (16, include_bytes!("../golden/i386-8.profraw")),
    (22, include_bytes!("../golden/i386-10.profraw")),
    (22, include_bytes!("../golden/i386-10-conditions.profraw")),
];

#[test]
fn what_programs_of_32_bits_write() {
    let found = crate::llvm::all();
    let shop = Workshop::new();
    for (major, file) in I386 {
        let profile = sound(file);
        assert_eq!(decode(file).unwrap().machine, MACHINES[1]);
        let Some(&llvm) = found.iter().find(|llvm| llvm.major == major) else { continue };
        let expected = llvm.text(&shop, file).unwrap();
        assert_eq!(text(&profile), expected, "LLVM {major}");
        assert_eq!(decode(file).unwrap().version, llvm.raw_version());
        written_again(llvm, &shop, &profile, &expected);
    }
}

/// What we write says the same, to us and to `llvm-profdata`, for all machines and versions.
fn written_again(llvm: Llvm, shop: &Workshop, profile: &Profile, expected: &str) {
    for machine in MACHINES {
        let file = encode_for(profile, llvm.raw_version(), machine).unwrap();
        // Up to LLVM 16 targets are lost in files of another byte order.
        if !machine.big_endian || llvm.major >= 19 {
            assert_eq!(llvm.text(shop, &file).unwrap(), expected, "{machine:?}");
        }
        assert_eq!(decode(&file).unwrap().machine, machine);
    }
    for version in Version::ALL.into_iter().filter(|&version| version >= llvm.raw_version()) {
        for machine in MACHINES {
            let file = encode_for(profile, version, machine).unwrap();
            let mut again = sound(&file);
            again.binary_ids.clone_from(&profile.binary_ids);
            assert_eq!(&again, profile, "{version:?} {machine:?}");
        }
    }
}

/// A second run without `%m` adds a second profile to the file.
#[test]
fn one_profile_behind_another() {
    let shop = Workshop::new();
    let Some((llvm, file)) = newest(&shop, &["-fprofile-generate"]) else { return };
    let profile = sound(&file);
    for gap in [0, 8, 64] {
        let twice = [&file[..], &vec![0; gap], &file, &vec![0; gap]].concat();
        assert_eq!(Images::new(&twice).count(), 2);
        let both = sound(&twice);
        assert_eq!(both.functions[..profile.functions.len()], profile.functions);
        assert_eq!(both.functions[profile.functions.len()..], profile.functions);
        assert_eq!(both.binary_ids, profile.binary_ids);
    }
    let unaligned = [&file[..], &[0; 3], &file].concat();
    assert_eq!(refused(&unaligned), (file.len() as u64, Defect::Magic));
    assert!(llvm.text(&shop, &unaligned).is_err());
    let behind = [&file[..], b"something else in whole words".repeat(8).as_slice()].concat();
    assert_eq!(refused(&behind), (file.len() as u64, Defect::Magic));

    let other = encode(&profile, Version::V11).unwrap();
    assert_eq!(refused(&[&file[..], &other].concat()), (file.len() as u64, Defect::Mixed));
    let mut context = file.clone();
    context[15] |= 2;
    let mixed = [&file[..], &context].concat();
    assert_eq!(tolerated(&mixed), [(file.len() as u64, Defect::Variant)]);
    assert!(decode(&mixed).unwrap().profile.variant.has(Variant::CONTEXT_SENSITIVE));
}

/// `llvm-profdata` makes one trace of all profiles of a file.
#[test]
fn first_calls_of_two_profiles() {
    let shop = Workshop::new();
    let flags = ["-fprofile-generate", "-mllvm", "-pgo-temporal-instrumentation"];
    let Some((llvm, file)) = newest(&shop, &flags) else { return };
    let twice = [&file[..], &file].concat();
    let expected = llvm.text(&shop, &twice).unwrap();
    let expected = expected.lines().find(|line| line.ends_with(',')).unwrap();
    let ours = text(&sound(&twice));
    assert_eq!(ours.lines().find(|line| line.ends_with(',')), Some(expected));
}

#[test]
fn programs_whose_functions_are_elsewhere() {
    let shop = Workshop::new();
    let flags = [
        "-g",
        "-fprofile-generate",
        "-mllvm",
        "-profile-correlate=debug-info",
        "-mllvm",
        "-disable-vp=true",
    ];
    let Some((_, file)) = newest(&shop, &flags) else { return };
    assert_eq!(refused(&file), (0, Defect::DebugInfoCorrelation));
    // The same without the bit is a file of binary correlation.
    let mut binary = file;
    binary[15] &= !8;
    assert_eq!(refused(&binary), (0, Defect::BinaryCorrelation));
}

#[test]
fn defects_have_places() {
    let shop = Workshop::new();
    let Some((llvm, file)) = newest(&shop, &["-fprofile-generate"]) else { return };
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        set(&mut file, at, bytes);
        file
    };
    let start = records(&file);
    assert_eq!(refused(&changed(0, b"x")), (0, Defect::Magic));
    assert_eq!(refused(&changed(8, &[6])), (8, Defect::Version(6)));
    let no_counters = changed(start + 48, &[0; 4]);
    assert_eq!(refused(&no_counters), (start as u64, Defect::NoCounters));
    assert!(llvm.text(&shop, &no_counters).unwrap_err().contains("number of counters is zero"));
    let (offset, defect) = refused(&changed(start + 16, &[0; 8]));
    assert!(matches!(defect, Defect::Outside { section: Section::Counters, .. }));
    assert_eq!(offset, start as u64);
    let (offset, defect) = refused(&changed(24, &u64::MAX.to_le_bytes()));
    assert!(matches!(defect, Defect::Truncated { section: Section::Records, .. }));
    assert_eq!(offset, start as u64);

    let unknown = changed(start, &[1; 8]);
    assert_eq!(tolerated(&unknown), [(start as u64, Defect::UnknownName(0x0101_0101_0101_0101))]);
    let functions = |file| decode(file).unwrap().profile.functions.len();
    assert_eq!(functions(&unknown) + 1, functions(&file));
    let counters = start + 64 * word(&file, 3) as usize;
    let large = changed(counters, &(1u64 << 57).to_le_bytes());
    assert!(matches!(tolerated(&large)[..], [(_, Defect::LargeCount(_))]));
    let kinds = changed(120, &[1]);
    assert_eq!(tolerated(&kinds), [(0, Defect::LastKind { expected: 2, found: 1 })]);
    assert!(llvm.text(&shop, &kinds).is_ok());
}

#[test]
fn what_versions_have_no_place_for() {
    let shop = Workshop::new();
    let flags = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"];
    let Some((_, file)) = newest(&shop, &flags) else { return };
    let mut profile = sound(&file);
    let bitmap = EncodeError::Bitmap(b"_Z6decideiii".to_vec());
    assert_eq!(encode(&profile, Version::V8), Err(bitmap));
    assert!(encode(&profile, Version::V9).is_ok());
    profile.functions[0].name = b"a\x01b".to_vec();
    assert_eq!(encode(&profile, Version::V10), Err(EncodeError::Name(b"a\x01b".to_vec())));
}

#[test]
fn magics_in_both_byte_orders() {
    for magic in MAGICS {
        assert!(is_profraw(&magic.to_le_bytes()) && is_profraw(&magic.to_be_bytes()));
    }
    assert!(
        !is_profraw(&MAGICS[0].to_le_bytes()[..7]) && !is_profraw(b"") && !is_profraw(b":ir\n")
    );
    assert!(matches!(refused(b""), (0, Defect::Truncated { section: Section::Header, .. })));
}
