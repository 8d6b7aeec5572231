//! Text for people on standard output: its width and its colours. Where standard output is no terminal, or colours are
//! not wanted (`--color`, `NO_COLOR`), [`super::print::print_text`] takes the colours out.

use std::io::IsTerminal;
use std::prelude::v1::*;

use anstyle::{AnsiColor, Style};

/// Titles of columns.
pub const TITLE: Style = Style::new().bold().underline();
/// What carries a large share of all counts.
const HOT: Style = AnsiColor::Red.on_default().bold();
/// What carries some share.
const WARM: Style = AnsiColor::Yellow.on_default();
/// What carries none.
const NEVER: Style = Style::new().dimmed();

/// The style of something with this share of all counts.
pub fn heat(share: f64) -> Style {
    match share {
        share if share >= 0.1 => HOT,
        share if share >= 0.01 => WARM,
        share if share > 0.0 => Style::new(),
        _ => NEVER,
    }
}

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Columns of the terminal; `None` if standard output is none.
pub fn columns() -> Option<usize> {
    const USUAL: usize = 80;
    let columns = || terminal_size::terminal_size().map_or(0, |(width, _)| usize::from(width.0));
    is_terminal().then(columns).map(|columns| if columns == 0 { USUAL } else { columns })
}
