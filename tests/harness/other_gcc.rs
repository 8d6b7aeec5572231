//! Programs of newer compilers, those on the path and those of the systems that `COUNTERSINK_GCCS` names, for root
//! alone: all runs inside these.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use countersink::cli::archives::archive::HOSTED;
use tempfile::TempDir;

use super::{say_skipped, succeed};

/// The arguments of the two runs.
const RUNS: [&str; 2] = ["1", "2"];

/// A compiler, and a folder of its system.
pub struct Shop {
    pub major: u32,
    /// The system's root; none is this one.
    root: Option<PathBuf>,
    pub folder: TempDir,
}

/// All compilers from this version on. Reports if there are none.
pub fn shops(since: u32) -> Vec<Shop> {
    let mut all = Vec::new();
    let roots = std::env::var_os("COUNTERSINK_GCCS").unwrap_or_default();
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let roots = std::env::split_paths(&roots).filter(|root| is_root && root.is_dir());
    for root in [None].into_iter().chain(roots.map(Some)) {
        for major in since..=17 {
            let folder = root.as_deref().unwrap_or(Path::new("/")).join("tmp");
            let shop =
                Shop { major, root: root.clone(), folder: tempfile::tempdir_in(folder).unwrap() };
            if shop
                .command(&format!("command -v g++-{major} gcov-{major}"))
                .output()
                .unwrap()
                .status
                .success()
            {
                all.push(shop);
            }
        }
    }
    if all.is_empty() {
        say_skipped(&format!("no gcc {since} or newer"));
    }
    all
}

impl Shop {
    /// A line of shell in the folder, inside the system.
    fn command(&self, line: &str) -> Command {
        let mut command = match &self.root {
            Some(root) => {
                let mut command = Command::new("chroot");
                command.arg(root).arg("sh");
                command
            }
            None => Command::new("sh"),
        };
        let inside = self.inside();
        command
            .args(["-c", &format!("cd {inside} && export COUNTERSINK_FILE=ours.csraw && {line}")]);
        command
    }

    pub fn shell(&self, line: &str) -> String {
        String::from_utf8(succeed(&mut self.command(line))).unwrap()
    }

    /// The folder's name in the system.
    pub fn inside(&self) -> String {
        format!("/tmp/{}", self.folder.path().file_name().unwrap().to_str().unwrap())
    }

    /// Copies these sources, and writes the runtime.
    pub fn take<'s>(&self, sources: impl IntoIterator<Item = &'s &'s str>) {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        for source in sources {
            fs::copy(programs.join(source), self.folder.path().join(source)).unwrap();
        }
        fs::write(self.folder.path().join(HOSTED.file_name()), HOSTED.bytes).unwrap();
    }

    /// Compiles sources, links them with libgcov and with our runtime, and runs both programs.
    pub fn run(&self, sources: &[&str], flags: &str) {
        let major = self.major;
        let is_cxx = sources[0].ends_with(".cc");
        let driver = if is_cxx { "g++" } else { "gcc" };
        let flags = format!("{flags} -w --coverage");
        let mut objects = String::new();
        self.shell("rm -f *.gcda *.gcno *.csraw *.o");
        for source in sources {
            let object = format!("{}.o", source.split_once('.').unwrap().0);
            self.shell(&format!("{driver}-{major} {flags} -c {source} -o {object}"));
            objects += &format!(" {object}");
        }
        let link = format!("{driver}-{major} --coverage {objects}");
        self.shell(&format!("{link} -o stock && {link} -o ours -L. -lcountersink_rt -pthread"));
        for run in RUNS {
            assert_eq!(self.shell(&format!("./ours {run}")), self.shell(&format!("./stock {run}")));
        }
    }

    pub fn tool(&self, words: &[&str]) -> Output {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_countersink"));
        let moved = format!("{}={}", self.inside(), self.folder.path().display());
        tool.current_dir(&self.folder).arg("convert").args(words);
        tool.args(["--source-root", ".", "--path-map", &moved]).output().unwrap()
    }

    #[track_caller]
    pub fn convert(&self, words: &[&str]) -> String {
        let output = self.tool(words);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What gcov says of all objects with this option.
    pub fn gcov(&self, option: &str) -> Vec<serde_json::Value> {
        let gcov = format!("gcov-{} {option} -b -j -t *.gcda", self.major);
        let json = self.shell(&gcov);
        let objects = serde_json::Deserializer::from_str(&json).into_iter();
        objects.map(|object| object.unwrap()).collect()
    }
}
