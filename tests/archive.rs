//! The archive by its symbols and sections: what it exports, needs and weighs.

use std::collections::{BTreeMap, BTreeSet};

use countersink::cli::archive::ARCHIVE;
use object::read::archive::ArchiveFile;
use object::{File, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolScope};

/// What programs and other images see.
const EXPORTED: [&str; 28] = [
    "__gcov_average_profiler",
    "__gcov_average_profiler_atomic",
    "__gcov_dump",
    "__gcov_filename_to_gcfn",
    "__gcov_flush",
    "__gcov_indirect_call",
    "__gcov_indirect_call_profiler_v4",
    "__gcov_indirect_call_profiler_v4_atomic",
    "__gcov_info_to_gcda",
    "__gcov_interval_profiler",
    "__gcov_interval_profiler_atomic",
    "__gcov_ior_profiler",
    "__gcov_ior_profiler_atomic",
    "__gcov_pow2_profiler",
    "__gcov_pow2_profiler_atomic",
    "__gcov_reset",
    "__gcov_topn_values_profiler",
    "__gcov_topn_values_profiler_atomic",
    "countersink_after_fork_child",
    "countersink_after_fork_parent",
    "countersink_before_exec",
    "countersink_before_fork",
    "countersink_exec_failed",
    "countersink_flush",
    "countersink_images",
    "countersink_reset",
    "countersink_set_file",
    "countersink_version",
];

/// What belongs to one image.
const HIDDEN: [&str; 17] = [
    "__gcov_execl",
    "__gcov_execle",
    "__gcov_execlp",
    "__gcov_execv",
    "__gcov_execve",
    "__gcov_execvp",
    "__gcov_exit",
    "__gcov_fork",
    "__gcov_init",
    "__gcov_merge_add",
    "__gcov_merge_ior",
    "__gcov_merge_time_profile",
    "__gcov_merge_topn",
    "__gcov_time_profiler_counter",
    "countersink_image_start",
    "countersink_topn",
    "countersink_topn_atomic",
];

/// What the archive may take from the C library and the linker.
const NEEDED: [&str; 14] = [
    "_GLOBAL_OFFSET_TABLE_",
    "__ehdr_start",
    "__tls_get_addr",
    "bcmp",
    "execv",
    "execve",
    "execvp",
    "fork",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "secure_getenv",
    "strlen",
];

/// Code and constants of the object made from Rust, of which crc32fast's tables are 16 KiB, and of
/// those made from C.
const LARGEST: u64 = 40 * 1024;
const LARGEST_C: u64 = 640;

fn objects() -> Vec<File<'static>> {
    let archive = ArchiveFile::parse(ARCHIVE).unwrap();
    let data = archive.members().map(|member| member.unwrap().data(ARCHIVE).unwrap());
    data.map(|bytes| File::parse(bytes).unwrap()).collect()
}

/// Global symbols that some member defines, with their scope.
fn defined() -> BTreeMap<String, SymbolScope> {
    let mut defined = BTreeMap::new();
    for object in objects() {
        for symbol in object.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined())
        {
            let name = symbol.name().unwrap().to_owned();
            assert!(defined.insert(name.clone(), symbol.scope()).is_none(), "{name} twice");
        }
    }
    defined
}

#[test]
fn exports_are_the_agreed_ones() {
    let with = |scope| {
        let named = defined().into_iter().filter(move |(_, found)| *found == scope);
        named.map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(with(SymbolScope::Dynamic), EXPORTED);
    assert_eq!(with(SymbolScope::Linkage), HIDDEN);
    assert_eq!(defined().len(), EXPORTED.len() + HIDDEN.len());
}

#[test]
fn nothing_else_is_needed() {
    let defined = defined();
    let objects = objects();
    let symbols = objects.iter().flat_map(|object| object.symbols());
    let needed: BTreeSet<&str> = symbols
        .filter(|symbol| symbol.is_undefined())
        .map(|symbol| symbol.name().unwrap())
        .collect();
    for name in needed {
        assert!(defined.contains_key(name) || NEEDED.contains(&name), "needs {name}");
    }
}

/// `core`'s panics are functions; if one is left, something can reach it.
#[test]
fn there_is_no_way_to_panic_or_abort() {
    for object in objects() {
        for symbol in object.symbols() {
            let name = symbol.name().unwrap();
            for word in
                ["panic", "abort", "unwind", "unwrap_failed", "expect_failed", "assert_failed"]
            {
                assert!(!name.contains(word), "{name}");
            }
        }
    }
}

#[test]
fn it_is_small() {
    let (mut rust, mut c) = (0, 0);
    for object in objects() {
        let made_of_rust = object.symbols().any(|symbol| symbol.name() == Ok("__gcov_init"));
        let sum = if made_of_rust { &mut rust } else { &mut c };
        for section in object.sections() {
            let counted = matches!(
                section.kind(),
                SectionKind::Text | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString
            );
            *sum += if counted { section.size() } else { 0 };
            let name = section.name().unwrap();
            assert!(!name.starts_with(".debug") && !name.starts_with(".eh_frame"), "{name}");
        }
    }
    assert!(rust <= LARGEST && c <= LARGEST_C, "{rust} and {c} bytes of code and constants");
    assert!(rust > LARGEST / 2 && c > 0, "{rust} and {c} bytes: not all was counted");
}

/// The fixed regions, which cost address space only until they are used: 3 MiB for top-N nodes, the
/// rest for buffers and paths.
#[test]
fn the_fixed_regions_are_what_the_documents_say() {
    let zero = |section: &object::Section<'_, '_>| section.kind() == SectionKind::UninitializedData;
    let objects = objects();
    let sections = objects.iter().flat_map(|object| object.sections());
    let sum: u64 = sections.filter(zero).map(|section| section.size()).sum();
    assert!((3 << 20..3300 << 10).contains(&sum), "{sum}");
    let data = |section: &object::Section<'_, '_>| section.kind() == SectionKind::Data;
    let sections = objects.iter().flat_map(|object| object.sections());
    let sum: u64 = sections.filter(data).map(|section| section.size()).sum();
    assert!(sum < 1024, "{sum} bytes of data that are not zero");
}

#[test]
fn stacks_stay_not_executable() {
    for object in objects() {
        let note = object.section_by_name(".note.GNU-stack").expect("without it the stack is");
        let object::SectionFlags::Elf { sh_flags, .. } = note.flags() else { panic!("not ELF") };
        assert!(!sh_flags.contains(object::elf::SHF_EXECINSTR));
    }
}
