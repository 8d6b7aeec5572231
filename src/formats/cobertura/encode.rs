//! Writes a report.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::coverage::decisions::Condition;
use crate::coverage::{Branch, Coverage, File, Total};

const START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n";

/// The report of a program's coverage. Names of files below `folder` start there; an empty one keeps all paths
/// whole. `time` is that of the report, in seconds since 1970.
pub fn encode(coverage: &Coverage, folder: &[u8], time: u64) -> Vec<u8> {
    let mut packages: BTreeMap<&[u8], Vec<(&[u8], &File)>> = BTreeMap::new();
    for (path, file) in &coverage.files {
        let path = below(path, folder);
        packages.entry(folder_of(path)).or_default().push((path, file));
    }
    let all = Totals::of(coverage.files.values());
    let mut xml = Xml { text: START.into(), depth: 0 };
    let counted = format!(
        "lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" ",
        all.lines.hit, all.lines.found, all.branches.hit, all.branches.found
    );
    let version = env!("CARGO_PKG_VERSION");
    xml.open(&format!(
        "coverage {} {counted}version=\"countersink {version}\" timestamp=\"{time}\"",
        all.shares()
    ));
    if !folder.is_empty() {
        xml.open("sources");
        xml.line(&format!("<source>{}</source>", text(folder)));
        xml.close("sources");
    }
    xml.open("packages");
    for (name, files) in packages {
        xml.package(name, &files);
    }
    xml.close("packages");
    xml.close("coverage");
    xml.text.into_bytes()
}

/// Numbers of lines and branches as the report lists them.
struct Totals {
    lines: Total,
    branches: Total,
}

impl Totals {
    fn of<'f>(files: impl Iterator<Item = &'f File> + Clone) -> Self {
        let branches = files.clone().flat_map(|file| file.branches.values());
        Self {
            lines: Total::of(files.flat_map(|file| file.lines.values().copied())),
            branches: Total::of(branches.map(|branch| branch.count.unwrap_or(0))),
        }
    }

    fn shares(&self) -> String {
        let (lines, branches) = (share(self.lines), share(self.branches));
        format!("line-rate=\"{lines}\" branch-rate=\"{branches}\" complexity=\"0\"")
    }
}

/// A share, to four digits. All of nothing is all.
fn share(Total { found, hit }: Total) -> String {
    let part = match found {
        0 => 10_000,
        found => u128::from(hit) * 10_000 / u128::from(found),
    };
    format!("{}.{:04}", part / 10_000, part % 10_000)
}

struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    fn line(&mut self, line: &str) {
        self.text.extend(core::iter::repeat_n("  ", self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn open(&mut self, element: &str) {
        self.line(&format!("<{element}>"));
        self.depth += 1;
    }

    fn close(&mut self, element: &str) {
        self.depth -= 1;
        self.line(&format!("</{element}>"));
    }

    fn package(&mut self, name: &[u8], files: &[(&[u8], &File)]) {
        let shares = Totals::of(files.iter().map(|(_, file)| *file)).shares();
        let name = text(name).trim_matches('/').replace('/', ".");
        self.open(&format!("package name=\"{name}\" {shares}"));
        self.open("classes");
        for (path, file) in files {
            self.class(path, file);
        }
        self.close("classes");
        self.close("package");
    }

    fn class(&mut self, path: &[u8], file: &File) {
        let shares = Totals::of([file].into_iter()).shares();
        let path = text(path);
        let name = path.rsplit('/').next().unwrap_or_default().replace('.', "_");
        self.open(&format!("class name=\"{name}\" filename=\"{path}\" {shares}"));
        self.open("methods");
        for function in &file.functions {
            let share = share(Total::of([function.count].into_iter()));
            let name = text(&function.name);
            self.open(&format!(
                "method name=\"{name}\" signature=\"()\" line-rate=\"{share}\" branch-rate=\"1.0000\" complexity=\"0\""
            ));
            self.open("lines");
            self.line(&format!("<line number=\"{}\" hits=\"{}\"/>", function.line, function.count));
            self.close("lines");
            self.close("method");
        }
        self.close("methods");
        self.open("lines");
        for (&line, &count) in &file.lines {
            let branches = file.branches.range((line, 0)..=(line, u32::MAX));
            let branches: Vec<Branch> = branches.map(|(_, branch)| *branch).collect();
            let decisions = file.decisions.range((line, 0)..=(line, u32::MAX));
            let conditions = decisions.flat_map(|(_, decision)| &decision.conditions);
            let conditions: Vec<Condition> = conditions.copied().collect();
            self.numbered(line, count, &branches, &conditions);
        }
        self.close("lines");
        self.close("class");
    }

    fn numbered(&mut self, line: u32, count: u64, branches: &[Branch], conditions: &[Condition]) {
        let start = format!("line number=\"{line}\" hits=\"{count}\"");
        if branches.is_empty() && conditions.is_empty() {
            self.line(&format!("<{start}/>"));
            return;
        }
        let total = |branches: &[Branch]| {
            Total::of(branches.iter().map(|branch| branch.count.unwrap_or(0)))
        };
        let percent = |Total { found, hit }: Total| hit * 100 / found.max(1);
        let all = total(branches);
        self.open(&format!(
            "{start} branch=\"true\" condition-coverage=\"{}% ({}/{})\"",
            percent(all),
            all.hit,
            all.found
        ));
        self.open("conditions");
        for (number, condition) in branches.chunk_by(|a, b| a.block == b.block).enumerate() {
            self.line(&format!(
                "<condition number=\"{number}\" type=\"jump\" coverage=\"{}%\"/>",
                percent(total(condition))
            ));
        }
        let first = branches.chunk_by(|a, b| a.block == b.block).count();
        for (number, Condition { shown_true, shown_false }) in (first..).zip(conditions) {
            let outcomes = [*shown_true, *shown_false].map(u64::from);
            let share = percent(Total::of(outcomes.into_iter()));
            self.line(&format!(
                "<condition number=\"{number}\" type=\"mcdc\" coverage=\"{share}%\"/>"
            ));
        }
        self.close("conditions");
        self.close("line");
    }
}

/// The path from a folder on, or the whole path.
fn below<'p>(path: &'p [u8], folder: &[u8]) -> &'p [u8] {
    match path.strip_prefix(folder).and_then(|rest| rest.strip_prefix(b"/")) {
        Some(rest) if !folder.is_empty() && !rest.is_empty() => rest,
        _ => path,
    }
}

fn folder_of(path: &[u8]) -> &[u8] {
    path.iter().rposition(|&byte| byte == b'/').map_or(&[], |end| &path[..end])
}

/// A text as XML has it.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    let is_special = |letter: char| {
        matches!(letter, '&' | '<' | '>' | '"' | '\'' | '\u{fffe}' | '\u{ffff}')
            || letter.is_control()
    };
    if !text.contains(is_special) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            letter if is_special(letter) => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Function;
    use crate::coverage::decisions::Decision;

    #[test]
    fn a_report() {
        let mut coverage = Coverage::default();
        let file = coverage.files.entry(b"/home/u/src/a.c".to_vec()).or_default();
        file.functions.push(Function {
            name: b"operator<\x01".to_vec(),
            line: 1,
            end: 1,
            count: 2,
            ..Function::default()
        });
        file.lines.extend([(1, 2), (2, 0)]);
        let branch = |block, count| Branch { block, count, ..Branch::default() };
        file.branches.insert((1, 0), branch(0, Some(2)));
        file.branches.insert((1, 1), branch(0, Some(0)));
        file.branches.insert((1, 2), branch(1, None));
        let conditions = [Condition { shown_true: true, shown_false: false }].into();
        file.add_decision(1, 0, Decision { conditions });
        let xml = String::from_utf8(encode(&coverage, b"/home/u", 7)).unwrap();
        for part in [
            "line-rate=\"0.5000\" branch-rate=\"0.3333\"",
            "timestamp=\"7\"",
            "<source>/home/u</source>",
            "<package name=\"src\"",
            "filename=\"src/a.c\"",
            "name=\"operator&lt;\u{fffd}\"",
            "condition-coverage=\"33% (1/3)\"",
            "<condition number=\"0\" type=\"jump\" coverage=\"50%\"/>",
            "<condition number=\"2\" type=\"mcdc\" coverage=\"50%\"/>",
            "<line number=\"2\" hits=\"0\"/>",
        ] {
            assert!(xml.contains(part), "{part}\n{xml}");
        }
        let whole = String::from_utf8(encode(&coverage, b"/elsewhere", 0)).unwrap();
        assert!(whole.contains("filename=\"/home/u/src/a.c\""), "{whole}");
        assert!(whole.contains("<package name=\"home.u.src\""), "{whole}");
    }
}
