//! clang with the counts of gcc's instrumentation.
//!
//! gcc instruments a program, one run counts, and `convert --for-clang` makes the sample profile. clang compiles with
//! `-O2` alone, with this profile, and with `-fprofile-use` of its own instrumentation. Cachegrind counts the
//! instructions of a run with another input. clang itself reports which share of the samples it applies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use regex::Regex;

use crate::builds::{Subject, object, succeed};
use crate::compilers::Language;
use crate::measure;
use crate::program::{Program, words};

/// Programs unless others are asked for.
pub const PROGRAMS: [&str; 4] = ["lua", "sqlite", "clipper", "ordinary"];

/// Instructions of a program, compiled by a clang.
pub struct Row {
    program: &'static str,
    clang: u32,
    plain: u64,
    sample: u64,
    instrumented: u64,
    /// The share of samples that clang applies.
    applied: f64,
}

/// A program, a clang, and the run of the program that gcc instrumented.
struct Build<'b> {
    gcc: &'b Subject<'b>,
    clang: u32,
    folder: PathBuf,
}

/// Measures a program that `gcc` has trained.
pub fn measure(title: &'static str, gcc: &Subject<'_>, clang: u32) -> Result<Row, String> {
    let folder = gcc.instrumented().join(format!("clang-{clang}"));
    let build = Build { gcc, clang, folder };
    let sample = build.sample_profile()?;
    let counted = build.counted_profile()?;
    let use_sample = format!("-fprofile-sample-use={sample}");
    let plain = build.instructions("plain", &[])?;
    let with_sample = build.instructions("sample", &[&use_sample])?;
    let instrumented = build.instructions("use", &[&format!("-fprofile-use={counted}")])?;
    let applied = build.applied(&sample, &use_sample)?;
    Ok(Row { program: title, clang, plain, sample: with_sample, instrumented, applied })
}

impl Build<'_> {
    fn program(&self) -> &Program {
        self.gcc.program
    }

    /// The profile that gcc's counts make.
    fn sample_profile(&self) -> Result<String, String> {
        fs::create_dir_all(&self.folder).map_err(|error| error.to_string())?;
        let dump = self.gcc.instrumented().join("program.csraw").display().to_string();
        let profile = self.folder.join("sample.prof").display().to_string();
        self.gcc.tool(&[
            "convert",
            &dump,
            "--for-clang",
            &self.clang.to_string(),
            "-o",
            &profile,
        ])?;
        Ok(profile)
    }

    /// The profile that clang's counts make.
    fn counted_profile(&self) -> Result<String, String> {
        let folder = self.folder.join("generate");
        self.compile(&folder, &["-fprofile-generate"])?;
        self.link(&folder, &words(&format!("-fprofile-generate {}", self.gcc.tool(&["flags"])?)))?;
        let dump = folder.join("program.csraw").display().to_string();
        let mut run = Command::new(folder.join("program"));
        run.args(&self.program().training).current_dir(&folder).env("COUNTERSINK_FILE", &dump);
        succeed(&mut run)?;
        let profile = self.folder.join("counted.profdata").display().to_string();
        let version = self.clang.to_string();
        self.gcc.tool(&[
            "convert",
            &dump,
            "--to",
            "profdata",
            "--for-llvm",
            &version,
            "-o",
            &profile,
        ])?;
        Ok(profile)
    }

    fn instructions(&self, name: &str, flags: &[&str]) -> Result<u64, String> {
        let folder = self.folder.join(name);
        self.compile(&folder, flags)?;
        self.link(&folder, &[])?;
        let figures = measure::simulate(&folder, &self.program().measured)?;
        Ok(figures.instructions)
    }

    fn compile(&self, folder: &Path, flags: &[&str]) -> Result<String, String> {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let sources = self.program().sources.par_iter().with_max_len(1);
        let said = sources.map(|source| {
            let is_c = source.extension().is_some_and(|extension| extension == "c");
            let mut clang = self.clang(if is_c { Language::C } else { Language::Cxx }, folder);
            // `-w` would hide what clang applies.
            let own = self.program().flags.iter().filter(|flag| *flag != "-w");
            clang.arg("-O2").args(own).args(flags);
            let output = clang.args(["-c", "-o", &object(source)]).arg(source).output();
            let output = output.map_err(|error| format!("{clang:?}: {error}"))?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(said) } else { Err(format!("{clang:?}:\n{said}")) }
        });
        said.collect()
    }

    fn link(&self, folder: &Path, flags: &[String]) -> Result<(), String> {
        let mut clang = self.clang(self.program().language, folder);
        clang.args(["-o", "program"]).args(self.program().sources.iter().map(|path| object(path)));
        succeed(clang.args(self.program().libraries).args(flags)).map(drop)
    }

    fn clang(&self, language: Language, folder: &Path) -> Command {
        let plus = if language == Language::Cxx { "++" } else { "" };
        let mut clang = Command::new(format!("clang{plus}-{}", self.clang));
        clang.current_dir(folder);
        clang
    }

    /// The share of samples that clang applies. It names each function that has others.
    fn applied(&self, profile: &str, use_sample: &str) -> Result<f64, String> {
        let checks = [use_sample, "-mllvm", "-sample-profile-check-sample-coverage=100"];
        let said = self.compile(&self.folder.join("remarks"), &checks)?;
        let pattern = Regex::new(r"(\d+) of (\d+) available profile samples").unwrap();
        let lost = pattern.captures_iter(&said).map(|found| {
            let [applied, all] = [&found[1], &found[2]].map(|text| text.parse::<f64>().unwrap());
            all - applied
        });
        let summary = self.gcc.tool(&["show", "--summary", profile])?;
        let total = Regex::new(r"total count (\d+)").unwrap();
        let total = total.captures(&summary).ok_or_else(|| format!("no total in:\n{summary}"))?;
        Ok(1.0 - lost.sum::<f64>() / total[1].parse::<f64>().unwrap())
    }
}

/// Prints a table for the book.
pub fn print(rows: &[Row]) {
    println!("| program | clang | `-O2` | with gcc's counts | `-fprofile-use` | samples applied |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        let [plain, sample, instrumented] =
            [row.plain, row.sample, row.instrumented].map(|count| count as f64 / 1e6);
        let (program, clang, applied) = (row.program, row.clang, row.applied * 100.0);
        println!(
            "| {program} | {clang} | {plain:.1} M | {sample:.1} M | {instrumented:.1} M | {applied:.0} % |"
        );
    }
}
