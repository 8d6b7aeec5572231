//! Where the flags stand on the link line makes no difference: before the objects, as CMake and Autotools put linker
//! flags, between them, or behind them.
//!
//! Each program uses a part of a runtime's interface. Linkers read archives once, in their order. So a part that the
//! archive has must be in the program when the compiler's own archive, the last one, is read.

use std::process::Command;

use countersink::raw::dump::Dump;

use crate::harness::{Workshop, have, succeed};
use crate::llvm::both::of_stock;

/// A library: what the program calls, and the object that the flags may stand before.
const LIBRARY: &str = "#ifdef __cplusplus
extern \"C\"
#endif
int twice(int x) { return x > 100 ? x : 2 * x; }
";

/// A program that uses one part of the interface, which a macro chooses.
const PROGRAM: &str = "#include <stdlib.h>
#ifdef __cplusplus
extern \"C\" {
#endif
int twice(int);
int __llvm_profile_write_file(void);
const char *__llvm_profile_get_filename(void);
unsigned long __llvm_profile_get_size_for_buffer(void);
int __llvm_profile_write_buffer(char *);
void __llvm_profile_recursive_mkdir(char *);
extern int __llvm_profile_runtime;
void __gcov_dump(void);
#ifdef __cplusplus
}
#endif
#ifdef OPTS_OUT
int __llvm_profile_runtime;
#endif
static int (*volatile call)(int) = twice;
int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += call(i);
#ifdef FILES
    __llvm_profile_write_file();
#endif
#ifdef NAMES
    free((void *)__llvm_profile_get_filename());
#endif
#ifdef BUFFERS
    char *buffer = (char *)malloc(__llvm_profile_get_size_for_buffer());
    sum += __llvm_profile_write_buffer(buffer);
#endif
#ifdef FOLDERS
    char path[] = \"made/here\";
    __llvm_profile_recursive_mkdir(path);
#endif
#ifdef GCOV
    __gcov_dump();
#endif
    return sum != 9900;
}
";

/// Compilers, and the parts of the interface that their programs may use.
struct Compiler {
    c: String,
    cxx: String,
    linkers: Vec<&'static str>,
    parts: &'static [&'static str],
    is_llvm: bool,
}

const OF_LLVM: [&str; 6] = ["PLAIN", "FILES", "NAMES", "BUFFERS", "FOLDERS", "OPTS_OUT"];

/// gcc, and the oldest and the newest clang.
fn compilers() -> Vec<Compiler> {
    let gcc = Compiler {
        c: "gcc".into(),
        cxx: "g++".into(),
        linkers: vec!["bfd"],
        parts: &["PLAIN", "GCOV"],
        is_llvm: false,
    };
    let all = crate::llvm::all();
    let ends = [all.first(), all.last()].into_iter().flatten();
    let clang = |llvm: &crate::llvm::Llvm| Compiler {
        c: format!("clang-{}", llvm.major),
        cxx: format!("clang++-{}", llvm.major),
        linkers: if llvm.has_lld() { vec!["bfd", "lld"] } else { vec!["bfd"] },
        parts: &OF_LLVM,
        is_llvm: true,
    };
    std::iter::once(gcc).chain(ends.map(clang)).collect()
}

/// A folder with the sources, in C and in C++.
fn workshop() -> Workshop {
    let shop = Workshop::new();
    for extension in ["c", "cc"] {
        shop.write(&format!("library.{extension}"), LIBRARY);
        shop.write(&format!("program.{extension}"), PROGRAM);
    }
    shop
}

/// What `countersink flags` prints.
fn flags(shop: &Workshop) -> Vec<String> {
    let printed = String::from_utf8(shop.tool_output(&["flags"])).unwrap();
    printed.split_whitespace().map(str::to_owned).collect()
}

