//! Runs the sessions of a page in one shell, and compares what they print with what the page shows.

use std::path::Path;
use std::process::Stdio;
use std::{env, fs};

use regex::Regex;
use snapbox::Data;
use snapbox::filter::NormalizeToExpected;

use crate::harness::{Workshop, have};
use crate::pages::{Block, Page};

/// Ends the output of a command; its exit status follows.
const END: char = '\u{1e}';

/// The folder that pages show where a session has a temporary one.
const SHOWN_FOLDER: &str = "/home/you/prog";

/// A command of a session.
struct Step<'p> {
    block: &'p Block,
    command: String,
    /// The output that the page shows.
    shown: String,
}

/// Runs a page's sessions. Returns where they differ. With `SNAPSHOTS=overwrite` the page gets what was printed.
pub fn run(page: &Page) -> Vec<String> {
    let is_session = |block: &&Block| block.info.iter().any(|word| word == "session");
    let mut steps: Vec<Step> = page.blocks.iter().filter(is_session).flat_map(steps).collect();
    if steps.is_empty() || !value(page, "needs=").all(|(_, program)| have(program)) {
        return vec![];
    }
    let shop = Workshop::new();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    shop.write("session/prog.c", fs::read(top.join("examples/quickstart.c")).unwrap());
    let folder = shop.path("session").to_str().unwrap().to_owned();
    let output = shell(&shop, &folder, &script(page, &shop)).replace(&folder, SHOWN_FOLDER);
    let mut outputs = output.split(END);
    let mut printed = outputs.next().unwrap_or_default().to_owned();
    let mut failures = vec![];
    for step in &mut steps {
        // The next part starts with the status of this command.
        let Some((status, next)) = outputs.next().and_then(|part| part.split_once('\n')) else {
            failures.push(step.failure(page, "the shell has ended"));
            break;
        };
        let mut actual = std::mem::replace(&mut printed, next.to_owned());
        actual.truncate(actual.trim_end_matches('\n').len());
        if status != "0" {
            actual.push_str(&format!("\n(exit status {status})"));
        }
        if !step.shows(&actual) {
            failures.push(step.failure(page, &actual));
            step.shown = format!("{actual}\n");
        }
    }
    if !failures.is_empty() && env::var_os("SNAPSHOTS").is_some_and(|wish| wish == "overwrite") {
        fs::write(top.join(&page.path), overwritten(page, &steps)).unwrap();
        return vec![];
    }
    failures
}

/// The page with these steps in the place of its own.
fn overwritten(page: &Page, steps: &[Step]) -> String {
    let mut lines: Vec<&str> = page.text.lines().collect();
    let texts = steps.chunk_by(|a, b| std::ptr::eq(a.block, b.block)).map(|steps| {
        let text: String = steps.iter().map(Step::written).collect();
        (steps[0].block, text)
    });
    let texts: Vec<(&Block, String)> = texts.collect();
    for (block, text) in texts.iter().rev() {
        let start = block.line - 1;
        lines.splice(start..start + block.text.lines().count(), text.lines());
    }
    format!("{}\n", lines.join("\n"))
}

/// The blocks of a page with such a word, and the rest of the word.
fn value<'p>(page: &'p Page, key: &str) -> impl Iterator<Item = (&'p Block, &'p str)> {
    let found = move |block: &'p Block| {
        block.info.iter().find_map(|word| word.strip_prefix(key)).map(|value| (block, value))
    };
    page.blocks.iter().filter_map(found)
}

fn steps(block: &Block) -> Vec<Step<'_>> {
    let mut steps: Vec<Step> = vec![];
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { block, command: command.to_owned(), shown: String::new() });
            continue;
        }
        let step = steps.last_mut().expect("a session starts with a command");
        match line.strip_prefix('>') {
            Some(more) if step.shown.is_empty() => {
                step.command.push('\n');
                step.command.push_str(more.strip_prefix(' ').unwrap_or(more));
            }
            _ => step.shown.push_str(&format!("{line}\n")),
        }
    }
    steps
}

/// One script, so that `cd` and `export` hold for what follows.
fn script(page: &Page, shop: &Workshop) -> String {
    let mut script = String::from("exec 2>&1\n");
    for block in &page.blocks {
        if let Some(file) = block.info.iter().find_map(|word| word.strip_prefix("file=")) {
            let source = shop.write(&format!("line{}", block.line), &block.text);
            let source = source.display();
            script.push_str(&format!("mkdir -p \"$(dirname {file})\"; cp '{source}' {file}\n"));
        }
        if block.info.iter().any(|word| word == "session") {
            for step in steps(block) {
                script.push_str(&format!("{}\nprintf '{END}%s\\n' $?\n", step.command));
            }
        }
    }
    script
}

/// Runs a script in a folder, with our tool first on the path.
fn shell(shop: &Workshop, folder: &str, script: &str) -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_countersink")).parent().unwrap();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([tool.to_owned()].into_iter().chain(env::split_paths(&path)));
    let output = shop
        .command("bash")
        .args(["-c", script])
        .current_dir(folder)
        .envs([("TIMEFORMAT", "%3R s"), ("LC_ALL", "C.UTF-8")])
        // `LANGUAGE` overrides `LC_ALL` in gcc's messages, in all locales but C.
        .env_remove("LANGUAGE")
        .env("XDG_CACHE_HOME", shop.path("cache"))
        .env("PATH", path.unwrap())
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Step<'_> {
    /// Whether the page shows this output.
    fn shows(&self, actual: &str) -> bool {
        let (mut shown, mut actual) = (self.shown.trim_end().to_owned(), actual.trim().to_owned());
        if self.block.info.iter().any(|word| word == "figures") {
            let number = Regex::new(r"\d+(\.\d+)?").unwrap();
            shown = number.replace_all(&shown, "0").into_owned();
            actual = number.replace_all(&actual, "0").into_owned();
        }
        let shown = Data::text(format!("{}\n", shown.trim()));
        let wildcards = NormalizeToExpected::new().redact();
        wildcards.normalize(Data::text(format!("{}\n", actual.trim())), &shown) == shown
    }

    /// The lines of the page.
    fn written(&self) -> String {
        let output = self.shown.trim_end_matches('\n');
        let end = if output.is_empty() { "" } else { "\n" };
        format!("$ {}\n{output}{end}", self.command.replace('\n', "\n> "))
    }

    fn failure(&self, page: &Page, actual: &str) -> String {
        let Self { block, command, shown } = self;
        let place = format!("{}:{}", page.path.display(), block.line);
        format!("{place}: $ {command}\nshown:\n{shown}\nprinted:\n{actual}\n")
    }
}
