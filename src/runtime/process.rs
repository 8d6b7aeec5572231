//! Fork and exec.
//!
//! The hooks run at every fork of the C library, whoever calls it; exec and other ways of making
//! processes have to be told.
//!
//! A child starts at zero and the parent goes on, so that what happened before the fork is written
//! once, by the parent. Before an exec everything is written, as nothing runs afterwards; if the
//! exec fails, counting just goes on, because a flush remembers what it wrote.
//!
//! A child of `vfork` borrows its parent's memory. Its exec writes nothing: the counts are the
//! parent's, who is about to go on and will write them.

use super::chain::{Chain, Link, Operation};
use super::image::Image;
use super::sys::Errno;

/// Before a fork: no flush may be half done in the child's copy of the memory.
pub fn before_fork(chain: &Chain) {
    if let Some(Ok(guard)) = chain.lock().map(|lock| lock.acquire()) {
        guard.keep();
    }
}

/// After a fork, in the parent, also if the fork failed.
pub fn after_fork_parent(chain: &Chain) {
    if let Some(lock) = chain.lock() {
        lock.release_own();
    }
}

/// After a fork, in the child.
pub fn after_fork_child(chain: &Chain, own: &'static Link) {
    if let Some(lock) = chain.lock() {
        lock.release_inherited();
    }
    let _ = chain.for_all(own, Operation::BecomeChild);
}

/// Before an exec.
pub fn before_exec(chain: &Chain, own: &'static Link, image: &Image) -> Result<(), Errno> {
    if !image.is_own_process() {
        return Ok(());
    }
    match chain.for_all(own, Operation::Flush) {
        // No memory to remember what was written: write and close, as libgcov does.
        Err(Errno::NOMEM) => chain.for_all(own, Operation::Suspend),
        result => result,
    }
}

/// After an exec that failed.
pub fn exec_failed(chain: &Chain, own: &'static Link, image: &Image) {
    if image.is_own_process() {
        let _ = chain.for_all(own, Operation::Resume);
    }
}
