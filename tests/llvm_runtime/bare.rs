//! Programs without an operating system that clang instruments: their counts are those of LLVM's own runtime.

use crate::harness::{Workshop, have, number_behind, succeed};
use crate::llvm::{Llvm, all};

/// Nothing runs at the start of such a program, and nothing finds its place in memory.
const LINK: [&str; 5] =
    ["-no-pie", "-Wl,-u,__llvm_profile_runtime", "bare_dump.o", "-L.", "-lcountersink_rt_bare"];

/// A folder with what writes the dump.
fn workshop() -> Workshop {
    let shop = Workshop::new();
    shop.program("bare_dump.c");
    shop.gcc(&["-O2", "-Wall", "-Wextra", "-Werror", "-I.", "-c", "bare_dump.c"]);
    shop
}

/// Links objects with the archive, runs the program, and gives its dump as LLVM's text.
fn text_of_ours(llvm: Llvm, shop: &Workshop, objects: &[&str]) -> Result<String, String> {
    let mut clang = shop.command(format!("clang++-{}", llvm.major));
    succeed(clang.args(objects).args(["-o", "ours"]).args(LINK));
    shop.run("ours", &[]);
    let version = llvm.major.to_string();
    let convert =
        ["convert", "bare.csraw", "--to=profraw", "--for-llvm", &version, "-o", "ours.profraw"];
    shop.tool_output(&convert);
    llvm.text(shop, &shop.read("ours.profraw"))
}

#[test]
#[ignore = "slow"]
fn every_way_to_instrument() {
    for llvm in all() {
        let shop = workshop();
        shop.program("values.cc");
        for mode in llvm.modes() {
            let mut clang = shop.command(format!("clang++-{}", llvm.major));
            succeed(clang.args(["-O1", "-w", "-fno-pie", "-c", "values.cc"]).args(mode.flags));
            let mut clang = shop.command(format!("clang++-{}", llvm.major));
            succeed(clang.args(["-no-pie", "values.o", "-o", "stock"]).args(mode.flags));
            llvm.run(&shop, "stock", "stock.profraw");
            let stock = llvm.text(&shop, &shop.read("stock.profraw"));
            let ours = text_of_ours(llvm, &shop, &["values.o"]);
            assert_eq!(ours, stock, "clang {}, {}", llvm.major, mode.name);
        }
    }
}

/// The dump does not say which program it is of, so the one that is named counts, whatever its build-id.
#[test]
fn coverage_of_a_named_program() {
    for llvm in all() {
        let shop = workshop();
        shop.write("main.c", "int main(int argc, char **argv) {\n  return argc > 3 && argv;\n}\n");
        let mut clang = shop.command(format!("clang-{}", llvm.major));
        let compile = ["-O1", "-fno-pie", "-fprofile-instr-generate", "-fcoverage-mapping"];
        succeed(clang.args(compile).args(["-c", "main.c"]));
        let link = ["main.o", "-o", "ours", "-Wl,--build-id"];
        shop.gcc(&[&link[..], &LINK].concat());
        shop.run("ours", &[]);
        let convert = ["convert", "bare.csraw", "--binary=ours", "--to=lcov", "-o", "x.info"];
        shop.tool_output(&convert);
        let tracefile = String::from_utf8(shop.read("x.info")).unwrap();
        assert!(tracefile.contains("DA:2,1\n"), "clang {}: {tracefile}", llvm.major);
    }
}

