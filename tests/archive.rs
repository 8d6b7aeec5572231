//! The archives by their symbols and sections: what they export, what they need, and their size. Those of all targets
//! that this tool was built with.

use std::collections::{BTreeMap, BTreeSet};

use countersink::cli::archives::archive::{ALL, Archive, BARE, HOSTED, LIVE, TARGETS, Target};
use object::read::archive::ArchiveFile;
use object::{File, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolScope};

/// Symbols that programs and other images see.
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

/// Symbols that programs without an operating system see besides.
const FOR_BARE: [&str; 7] = [
    "countersink_nodes",
    "countersink_register",
    "countersink_retain",
    "countersink_size",
    "countersink_text_size",
    "countersink_write",
    "countersink_write_text",
];

/// Symbols of the archive for these, which nobody else sees.
const OF_BARE: [&str; 6] = [
    "__atomic_fetch_add_8",
    "countersink_family_of_llvm",
    "countersink_other",
    "countersink_region",
    "countersink_region_size",
    "countersink_resettable_of_llvm",
];

/// The same for other processors than x86-64: memory functions, under names that no C library has.
const OF_MEMORY: [&str; 6] = [
    "countersink_aeabi_memclr",
    "countersink_aeabi_memset",
    "countersink_memcmp",
    "countersink_memcpy",
    "countersink_memmove",
    "countersink_memset",
];

/// Symbols that belong to one image.
const HIDDEN: [&str; 42] = [
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
    "__wrap__Exit",
    "__wrap___sysv_signal",
    "__wrap__exit",
    "__wrap_clone",
    "__wrap_daemon",
    "__wrap_execl",
    "__wrap_execle",
    "__wrap_execlp",
    "__wrap_execv",
    "__wrap_execve",
    "__wrap_execvp",
    "__wrap_execvpe",
    "__wrap_fexecve",
    "__wrap_sigaction",
    "__wrap_signal",
    "__wrap_syscall",
    "countersink_action",
    "countersink_before_exit",
    "countersink_gcov_dump",
    "countersink_gcov_fork",
    "countersink_gcov_reset",
    "countersink_image_end",
    "countersink_image_start",
    "countersink_linked_file",
    "countersink_system_action",
    "countersink_topn",
    "countersink_topn_atomic",
    "countersink_unwrapped_action",
];

/// Symbols of LLVM's interface, and of the members behind it, begin so. All are hidden.
const OF_LLVM: [&str; 6] = [
    "__llvm_profile_",
    "__llvm_get_function_addr",
    "__llvm_orderfile_dump",
    "lprofSetMaxValsPerSite",
    "countersink_llvm_",
    "countersink_part_",
];

/// Symbols that the archive may take from the C library and the linker.
const NEEDED: [&str; 32] = [
    "_GLOBAL_OFFSET_TABLE_",
    "__ehdr_start",
    "__real__Exit",
    "__real__exit",
    "__real_clone",
    "__real_daemon",
    "__real_execv",
    "__real_execve",
    "__real_execvp",
    "__real_execvpe",
    "__real_fexecve",
    "__real_sigaction",
    "__real_signal",
    "__real_syscall",
    "__tls_get_addr",
    "_end",
    "at_quick_exit",
    "bcmp",
    "countersink_file",
    "execv",
    "execve",
    "execvp",
    "fork",
    "getauxval",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "pthread_atfork",
    "secure_getenv",
    "sigaction",
    "strlen",
];

/// Symbols that the linker script for live counters defines.
const OF_THE_SCRIPT: [&str; 4] = [
    "countersink_live_start",
    "countersink_live_end",
    "countersink_llvm_live_start",
    "countersink_llvm_live_end",
];

/// Symbols that `llvm_names.c` and `llvm_directory.c` take from the C library, for programs that call them.
const FOR_NAMES: [&str; 8] =
    ["__errno_location", "fileno", "mkdir", "readlink", "snprintf", "strchr", "strdup", "strrchr"];

/// Symbols that the linker and LLVM's objects define if there are any, referred to weakly.
const OF_LLVM_S_OBJECTS: [&str; 18] = [
    "__start___llvm_prf_bits",
    "__start___llvm_prf_cnts",
    "__start___llvm_prf_data",
    "__start___llvm_prf_names",
    "__start___llvm_prf_vals",
    "__start___llvm_prf_vnds",
    "__start___llvm_prf_vns",
    "__start___llvm_prf_vtab",
    "__stop___llvm_prf_bits",
    "__stop___llvm_prf_cnts",
    "__stop___llvm_prf_data",
    "__stop___llvm_prf_names",
    "__stop___llvm_prf_vals",
    "__stop___llvm_prf_vnds",
    "__stop___llvm_prf_vns",
    "__stop___llvm_prf_vtab",
    "__llvm_profile_filename",
    "__llvm_profile_raw_version",
];

