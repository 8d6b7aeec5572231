//! `countersink man`.

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::{Arg, ArgAction, Args, Command};
use clap_mangen::Man as Page;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use crate::cli::outcome::Outcome;
use crate::cli::outputs::output;
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::print;

/// A name, what a section says about it, and the commands whose pages say it (none: all). The tool's own page
/// says everything.
type Row = (&'static str, &'static str, &'static [&'static str]);

const ENVIRONMENT: [Row; 7] = [
    (
        "COUNTERSINK_FILE",
        "Read by instrumented programs: where the dump goes. %e becomes the program's name, %p the process id, %h \
         the machine's name, %m the signature of the build.",
        &["flags", "fold"],
    ),
    (
        "COUNTERSINK_ON_SIGNAL",
        "Read by instrumented programs: signals at which the counts are written, such as TERM,SEGV,ABRT.",
        &["flags"],
    ),
    (
        "LLVM_PROFILE_FILE",
        "Read by instrumented programs of clang and rustc: where the dump goes if COUNTERSINK_FILE does not say.",
        &["flags"],
    ),
    (
        "XDG_CACHE_HOME",
        "Where the archives are unpacked, and parts of profiles are kept [default: ~/.cache].",
        &["flags", "launch", "slice"],
    ),
    (
        "COUNTERSINK_LLVM",
        "The LLVM to stand in for: a version, or the command of clang, rustc or llvm-profdata.",
        &["profdata"],
    ),
    (
        "RUSTC",
        "The first compiler whose LLVM is a default, before rustc and clang on the path.",
        &["convert", "merge", "profdata"],
    ),
    (
        "LLVM_PROFDATA",
        "Read by cargo llvm-cov: the llvm-profdata that it calls.",
        &["install", "profdata"],
    ),
];

const FILES: [Row; 6] = [
    (
        "NAME.csraw",
        "The dump of a program: the counts of all its runs.",
        &["flags", "convert", "merge", "fold", "show", "check", "diff", "extract"],
    ),
    ("NAME.csraw.part", "The next dump while a process writes it, and the lock.", &["flags"]),
    (
        "NAME.csraw.live.N",
        "The counters of a running or killed process with live counters.",
        &["flags", "fold", "merge"],
    ),
    (
        "NAME.csraw.aside-INODE",
        "A damaged file, or one of another kind, that was in the way.",
        &["flags"],
    ),
    ("NAME.gcno", "Notes of gcc, by -ftest-coverage.", &["convert", "show", "diff", "stale"]),
    ("NAME.gcda", "Counters of an object, for gcov and -fprofile-use.", &["convert"]),
];

const EXIT_STATUS: [Row; 13] = [
    ("0", "Success.", &[]),
    ("1", "check: a defect was found.", &["check"]),
    ("1", "diff: the profiles differ, or overlap by less than --at-least.", &["diff"]),
    ("1", "convert: the profile holds too little for --fail-under or --strict.", &["convert"]),
    ("1", "convert --explain: nothing has a count of the line.", &["convert"]),
    (
        "1",
        "convert: less was executed than --fail-under-line, -branch or -function ask for.",
        &["convert"],
    ),
    ("1", "tests: no test is found.", &["tests"]),
    ("1", "stale: less of the profile fits than --fail-under asks for.", &["stale"]),
    ("1", "carry: less of the profile was carried than --fail-under asks for.", &["carry"]),
    ("1", "extract: a dump in the log is damaged.", &["extract"]),
    ("1", "doctor: the program is not ready for its training runs.", &["doctor"]),
    ("1", "fold: a live file is damaged, or is none.", &["fold"]),
    ("2", "An error. (profdata: 1.)", &[]),
];

/// Print the man page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink man > countersink.1
  # countersink.1, countersink-convert.1, ...
  countersink man --directory man1")]