/// The runs that each module of the dump counts; none if there is no dump.
fn runs(shop: &Workshop, program: &str) -> Vec<u64> {
    let mut command = shop.command(shop.path(program));
    let output = command.env("COUNTERSINK_FILE", "x.csraw").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{program}: {output:?}");
    let path = shop.path("x.csraw");
    if !path.exists() {
        return Vec::new();
    }
    let dump = Dump::parse(&shop.read("x.csraw")).unwrap();
    std::fs::remove_file(path).unwrap();
    dump.modules.iter().map(|module| module.sums.runs).collect()
}

const ORDERS: [[&str; 3]; 3] = [
    ["FLAGS", "library", "program"],
    ["library", "FLAGS", "program"],
    ["library", "program", "FLAGS"],
];

/// The words of a link line in an order. `objects` are what the other words stand for.
fn line<'w>(order: &[&str], flags: &'w [String], objects: [(&str, &'w str); 2]) -> Vec<&'w str> {
    let words = order.iter().flat_map(|word| match *word {
        "FLAGS" => flags.iter().map(String::as_str).collect(),
        word => Vec::from_iter(objects.iter().find(|(name, _)| *name == word).map(|of| of.1)),
    });
    words.collect()
}

/// Every order gives the same program.
#[test]
#[ignore = "slow"]
fn programs_in_every_order() {
    let shop = workshop();
    let flags = flags(&shop);
    for compiler in compilers() {
        for (driver, extension) in [(&compiler.c, "c"), (&compiler.cxx, "cc")] {
            let compile = |name: &str, part: &str| {
                let define = format!("-D{part}");
                let source = format!("{name}.{extension}");
                let object = format!("{name}.o");
                let words = ["-O1", "-fprofile-generate", "-fPIC", "-c", &source, "-o", &object];
                succeed(shop.command(driver).args(words).arg(define));
            };
            compile("library", "PLAIN");
            // C++ differs by what its driver adds, not by the part.
            let parts = if extension == "c" { compiler.parts } else { &compiler.parts[..2] };
            for part in parts {
                compile("program", part);
                for (linker, order) in
                    compiler.linkers.iter().flat_map(|linker| ORDERS.map(|order| (linker, order)))
                {
                    let about = format!("{driver} {linker} {part} {order:?}");
                    let linker = format!("-fuse-ld={linker}");
                    let objects = [("library", "library.o"), ("program", "program.o")];
                    let mut link = shop.command(driver);
                    link.args(["-fprofile-generate", &linker, "-o", "x"]);
                    link.args(line(&order, &flags, objects));
                    succeed(&mut link);
                    assert_eq!(of_stock(&shop, "x"), Vec::<String>::new(), "{about}");
                    let expected = if *part == "OPTS_OUT" { vec![] } else { vec![1] };
                    assert_eq!(runs(&shop, "x"), expected, "{about}");
                    if !compiler.is_llvm {
                        let symbols = succeed(shop.command("nm").arg("x"));
                        let symbols = String::from_utf8(symbols).unwrap();
                        // The program names the weak calls itself.
                        assert!(!symbols.contains("countersink_llvm"), "{about}");
                    }
                }
            }
        }
    }
}

/// The same with a shared library that has a copy of the runtime of its own.
#[test]
#[ignore = "slow"]
fn libraries_in_every_order() {
    let shop = workshop();
    let flags = flags(&shop);
    for compiler in compilers() {
        for (driver, extension) in [(&compiler.c, "c"), (&compiler.cxx, "cc")] {
            for name in ["library", "program"] {
                let (source, object) = (format!("{name}.{extension}"), format!("{name}.o"));
                let words = ["-O1", "-fprofile-generate", "-fPIC", "-c", &source, "-o", &object];
                succeed(shop.command(driver).args(words));
            }
            for (linker, order) in
                compiler.linkers.iter().flat_map(|linker| ORDERS.map(|order| (linker, order)))
            {
                let about = format!("{driver} {linker} {order:?}");
                let linker = format!("-fuse-ld={linker}");
                let link = |objects: [(&str, &str); 2], options: &[&str]| {
                    let mut link = shop.command(driver);
                    link.args(["-fprofile-generate", &linker]).args(options);
                    succeed(link.args(line(&order, &flags, objects)));
                };
                link([("library", "library.o"), ("", "")], &["-shared", "-o", "liblibrary.so"]);
                let objects = [("library", "liblibrary.so"), ("program", "program.o")];
                // The library may stand before the program, which needs it.
                link(objects, &["-Wl,--no-as-needed,-rpath,.", "-o", "x"]);
                for image in ["x", "liblibrary.so"] {
                    assert_eq!(of_stock(&shop, image), Vec::<String>::new(), "{about}");
                }
                assert_eq!(runs(&shop, "x"), [1, 1], "{about}");
            }
        }
    }
}

/// The compilers of C that the build systems are tried with.
fn of_projects() -> Vec<String> {
    let newest = crate::llvm::all().last().map(|llvm| format!("clang-{}", llvm.major));
    std::iter::once("gcc".to_owned()).chain(newest).collect()
}

/// CMake puts `CMAKE_EXE_LINKER_FLAGS` and `CMAKE_SHARED_LINKER_FLAGS` before the objects.
#[test]
fn flags_for_all_of_a_cmake_project() {
    if !have("cmake") {
        return;
    }
    let shop = workshop();
    let flags = flags(&shop).join(" ");
    shop.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(all C)\n\
         add_library(library SHARED library.c)\nadd_executable(x program.c)\n\
         target_link_libraries(x PRIVATE library)\n",
    );
    for compiler in of_projects() {
        for part in ["PLAIN", "NAMES"] {
            if compiler == "gcc" && part == "NAMES" {
                continue;
            }
            let build = format!("build-{compiler}-{part}");
            let mut cmake = shop.command("cmake");
            cmake.args(["-S", ".", "-B", &build]);
            cmake.arg(format!("-DCMAKE_C_COMPILER={compiler}"));
            cmake.arg(format!("-DCMAKE_C_FLAGS=-fprofile-generate -D{part}"));
            cmake.arg(format!("-DCMAKE_EXE_LINKER_FLAGS={flags}"));
            succeed(cmake.arg(format!("-DCMAKE_SHARED_LINKER_FLAGS={flags}")));
            succeed(shop.command("cmake").args(["--build", &build]));
            assert_eq!(runs(&shop, &format!("{build}/x")), [1, 1], "{compiler} {part}");
        }
    }
}

/// Makefiles of automake put `LDFLAGS` before the objects.
#[test]
#[ignore = "slow"]
fn flags_for_all_of_an_autoconf_project() {
    if !have("autoreconf") || !have("automake") {
        return;
    }
    let shop = workshop();
    let flags = flags(&shop).join(" ");
    shop.write(
        "configure.ac",
        "AC_INIT([x], [1.0])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    shop.write("Makefile.am", "bin_PROGRAMS = x\nx_SOURCES = library.c program.c\n");
    succeed(shop.command("autoreconf").arg("-i"));
    for compiler in of_projects() {
        let part = if compiler == "gcc" { "GCOV" } else { "BUFFERS" };
        let build = format!("build-{compiler}");
        let folder = shop.path(&build);
        std::fs::create_dir(&folder).unwrap();
        let within = |program: &str| {
            let mut command = shop.command(program);
            command.current_dir(&folder);
            command
        };
        let mut configure: Command = within("../configure");
        configure.arg(format!("CC={compiler}"));
        configure.arg(format!("CFLAGS=-O1 -fprofile-generate -D{part}"));
        succeed(configure.arg(format!("LDFLAGS=-fprofile-generate {flags}")));
        succeed(&mut within("make"));
        assert_eq!(runs(&shop, &format!("{build}/x")), [1], "{compiler}");
    }
}
