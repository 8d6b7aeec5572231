//! Damaged profiles: for every prefix and every flipped bit, the readers do not panic, do not hang, and need no more
//! memory than is stated.

#[path = "../harness/mod.rs"]
mod harness;

mod afdo;
mod llvm;
mod llvm_sample;

use std::alloc::System;
use std::sync::{LockResult, Mutex, MutexGuard};

use cap::Cap;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// The limit is for the whole process, so no test runs beside another one.
fn alone() -> LockResult<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
}

/// Runs readers with a limit to the bytes that they take.
fn limited<T>(bytes: usize, readers: impl FnOnce() -> T) -> T {
    MEMORY.set_limit(MEMORY.allocated() + bytes).unwrap();
    let read = readers();
    MEMORY.set_limit(usize::MAX).unwrap();
    read
}
