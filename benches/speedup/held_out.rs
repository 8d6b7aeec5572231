//! Programs that nobody has tuned the conversion to: does it do as well on others?
//!
//! Do not study any of them to improve the conversion: they would no longer be held out.

use crate::compilers::Language;
use crate::programs::{Entry, Group, Package, Program, driver, words};

pub const GROUP: Group = (
    "the five",
    &[
        Entry { name: "pcre2", title: "PCRE2", program: pcre2 },
        Entry { name: "lzma", title: "liblzma", program: lzma },
        Entry { name: "brotli", title: "Brotli", program: brotli },
        Entry { name: "lz4", title: "LZ4", program: lz4 },
        Entry { name: "cadical", title: "CaDiCaL (C++)", program: cadical },
    ],
);

/// Without its just-in-time compiler: patterns are interpreted.
fn pcre2() -> Program {
    let package = Package::of("pcre2-sys");
    // Other files include these.
    let unwanted = ["pcre2_jit_match", "pcre2_jit_misc", "pcre2_ucptables"];
    let options = "-DPCRE2_CODE_UNIT_WIDTH=8 -DHAVE_STDLIB_H=1 -DHAVE_MEMMOVE=1 -DHAVE_CONFIG_H=1 \
        -DPCRE2_STATIC=1 -DSTDC_HEADERS=1 -DSUPPORT_PCRE2_8=1 -DSUPPORT_UNICODE=1";
    let folders =
        ["src", "deps", "include"].map(|name| package.include(&format!("upstream/{name}")));
    Program {
        language: Language::C,
        sources: [package.all_but("upstream/src", "c", &unwanted), vec![driver("pcre2.c")]]
            .concat(),
        flags: [words(options), folders.to_vec()].concat(),
        libraries: &[],
        training: words("100 1"),
        measured: words("250 2"),
    }
}

fn lzma() -> Program {
    let package = Package::of("lzma-sys");
    // Programs that make tables, and smaller variants of other files.
    let unwanted = [
        "crc32_small",
        "crc64_small",
        "crc32_tablegen",
        "crc64_tablegen",
        "fastpos_tablegen",
        "price_tablegen",
    ];
    let parts = ["common", "lzma", "lz", "check", "delta", "rangecoder", "simple"];
    let folder = |part: &&str| format!("xz-5.2/src/liblzma/{part}");
    let mut sources = package.named("xz-5.2/src/common", "tuklib_cpucores tuklib_physmem");
    sources.extend(parts.iter().flat_map(|part| package.all_but(&folder(part), "c", &unwanted)));
    sources.push(driver("lzma.c"));
    let mut flags = words("-DHAVE_CONFIG_H=1 -std=gnu99 -pthread");
    flags.extend(parts.iter().chain(&["api"]).map(|part| package.include(&folder(part))));
    flags.extend([package.include("xz-5.2/src/common"), package.include("")]);
    Program {
        language: Language::C,
        sources,
        flags,
        libraries: &["-lpthread"],
        training: words("80 1"),
        measured: words("200 2"),
    }
}

fn brotli() -> Program {
    let package = Package::of("brotlic-sys");
    let mut sources: Vec<_> = ["common", "dec", "enc"]
        .iter()
        .flat_map(|part| package.all_but(&format!("brotli/c/{part}"), "c", &[]))
        .collect();
    sources.push(driver("brotli.c"));
    Program {
        language: Language::C,
        sources,
        flags: vec![package.include("brotli/c/include")],
        libraries: &["-lm"],
        training: words("60 1"),
        measured: words("150 2"),
    }
}

fn lz4() -> Program {
    let (package, folder) = (Package::of("lz4-sys"), "liblz4/lib");
    Program {
        language: Language::C,
        sources: [package.named(folder, "lz4 lz4frame lz4hc xxhash"), vec![driver("lz4.c")]]
            .concat(),
        flags: vec![package.include(folder)],
        libraries: &[],
        training: words("300 1"),
        measured: words("800 2"),
    }
}

fn cadical() -> Program {
    let (package, folder) = (Package::of("cadical-sys"), "cadical/src");
    // Separate programs.
    let unwanted = ["cadical", "mobical"];
    let sources = [
        package.all_but(folder, "cpp", &unwanted),
        package.all_but(folder, "c", &[]),
        vec![driver("cadical.cc")],
    ];
    let options =
        "-w -DNDEBUG -DNBUILD -DNUNLOCKED -DNTRACING -DQUIET -DNCLOSEFROM -DVERSION=\"0\"";
    Program {
        language: Language::Cxx,
        sources: sources.concat(),
        flags: [words(options), vec![package.include(folder)]].concat(),
        libraries: &[],
        training: words("120 1"),
        measured: words("150 2"),
    }
}
