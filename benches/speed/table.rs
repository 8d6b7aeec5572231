//! The table of figures, and how to measure them.

/// Prints rows as they come, and finally whether all targets were met.
pub struct Table {
    missed: usize,
}

/// One figure of both runtimes.
pub struct Row<'r> {
    /// What is measured, with its unit.
    pub figure: &'r str,
    pub ours: f64,
    pub theirs: f64,
    /// The largest acceptable ratio of ours to theirs.
    pub target: f64,
}

impl Table {
    pub fn new() -> Self {
        println!("| figure | ours | theirs | ratio | target | met |");
        println!("|---|---|---|---|---|---|");
        Self { missed: 0 }
    }

    pub fn row(&mut self, Row { figure, ours, theirs, target }: Row) {
        let ratio = ours / theirs;
        let (ours, theirs) = (short(ours), short(theirs));
        let met = self.met(ratio <= target);
        println!("| {figure} | {ours} | {theirs} | {ratio:.2} | {target} | {met} |");
    }

    /// A figure that is more than one number, or cannot be compared by its ratio.
    pub fn words(&mut self, figure: &str, ours: &str, theirs: &str, target: &str, met: bool) {
        let met = self.met(met);
        println!("| {figure} | {ours} | {theirs} | | {target} | {met} |");
    }

    /// A figure without a target.
    pub fn plain(&mut self, figure: &str, ours: f64, theirs: Option<f64>) {
        let ratio = theirs.map(|theirs| format!("{:.2}", ours / theirs)).unwrap_or_default();
        let theirs = theirs.map(short).unwrap_or_default();
        println!("| {figure} | {} | {theirs} | {ratio} | | |", short(ours));
    }

    fn met(&mut self, met: bool) -> &'static str {
        self.missed += usize::from(!met);
        if met { "yes" } else { "**no**" }
    }

    pub fn finish(self) {
        println!("\n{} of the targets were missed.", self.missed);
    }
}

/// A number with three significant digits.
fn short(number: f64) -> String {
    match number.abs() {
        n if n >= 100.0 => format!("{number:.0}"),
        n if n >= 10.0 => format!("{number:.1}"),
        n if n >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// Medians of measurements that take turns.
pub fn medians<const N: usize>(
    repetitions: usize,
    mut measure: impl FnMut(usize) -> f64,
) -> [f64; N] {
    let mut results = [(); N].map(|()| Vec::with_capacity(repetitions));
    for _ in 0..repetitions {
        for (place, results) in results.iter_mut().enumerate() {
            results.push(measure(place));
        }
    }
    results.map(median)
}

/// The median of some results.
pub fn median(mut results: Vec<f64>) -> f64 {
    results.sort_unstable_by(f64::total_cmp);
    results[results.len() / 2]
}