/// Each family has a module of its own.
#[test]
fn objects_of_gcc_and_clang_in_one_program() {
    for llvm in all().into_iter().take(1) {
        let shop = workshop();
        shop.write("main.c", "int twice(int);\nint main(void) { return twice(1) != 2; }\n");
        shop.write("twice.c", "int twice(int x) { return x ? x + x : 0; }\n");
        shop.gcc(&["-O1", "-fno-pie", "--coverage", "-c", "main.c"]);
        let mut clang = shop.command(format!("clang-{}", llvm.major));
        succeed(clang.args(["-O1", "-fno-pie", "-fprofile-instr-generate", "-c", "twice.c"]));
        shop.gcc(&[&["main.o", "twice.o", "-o", "ours"], &LINK[..]].concat());
        shop.run("ours", &[]);
        let shown = String::from_utf8(shop.tool_output(&["show", "bare.csraw"])).unwrap();
        assert!(shown.contains("1 object of gcc"), "{shown}");
        assert!(shown.contains("1 object of LLVM"), "{shown}");
        shop.tool_output(&["check", "bare.csraw"]);
    }
}

/// A record that no compiler makes is told in the dump.
#[test]
fn records_of_an_unknown_layout() {
    let shop = workshop();
    shop.write(
        "main.c",
        "extern int __llvm_profile_runtime;\n\
         int *volatile runtime = &__llvm_profile_runtime;\n\
         __attribute__((section(\"__llvm_prf_data\"), used)) long long record[8] = {1, 2, 3};\n\
         int main(void) { return 0; }\n",
    );
    shop.gcc(&["-O1", "-fno-pie", "-c", "main.c"]);
    shop.gcc(&[&["main.o", "-o", "ours"], &LINK[..]].concat());
    shop.run("ours", &[]);
    let output = shop.tool(&["show", "bare.csraw"]);
    let told = String::from_utf8(output.stderr).unwrap();
    let expected =
        "64 bytes of function records had an unknown layout: their functions are missing";
    assert!(told.contains(expected), "{told}");
    assert_eq!(shop.tool(&["check", "bare.csraw"]).status.code(), Some(0));
}

/// What the program measures by painting its stack. Targets of calls are looked up by name, which takes more than
/// gcc's idents.
#[test]
fn a_dump_takes_little_stack() {
    let shop = Workshop::new();
    shop.program("everything.c");
    shop.program("bare.c");
    shop.gcc(&["-O2", "-fno-pie", "-I.", "-DOURS", "-c", "bare.c"]);
    for llvm in all() {
        let mut clang = shop.command(format!("clang-{}", llvm.major));
        let compile = ["-O2", "-w", "-fno-pie", "-fprofile-generate", "-Dmain=program_main"];
        succeed(clang.args(compile).args(["-c", "everything.c"]));
        let link = [&["everything.o", "bare.o", "-o", "ours"], &LINK[..2], &LINK[3..]].concat();
        shop.gcc(&link);
        let printed = shop.run("ours", &["500"]);
        let measured = |what| number_behind(what, &printed);
        assert!((200..=1024).contains(&measured("write")), "{printed}");
        assert!((200..=1280).contains(&measured("text")), "{printed}");
    }
}

/// gcc's programs do not carry what reads clang's objects, and the other way round.
#[test]
fn a_program_of_one_family_has_no_code_of_the_other() {
    if !have("nm") {
        return;
    }
    let shop = workshop();
    shop.write("main.c", "int main(int argc, char **argv) { return argc > 3 && argv; }\n");
    let code = |shop: &Workshop| {
        let names = succeed(shop.command("nm").args(["-C", "ours"]));
        let names = String::from_utf8(names).unwrap();
        ["abi::gcov", "abi::llvm"].map(|family| names.contains(family))
    };
    let link = [&["main.o", "-o", "ours", "-Wl,--gc-sections"], &LINK[..1], &LINK[2..]].concat();
    shop.gcc(&["-O1", "-fno-pie", "--coverage", "-c", "main.c"]);
    shop.gcc(&link);
    assert_eq!(code(&shop), [true, false]);
    for llvm in all() {
        let mut clang = shop.command(format!("clang-{}", llvm.major));
        succeed(clang.args(["-O1", "-fno-pie", "-fprofile-instr-generate", "-c", "main.c"]));
        shop.gcc(&[&link[..], &LINK[1..2]].concat());
        assert_eq!(code(&shop), [false, true], "clang {}", llvm.major);
    }
}
