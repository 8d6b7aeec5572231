//! Percentages: in options and in output.

use std::prelude::v1::*;

/// A percentage, from 0 to 100.
pub fn percent(text: &str) -> Result<f64, &'static str> {
    let percent = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or("expected a percentage from 0 to 100")
}

/// A part's share of the whole, from 0 to 1.
pub fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A share as a percentage.
pub fn text(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}
