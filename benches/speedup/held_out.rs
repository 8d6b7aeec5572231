//! Programs that nobody has tuned the conversion to: does it do as well on others?
//!
//! Do not study any of them to improve the conversion: they would no longer be held out.

use crate::compilers::Language;
use crate::program::{Entry, Group, Package, Program, driver, header, include, words};

pub const GROUP: Group = (
    "the twelve",
    &[
        Entry { name: "pcre2", title: "PCRE2", program: pcre2 },
        Entry { name: "lzma", title: "liblzma", program: lzma },
        Entry { name: "brotli", title: "Brotli", program: brotli },
        Entry { name: "lz4", title: "LZ4", program: lz4 },
        Entry { name: "cadical", title: "CaDiCaL (C++)", program: cadical },
        Entry { name: "webp", title: "libwebp", program: webp },
        Entry { name: "png", title: "libpng", program: png },
        Entry { name: "openjpeg", title: "OpenJPEG", program: openjpeg },
        Entry { name: "freetype", title: "FreeType", program: freetype },
        Entry { name: "wasm3", title: "wasm3", program: wasm3 },
        Entry { name: "minisat", title: "MiniSat (C++)", program: minisat },
        Entry { name: "opus", title: "Opus", program: opus },
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

fn webp() -> Program {
    let package = Package::of("libwebp-sys");
    let parts = ["src/dec", "src/demux", "src/dsp", "src/enc", "src/mux", "src/utils", "sharpyuv"];
    let mut sources: Vec<_> = parts
        .iter()
        .flat_map(|part| package.all_but(&format!("vendor/{part}"), "c", &[]))
        .collect();
    sources.push(driver("webp.c"));
    Program {
        language: Language::C,
        sources,
        flags: [
            words("-DNDEBUG"),
            ["", "/src"].map(|folder| package.include(&format!("vendor{folder}"))).to_vec(),
        ]
        .concat(),
        libraries: &["-lm"],
        training: words("90 1"),
        measured: words("160 2"),
    }
}

fn png() -> Program {
    let (package, zlib) = (Package::of("libpng-sys"), Package::of("libz-sys"));
    let names = "png pngerror pngget pngmem pngpread pngread pngrio pngrtran pngrutil pngset \
        pngtrans pngwio pngwrite pngwtran pngwutil";
    let zlib_names = "adler32 compress crc32 deflate inffast inflate inftrees trees zutil";
    let sources =
        [package.named("vendor", names), zlib.named("src/zlib", zlib_names), vec![driver("png.c")]];
    let settings = header(&package.path("vendor/scripts/pnglibconf.h.prebuilt"), "libpng", &[]);
    let folders = [include(&settings), package.include("vendor"), zlib.include("src/zlib")];
    Program {
        language: Language::C,
        sources: sources.concat(),
        flags: [words("-DHAVE_UNISTD_H"), folders.to_vec()].concat(),
        libraries: &["-lm"],
        training: words("100 1"),
        measured: words("240 2"),
    }
}

fn openjpeg() -> Program {
    let (package, folder) = (Package::of("openjpeg-sys"), "vendor/src/lib/openjp2");
    let names = "thread bio cio dwt event ht_dec image invert j2k jp2 mct mqc openjpeg opj_clock \
        pi t1 t2 tcd tgt function_list opj_malloc sparse_array";
    let options = "-DOPJ_HAVE_POSIX_MEMALIGN=1 -DOPJ_STATIC=1 -DMUTEX_stub=1";
    let folders = [package.include(folder), package.include("config")];
    Program {
        language: Language::C,
        sources: [package.named(folder, names), vec![driver("openjpeg.c")]].concat(),
        flags: [words(options), folders.to_vec()].concat(),
        libraries: &["-lm"],
        training: words("120 1"),
        measured: words("300 2"),
    }
}

/// The fonts are of another crate.
fn freetype() -> Program {
    let (package, fonts) = (Package::of("freetype-sys"), Package::of("dejavu"));
    let base = "ftbase ftbbox ftbdf ftbitmap ftcid ftdebug ftfstype ftgasp ftglyph ftgxval ftinit \
        ftmm ftotval ftpatent ftpfr ftstroke ftsynth ftsystem fttype1 ftwinfnt";
    let modules = "autofit/autofit bdf/bdf bzip2/ftbzip2 cache/ftcache cff/cff cid/type1cid \
        gzip/ftgzip lzw/ftlzw pcf/pcf pfr/pfr psaux/psaux pshinter/pshinter psnames/psnames \
        raster/raster sdf/sdf svg/svg sfnt/sfnt smooth/smooth truetype/truetype type1/type1 \
        type42/type42 winfonts/winfnt";
    let sources = [
        package.named("freetype2/src/base", base),
        package.named("freetype2/src", modules),
        vec![driver("freetype.c")],
    ];
    let font = |name: &str| {
        fonts.path(&format!("assets/dejavu-fonts-ttf-2.37/ttf/{name}.ttf")).display().to_string()
    };
    Program {
        language: Language::C,
        sources: sources.concat(),
        flags: vec!["-DFT2_BUILD_LIBRARY".into(), package.include("freetype2/include")],
        libraries: &[],
        training: vec![font("DejaVuSerif"), "300".into(), "9".into()],
        measured: vec![font("DejaVuSans"), "500".into(), "10".into()],
    }
}

/// Without the interface to the system.
fn wasm3() -> Program {
    let (package, folder) = (Package::of("wasm3-sys"), "wasm3/source");
    let script = driver("wasm3_program.wasm").display().to_string();
    Program {
        language: Language::C,
        sources: [package.all_but(folder, "c", &[]), vec![driver("wasm3.c")]].concat(),
        flags: [words("-w -Dd_m3LogOutput=0 -Dd_m3Use32BitSlots=0"), vec![package.include(folder)]]
            .concat(),
        libraries: &["-lm"],
        training: vec![script.clone(), "15".into(), "1".into()],
        measured: vec![script, "45".into(), "2".into()],
    }
}

fn minisat() -> Program {
    let package = Package::of("rustsat-minisat");
    let names = ["utils/Options", "utils/System", "core/Solver", "simp/SimpSolver"];
    let source = |name: &&str| package.path(&format!("cppsrc/minisat/{name}.cc"));
    let mut sources: Vec<_> = names.iter().map(source).collect();
    sources.push(driver("minisat.cc"));
    let options = "-std=gnu++11 -w -DNDEBUG -DQUIET -D__STDC_FORMAT_MACROS -D__STDC_LIMIT_MACROS";
    Program {
        language: Language::Cxx,
        sources,
        flags: [words(options), vec![package.include("cppsrc")]].concat(),
        libraries: &[],
        training: words("120 1"),
        measured: words("150 2"),
    }
}

/// With floating-point numbers, and without the sources for single kinds of processors.
fn opus() -> Program {
    let package = Package::of("opusic-sys");
    // Separate programs, and what only they need.
    let unwanted = [
        "opus_custom_demo",
        "opus_compare",
        "opus_demo",
        "qext_compare",
        "repacketizer_demo",
        "mini_kfft",
    ];
    let mut sources: Vec<_> = ["celt", "silk", "silk/float", "src"]
        .iter()
        .flat_map(|part| package.all_but(&format!("opus/{part}"), "c", &unwanted))
        .collect();
    sources.push(driver("opus.c"));
    let folders = ["", "/celt", "/include", "/silk", "/silk/float"];
    let options = "-w -DOPUS_BUILD -DVAR_ARRAYS -DHAVE_LRINT -DHAVE_LRINTF -DENABLE_HARDENING";
    Program {
        language: Language::C,
        sources,
        flags: [
            words(options),
            folders.map(|name| package.include(&format!("opus{name}"))).to_vec(),
        ]
        .concat(),
        libraries: &["-lm"],
        training: words("6 1"),
        measured: words("14 2"),
    }
}