/// Most code and constants: of the object made from Rust (crc32fast's tables are 16 KiB of it, and the ways
/// to do without them 5 KiB), and of the objects made from C (1 KiB only for programs that ask for them,
/// `wrap.c` and `wrap_fork.c`).
const LARGEST: u64 = 68 * 1024;
const LARGEST_C: u64 = 1344 + 600;
/// The same of all members that only programs of clang and rustc link.
const LARGEST_LLVM: u64 = 58 * 1024;
const LARGEST_LIVE: u64 = 83 * 1024;
/// 1.3 KiB of it only for programs that take over counters.
const LARGEST_BARE: u64 = 15 * 1024;
/// Code and constants for other processors, whose code is as long as theirs needs to be.
const LARGEST_ELSEWHERE: u64 = 86 * 1024;
const LARGEST_BARE_ELSEWHERE: u64 = 21 * 1024;

fn objects(archive: &Archive) -> Vec<File<'static>> {
    let bytes = archive.bytes;
    let archive = ArchiveFile::parse(bytes).unwrap();
    let data = archive.members().map(|member| member.unwrap().data(bytes).unwrap());
    data.map(|bytes| File::parse(bytes).unwrap()).collect()
}

/// Global symbols that some member defines, with their scope.
fn defined(archive: &Archive) -> BTreeMap<String, SymbolScope> {
    let mut defined = BTreeMap::new();
    for object in objects(archive) {
        for symbol in object.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined())
        {
            let name = symbol.name().unwrap().to_owned();
            // gcc puts this function of its own into every object that needs it.
            if name.starts_with("__x86.get_pc_thunk.") {
                continue;
            }
            assert!(defined.insert(name.clone(), symbol.scope()).is_none(), "{name} twice");
        }
    }
    defined
}

fn with_scope(archive: &Archive, scope: SymbolScope) -> Vec<String> {
    let named = defined(archive).into_iter().filter(|(_, found)| *found == scope);
    named.map(|(name, _)| name).filter(|name| !is_of_llvm(name)).collect()
}

fn is_of_llvm(name: &str) -> bool {
    OF_LLVM.iter().any(|beginning| name.starts_with(beginning))
}

/// Symbols that an archive takes from elsewhere.
fn needed(archive: &Archive) -> BTreeSet<String> {
    let defined = defined(archive);
    let objects = objects(archive);
    let symbols = objects.iter().flat_map(|object| object.symbols());
    let undefined = symbols.filter(|symbol| symbol.is_undefined());
    let names = undefined.map(|symbol| symbol.name().unwrap().to_owned());
    names.filter(|name| !name.is_empty() && !defined.contains_key(name)).collect()
}

/// Archives for programs with an operating system, of all targets.
fn hosted() -> impl Iterator<Item = (&'static Target, [Archive; 2])> {
    TARGETS.iter().filter_map(|target| Some((target, [target.hosted()?, target.live()?])))
}

fn bare() -> impl Iterator<Item = (&'static Target, Archive)> {
    TARGETS.iter().filter_map(|target| Some((target, target.bare()?)))
}

#[test]
fn exports_are_the_agreed_ones() {
    for (target, [hosted, live]) in hosted() {
        let name = target.name;
        assert_eq!(with_scope(&hosted, SymbolScope::Dynamic), EXPORTED, "{name}");
        assert_eq!(with_scope(&hosted, SymbolScope::Linkage), HIDDEN, "{name}");
        for (symbol, scope) in defined(&hosted).into_iter().chain(defined(&live)) {
            let is_hidden = scope == SymbolScope::Linkage;
            assert!(!is_of_llvm(&symbol) || is_hidden, "{name}: {symbol}: {scope:?}");
        }
        // Live counters export nothing more.
        assert_eq!(with_scope(&live, SymbolScope::Dynamic), EXPORTED, "{name}");
        let hidden = with_scope(&live, SymbolScope::Linkage);
        let known = |name: &&String| HIDDEN.contains(&name.as_str());
        assert_eq!(hidden.iter().filter(known).count(), HIDDEN.len());
        assert_eq!(
            hidden.iter().filter(|name| !known(name)).collect::<Vec<_>>(),
            ["countersink_live_bound"]
        );
    }
    for (target, bare) in bare() {
        // Without an operating system there is nobody to hide from, but the same symbols are hidden.
        let exported = with_scope(&bare, SymbolScope::Dynamic);
        let exported: BTreeSet<String> = exported.into_iter().collect();
        let for_bare = FOR_BARE.map(str::to_owned).into();
        let shared: BTreeSet<String> = EXPORTED.map(str::to_owned).into();
        assert!(exported.is_superset(&for_bare), "{}: {exported:?}", target.name);
        let known: BTreeSet<String> = shared.union(&for_bare).cloned().collect();
        assert!(exported.is_subset(&known), "{}: {exported:?}", target.name);
        let hidden = with_scope(&bare, SymbolScope::Linkage);
        let of_memory = |name: &str| !target.is_own() && OF_MEMORY.contains(&name);
        let known =
            |name: &str| HIDDEN.contains(&name) || OF_BARE.contains(&name) || of_memory(name);
        assert!(hidden.iter().all(|name| known(name)), "{}: {hidden:?}", target.name);
    }
}

