//! The processor's cores, which share work.

use std::prelude::v1::*;

use clap::Args;
use rayon::prelude::*;

use crate::convert::workers::Workers;

/// How many cores work.
#[derive(Debug, Args)]
pub struct Jobs {
    /// Use this many cores [default: all]
    #[arg(short, long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

impl Jobs {
    /// Call this before dividing any work. It holds for the whole process.
    pub fn apply(&self) {
        if let Some(jobs) = self.jobs {
            // It fails if a program has called the tool before. The first choice then stays.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global();
        }
    }
}

/// Most items that a core takes without others being able to take over some.
const AT_ONCE: usize = 4;

/// All cores that [`Jobs`] allows.
pub struct Cores;

impl Workers for Cores {
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        // Items differ: a core that is done takes over some of what another one has not begun.
        items.par_iter().with_max_len(AT_ONCE).map(&work).collect()
    }
}
