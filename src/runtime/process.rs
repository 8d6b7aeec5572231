//! Fork, exec, and ends without destructors.
//!
//! The hooks run at every fork of the C library, whoever calls it. The runtime must be told of exec and of
//! other ways to make processes.
//!
//! A child starts at zero and the parent goes on, so the parent alone writes what happened before the fork.
//! Before an exec everything is written, as nothing runs afterwards. If the exec fails, counting just goes
//! on, because a flush remembers what it wrote.
//!
//! A child of `vfork` borrows its parent's memory. Its exec writes nothing: the counts belong to the parent,
//! which is about to go on and will write them.

use super::chain::{Chain, Link, Operation};
use super::sys::Errno;

/// Before an exec.
pub fn before_exec(chain: &Chain, own: &'static Link) -> Result<(), Errno> {
    if !own.member().is_own_process() {
        return Ok(());
    }
    flush_before_the_end(chain, own).map(drop)
}

/// Before an end without destructors.
pub fn before_exit(chain: &Chain, own: &'static Link) {
    let _ = write_before_the_end(chain, own, Operation::Leave);
}

/// Writes all, as nothing may run afterwards. Says whether counting goes on if something does.
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
pub fn exec_failed(chain: &Chain, own: &'static Link) {
    if own.member().is_own_process() {
        let _ = chain.for_all(own, Operation::Resume);
    }
}
