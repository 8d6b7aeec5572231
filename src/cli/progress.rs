//! How far a long work has come.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

/// A bar on terminals, once the work has taken a second.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// For work of so many steps.
    pub fn new(steps: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        Self { bar, start: Instant::now() }
    }

    /// A step is done.
    pub fn step(&mut self) {
        if self.bar.is_hidden() && self.start.elapsed() > Duration::from_secs(1) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
