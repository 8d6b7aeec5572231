//! Makes the archives that the tool carries inside itself, see [`archive::VARIANTS`].
//!
//! An archive is this package compiled again: `src/lib.rs` with only its own feature and with
//! `cfg(countersink_archive)`, so that no feature, flag or dependency of the tool reaches code that
//! is linked into other people's programs. A second cargo does it, in a target directory of its own
//! and without the variables that tell how this build is made. One member of the Rust static library
//! is ours. The 300 others are compiler_builtins, and every C compiler links the same functions. The C
//! files of `runtime-c` join our member.
//!
//! In the archives for programs with an operating system, crc32fast uses std to find out which
//! instructions the processor has. [`strip`] removes the rest of std.
//!
//! With `COUNTERSINK_ARCHIVES=DIR` the build takes finished archives from there, for distributors.

#[cfg(feature = "cli")]
mod archive {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};
    use std::{env, fs};

    use object::read::archive::ArchiveFile;

    /// An archive.
    pub struct Variant {
        /// Its name: `lib` before and `.a` behind make the file's.
        name: &'static str,
        /// Features of the package and of its dependencies.
        features: &'static str,
        /// Its part of `runtime-c`.
        shims: &'static [&'static str],
        /// Further flags of rustc and of the C compiler.
        rustc: &'static [&'static str],
        cc: &'static [&'static str],
    }

    /// All archives.
    pub const VARIANTS: [Variant; 3] = [
        Variant {
            name: "countersink_rt",
            features: "runtime,crc32fast/std",
            shims: &[
                "exec.c",
                "image.c",
                "indirect_call.c",
                "llvm.c",
                "llvm_directory.c",
                "llvm_names.c",
                "llvm_runtime.c",
                "signal.c",
                "wrap.c",
                "wrap_signal.c",
            ],
            rustc: &[],
            cc: &["-fPIC"],
        },
        Variant {
            name: "countersink_rt_live",
            features: "live,crc32fast/std",
            shims: &[
                "exec.c",
                "image.c",
                "indirect_call.c",
                "live.c",
                "llvm.c",
                "llvm_directory.c",
                "llvm_names.c",
                "llvm_runtime.c",
                "signal.c",
                "wrap.c",
                "wrap_signal.c",
            ],
            rustc: &[],
            cc: &["-fPIC"],
        },
        // Interrupts may use the stack below the stack pointer. There is only one image, and no loader
        // that finds its thread-local variables.
        Variant {
            name: "countersink_rt_bare",
            features: "bare",
            shims: &["indirect_call.c", "nodes.c"],
            rustc: &["-Cno-redzone=yes"],
            cc: &["-fPIE", "-ftls-model=local-exec", "-ffreestanding", "-mno-red-zone"],
        },
    ];

    /// Tells cargo where the archives are.
    pub fn provide() {
        let flags = || env::vars_os().map(|(name, _)| name).filter(is_compiler_flags);
        for name in flags() {
            println!("cargo::rerun-if-env-changed={}", name.display());
        }
        if flags().next().is_none() {
            println!("cargo::rustc-env=COUNTERSINK_ARCHIVE_PATH={}", directory().display());
            return;
        }
        // `cc` would put the user's flags last, and a process cannot safely remove a variable.
        let mut clean = Command::new(env::current_exe().expect("a build script is a file"));
        flags().for_each(|name| _ = clean.env_remove(name));
        let status = clean.status().unwrap_or_else(|error| panic!("{clean:?}: {error}"));
        assert!(status.success(), "{status}");
    }

    /// Where the archives are: given, or made here.
    fn directory() -> PathBuf {
        println!("cargo::rerun-if-env-changed=COUNTERSINK_ARCHIVES");
        if let Some(given) = env::var_os("COUNTERSINK_ARCHIVES") {
            println!("cargo::rerun-if-changed={}", given.display());
            return given.into();
        }
        let out = PathBuf::from(var("OUT_DIR"));
        for variant in &VARIANTS {
            if env::var_os("DOCS_RS").is_some() {
                // Documentation is built without network and C compiler, and links nothing.
                let empty = out.join(format!("lib{}.a", variant.name));
                fs::write(&empty, b"").expect("OUT_DIR is writable");
                continue;
            }
            let objects = runtime_objects(variant, &out);
            with_shims(variant, &objects);
        }
        out
    }

    /// The runtime as object files: what every program needs, and what only programs that LLVM instruments
    /// need besides.
    fn runtime_objects(variant: &Variant, out: &Path) -> Vec<PathBuf> {
        let library = compile_runtime(variant, out);
        let bytes = fs::read(&library).expect("the static library was just made");
        let archive = ArchiveFile::parse(&*bytes).expect("rustc makes good archives");
        let members: Vec<_> = archive
            .members()
            .map(|member| member.expect("rustc makes good archives"))
            .filter(|member| member.name().starts_with(b"countersink-"))
            .collect();
        let [ref ours] = members[..] else {
            panic!("expected one object of ours in {}, found {}", library.display(), members.len());
        };
        let object = ours.data(&*bytes).expect("rustc makes good archives");
        let parts = super::strip::parts(object);
        let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
        let write = |(suffix, part): (&str, Vec<u8>)| {
            let object = out.join(format!("{}{suffix}.o", variant.name));
            fs::write(&object, part).expect("OUT_DIR is writable");
            object
        };
        parts.map(write).collect()
    }

    fn compile_runtime(variant: &Variant, out: &Path) -> PathBuf {
        let (directory, target) = (out.join("runtime"), var("TARGET"));
        // The machine already has what this build needed. The network is needed only if the lock file
        // names other versions.
        let offline = cargo_rustc(variant, &directory, &target, &["--offline"]);
        if !offline.status.success() {
            let online = cargo_rustc(variant, &directory, &target, &[]);
            assert!(
                online.status.success(),
                "the runtime was not built:\n{}\nand before, without network:\n{}",
                String::from_utf8_lossy(&online.stderr),
                String::from_utf8_lossy(&offline.stderr),
            );
        }
        let library = directory.join(target).join("archive/libcountersink.a");
        rerun_if_sources_change(&library.with_extension("d"));
        library
    }

    fn cargo_rustc(variant: &Variant, directory: &Path, target: &str, network: &[&str]) -> Output {
        let root = var("CARGO_MANIFEST_DIR");
        let mut cargo = Command::new(var("CARGO"));
        cargo
            .current_dir(&root)
            .args(["rustc", "--lib", "--crate-type=staticlib", "--profile=archive", "--locked"])
            .args(["--no-default-features", "--features", variant.features, "--target", target])
            .args(network)
            .arg("--target-dir")
            .arg(directory)
            .args(["--", "--cfg=countersink_archive", "-Crelocation-model=pic"])
            .args(variant.rustc)
            .arg(format!("--remap-path-prefix={root}=countersink"));
        for (name, _) in env::vars_os().filter(|(name, _)| is_about_this_build(name)) {
            cargo.env_remove(name);
        }
        // Empty rather than removed, so that flags in configuration files do not come in either.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", "");
        cargo.output().unwrap_or_else(|error| panic!("{cargo:?}: {error}"))
    }

    /// Whether a variable tells how this build is made, and not where things are on the machine.
    fn is_about_this_build(name: &OsString) -> bool {
        let name = name.to_string_lossy();
        let about = [
            "CARGO_BUILD_",
            "CARGO_CFG_",
            "CARGO_FEATURE_",
            "CARGO_MANIFEST_",
            "CARGO_PKG_",
            "CARGO_PROFILE_",
            "CARGO_TARGET_",
            "DEP_",
            "__CARGO_",
            "RUSTFLAGS",
            "RUSTDOCFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CLIPPY_ARGS",
            "OUT_DIR",
        ];
        about.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether a variable holds flags for C compilers: `CFLAGS`, `TARGET_CFLAGS`, ...
    fn is_compiler_flags(name: &OsString) -> bool {
        name.to_string_lossy().contains("CFLAGS")
    }

    /// Only files that the compiler read make this script run again, not the tool's.
    fn rerun_if_sources_change(dependencies: &Path) {
        let text = fs::read_to_string(dependencies).expect("cargo writes what it read");
        let files = text
            .lines()
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(_, files)| files.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for file in files.chain(["build.rs", "Cargo.toml", "runtime-c"].map(str::to_owned)) {
            println!("cargo::rerun-if-changed={file}");
        }
    }

    /// Puts the objects and the C files into the archive.
    fn with_shims(variant: &Variant, objects: &[PathBuf]) {
        let mut cc = cc::Build::new();
        // Fixed, whatever the outer profile and the user say. All builds of the tool get the same
        // archive, and nothing in it makes programs link more, as a stack protector would.
        cc.inherit_rustflags(false)
            .opt_level_str("s")
            .debug(false)
            .pic(false)
            .warnings(true)
            .extra_warnings(true);
        for shim in variant.shims {
            cc.file(Path::new("runtime-c").join(shim));
        }
        for flag in [
            "-std=gnu99",
            "-ffunction-sections",
            "-fno-asynchronous-unwind-tables",
            "-fno-exceptions",
            "-fno-lto",
            "-fno-profile-arcs",
            "-fno-profile-generate",
            "-fno-stack-protector",
            "-fno-test-coverage",
            "-fvisibility=hidden",
            "-mgeneral-regs-only",
        ]
        .iter()
        .chain(variant.cc)
        {
            cc.flag_if_supported(flag);
        }
        cc.objects(objects).cargo_metadata(false).compile(variant.name);
    }

    fn var(name: &str) -> String {
        env::var(name).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

#[cfg(feature = "cli")]
mod strip {
    //! Keeps the parts of the Rust object that our symbols reach.
    //!
    //! In std they reach only the function that tells which instructions the processor has, and the word
    //! where it remembers them. The optimizer leaves 240 KiB more, because std exports a part of the panic
    //! code and has a constructor.
    //!
    //! The parts that only LLVM's hooks reach become members of their own, so gcc's programs do not carry them.

    use std::collections::BTreeSet;

    use object::Endianness;
    use object::build::Id;
    use object::build::elf::{
        Builder, Section, SectionData, SectionId, Sections, Symbol, SymbolId,
    };
    use object::elf::{
        FileHeader64, SHF_MERGE, SHF_WRITE, SHN_UNDEF, SHT_GROUP, SHT_PROGBITS, SHT_STRTAB,
        STB_GLOBAL, STT_NOTYPE, STT_SECTION, STV_DEFAULT, STV_HIDDEN, SectionHeader64,
    };
    use object::pod::slice_from_bytes_mut;
    use object::read::elf::{FileHeader, SectionHeader};

    const GOOD: &str = "rustc makes good objects";

    /// The object without what programs would carry around for nothing: what nothing of ours reaches,
    /// unwind tables, and remnants of debug information. In parts, each with what its file's name ends in: for
    /// all programs, for those that LLVM instruments, and for those that write profiles to memory themselves.
    pub fn parts(object: &[u8]) -> [(&'static str, Vec<u8>); 3] {
        let mut object = object.to_vec();
        ungroup(&mut object);
        let whole = || Builder::read(&*object).expect(GOOD);
        let builder = whole();
        let is_for = |symbol: &Symbol<'_>, is: fn(&[u8]) -> bool| is(symbol.name.as_slice());
        let llvm = reached(&builder, |symbol| is_for(symbol, is_llvm));
        let buffer = reached(&builder, |symbol| is_for(symbol, is_buffer));
        let core = reached(&builder, |symbol| {
            let is_global = symbol.st_bind() == STB_GLOBAL;
            let name = symbol.name.as_slice();
            let is_of_others = symbol.section.is_some_and(|section| {
                llvm.contains(&section.index()) || buffer.contains(&section.index())
            });
            let is_others = is_llvm(name) || is_buffer(name);
            is_ours(name) && !is_others && (is_global || !is_of_others)
        });
        // Each part may have for itself what linkers may put together.
        let is_shared = |section: &&Section<'_>| {
            let id = section.id().index();
            llvm.contains(&id) && core.contains(&id) && !is_merged(section)
        };
        let shared: Vec<SectionId> =
            builder.sections.iter().filter(is_shared).map(|section| section.id()).collect();
        let is_merged = |id: &usize| {
            builder.sections.iter().any(|section| section.id().index() == *id && is_merged(section))
        };
        let only_llvm = |id: &&usize| !core.contains(id) || is_merged(id);
        let only_llvm: BTreeSet<usize> = llvm.iter().filter(only_llvm).copied().collect();
        let first = part(whole(), &core, &shared);
        if llvm.is_empty() {
            return [("", first), ("_llvm", Vec::new()), ("_llvm_buffer", Vec::new())];
        }
        // A copy of all that it reaches, which nobody writes: it stands without the others.
        let is_written = |section: &Section<'_>| {
            // Only the loader writes the latter, with addresses.
            let is_constant = section.name.as_slice().starts_with(b".data.rel.ro");
            let is_reached = buffer.contains(&section.id().index());
            is_reached && section.sh_flags.contains(SHF_WRITE) && !is_constant
        };
        let written = builder.sections.iter().find(|section| is_written(section));
        let written = written.map(|section| String::from_utf8_lossy(section.name.as_slice()));
        assert_eq!(written, None, "profiles in memory need statics");
        let second = part(whole(), &only_llvm, &shared);
        [("", first), ("_llvm", second), ("_llvm_buffer", part(whole(), &buffer, &[]))]
    }

    /// The part with these sections. Sections that parts share are in one of them, under a name of their own.
    fn part(mut builder: Builder<'_>, kept: &BTreeSet<usize>, shared: &[SectionId]) -> Vec<u8> {
        let others = name_shared(&mut builder, kept, shared);
        keep(&mut builder, kept, &others);
        pack_merged(&mut builder);
        // LLVM keeps names of symbols and sections in one table, the builder in two.
        let names = builder.sections.add();
        names.name = ".shstrtab".into();
        names.sh_type = SHT_STRTAB;
        names.data = SectionData::SectionString;
        let mut stripped = Vec::new();
        builder.write(&mut stripped).expect("what was read can be written");
        stripped
    }

    /// Gives shared sections hidden symbols, and makes relocations use these where the section is in the other
    /// part. Gives the symbols that stand for sections of the other part.
    fn name_shared(
        builder: &mut Builder<'_>,
        kept: &BTreeSet<usize>,
        shared: &[SectionId],
    ) -> BTreeSet<usize> {
        let mut others = BTreeSet::new();
        for (number, &section) in shared.iter().enumerate() {
            let is_here = kept.contains(&section.index());
            // What other images see stays under its own name: the dynamic linker decides whose it is.
            let is_seen = |symbol: &Symbol<'_>| {
                symbol.st_bind() == STB_GLOBAL && symbol.st_other.visibility() == STV_DEFAULT
            };
            if !is_here {
                for symbol in builder.symbols.iter_mut() {
                    if symbol.section == Some(section) && is_seen(symbol) {
                        symbol.section = None;
                        symbol.st_shndx = SHN_UNDEF;
                        others.insert(symbol.id().index());
                    }
                }
            }
            let places: Vec<(SymbolId, u64)> = builder
                .symbols
                .iter()
                .filter(|symbol| symbol.section == Some(section))
                .map(|symbol| (symbol.id(), symbol.st_value))
                .collect();
            let symbol = builder.symbols.add();
            symbol.name = format!("countersink_part_{number}").into_bytes().into();
            symbol.set_st_info(STB_GLOBAL, STT_NOTYPE);
            symbol.st_other = symbol.st_other.with_visibility(STV_HIDDEN);
            let stands_for_it = symbol.id();
            if is_here {
                symbol.section = Some(section);
                continue;
            }
            symbol.st_shndx = SHN_UNDEF;
            others.insert(stands_for_it.index());
            for section in &mut builder.sections {
                let SectionData::Relocation(relocations) = &mut section.data else { continue };
                for relocation in relocations {
                    let place = places.iter().find(|(id, _)| relocation.symbol == Some(*id));
                    if let Some((_, offset)) = place {
                        relocation.symbol = Some(stands_for_it);
                        relocation.r_addend += *offset as i64;
                    }
                }
            }
        }
        others
    }

    /// Turns groups into plain sections, because the builder does not read groups. The only one is for panics.
    fn ungroup(object: &mut [u8]) {
        let Ok(header) = FileHeader64::<Endianness>::parse(&*object) else { return };
        let endian = header.endian().expect(GOOD);
        let (place, number) = (header.e_shoff(endian) as usize, header.e_shnum(endian) as usize);
        let (sections, _) =
            slice_from_bytes_mut::<SectionHeader64<Endianness>>(&mut object[place..], number)
                .expect(GOOD);
        for section in sections.iter_mut().filter(|section| section.sh_type(endian) == SHT_GROUP) {
            section.sh_type.set(endian, SHT_PROGBITS);
        }
    }

    /// The sections of the program that relocations lead to from some symbols.
    fn reached(builder: &Builder<'_>, is_first: impl Fn(&Symbol<'_>) -> bool) -> BTreeSet<usize> {
        let first = builder.symbols.iter().filter(|symbol| is_first(symbol));
        let mut symbols: Vec<SymbolId> = first.map(|symbol| symbol.id()).collect();
        let mut sections = BTreeSet::new();
        while let Some(symbol) = symbols.pop() {
            let Some(section) = builder.symbols.get(symbol).section else { continue };
            if sections.insert(section.index()) {
                symbols.extend(mentioned(builder, section));
            }
        }
        sections
    }

    /// Drops all sections of the program but these, and symbols that nothing left mentions.
    fn keep(builder: &mut Builder<'_>, kept: &BTreeSet<usize>, others: &BTreeSet<usize>) {
        for section in &mut builder.sections {
            let is_of_program = section.is_alloc() || is_remnant(section.name.as_slice());
            section.delete = is_of_program && !kept.contains(&section.id().index());
        }
        let of_program =
            builder.sections.iter().filter(|section| kept.contains(&section.id().index()));
        let of_program: Vec<SectionId> = of_program.map(|section| section.id()).collect();
        let needed = of_program.iter().flat_map(|&section| mentioned(builder, section));
        let needed: BTreeSet<usize> = needed.map(|symbol| symbol.index()).collect();
        let sections: &Sections<'_> = &builder.sections;
        for symbol in &mut builder.symbols {
            let id = symbol.id().index();
            symbol.delete = match symbol.section {
                // Of a merged section only what is needed stays; see `pack_merged`.
                Some(section) if is_merged(sections.get(section)) => !needed.contains(&id),
                Some(section) => !kept.contains(&section.index()),
                None => !needed.contains(&id) && !others.contains(&id),
            };
        }
        drop_orphans(builder);
    }

    /// Whether a symbol is of LLVM's interface to profiles in memory.
    fn is_buffer(symbol: &[u8]) -> bool {
        let begins = ["begin_", "end_", "get_", "counter_", "write_buffer", "check_", "merge_"];
        let name = symbol.strip_prefix(b"__llvm_profile_").unwrap_or_default();
        begins.iter().any(|begin| name.starts_with(begin.as_bytes()))
    }

    /// Whether a symbol is one of LLVM's hooks, or of the module that has them.
    fn is_llvm(symbol: &[u8]) -> bool {
        (symbol.starts_with(b"__llvm_profile_") && !is_buffer(symbol))
            || symbol.starts_with(b"countersink_llvm_")
            || symbol.windows(12).any(|part| part == b"archive4llvm")
    }

    /// Whether a symbol is of this package, by its name or that of the crate within it.
    fn is_ours(symbol: &[u8]) -> bool {
        symbol.starts_with(b"__gcov_")
            || symbol.starts_with(b"__llvm_profile_")
            || symbol.windows(11).any(|part| part == b"countersink")
    }

    /// Whether a section belongs neither to the program nor to the linker's tables.
    fn is_remnant(section: &[u8]) -> bool {
        section.starts_with(b".debug_") || section == b".comment" || section == b".group"
    }

    /// Whether linkers may merge equal parts of a section. All crates share one such section.
    fn is_merged(section: &Section<'_>) -> bool {
        section.sh_flags.contains(SHF_MERGE)
    }

    /// The symbols in a section's relocations.
    fn mentioned<'a>(
        builder: &'a Builder<'_>,
        id: SectionId,
    ) -> impl Iterator<Item = SymbolId> + 'a {
        let about_it = move |section: &&Section<'_>| section.sh_info_section == Some(id);
        let relocations = builder.sections.iter().filter(about_it).filter_map(|section| {
            let SectionData::Relocation(relocations) = &section.data else { return None };
            Some(relocations)
        });
        relocations.flatten().filter_map(|relocation| relocation.symbol)
    }

    /// Drops relocations and symbols of sections that were dropped.
    fn drop_orphans(builder: &mut Builder<'_>) {
        let left: Vec<SectionId> = builder.sections.iter().map(|section| section.id()).collect();
        for section in &mut builder.sections {
            let about_left = section.sh_info_section.is_some_and(|section| left.contains(&section));
            section.delete = matches!(section.data, SectionData::Relocation(_)) && !about_left;
        }
        builder.delete_orphan_symbols();
    }

    /// Keeps only the parts of merged sections that were reached.
    fn pack_merged(builder: &mut Builder<'_>) {
        for section in builder.sections.iter_mut().filter(|section| is_merged(section)) {
            let SectionData::Data(bytes) = &section.data else { continue };
            let of_it = |symbol: &&mut Symbol<'_>| symbol.section == Some(section.id());
            let mut parts: Vec<_> = builder.symbols.iter_mut().filter(of_it).collect();
            if parts.iter().any(|part| part.st_type() == STT_SECTION) {
                continue;
            }
            parts.sort_by_key(|part| part.st_value);
            let mut packed = Vec::new();
            for part in parts {
                let (place, size) = (part.st_value as usize, part.st_size.max(section.sh_entsize));
                part.st_value = packed.len() as u64;
                packed.extend_from_slice(&bytes[place..][..size as usize]);
            }
            section.data = SectionData::Data(packed.into());
        }
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Not `CARGO_FEATURE_CLI`, which the second cargo would inherit: what this was compiled with.
    #[cfg(feature = "cli")]
    archive::provide();
}
