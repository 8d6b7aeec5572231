//! The lines that differ between a commit and the work tree, as git tells them.
//!
//! `git diff --unified=0` has two lines for each file and one for each change; the numbers with `-` are those of the
//! commit:
//!
//! ```text
//! --- a/src/prog.c
//! +++ b/src/prog.c
//! @@ -12,3 +12,4 @@ int main(void)
//! ```
//!
//! A file that was added is `--- /dev/null`. With 0 lines behind the comma, lines were added behind the one before it.

use std::ops::RangeInclusive;
use std::prelude::v1::*;
use std::process::{Command, Output, Stdio};

use crate::cli::terminal::error::{Error, Result};
use crate::coverage::{Coverage, File};

/// The changed lines of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// The file's path in the commit.
    pub path: Vec<u8>,
    /// Lines of the commit that were changed or removed, or between which others were added.
    ranges: Vec<RangeInclusive<u32>>,
}

/// What differs between a commit and the work tree.
pub fn since(commit: &str) -> Result<Vec<Change>> {
    if commit.starts_with('-') {
        return Err(Error::new(format!("--changed: expected a commit, found \"{commit}\"")));
    }
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let top = top.strip_suffix(b"\n").unwrap_or(&top);
    let options = ["--unified=0", "--no-color", "--no-ext-diff", "--no-renames", "--no-prefix"];
    let diff =
        git(&[&["-c", "core.quotePath=false", "diff"], &options[..], &[commit, "--"]].concat())?;
    Ok(changes(top, &diff))
}

fn git(arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("git").args(arguments).stdin(Stdio::null()).output();
    let Output { status, stdout, stderr } =
        output.map_err(|error| Error::new(format!("--changed: git: {error}")))?;
    match status.success() {
        true => Ok(stdout),
        false => {
            let said = String::from_utf8_lossy(&stderr);
            let said = said.lines().next().unwrap_or("failed").to_owned();
            Err(Error::new(format!("--changed: git: {said}")))
        }
    }
}

/// The changes in a diff of the repository at `top`.
fn changes(top: &[u8], diff: &[u8]) -> Vec<Change> {
    let mut all: Vec<Change> = Vec::new();
    let mut lines = diff.split(|&byte| byte == b'\n');
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix(b"--- ") {
            // git writes a tab behind names with blanks.
            let path = path.strip_suffix(b"\t").unwrap_or(path);
            all.push(Change { path: [top, b"/", path].concat(), ranges: Vec::new() });
        } else if let Some((old, new)) = hunk(line) {
            let range = match old {
                (line, 0) => line..=line.saturating_add(1),
                (line, number) => line..=line.saturating_add(number - 1),
            };
            if let Some(change) = all.last_mut() {
                change.ranges.push(range);
            }
            // The text of removed and added lines may look like anything.
            let text = old.1.saturating_add(new.1) as usize;
            lines.by_ref().take(text).for_each(drop);
        }
    }
    let is_new = |change: &Change| change.path.ends_with(b"//dev/null");
    all.retain(|change| !change.ranges.is_empty() && !is_new(change));
    all
}

/// The lines of both sides in `@@ -12,3 +12,4 @@`, each with its number.
fn hunk(line: &[u8]) -> Option<((u32, u32), (u32, u32))> {
    let line =
        str::from_utf8(line.strip_prefix(b"@@ -")?.split(|&byte| byte == b'@').next()?).ok()?;
    let (old, new) = line.trim_end().split_once(" +")?;
    let side = |text: &str| {
        let (line, number) = text.split_once(',').unwrap_or((text, "1"));
        Some((line.parse().ok()?, number.parse().ok()?))
    };
    Some((side(old)?, side(new)?))
}

impl Change {
    /// Whether any of the changed code was executed.
    pub fn is_in(&self, coverage: &Coverage) -> bool {
        let file = coverage.files.get(&self.path);
        file.is_some_and(|file| self.ranges.iter().any(|range| is_executed(file, range)))
    }
}

/// Whether code of these lines was executed, or, if they have none, the code before or behind them.
fn is_executed(file: &File, range: &RangeInclusive<u32>) -> bool {
    let mut within = file.lines.range(range.clone()).peekable();
    if within.peek().is_some() {
        return within.any(|(_, &count)| count > 0);
    }
    let before = file.lines.range(..range.start()).next_back();
    let behind = file.lines.range(range.end()..).next();
    [before, behind].into_iter().flatten().any(|(_, &count)| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_of_a_diff() {
        let diff = "diff --git a.c a.c\nindex 1..2 100644\n--- a.c\n+++ a.c\n@@ -2 +2,2 @@ int f(\n-int a;\n+int b;\n+--- x\n\
                    @@ -9,0 +11 @@\n+--- y\n--- /dev/null\n+++ new.c\n@@ -0,0 +1 @@\n+int n;\n--- b c.h\t\n+++ b c.h\t\n\
                    @@ -4,3 +4,0 @@\n-1\n-2\n-3\n\\ No newline at end of file\n";
        let found = changes(b"/top", diff.as_bytes());
        let expected = [("/top/a.c", vec![2..=2, 9..=10]), ("/top/b c.h", vec![4..=6])];
        let expected = expected.map(|(path, ranges)| Change { path: path.into(), ranges });
        assert_eq!(found, expected);
        assert_eq!(changes(b"/top", b"@@ -1 +1 @@\n@@ -x\n--- \n@@ -1,2 +3"), []);
    }

    #[test]
    fn lines_without_code_stand_for_the_code_around() {
        let file = |lines: &[(u32, u64)]| File {
            lines: lines.iter().copied().collect(),
            ..File::default()
        };
        let executed = file(&[(3, 1), (5, 0), (9, 0)]);
        for (range, expected) in
            [(3..=3, true), (5..=5, false), (4..=4, true), (7..=8, false), (1..=9, true)]
        {
            assert_eq!(is_executed(&executed, &range), expected, "{range:?}");
        }
        assert!(!is_executed(&file(&[]), &(1..=2)));
    }
}
