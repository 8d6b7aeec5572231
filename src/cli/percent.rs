//! Percentages on the command line.

/// A percentage, from 0 to 100.
pub fn percent(text: &str) -> Result<f64, &'static str> {
    let percent = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or("expected a percentage from 0 to 100")
}
