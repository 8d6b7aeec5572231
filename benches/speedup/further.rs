//! Programs of other kinds: parsers, compressors, interpreters of one large function, loops over arrays of numbers.
//!
//! Most rules of the conversion are older than this group. It showed that functions need counts of their own, and that
//! `-fauto-profile` must go on vectorising.

use crate::compilers::Language;
use crate::program::{Entry, Group, Package, Program, driver, header, include, own, words};

pub const GROUP: Group = (
    "the further fourteen",
    &[
        Entry { name: "libdeflate", title: "libdeflate", program: libdeflate },
        Entry { name: "expat", title: "Expat", program: expat },
        Entry { name: "libyaml", title: "libyaml", program: libyaml },
        Entry { name: "yyjson", title: "yyjson", program: yyjson },
        Entry { name: "duktape", title: "Duktape", program: duktape },
        Entry { name: "snappy", title: "Snappy", program: snappy },
        Entry { name: "tree-sitter", title: "tree-sitter", program: tree_sitter },
        Entry { name: "janet", title: "Janet", program: janet },
        Entry { name: "tre", title: "TRE", program: tre },
        Entry { name: "jpeg", title: "MozJPEG", program: jpeg },
        Entry { name: "lzo", title: "LZO", program: lzo },
        Entry { name: "lame", title: "LAME", program: lame },
        Entry { name: "zfp", title: "zfp", program: zfp },
        Entry { name: "meshopt", title: "meshoptimizer", program: meshopt },
    ],
);

fn libdeflate() -> Program {
    let package = Package::of("libdeflate-sys");
    let names =
        "adler32 crc32 deflate_compress deflate_decompress utils zlib_compress zlib_decompress";
    let sources = [
        package.named("libdeflate/lib", names),
        package.named("libdeflate/lib/x86", "cpu_features"),
        vec![driver("libdeflate.c")],
    ];
    Program {
        language: Language::C,
        sources: sources.concat(),
        flags: vec![package.include("libdeflate")],
        libraries: &[],
        training: words("100 1"),
        measured: words("220 2"),
    }
}

fn expat() -> Program {
    let (package, folder) = (Package::of("expat-sys"), "expat/lib");
    let options = "-w -DHAVE_MEMMOVE -DXML_NS -DXML_DTD -DXML_CONTEXT_BYTES=1024 -DBYTEORDER=1234";
    Program {
        language: Language::C,
        sources: [package.named(folder, "xmlparse xmlrole xmltok"), vec![driver("expat.c")]]
            .concat(),
        flags: [words(options), vec![package.include(folder)]].concat(),
        libraries: &[],
        training: words("1500 1"),
        measured: words("5000 2"),
    }
}

fn libyaml() -> Program {
    let package = Package::of("libyaml-sys");
    let names = "api reader scanner parser loader writer emitter dumper";
    let options = "-w -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=1 \
        -DYAML_VERSION_STRING=\"0.2.1\"";
    Program {
        language: Language::C,
        sources: [package.named("libyaml/src", names), vec![driver("yaml.c")]].concat(),
        flags: [words(options), vec![package.include("libyaml/include")]].concat(),
        libraries: &[],
        training: words("1500 1"),
        measured: words("5000 2"),
    }
}

fn yyjson() -> Program {
    let (package, folder) = (Package::of("yyjson-sys"), "yyjson/src");
    Program {
        language: Language::C,
        sources: [package.named(folder, "yyjson"), vec![driver("yyjson_objects.c")]].concat(),
        flags: vec![package.include(folder)],
        libraries: &[],
        training: words("3000 1"),
        measured: words("9000 2"),
    }
}

fn duktape() -> Program {
    let (package, folder) = (Package::of("duktape_ffi_raw"), "duktape-src");
    let script = driver("duktape.js").display().to_string();
    Program {
        language: Language::C,
        sources: [package.named(folder, "duktape"), vec![driver("duktape_script.c")]].concat(),
        flags: vec![package.include(folder)],
        libraries: &["-lm"],
        training: vec![script.clone(), "2".into()],
        measured: vec![script, "5".into()],
    }
}

fn snappy() -> Program {
    let (package, folder) = (Package::of("snappy_src"), "snappy");
    let mut sources = package.all_but(folder, "cc", &[]);
    sources.push(driver("snappy_text.cc"));
    let values = [
        ("HAVE_SYS_UIO_H_01", "1"),
        ("PROJECT_VERSION_MAJOR", "1"),
        ("PROJECT_VERSION_MINOR", "3"),
        ("PROJECT_VERSION_PATCH", "1"),
    ];
    let generated =
        header(&package.path("snappy/snappy-stubs-public.h.in"), "snappy-1.3.1", &values);
    let options = "-std=gnu++17 -w -DHAVE_BUILTIN_EXPECT=1 -DHAVE_BUILTIN_CTZ=1";
    Program {
        language: Language::Cxx,
        sources,
        flags: [words(options), vec![include(&generated), package.include(folder)]].concat(),
        libraries: &[],
        training: words("1000 1"),
        measured: words("3000 2"),
    }
}

