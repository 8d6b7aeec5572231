//! Large programs that many people use, as their own build compiles them. By hand: they need a network and minutes.
//!
//! `scratch()/debian` keeps their sources and what their builds do. Remove it to fetch them anew.

use std::fs;

use crate::compilers::Language;
use crate::program::scratch;
use crate::program::{Entry, Group, Package, Program, driver, include, own, words};
use crate::recorded::{Build, debian};

pub const GROUP: Group = (
    "the applications",
    &[
        Entry { name: "cpython", title: "CPython 3.11", program: cpython },
        Entry { name: "perl", title: "perl 5.36", program: perl },
        Entry { name: "x264", title: "x264", program: x264 },
        Entry { name: "x264-vectorised", title: "x264, vectorised", program: x264_vectorised },
        Entry { name: "openh264", title: "OpenH264 (C++)", program: openh264 },
        Entry { name: "rapidjson", title: "RapidJSON (C++)", program: rapidjson },
    ],
);

/// A script of `applications`.
fn script(name: &str) -> String {
    own("applications").join(name).display().to_string()
}

/// The interpreter with the modules in C that its scripts import. Its library stays in the folder of the sources.
const CPYTHON: Build = Build {
    package: "python3.11",
    commands: r#"
        ./configure --prefix="$PWD" --with-ensurepip=no
        { echo '*static*'; grep -oE '(array|_bisect|_datetime|_heapq|_json|math|_random|_sha512|_struct) .*\.c$' \
            Modules/Setup.stdlib; } > Modules/Setup.local
        make -j2 python
        mkdir -p lib && ln -s ../Lib lib/python3.11
    "#,
    unwanted: &["python", "_bootstrap_python", "getpath_noop", "_freeze_module"],
};

fn cpython() -> Program {
    let recorded = CPYTHON.record().unwrap();
    let home = format!("-DHOME=\"{}\"", recorded.folder.display());
    Program {
        language: Language::C,
        sources: [recorded.sources, vec![driver("cpython.c")]].concat(),
        flags: [recorded.flags, vec!["-w".into(), home]].concat(),
        libraries: &["-ldl", "-lm"],
        training: vec![script("training.py"), "2000".into()],
        measured: vec![script("measured.py"), "3000".into()],
    }
}

/// The interpreter with a single module in C: an empty list of extensions would mean all of them.
const PERL: Build = Build {
    package: "perl",
    commands: r#"
        sh Configure -des -Dcc="$CC" -Uusedl -Donlyextensions=mro -Ui_db -Ui_gdbm -Ui_ndbm
        make -j2 perl
    "#,
    unwanted: &["generate_uudmap", "miniperlmain", "opmini", "perlmini", "universalmini"],
};

fn perl() -> Program {
    let recorded = PERL.record().unwrap();
    Program {
        language: Language::C,
        sources: [recorded.sources, vec![driver("perl.c")]].concat(),
        flags: [recorded.flags, vec!["-w".into()]].concat(),
        libraries: &["-lm", "-lcrypt"],
        training: vec![script("training.pl"), "3000".into()],
        measured: vec![script("measured.pl"), "4000".into()],
    }
}

/// The encoder without its assembly, which no profile changes.
const X264: Build = Build {
    package: "x264",
    commands: r#"
        ./configure --disable-asm --disable-opencl --bit-depth=8 --disable-avs --disable-swscale --disable-lavf \
            --disable-ffms --disable-gpac --disable-lsmash
        make -j2 x264
    "#,
    unwanted: &[],
};

/// With all flags that its authors chose.
fn x264() -> Program {
    let recorded = X264.record().unwrap();
    let (training, measured) = (clip(12, 1), clip(20, 2));
    let arguments = |rate: &str, clip| {
        let options = words("--threads 1 --muxer raw --demuxer y4m --quiet --output - --crf");
        [options, vec![rate.to_owned(), clip]].concat()
    };
    Program {
        language: Language::C,
        sources: recorded.sources,
        flags: [recorded.flags, vec!["-w".into()]].concat(),
        libraries: &["-lm", "-lpthread"],
        training: arguments("24", training),
        measured: arguments("28", measured),
    }
}

/// Without its `-fno-tree-vectorize`.
fn x264_vectorised() -> Program {
    let mut program = x264();
    program.flags.retain(|flag| flag != "-fno-tree-vectorize");
    program
}

