//! The processor's cores, which share work.

use std::prelude::v1::*;

use clap::Args;
use rayon::prelude::*;

use crate::pool::Pool;
use crate::workers::Workers;

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

/// Number of items in a batch. One core takes the results of a batch while the others work on the next one. At the end
/// of each batch the others wait for the last one, and larger batches need more memory.
const TAKEN_AT_ONCE: usize = 192;

/// All cores that [`Jobs`] allows.
pub struct Cores;

impl Workers for Cores {
    fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        // Items differ: a core that is done takes over some of what another one has not begun.
        items.par_iter().with_max_len(AT_ONCE).map(&work).collect()
    }

    fn pass<T: Send, R: Default + Send, M: Default + Send>(
        &self,
        mut items: impl Iterator<Item = T> + Send,
        work: impl Fn(T, &mut M, &mut R) + Sync,
        mut take: impl FnMut(&mut R) + Send,
    ) {
        let pool = Pool::default();
        let work = |(item, result): (T, &mut R)| work(item, &mut *pool.lend(M::default), result);
        // One of the cores goes through the batches, so that handing over work wakes nobody up.
        rayon::scope(|_| {
            let (mut last, mut next): (Vec<R>, Vec<R>) = (Vec::new(), Vec::new());
            loop {
                let batch: Vec<T> = items.by_ref().take(TAKEN_AT_ONCE).collect();
                if batch.is_empty() {
                    return last.iter_mut().for_each(take);
                }
                next.resize_with(batch.len(), R::default);
                let batch = batch.into_par_iter().zip(&mut next).with_max_len(1);
                rayon::join(|| batch.for_each(work), || last.iter_mut().for_each(&mut take));
                core::mem::swap(&mut last, &mut next);
            }
        });
    }
}
