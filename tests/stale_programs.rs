//! Real programs fit their own dumps and profiles: those of `benches/speedup`, with each gcc that is found. They
//! compile for an hour, so the test only runs when asked for:
//!
//! ```sh
//! cargo test --test stale_programs -- --ignored by_hand --nocapture
//! ```
//!
//! `STALE_PROGRAMS` names some of them, separated by commas, and `STALE_GCCS` versions of gcc.

mod harness;

#[allow(dead_code, reason = "the benchmark uses all of it")]
#[path = "../benches/speedup/builds.rs"]
mod builds;
#[allow(dead_code, reason = "the benchmark uses all of it")]
#[path = "../benches/speedup/compilers.rs"]
mod compilers;
#[allow(dead_code, reason = "the benchmark uses all of it")]
#[path = "../benches/speedup/further.rs"]
mod further;
#[allow(dead_code, reason = "the benchmark uses all of it")]
#[path = "../benches/speedup/program.rs"]
mod program;
#[allow(dead_code, reason = "the benchmark uses all of it")]
#[path = "../benches/speedup/programs.rs"]
mod programs;
#[path = "../benches/speedup/releases.rs"]
mod releases;

use builds::Subject;
use serde_json::Value;

/// What does not fit a program, in one line for each kind of file.
fn misfits(subject: &Subject<'_>) -> Result<Vec<String>, String> {
    let folder = subject.instrumented();
    let file = |name: &str| folder.join(name).display().to_string();
    let (dump, program) = (file("program.csraw"), file("program"));
    let mut misfits = Vec::new();
    let mut compare = |profile: &str, arguments: &[&str]| -> Result<(), String> {
        let printed = subject.tool(&[&["stale", profile, "--json"], arguments].concat())?;
        let stale: Value = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
        let lossy = stale["functions"].as_array().into_iter().flatten();
        let lossy = lossy.filter(|of| of["reasons"].as_array().is_some_and(|all| !all.is_empty()));
        let first = lossy.clone().next().map(ToString::to_string).unwrap_or_default();
        let (executions, calls) = (&stale["executions"], &stale["calls"]);
        let number = lossy.count();
        if number > 0 || executions["fit"] != executions["all"] || calls["fit"] != calls["all"] {
            let share = &stale["share"];
            misfits.push(format!("{profile} {arguments:?}: {share}, {number} functions: {first}"));
        }
        Ok(())
    };
    compare(&dump, &[])?;
    compare(&dump, &["--binary", &program])?;
    for to in ["v2", "v3", "v4"] {
        let profile = file(to);
        subject.tool(&["convert", &dump, "--to", to, "-o", &profile])?;
        compare(&profile, &["--binary", &program])?;
    }
    Ok(misfits)
}

#[test]
#[ignore = "compiles thirty programs"]
fn programs_fit_themselves_by_hand() {
    let asked = |name: &str| std::env::var(name).unwrap_or_default();
    let (names, majors) = (asked("STALE_PROGRAMS"), asked("STALE_GCCS"));
    let is_wanted = |name: &str| names.is_empty() || names.split(',').any(|wanted| wanted == name);
    let majors: Vec<u32> = majors.split(',').filter_map(|major| major.parse().ok()).collect();
    let mut all = Vec::new();
    for compiler in compilers::all(&majors) {
        let entries = programs::GROUPS.iter().flat_map(|(_, entries)| *entries);
        for entry in entries.filter(|entry| is_wanted(entry.name)) {
            let program = (entry.program)();
            let name = format!("stale-{}", entry.name);
            let found = Subject::new(&name, &program, &compiler)
                .and_then(|subject| subject.train(&[]).and_then(|()| misfits(&subject)));
            let misfits = found.unwrap_or_else(|error| vec![error]);
            eprintln!("{} with gcc {}: {misfits:#?}", entry.title, compiler.major());
            all.extend(misfits);
        }
    }
    assert_eq!(all, Vec::<String>::new());
}
