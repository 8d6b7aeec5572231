//! Fork, exec, and ends without destructors.
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

/// Before an exec.
pub fn before_exec(chain: &Chain, own: &'static Link, image: &Image) -> Result<(), Errno> {
    if !image.is_own_process() {
        return Ok(());
    }
    flush_before_the_end(chain, own).map(drop)
}

/// Before an end without destructors.
pub fn before_exit(chain: &Chain, own: &'static Link) {
    let _ = write_before_the_end(chain, own, Operation::Leave);
}

/// Writes all, as nothing may run afterwards; whether counting goes on should something do.
pub fn flush_before_the_end(chain: &Chain, own: &'static Link) -> Result<bool, Errno> {
    write_before_the_end(chain, own, Operation::Flush)
}

fn write_before_the_end(
    chain: &Chain,
    own: &'static Link,
    operation: Operation<'_>,
) -> Result<bool, Errno> {
    match chain.for_all(own, operation) {
        // No memory to remember what was written: write and close, as libgcov does.
        Err(Errno::NOMEM) => chain.for_all(own, Operation::Suspend).map(|()| false),
        result => result.map(|()| true),
    }
}

/// After an exec that failed.
pub fn exec_failed(chain: &Chain, own: &'static Link, image: &Image) {
    if image.is_own_process() {
        let _ = chain.for_all(own, Operation::Resume);
    }
}
