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
//! A file that was renamed, and has most lines still, has these lines before; the others only if lines differ:
//!
//! ```text
//! rename from src/prog.c
//! rename to src/main.c
//! ```

use std::ops::RangeInclusive;
use std::prelude::v1::*;
use std::process::{Command, Output, Stdio};

use crate::cli::terminal::error::{Error, Result};
use crate::coverage::{Coverage, File};

/// What differs in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The file's path in the work tree, or in the commit if the work tree does not have the file.
    pub path: Vec<u8>,
    /// The file's path in the commit. It is another one if the file was renamed.
    pub old_path: Vec<u8>,
    /// Whether the commit does not have the file.
    pub is_new: bool,
    hunks: Vec<Hunk>,
}

/// Lines that differ, and what they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hunk {
    /// In the commit.
    old: Side,
    /// In the work tree.
    new: Side,
}

/// Lines of one side. If there are none, the place is behind the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    line: u32,
    number: u32,
}

/// What differs between a commit and the work tree.
pub fn since(commit: &str) -> Result<Vec<Change>> {
    if commit.starts_with('-') {
        return Err(Error::new(format!("--changed: expected a commit, found \"{commit}\"")));
    }
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let top = top.strip_suffix(b"\n").unwrap_or(&top);
    // The user's settings may say otherwise.
    let options = [
        "--unified=0",
        "--inter-hunk-context=0",
        "--no-color",
        "--no-ext-diff",
        "--find-renames",
        "--no-prefix",
        "--no-relative",
        // Attributes of the repository may call sources binary.
        "--text",
    ];
    let diff =
        git(&[&["-c", "core.quotePath=false", "diff"], &options[..], &[commit, "--"]].concat())?;
    Ok(changes(top, &diff))
}

fn git(arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("git")
        .args(arguments)
        // May ask for other lines around each change.
        .env_remove("GIT_DIFF_OPTS")
        .stdin(Stdio::null())
        .output();
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
    let whole = |path: &[u8]| {
        // git writes a tab behind names with blanks.
        let path = path.strip_suffix(b"\t").unwrap_or(path);
        [top, b"/", &*unquoted(path)].concat()
    };
    let mut all: Vec<Change> = Vec::new();
    let mut lines = diff.split(|&byte| byte == b'\n');
    while let Some(line) = lines.next() {
        if line.starts_with(b"diff --git ") {
            all.push(Change::default());
            continue;
        }
        let Some(change) = all.last_mut() else { continue };
        if let Some(hunk) = hunk(line) {
            change.hunks.push(hunk);
            // The text of removed and added lines may look like anything.
            let text = hunk.old.number.saturating_add(hunk.new.number) as usize;
            lines.by_ref().take(text).for_each(drop);
        } else if let Some(path) = line.strip_prefix(b"rename from ") {
            change.old_path = whole(path);
        } else if let Some(path) = line.strip_prefix(b"rename to ") {
            change.path = whole(path);
        } else if let Some(path) = line.strip_prefix(b"--- ") {
            change.is_new = path == b"/dev/null";
            change.old_path = whole(path);
        } else if let Some(path) = line.strip_prefix(b"+++ ") {
            let is_gone = path == b"/dev/null";
            change.path = if is_gone { change.old_path.clone() } else { whole(path) };
            if change.is_new {
                change.old_path.clone_from(&change.path);
            }
        }
    }
    all.retain(|change| !change.hunks.is_empty() || change.is_renamed());
    all
}

/// A name as it is. git quotes names with quotes, backslashes and control characters as C does: `"a\tb\001.c"`.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let Some(inner) = name.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return name.to_vec();
    };
    let mut plain = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        let escaped = if byte == b'\\' { bytes.next() } else { None };
        plain.push(match escaped {
            None => byte,
            Some(first @ b'0'..=b'3') => {
                let digits = [first, bytes.next().unwrap_or(b'0'), bytes.next().unwrap_or(b'0')];
                digits.iter().fold(0, |all: u8, digit| all << 3 | digit & 7)
            }
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(other) => other,
        });
    }
    plain
}

/// The lines of both sides in `@@ -12,3 +12,4 @@`.
fn hunk(line: &[u8]) -> Option<Hunk> {
    let line =
        str::from_utf8(line.strip_prefix(b"@@ -")?.split(|&byte| byte == b'@').next()?).ok()?;
    let (old, new) = line.trim_end().split_once(" +")?;
    let side = |text: &str| {
        let (line, number) = text.split_once(',').unwrap_or((text, "1"));
        Some(Side { line: line.parse().ok()?, number: number.parse().ok()? })
    };
    Some(Hunk { old: side(old)?, new: side(new)? })
}

impl Side {
    fn has(self, line: u32) -> bool {
        self.number > 0 && (self.line..=self.last()).contains(&line)
    }

    /// The last line, or the one before the place.
    const fn last(self) -> u32 {
        self.line.saturating_add(self.number.saturating_sub(1))
    }

    /// The lines, or those around the place.
    const fn with_neighbours(self) -> RangeInclusive<u32> {
        match self.number {
            0 => self.line..=self.line.saturating_add(1),
            _ => self.line..=self.last(),
        }
    }
}

impl Change {
    /// Whether any of the changed code of the commit was executed.
    pub fn is_in(&self, coverage: &Coverage) -> bool {
        let file = coverage.files.get(&self.old_path);
        let ranges = || self.hunks.iter().map(|hunk| hunk.old.with_neighbours());
        file.is_some_and(|file| ranges().any(|range| is_executed(file, &range)))
    }

    /// Whether the file has another path than in the commit.
    pub fn is_renamed(&self) -> bool {
        self.path != self.old_path
    }