fn tree_sitter() -> Program {
    let (library, grammar) = (Package::of("tree-sitter"), Package::of("tree-sitter-c"));
    let sources =
        [library.named("src", "lib"), grammar.named("src", "parser"), vec![driver("treesitter.c")]];
    let folders = [library.include("src"), library.include("include"), grammar.include("src")];
    Program {
        language: Language::C,
        sources: sources.concat(),
        flags: [words("-std=gnu11 -D_DEFAULT_SOURCE"), folders.to_vec()].concat(),
        libraries: &[],
        training: words("300 1"),
        measured: words("900 2"),
    }
}

fn janet() -> Program {
    let (package, folder) = (Package::of("evil-janet"), "csrc");
    let script = driver("janet.janet").display().to_string();
    Program {
        language: Language::C,
        sources: [package.named(folder, "janet"), vec![driver("janet_script.c")]].concat(),
        flags: vec![package.include(folder), "-w".into()],
        libraries: &["-lm", "-lpthread", "-ldl"],
        training: vec![script.clone(), "3".into()],
        measured: vec![script, "6".into()],
    }
}

/// The folder `tre` has the header that its configure script would make.
fn tre() -> Program {
    let package = Package::of("tre-regex-sys");
    let names = "regcomp regerror regexec tre-ast tre-compile tre-match-approx tre-match-backtrack \
        tre-match-parallel tre-mem tre-parse tre-stack xmalloc";
    let folders = [package.include("tre/local_includes"), package.include("tre/lib")];
    Program {
        language: Language::C,
        sources: [package.named("tre/lib", names), vec![driver("tre.c")]].concat(),
        flags: [vec![include(&own("tre")), "-w".into()], folders.to_vec()].concat(),
        libraries: &[],
        training: words("40 1"),
        measured: words("100 2"),
    }
}

/// The folder `jpeg` has the headers that its cmake would make.
fn jpeg() -> Program {
    let (package, folder) = (Package::of("mozjpeg-sys"), "vendor");
    let names = "jaricom jcapimin jcapistd jcarith jccoefct jccolor jcdctmgr jcext jchuff jcinit \
        jcmainct jcmarker jcmaster jcomapi jcparam jcphuff jcprepct jcsample jctrans jdapimin \
        jdapistd jdarith jdatadst jdatasrc jdcoefct jdcolor jddctmgr jdhuff jdinput jdmainct \
        jdmarker jdmaster jdmerge jdphuff jdpostct jdsample jdtrans jerror jfdctflt jfdctfst \
        jfdctint jidctflt jidctfst jidctint jidctred jmemmgr jmemnobs jquant1 jquant2 jsimd_none \
        jutils";
    Program {
        language: Language::C,
        sources: [package.named(folder, names), vec![driver("jpeg.c")]].concat(),
        flags: vec![include(&own("jpeg")), package.include(folder), "-w".into()],
        libraries: &["-lm"],
        training: words("200 1"),
        measured: words("480 2"),
    }
}

fn lzo() -> Program {
    let (package, folder) = (Package::of("lzo-sys"), "lzo/minilzo");
    let includes = [package.include(folder), package.include("lzo/include/lzo")];
    Program {
        language: Language::C,
        sources: [package.named(folder, "minilzo"), vec![driver("lzo.c")]].concat(),
        flags: includes.to_vec(),
        libraries: &[],
        training: words("300 1"),
        measured: words("900 2"),
    }
}

/// The flags say what its configure script would find.
fn lame() -> Program {
    let package = Package::of("mp3lame-sys");
    let folder = "lame-3.100/libmp3lame";
    let options = "-w -DSTDC_HEADERS -DHAVE_STDINT_H -DHAVE_LIMITS_H -Dieee754_float32_t=float \
        -DPACKAGE=\"lame\"";
    let includes = ["lame-3.100/include", folder, "lame-3.100"].map(|name| package.include(name));
    Program {
        language: Language::C,
        sources: [package.all_but(folder, "c", &[]), vec![driver("lame.c")]].concat(),
        flags: [words(options), includes.to_vec()].concat(),
        libraries: &["-lm"],
        training: words("60 1"),
        measured: words("150 2"),
    }
}

fn zfp() -> Program {
    let package = Package::of("zfp-sys");
    let includes = [package.include("zfp/include"), package.include("zfp/src")];
    Program {
        language: Language::C,
        sources: [package.all_but("zfp/src", "c", &[]), vec![driver("zfp.c")]].concat(),
        flags: [words("-w"), includes.to_vec()].concat(),
        libraries: &["-lm"],
        training: words("60 1"),
        measured: words("100 2"),
    }
}

fn meshopt() -> Program {
    let (package, folder) = (Package::of("meshopt"), "vendor/src");
    Program {
        language: Language::Cxx,
        sources: [package.all_but(folder, "cpp", &[]), vec![driver("meshopt.cc")]].concat(),
        flags: vec!["-w".into(), package.include(folder)],
        libraries: &[],
        training: words("250 1"),
        measured: words("500 2"),
    }
}