#[test]
fn nothing_else_is_needed() {
    for (target, archives) in hosted() {
        for name in archives.iter().flat_map(needed) {
            let lists: [&[&str]; 4] = [&NEEDED, &OF_THE_SCRIPT, &FOR_NAMES, &OF_LLVM_S_OBJECTS];
            let is_known = lists.iter().any(|list| list.contains(&name.as_str()));
            assert!(is_known || is_of_the_compiler(target, &name), "{} needs {name}", target.name);
        }
    }
    for (target, bare) in bare() {
        let mut needed = needed(&bare);
        // The linker defines these, and clang's and rustc's objects.
        let of_linker = ["_GLOBAL_OFFSET_TABLE_", "__ehdr_start"];
        needed.retain(|name| !of_linker.contains(&name.as_str()));
        needed.retain(|name| !OF_LLVM_S_OBJECTS.contains(&name.as_str()));
        needed.retain(|name| !is_of_the_compiler(target, name));
        assert!(needed.is_empty(), "{} needs {needed:?}", target.name);
    }
}

/// Whether every gcc and clang links this function for a target: arithmetic that the processor lacks, atomic
/// instructions that not every processor of the architecture has, the memory functions of ARM's interface.
fn is_of_the_compiler(target: &Target, name: &str) -> bool {
    let processor = target.name.split('-').next().unwrap_or_default();
    let of_arm = processor.starts_with("arm") || processor.starts_with("thumb");
    let is_narrow = of_arm || processor == "i686" || processor.starts_with("riscv32");
    (of_arm && name.starts_with("__aeabi_"))
        || (processor == "aarch64" && name.starts_with("__aarch64_"))
        || (is_narrow && OF_64_BITS.contains(&name))
        || (processor == "i686" && name == "___tls_get_addr")
}

/// Arithmetic of 64 bits on processors of 32.
const OF_64_BITS: [&str; 7] =
    ["__ashldi3", "__divdi3", "__lshrdi3", "__moddi3", "__udivdi3", "__udivmoddi4", "__umoddi3"];

/// `core`'s panics are functions. If one is left, something can reach it.
#[test]
fn there_is_no_way_to_panic_or_abort() {
    for target in TARGETS {
        for object in target.archives().flat_map(|archive| objects(&archive)) {
            for symbol in object.symbols() {
                let name = symbol.name().unwrap();
                for word in
                    ["panic", "abort", "unwind", "unwrap_failed", "expect_failed", "assert_failed"]
                {
                    // ARM's mark of functions that can be unwound refers to this one.
                    let is_mark = name.starts_with("__aeabi_unwind_cpp_pr");
                    assert!(!name.contains(word) || is_mark, "{}: {name}", target.name);
                }
            }
        }
    }
}

/// Rust's parts of a heap, and of the processor's detection, which takes one.
#[test]
fn only_core_is_there_on_other_processors() {
    for (target, archives) in hosted().filter(|(target, _)| !target.name.starts_with("x86_64-")) {
        for object in archives.iter().flat_map(objects) {
            for symbol in object.symbols() {
                let name = symbol.name().unwrap();
                let words = ["_3std", "10std_detect", "_5alloc", "rust_", "malloc"];
                assert!(!words.iter().any(|word| name.contains(word)), "{}: {name}", target.name);
            }
        }
    }
}

