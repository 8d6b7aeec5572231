//! The Rust part of a program of several compilers.
#![crate_type = "staticlib"]

#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn rust_work(callback: extern "C" fn(i32) -> i32, rounds: i32) -> i32 {
    let mut sum = 0i32;
    for round in 0..rounds {
        sum = sum.wrapping_add(callback(round));
    }
    sum
}