pub struct Man {
    /// Write a page for each command here
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Man {
    pub fn run(&self, mut tool: Command) -> Result<Outcome> {
        let Some(directory) = &self.directory else {
            tool.build();
            print::print(&page(&tool, "standard output")?)?;
            return Ok(Outcome::Done);
        };
        for (name, page) in pages(tool)? {
            output::replace(&directory.join(name), &page)?;
        }
        Ok(Outcome::Done)
    }
}

/// The pages of the tool and of each command, with the names of their files.
pub fn pages(mut tool: Command) -> Result<Vec<(String, Vec<u8>)>> {
    // This also builds the names of the commands.
    tool.build();
    let is_own = |command: &&Command| command.get_name() != "help";
    let commands = tool.get_subcommands().filter(is_own);
    let page_of = |command: &Command| {
        let name = command.get_display_name().unwrap_or(command.get_name());
        Ok((format!("{name}.1"), page(command, name)?))
    };
    std::iter::once(&tool).chain(commands).map(page_of).collect()
}

/// The usual sections. clap alone would put examples and notes into a section named EXTRA, and break the
/// lines of commands.
fn page(command: &Command, name: &str) -> Result<Vec<u8>> {
    let page = Page::new(command.clone());
    let mut bytes = Vec::new();
    let mut render = || {
        page.render_title(&mut bytes)?;
        page.render_name_section(&mut bytes)?;
        synopsis(command).to_writer(&mut bytes)?;
        page.render_description_section(&mut bytes)?;
        page.render_options_section(&mut bytes)?;
        if command.has_subcommands() {
            page.render_subcommands_section(&mut bytes)?;
        }
        if command.get_version().is_some() {
            page.render_version_section(&mut bytes)?;
        }
        let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        examples_and_notes(&help).to_writer(&mut bytes)?;
        let known = |rows: &[Row]| entries(rows, command);
        section("ENVIRONMENT", &known(&ENVIRONMENT)).to_writer(&mut bytes)?;
        section("FILES", &known(&FILES)).to_writer(&mut bytes)?;
        section("EXIT STATUS", &known(&EXIT_STATUS)).to_writer(&mut bytes)?;
        see_also(command).to_writer(&mut bytes)
    };
    render().about(name)?;
    Ok(bytes)
}

/// clap's own synopsis does not show which options take values or may be repeated.
fn synopsis(command: &Command) -> Roff {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut line = vec![bold(name)];
    let (required, optional): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|argument| !argument.is_positional())
        .partition(|option| option.is_required_set());
    for argument in optional.into_iter().chain(required).chain(command.get_positionals()) {
        let [before, after] = if argument.is_required_set() { ["", ""] } else { ["[", "]"] };
        line.push(roman(format!(" {before}")));
        line.extend(words(argument));
        line.push(roman(format!("{after}{}", if repeats(argument) { "..." } else { "" })));
    }
    if command.has_subcommands() {
        line.extend([roman(" "), italic("COMMAND"), roman(" ...")]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text(line);
    roff
}

/// An argument with the names of its values.
fn words(argument: &Arg) -> Vec<Inline> {
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let takes_values = argument.get_action().takes_values();
    let values = argument.get_value_names().filter(|_| takes_values).unwrap_or_default();
    let values = values.iter().map(|value| italic(value.as_str()));
    let option = short.or(long).map(bold);
    let words: Vec<Inline> = option.into_iter().chain(values).collect();
    let mut spaced: Vec<Inline> = words.into_iter().flat_map(|word| [word, roman(" ")]).collect();
    spaced.pop();
    spaced
}

fn repeats(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Append)
}

/// The text behind the options in a help text: a title, indented commands, and paragraphs.
fn examples_and_notes(help: &str) -> Roff {
    let mut roff = Roff::new();
    let (examples, notes) = help.split_once("\n\n").unwrap_or((help, ""));
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in examples.lines().skip(1) {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
    }
    for paragraph in notes.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        roff.control("PP", []).text([roman(paragraph)]);
    }
    roff
}

/// The rows for a command's page.
fn entries(rows: &[Row], command: &Command) -> Vec<Row> {
    let name = command.get_name();
    let concerns = |commands: &[&str]| {
        command.has_subcommands() || commands.is_empty() || commands.contains(&name)
    };
    rows.iter().filter(|(_, _, commands)| concerns(commands)).copied().collect()
}

/// Nothing if there are no rows.
fn section(title: &str, rows: &[Row]) -> Roff {
    let mut roff = Roff::new();
    if rows.is_empty() {
        return roff;
    }
    roff.control("SH", [title]);
    for (name, text, _) in rows {
        roff.control("TP", []).text([bold(*name)]).text([roman(*text)]);
    }
    roff
}

/// The tool's page names those of the commands and of what the tool works with; a command's page names the tool's.
fn see_also(command: &Command) -> Roff {
    let own = |command: &&Command| command.get_name() != "help";
    let mut pages: Vec<String> = match command.has_subcommands() {
        true => command
            .get_subcommands()
            .filter(own)
            .filter_map(Command::get_display_name)
            .map(str::to_owned)
            .collect(),
        false => vec!["countersink".to_owned()],
    };
    pages.extend(["gcc", "gcov", "llvm-profdata"].map(str::to_owned));
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    let mut line = vec![];
    for page in &pages {
        line.extend([bold(page), roman("(1), ")]);
    }
    line.pop();
    line.push(roman("(1)"));
    roff.text(line);
    roff
}