/// crc32fast brings std along. The archive keeps only its detection of instructions.
#[test]
fn the_fast_checksum_is_all_that_std_leaves() {
    for archive in [&HOSTED, &LIVE] {
        let objects = objects(archive);
        let count = |part: &str| {
            let symbols = objects.iter().flat_map(|object| object.symbols());
            symbols.filter(|symbol| symbol.name().unwrap().contains(part)).count()
        };
        assert!(count("9pclmulqdq") > 0 && count("10std_detect") > 0);
        assert_eq!((count("_3std"), count("_5alloc"), count("rust_")), (0, 0, 0));
        let sections = objects.iter().flat_map(|object| object.sections());
        let names = sections.map(|section| section.name().unwrap().to_owned());
        let constructors: Vec<_> = names.filter(|name| name.starts_with(".init_array")).collect();
        // Of `llvm_runtime.c`, and of gcc's and LLVM's parts.
        let expected: &[&str] = if archive == &LIVE {
            &[".init_array.00099", ".init_array.00101", ".init_array.00101"]
        } else {
            &[".init_array.00099"]
        };
        assert_eq!(constructors, expected);
        let source = b"/rustc/";
        assert!(!archive.bytes.windows(source.len()).any(|bytes| bytes == source));
    }
}

/// Bytes of code and constants made from Rust, from C, and of the members for LLVM.
fn weight(archive: &Archive) -> (u64, u64, u64) {
    let (mut rust, mut c, mut llvm) = (0, 0, 0);
    for object in objects(archive) {
        let defines = |wanted: &str| {
            let mut defined = object.symbols().filter(|symbol| !symbol.is_undefined());
            defined.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with(wanted)))
        };
        let sum = match () {
            () if defines("__gcov_init") => &mut rust,
            () if defines("__llvm_profile_") || defines("countersink_llvm_") => &mut llvm,
            () => &mut c,
        };
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
    (rust, c, llvm)
}

#[test]
fn they_are_small() {
    for target in TARGETS.iter().filter(|target| !target.is_own()) {
        for archive in target.archives() {
            let (rust, c, llvm) = weight(&archive);
            let largest =
                if archive.is_bare() { LARGEST_BARE_ELSEWHERE } else { LARGEST_ELSEWHERE };
            let sum = rust + c;
            eprintln!("{} {}: {rust} bytes, {c} of C, {llvm} for LLVM", target.name, archive.name);
            assert!(sum <= largest, "{} {}: {sum} bytes", target.name, archive.name);
            assert!(sum > largest / 2, "{} {}: not all was counted", target.name, archive.name);
        }
    }
    for (archive, largest) in [(&HOSTED, LARGEST), (&LIVE, LARGEST_LIVE), (&BARE, LARGEST_BARE)] {
        let (rust, c, llvm) = weight(archive);
        let name = archive.name;
        let largest_c = LARGEST_C + if archive == &LIVE { 32 } else { 0 };
        eprintln!(
            "{name}: {rust} bytes of code and constants made of Rust, {c} of C, {llvm} for LLVM"
        );
        assert!(rust <= largest && c <= largest_c, "{name}: {rust} and {c} bytes of code");
        assert!(llvm <= LARGEST_LLVM, "{name}: {llvm} bytes for LLVM");
        assert!(rust > largest / 2 && c > 0, "{name}: {rust} and {c} bytes: not all was counted");
    }
}

/// The fixed regions. They cost address space only until they are used: 3 MiB for top-N nodes, half a MiB for
/// the indexes of their sites, the rest for buffers and paths. Programs of clang and rustc have all of it twice.
#[test]
fn the_fixed_regions_are_what_the_documents_say() {
    let sum = |archive, kind| -> u64 {
        let objects = objects(archive);
        let sections = objects.iter().flat_map(|object| object.sections());
        sections.filter(|section| section.kind() == kind).map(|section| section.size()).sum()
    };
    let zero = [&HOSTED, &BARE, &LIVE].map(|archive| sum(archive, SectionKind::UninitializedData));
    assert!((7500 << 10..7700 << 10).contains(&zero[0]), "{zero:?}");
    assert!((40 << 10..42 << 10).contains(&zero[1]), "{zero:?}");
    assert!((7400 << 10..7600 << 10).contains(&zero[2]), "{zero:?}");
    for archive in ALL {
        let data = sum(archive, SectionKind::Data);
        assert!(data < 1280, "{}: {data} bytes of data that are not zero", archive.name);
    }
}

#[test]
fn stacks_stay_not_executable() {
    for target in TARGETS {
        for object in target.archives().flat_map(|archive| objects(&archive)) {
            let note = object.section_by_name(".note.GNU-stack");
            let note = note.unwrap_or_else(|| panic!("{}: without it the stack is", target.name));
            let object::SectionFlags::Elf { sh_flags, .. } = note.flags() else {
                panic!("not ELF")
            };
            assert!(!sh_flags.contains(object::elf::SHF_EXECINSTR));
        }
    }
}
