//! Compiles a file to assembler code with each version of gcc that is found. Runs nothing in another system's
//! root as root, and changes nothing there.

#![allow(dead_code, reason = "every test uses some of it")]

#[path = "found.rs"]
mod found;

use std::path::{Path, PathBuf};
use std::process::Command;

use self::found::{Found, Place};
use crate::harness::{Workshop, say_skipped, succeed};

/// A version of gcc.
pub struct Compiler(Found);

/// All compilers that are found. Reports the missing ones.
pub fn all() -> Vec<Compiler> {
    let has = |root: &Path, major| compiler_proper(root, major, "cc1").is_some();
    found::all(|_| true, has).into_iter().map(Compiler).collect()
}

/// The program behind the driver that compiles. The driver's own paths would lead out of the folder.
fn compiler_proper(root: &Path, major: u32, name: &str) -> Option<PathBuf> {
    let places = ["usr/libexec/gcc", "usr/lib/gcc"];
    let proper = |place| root.join(place).join(format!("x86_64-linux-gnu/{major}/{name}"));
    places.iter().map(proper).find(|path| path.exists())
}

impl Compiler {
    pub fn major(&self) -> u32 {
        self.0.major
    }

    /// Whether the compiler has C++. Reports it if not.
    pub fn has_cxx(&self) -> bool {
        let has = match &self.0.place {
            Place::Path(suffix) => {
                Command::new(format!("g++{suffix}")).arg("--version").output().is_ok()
            }
            Place::Root(root) => compiler_proper(root, self.major(), "cc1plus").is_some(),
        };
        if !has {
            say_skipped(&format!("gcc {} without C++", self.major()));
        }
        has
    }

    /// Compiles a source of the folder, without output.
    #[allow(dead_code, reason = "other tests make objects")]
    pub fn compile(&self, shop: &Workshop, source: &str, flags: &[&str]) {
        self.assembler_code(shop, source, "/dev/null", flags);
    }

    /// Compiles a source of the folder to assembler code.
    pub fn assembler_code(&self, shop: &Workshop, source: &str, code: &str, flags: &[&str]) {
        let is_cxx = source.ends_with(".cc");
        let driver = if is_cxx { "g++" } else { "gcc" };
        let mut command = match &self.0.place {
            Place::Path(suffix) => shop.command(format!("{driver}{suffix}")),
            Place::Root(root) => self.proper(shop, root, is_cxx),
        };
        if matches!(self.0.place, Place::Path(_)) {
            command.arg("-S");
        }
        succeed(command.args(["-o", code, "-I."]).args(flags).arg(source));
    }

    /// Compiles a source of the folder to an object of the same name, with notes beside it if the flags ask for them.
    #[allow(dead_code, reason = "only some tests link")]
    pub fn object(&self, shop: &Workshop, source: &str, flags: &[&str]) -> String {
        let (stem, extension) = source.rsplit_once('.').unwrap();
        let is_cxx = extension == "cc";
        let object = format!("{stem}.o");
        match &self.0.place {
            Place::Path(suffix) => {
                let driver = if is_cxx { "g++" } else { "gcc" };
                let mut command = shop.command(format!("{driver}{suffix}"));
                succeed(command.args(["-c", "-o", &object]).args(flags).arg(source));
            }
            Place::Root(root) => {
                let assembler = format!("{stem}.s");
                let mut command = self.proper(shop, root, is_cxx);
                let extension = format!(".{extension}");
                command.args(["-dumpbase", source, "-dumpbase-ext", &extension, "-o", &assembler]);
                succeed(command.args(flags).arg(source));
                succeed(shop.command("as").args([&assembler, "-o", &object]));
            }
        }
        object
    }

    /// Links objects with its libgcov.
    pub fn link_stock(&self, shop: &Workshop, objects: &[&str], program: &str) {
        let (driver, libgcov) = match &self.0.place {
            Place::Path(suffix) => (format!("gcc{suffix}"), PathBuf::from("-fprofile-generate")),
            Place::Root(root) => {
                let folder = format!("usr/lib/gcc/x86_64-linux-gnu/{}", self.major());
                ("gcc".into(), root.join(folder).join("libgcov.a"))
            }
        };
        // A newer system's libgcov asks for a newer C library's name of this function.
        let names = "-Wl,--defsym=__isoc23_strtol=strtol";
        let mut link = shop.command(driver);
        succeed(link.args(objects).arg(libgcov).args([names, "-o", program]));
    }

    /// The compiler proper of another system, started by that system's dynamic linker.
    fn proper(&self, shop: &Workshop, root: &Path, is_cxx: bool) -> Command {
        let name = if is_cxx { "cc1plus" } else { "cc1" };
        let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
        let libraries = std::env::join_paths(libraries.map(|place| root.join(place))).unwrap();
        let mut command =
            shop.command(root.join("lib/x86_64-linux-gnu").join("ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(libraries);
        command.arg(compiler_proper(root, self.major(), name).unwrap());
        command.args(["-quiet", "-imultiarch", "x86_64-linux-gnu", "-D_GNU_SOURCE"]);
        let major = self.major();
        let mut folders = vec![format!("usr/lib/gcc/x86_64-linux-gnu/{major}/include")];
        if is_cxx {
            folders.insert(0, format!("usr/include/c++/{major}"));
            folders.insert(1, format!("usr/include/x86_64-linux-gnu/c++/{major}"));
        }
        for folder in folders {
            command.arg("-isystem").arg(root.join(folder));
        }
        command
    }
}
