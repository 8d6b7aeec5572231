//! The book and README.md: their sessions print what the pages show, their links lead somewhere, and the
//! chart shows the recorded figures.
//!
//! A code block whose info string has `session` is run: `$ ` starts a command, `> ` goes on with it, and what
//! follows is its output, standard error included. In the output `...` is any number of lines and `[..]`
//! anything within a line. `figures` allows other numbers than those that the page shows. A block with
//! `file=NAME` is written to this file. All blocks of a page share one folder and one shell; `prog.c` is in
//! the folder from the start. `SNAPSHOTS=overwrite cargo test --test book -- --ignored` writes new output into the
//! pages.

#[path = "../benches/speedup/chart.rs"]
mod chart;
mod harness;
#[path = "book/pages.rs"]
mod pages;
#[path = "book/session.rs"]
mod session;

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, thread};

use pages::Page;

#[test]
#[ignore = "slow"]
fn sessions_print_what_the_pages_show() {
    let pages = pages::all();
    let failures: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|page| scope.spawn(|| session::run(page))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    let pages = pages::all();
    let broken: Vec<String> = pages.iter().flat_map(|page| page.broken_links(&pages)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_summary_has_every_page() {
    let pages = pages::all();
    let summary = pages.iter().find(|page| page.path.ends_with("SUMMARY.md")).unwrap();
    let listed: BTreeSet<_> = summary.links().map(|link| summary.folder().join(link)).collect();
    let in_book = |page: &&Page| page.path.starts_with(pages::BOOK) && page.path != summary.path;
    let missing: Vec<_> =
        pages.iter().filter(in_book).filter(|page| !listed.contains(&page.path)).collect();
    assert!(missing.is_empty(), "{:?}", missing.iter().map(|page| &page.path).collect::<Vec<_>>());
}

/// `cargo bench --bench speedup -- --chart` draws it.
#[test]
fn the_chart_shows_the_recorded_figures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let records = fs::read_to_string(root.join("docs/src/speedup.csv")).unwrap();
    let drawn = chart::draw(&records).unwrap();
    assert!(
        drawn == fs::read_to_string(root.join("docs/src/speedup.svg")).unwrap(),
        "draw it again"
    );
}

#[test]
fn the_readme_stays_short() {
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(readme.lines().count() <= 150, "{} lines", readme.lines().count());
}