    /// The path in the commit of a file that is called `path` now, perhaps through links of its folder.
    pub fn path_before(&self, path: &[u8]) -> Vec<u8> {
        let same = self.path.iter().zip(&self.old_path).take_while(|(one, other)| one == other);
        let same = same.map(|(&byte, _)| byte).collect::<Vec<u8>>();
        let folder = same.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        let spelled = path.strip_suffix(&self.path[folder..]);
        spelled.map_or_else(
            || self.old_path.clone(),
            |spelled| [spelled, &self.old_path[folder..]].concat(),
        )
    }

    /// Whether any line differs.
    pub const fn has_hunks(&self) -> bool {
        !self.hunks.is_empty()
    }

    /// Whether any line of the work tree was changed or added.
    pub fn has_lines(&self) -> bool {
        self.hunks.iter().any(|hunk| hunk.new.number > 0)
    }

    /// Whether a line of the work tree was changed or added.
    pub fn has(&self, line: u32) -> bool {
        self.hunks.iter().any(|hunk| hunk.new.has(line))
    }

    /// The number that a line of the work tree has in the commit, if it is there.
    pub fn line_before(&self, line: u32) -> Option<u32> {
        if self.is_new || self.has(line) {
            return None;
        }
        let before = self.hunks.iter().filter(|hunk| hunk.new.last() < line);
        let moved = before.map(|Hunk { old, new }| i64::from(old.number) - i64::from(new.number));
        (i64::from(line) + moved.sum::<i64>()).try_into().ok()
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
    fn quoted_names() {
        for (name, plain) in [
            ("a b.c", "a b.c"),
            (r#""q\"\\.c""#, r#"q"\.c"#),
            (r#""a\tb\nc\001\177.c""#, "a\tb\nc\u{1}\u{7f}.c"),
            (r#""a\"#, r#""a\"#),
        ] {
            assert_eq!(unquoted(name.as_bytes()), plain.as_bytes(), "{name}");
        }
    }

    #[test]
    fn hunks_of_a_diff() {
        let diff = "diff --git a.c a.c\nindex 1..2 100644\n--- a.c\n+++ a.c\n@@ -2 +2,2 @@ int f(\n-int a;\n+int b;\n+--- x\n\
                    @@ -9,0 +11 @@\n+--- y\ndiff --git new.c new.c\n--- /dev/null\n+++ new.c\n@@ -0,0 +1 @@\n+int n;\n\
                    diff --git b c.h b c.h\n--- b c.h\t\n+++ b c.h\t\n@@ -4,3 +4,0 @@\n-1\n-2\n-3\n\
                    \\ No newline at end of file\ndiff --git x.c d/y.c\nsimilarity index 100%\nrename from x.c\n\
                    rename to d/y.c\ndiff --git gone.c gone.c\n--- gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n\
                    diff --git mode.c mode.c\nold mode 100644\nnew mode 100755\n";
        let side = |(line, number)| Side { line, number };
        let change = |path: &str, is_new, hunks: &[[(u32, u32); 2]]| Change {
            path: path.into(),
            old_path: path.into(),
            is_new,
            hunks: hunks
                .iter()
                .map(|&[old, new]| Hunk { old: side(old), new: side(new) })
                .collect(),
        };
        let expected = [
            change("/top/a.c", false, &[[(2, 1), (2, 2)], [(9, 0), (11, 1)]]),
            change("/top/new.c", true, &[[(0, 0), (1, 1)]]),
            change("/top/b c.h", false, &[[(4, 3), (4, 0)]]),
            Change { old_path: b"/top/x.c".into(), ..change("/top/d/y.c", false, &[]) },
            change("/top/gone.c", false, &[[(1, 1), (0, 0)]]),
        ];
        assert_eq!(changes(b"/top", diff.as_bytes()), expected);
        assert_eq!(changes(b"/top", b"@@ -1 +1 @@\n@@ -x\n--- \n@@ -1,2 +3"), []);
        let ranges = |change: &Change| -> Vec<_> {
            change.hunks.iter().map(|hunk| hunk.old.with_neighbours()).collect()
        };
        assert_eq!(
            [ranges(&expected[0]), ranges(&expected[2])],
            [vec![2..=2, 9..=10], vec![4..=6]]
        );
    }

    #[test]
    fn paths_before_a_rename() {
        let [path, old_path] = ["/top/src/new/a.c", "/top/src/b.c"].map(|path| path.into());
        let change = Change { path, old_path, ..Change::default() };
        assert_eq!(change.path_before(b"/top/src/new/a.c"), b"/top/src/b.c");
        assert_eq!(change.path_before(b"/link/new/a.c"), b"/link/b.c");
        assert_eq!(change.path_before(b"/other.c"), b"/top/src/b.c");
    }

    #[test]
    fn lines_of_both_sides() {
        let diff = b"diff --git a.c a.c\n--- a.c\n+++ a.c\n@@ -2 +2,2 @@\n-1\n+1\n+2\n@@ -9,0 +11 @@\n+1\n@@ -20,2 +21,0 @@\n-1\n-2\n";
        let change = changes(b"", diff).remove(0);
        let before = [1, 2, 3, 4, 10, 11, 12, 21, 22].map(|line| change.line_before(line));
        // 0 for the lines that are new.
        let expected = [1, 0, 0, 3, 9, 0, 10, 19, 22];
        assert_eq!(before, expected.map(|line| Some(line).filter(|&line| line > 0)));
        let is_new = [2, 3, 4, 11, 21, 22].map(|line| change.has(line));
        assert_eq!(is_new, [true, true, false, true, false, false]);
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
