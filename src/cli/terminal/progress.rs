//! The progress of long work.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

/// A bar on terminals. It appears after one second.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// For work of this many steps.
    pub fn new(steps: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        Self { bar, start: Instant::now() }
    }

    /// Counts a finished step.
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
