//! Writes the page around a [`Model`]: one file that loads nothing else.
//!
//! The title and the totals are HTML; the scripts draw the rest from the JSON. No name reaches the page as
//! markup: maud escapes names in HTML, the JSON escapes every `<`, and the scripts only set text. The policy in the
//! head allows the page's own scripts and styles by their hashes, and forbids all requests.

use std::prelude::v1::*;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::model::{Model, SideModel};
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::percent;
use crate::convert::gcov::Statistics;

const STYLE: &str = include_str!("page/style.css");
/// Each script needs those before it.
const SCRIPTS: [&str; 11] = [
    include_str!("page/data.js"),
    include_str!("page/curve.js"),
    include_str!("page/treemap.js"),
    include_str!("page/columns.js"),
    include_str!("page/table.js"),
    include_str!("page/files.js"),
    include_str!("page/source.js"),
    include_str!("page/whole.js"),
    include_str!("page/start.js"),
    include_str!("page/changes.js"),
    include_str!("page/main.js"),
];

/// The bytes of the page.
pub fn page(model: &Model, title: &str) -> Result<Vec<u8>> {
    let json = serde_json::to_string(model).map_err(Error::new)?;
    // The end of the element, or a comment, begins with this letter.
    let json = json.replace('<', "\\u003c");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body {
                a.skip href="#functions" { "Skip to the functions" }
                (top(model, title))
                main {
                    div #overview { (overview(model)) }
                    article #function hidden tabindex="-1" aria-labelledby="function-name" {}
                }
                footer {
                    "Written by countersink " (env!("CARGO_PKG_VERSION")) "."
                }
                script type="application/json" id="model" { (PreEscaped(&json)) }
                @for script in SCRIPTS {
                    script { (PreEscaped(script)) }
                }
            }
        }
    };
    Ok(page.into_string().into_bytes())
}

fn head(title: &str) -> Markup {
    let scripts: Vec<String> = SCRIPTS.iter().map(|script| hash(script)).collect();
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        scripts.join(" "),
        hash(STYLE)
    );
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            title { (title) " · countersink" }
            // Without this, browsers request an icon.
            link rel="icon" href="data:,";
            style { (PreEscaped(STYLE)) }
        }
    }
}

fn top(model: &Model, title: &str) -> Markup {
    let is_comparison = model.changes.is_some();
    html! {
        header.top {
            div.bar {
                p.brand { "countersink" }
                nav aria-label="Parts of the page" {
                    @if is_comparison { a href="#changes" { "Changes" } }
                    a href="#totals" { "Totals" }
                    a href="#map" { "Map" }
                    a href="#functions" { "Functions" }
                    @if model.coverage.is_some() { a href="#files" { "Files" } }
                    a href="#start" data-part="start" { "Start order" }
                }
                button #theme type="button" { "Theme: system" }
            }
        }
        div.title {
            h1 { bdi { (title) } }
            @for side in &model.sides { p.what { (what(side, is_comparison)) } }
            noscript { p.note { "The page needs JavaScript for everything but the totals." } }
            @if !model.notes.is_empty() {
                ul.notes aria-label="Notes" { @for note in &model.notes { li { (note) } } }
            }
        }
    }
}

/// The formats of a side's inputs, and its runs.
fn what(side: &SideModel, is_comparison: bool) -> Markup {
    let kinds = side.kinds.join(", ");
    html! {
        @if is_comparison { bdi.label { (side.label) } ": " }
        (kinds)
        @match side.runs {
            0 => {}
            1 => { ", 1 run" }
            runs => { ", " (grouped(runs.into())) " runs" }
        }
    }
}

fn overview(model: &Model) -> Markup {
    html! {
        @if model.changes.is_some() {
            section #changes aria-labelledby="changes-title" { h2 #changes-title { "Changes" } }
        }
        section #totals aria-labelledby="totals-title" {
            h2 #totals-title { "Totals" }
            @for side in &model.sides {
                @if model.changes.is_some() { h3 { bdi { (side.label) } } }
                (tiles(model, side))
            }
        }
        section #curve aria-labelledby="curve-title" {
            h2 #curve-title { "How few carry most" }
            @for side in &model.sides { p { (carry(model, side)) } }
            div.plot {}
        }
        section #map aria-labelledby="map-title" { h2 #map-title { "Map of files and functions" } }
        section #functions aria-labelledby="functions-title" tabindex="-1" {
            h2 #functions-title { "Functions" }
        }
        @if model.coverage.is_some() {
            section #files aria-labelledby="files-title" { h2 #files-title { "Files" } }
        }
        section #start aria-labelledby="start-title" { h2 #start-title { "Start order" } }
    }
}

fn tiles(model: &Model, side: &SideModel) -> Markup {
    let curve = &side.curve;
    let places = if model.by_function { "Counters" } else { "Counted places" };
    let executed = curve.places - curve.never;
    html! {
        dl.tiles {
            (tile("Total count", &grouped(side.total.0), None))
            (tile("Functions", &grouped(side.functions as u128), None))
            (tile(places, &grouped(curve.places as u128),
                Some(format!("{} executed", share(executed as u128, curve.places as u128)))))
            (tile("Largest count", &grouped(curve.largest.into()), None))
            @if let Some(statistics) = &side.statistics { (placed(statistics)) }
        }
    }
}

fn tile(name: &str, value: &str, more: Option<String>) -> Markup {
    html! {
        div {
            dt { (name) }
            dd { strong { (value) } @if let Some(more) = more { span { (more) } } }
        }
    }
}

/// The share of a dump's executions that are placed in the source.
fn placed(statistics: &Statistics) -> Markup {
    let all = u128::from(statistics.executions);
    let estimated = u128::from(statistics.estimated.all());
    let dropped: Vec<String> =
        statistics.dropped().iter().map(|dropped| dropped.to_string()).collect();
    html! {
        div {
            dt { "Placed in the source" }
            dd {
                strong { (share(statistics.well_placed().into(), all)) }
                span { (share(estimated, all)) " by estimate" }
                @if !dropped.is_empty() { span { "not placed: " (dropped.join(", ")) } }
            }
        }
    }
}

/// The numbers of places that carry most counts.
fn carry(model: &Model, side: &SideModel) -> Markup {
    let places = if model.by_function { "counters" } else { "places" };
    let of = side.curve.places as u128;
    html! {
        @if model.changes.is_some() { bdi.label { (side.label) } ": " }
        @if side.curve.marks.is_empty() { "Nothing was executed. " }
        @for &(mark, number) in &side.curve.marks {
            strong { (format!("{:.0} %", mark * 100.0)) } " of all counts are in "
            strong { (grouped(number as u128)) } " of " (grouped(of)) " " (places)
            " (" (share(number as u128, of)) "). "
        }
        @if !model.by_function {
            "A place is a line, or one discriminator of a line, in a function or in an inlined copy of it."
        }
    }
}

fn share(part: u128, all: u128) -> String {
    percent::text(percent::share(part, all))
}

/// A number in groups of three digits with narrow blanks between them.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// The entry of the policy that allows this text by its hash.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text)))
}

/// Bytes in Base64, for the policy.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let word = word << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_numbers() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
    }
}