/// A film for encoders: a window that moves over a surface with stripes, discs and some noise. Gives the path of its
/// file.
fn clip(frames: u32, seed: u32) -> String {
    let (width, height) = (176, 144);
    let mut noise = seed;
    let mut random = move || {
        noise = noise.wrapping_mul(1664525).wrapping_add(1013904223);
        noise >> 24
    };
    let discs: Vec<[u32; 4]> =
        (0..24).map(|_| [random() * 2, random() * 2, random() / 6 + 4, random()]).collect();
    let mut film = format!("YUV4MPEG2 W{width} H{height} F25:1 Ip C420jpeg\n").into_bytes();
    for frame in 0..frames {
        film.extend(b"FRAME\n");
        for (plane, step) in [(0, 1), (1, 2), (2, 2)] {
            for (y, x) in (0..height)
                .step_by(step)
                .flat_map(|y| (0..width).step_by(step).map(move |x| (y as u32, x as u32)))
            {
                let (x, y) = (x + frame * 3 / 2, y + frame * frame / 8);
                let covers = |disc: &&[u32; 4]| {
                    x.abs_diff(disc[0]).pow(2) + y.abs_diff(disc[1]).pow(2) < disc[2].pow(2)
                };
                let ground = 60 + (x + y / 2) / 4 % 90 + plane * 20;
                let stripe = (x / 9 + y / 7) % 2 * 30;
                let value =
                    discs.iter().find(covers).map_or(ground, |disc| disc[3] * 3 / 4 + stripe);
                film.push((value + random() % 6).min(255) as u8);
            }
        }
    }
    let path = scratch().join(format!("clip-{frames}-{seed}.y4m"));
    fs::write(&path, film).unwrap();
    path.display().to_string()
}

/// Its headers of encoder and decoder share names, so each part stands in one folder, where its sources find its own.
fn openh264() -> Program {
    let package = Package::of("openh264-sys2");
    let within = |folder: &str| package.path("upstream/codec").join(folder);
    let gathered = |part: &str| {
        let target = scratch().join("openh264").join(part);
        fs::create_dir_all(&target).unwrap();
        for folder in ["core/inc", "core/src", "plus/inc", "plus/src"] {
            for entry in fs::read_dir(within(part).join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    fs::copy(&path, target.join(path.file_name().unwrap())).unwrap();
                }
            }
        }
        target
    };
    let processing = "adaptivequantization backgrounddetection common complexityanalysis denoise downsample \
        imagerotate scenechangedetection scrolldetection vaacalc";
    let processing = words(processing).into_iter().map(|name| within("processing/src").join(name));
    let folders = ["encoder", "decoder"].map(gathered).into_iter().chain([within("common/src")]);
    let sources = folders
        .chain(processing)
        .flat_map(|folder| package.all_but(folder.to_str().unwrap(), "cpp", &["DllEntry"]));
    let headers = ["api/wels", "common/inc", "processing/interface", "processing/src/common"];
    Program {
        language: Language::Cxx,
        sources: sources.chain([driver("openh264.cc")]).collect(),
        flags: [
            words("-w -fno-strict-aliasing"),
            headers.map(|name| include(&within(name))).to_vec(),
        ]
        .concat(),
        libraries: &["-lpthread"],
        training: words("25 1"),
        measured: words("40 3"),
    }
}

/// The library's own samples: many kinds of values in small files, and then one large file.
fn rapidjson() -> Program {
    let folder = debian("rapidjson").unwrap();
    let file = |name: &str| folder.join("bin").join(name).display().to_string();
    let types = ["booleans", "floats", "guids", "integers", "mixed", "nulls", "paragraphs"];
    let types = types.map(|name| file(&format!("types/{name}.json")));
    let data = ["sample", "webapp", "widget", "menu", "glossary"];
    let data = data.map(|name| file(&format!("data/{name}.json")));
    Program {
        language: Language::Cxx,
        sources: vec![driver("rapidjson.cc")],
        // gcc 16 refuses an assignment that nobody uses.
        flags: [words("-w -Wno-template-body"), vec![include(&folder.join("include"))]].concat(),
        libraries: &[],
        training: [words("150"), types.to_vec()].concat(),
        measured: [words("25"), data.to_vec()].concat(),
    }
}
