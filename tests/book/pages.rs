//! Markdown pages: their blocks of code, headings and links.

use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

/// The folder of the book's pages, from the top of the repository.
pub const BOOK: &str = "docs/src";

/// A page of the book, or one at the top of the repository.
pub struct Page {
    /// From the top of the repository.
    pub path: PathBuf,
    pub blocks: Vec<Block>,
    pub text: String,
    /// The lines outside of blocks.
    prose: String,
}

/// A block of code.
pub struct Block {
    /// Its first line, from 1.
    pub line: usize,
    /// What stands behind the fence, at its commas.
    pub info: Vec<String>,
    pub text: String,
}

/// All pages, sorted by path.
pub fn all() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md"].into_iter().map(PathBuf::from).collect();
    collect(root, Path::new(BOOK), &mut paths);
    paths.sort();
    let read = |path: PathBuf| Page::parse(&fs::read_to_string(root.join(&path)).unwrap(), path);
    paths.into_iter().map(read).collect()
}

fn collect(root: &Path, folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            collect(root, &path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

impl Page {
    fn parse(text: &str, path: PathBuf) -> Self {
        let (mut blocks, mut prose) = (vec![], String::new());
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let Some(info) = line.strip_prefix("```") else {
                prose.push_str(line);
                prose.push('\n');
                continue;
            };
            let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            let text = body.map(|line| format!("{line}\n")).collect();
            let info = info.split(',').map(str::to_owned).collect();
            blocks.push(Block { line: number + 2, info, text });
        }
        Self { path, blocks, text: text.to_owned(), prose }
    }

    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap()
    }

    /// The targets of all links and pictures.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
        let targets: Vec<_> =
            link.captures_iter(&self.prose).map(|found| found.get(1).unwrap().as_str()).collect();
        targets.into_iter()
    }

    /// The anchors of the headings, as mdBook and GitHub make them.
    fn anchors(&self) -> Vec<String> {
        let headings = self.prose.lines().filter(|line| line.starts_with('#'));
        headings
            .map(|line| {
                let title = line.trim_start_matches('#').trim().to_lowercase();
                let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
                title.chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
            })
            .collect()
    }

    /// Links to files and headings that are not there. Other sites are not asked.
    pub fn broken_links(&self, pages: &[Page]) -> Vec<String> {
        let is_ours = |link: &&str| !link.starts_with("https://");
        let is_broken = |link: &&str| !self.leads_somewhere(link, pages);
        let broken = self.links().filter(is_ours).filter(is_broken);
        broken.map(|link| format!("{}: {link}", self.path.display())).collect()
    }

    fn leads_somewhere(&self, link: &str, pages: &[Page]) -> bool {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = match file {
            "" => self.path.clone(),
            _ => normal(&self.folder().join(file)),
        };
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(&target).exists() {
            return false;
        }
        // mdBook publishes nothing from outside its folder.
        if self.path.starts_with(BOOK) && !target.starts_with(BOOK) {
            return false;
        }
        let page = pages.iter().find(|page| page.path == target);
        anchor.is_empty() || page.is_some_and(|page| page.anchors().iter().any(|a| a == anchor))
    }
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}
