//! What GCC's instrumentation calls on any system: registration, merge functions, profilers, and the
//! streams of an object's counters.
//!
//! The system's module, [`super::system`], holds objects and nodes and decides what becomes of the counts.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::NonNull;

use super::system::{nodes, objects, owner, refuse, register};
use crate::runtime::abi::gcov::{Info, Object, Refusal, Tokens, string};
use crate::runtime::atomic::AtomicI64;
use crate::runtime::counters::nodes::{INDEXES, NODES};
use crate::runtime::counters::topn::LiveSite;
use crate::runtime::counters::{Atomic, Plain, values};
use crate::runtime::stream;

/// Numbers the functions of the image in the order of their first calls; counted inline.
#[unsafe(export_name = "__gcov_time_profiler_counter")]
static TIME: AtomicI64 = AtomicI64::new(0);

hide! {
    __gcov_init
    __gcov_exit
    __gcov_merge_add
    __gcov_merge_topn
    __gcov_merge_ior
    __gcov_merge_time_profile
    __gcov_time_profiler_counter
    countersink_topn
    countersink_topn_atomic
}

unsafe extern "C" {
    /// In `runtime-c/indirect_call.c`; its address only.
    fn __gcov_indirect_call_profiler_v4();
}

/// Pulls in that member of `runtime-c` together with this one. So nothing is left for libgcov, wherever the
/// archive stands on the link line. On a board a linker that drops unused sections may drop the profilers again.
#[cfg_attr(feature = "runtime", used)]
#[cfg_attr(not(feature = "runtime"), unsafe(export_name = "countersink_other"))]
static OTHER: unsafe extern "C" fn() = __gcov_indirect_call_profiler_v4;

/// Where the profiler of indirect calls is that this image's code calls: the dynamic linker may take another image's.
#[cfg(feature = "live")]
pub fn profiler() -> usize {
    OTHER as usize
}

/// What this archive knows as merge functions.
pub static TOKENS: Tokens = Tokens {
    add: __gcov_merge_add,
    topn: __gcov_merge_topn,
    ior: __gcov_merge_ior,
    time: __gcov_merge_time_profile,
};

/// Registers an object.
#[unsafe(no_mangle)]
unsafe extern "C" fn __gcov_init(info: *mut Info) {
    let Some(info) = NonNull::new(info) else { return };
    // SAFETY: constructors of instrumented objects pass their own `gcov_info`, which is static.
    if unsafe { objects().knows(info) } {
        // SAFETY: an object of the same compiler as the one before, and every constructor runs once.
        return unsafe { register(info) };
    }
    // SAFETY: as above.
    match unsafe { Object::new(info, &TOKENS) } {
        // SAFETY: a good object, and every constructor runs once.
        Ok(_) => unsafe { register(info) },
        Err(Refusal::Empty) => {}
        Err(Refusal::Version(path)) => refuse(path),
    }
}

// Merge functions. Nobody calls them; objects hold their addresses to say how their counters merge. They must
// not become one function, or the addresses would be equal.

macro_rules! merge_tokens {
    ($($name:ident $number:literal),*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_counters: *mut AtomicI64, _number: c_uint) {
            core::hint::black_box($number);
        }
    )*};
}

merge_tokens! {
    __gcov_merge_add 1,
    __gcov_merge_topn 2,
    __gcov_merge_ior 3,
    __gcov_merge_time_profile 4
}

// Profilers. Their counters are the compiler's, and it knows how many it passes.

macro_rules! profilers {
    ($update:ty: $interval:ident $pow2:ident $average:ident $ior:ident $topn:ident $site:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $interval(
            counters: *const AtomicI64,
            value: i64,
            start: c_int,
            steps: c_uint,
        ) {
            let number = (steps as usize).wrapping_add(2);
            // SAFETY: the compiler lays out `steps` counters and two more.
            let counters = unsafe { core::slice::from_raw_parts(counters, number) };
            values::interval::<$update>(counters, value, i64::from(start), steps);
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $pow2(counters: *const [AtomicI64; 2], value: i64) {
            // SAFETY: the compiler lays out two counters.
            values::pow2::<$update>(unsafe { &*counters }, value);
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $average(counters: *const [AtomicI64; 2], value: i64) {
            // SAFETY: the compiler lays out two counters.
            values::average::<$update>(unsafe { &*counters }, value);
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $ior(counter: *const AtomicI64, value: i64) {
            // SAFETY: the compiler lays out a counter.
            values::ior::<$update>(unsafe { &*counter }, value);
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $topn(counters: *const [AtomicI64; 3], value: i64) {
            // SAFETY: passed on.
            unsafe { $site(counters, value) };
        }

        /// Also called for indirect calls, from `runtime-c/indirect_call.c`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $site(counters: *const [AtomicI64; 3], value: i64) {
            // SAFETY: the compiler lays out at least three counters.
            let counters = unsafe { &*counters };
            // SAFETY: they are zero or what profilers made of them.
            let site = unsafe { LiveSite::new(counters) };
            site.count::<$update, NODES, INDEXES>(value, nodes(), owner);
        }
    };
}

profilers! { Plain:
    __gcov_interval_profiler __gcov_pow2_profiler __gcov_average_profiler __gcov_ior_profiler
    __gcov_topn_values_profiler countersink_topn
}
profilers! { Atomic:
    __gcov_interval_profiler_atomic __gcov_pow2_profiler_atomic __gcov_average_profiler_atomic
    __gcov_ior_profiler_atomic __gcov_topn_values_profiler_atomic countersink_topn_atomic
}

// Streams of an object's counters.

type FileName = unsafe extern "C" fn(*const c_char, *mut c_void);
type Dump = unsafe extern "C" fn(*const c_void, c_uint, *mut c_void);
type Allocate = unsafe extern "C" fn(c_uint, *mut c_void) -> *mut c_void;

/// A callback of the program that takes the bytes of a stream.
struct Callback {
    dump: Dump,
    argument: *mut c_void,
}

impl stream::Bytes for Callback {
    fn take(&mut self, bytes: &[u8]) {
        // SAFETY: the program promised a function that takes a place, a length and its argument.
        unsafe { (self.dump)(bytes.as_ptr().cast(), bytes.len() as c_uint, self.argument) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __gcov_info_to_gcda(
    info: *const Info,
    file_name: Option<FileName>,
    dump: Option<Dump>,
    _allocate: Option<Allocate>,
    argument: *mut c_void,
) {
    let (Some(info), Some(dump)) = (NonNull::new(info.cast_mut()), dump) else { return };
    // SAFETY: the program passes a `gcov_info` that it found in the section made by the compiler.
    let Ok(object) = (unsafe { Object::new(info, &TOKENS) }) else { return };
    if let Some(file_name) = file_name {
        // SAFETY: the program promised a function that takes a string and its argument.
        unsafe { file_name(object.path().as_ptr(), argument) };
    }
    stream::object(&object, Callback { dump, argument });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __gcov_filename_to_gcfn(
    name: *const c_char,
    dump: Option<Dump>,
    argument: *mut c_void,
) {
    let (Some(dump), false) = (dump, name.is_null()) else { return };
    // SAFETY: the program passes a string.
    let name = unsafe { string(name) };
    stream::file_name(name, Callback { dump, argument });
}

#[unsafe(no_mangle)]
extern "C" fn countersink_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
