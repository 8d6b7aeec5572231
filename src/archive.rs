//! The symbols of `libcountersink_rt.a`, compiled only into it.
//!
//! What GCC's instrumentation calls, what programs may call, which of both are hidden, and the
//! panic handler that nothing reaches. Everything is one call into [`crate::runtime`]; the symbols
//! that stable Rust cannot define are in `runtime-c`.
//!
//! Visibility is libgcov's: what belongs to one image (registration, merge functions, the time
//! counter, fork and exec wrappers) is hidden, so that every image uses its own; the profilers and
//! what programs call is not.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::panic::PanicInfo;
use core::ptr::NonNull;
use core::sync::atomic::AtomicI64;

use crate::runtime::abi::gcov::{Info, Object, Refusal, Tokens};
use crate::runtime::chain::{Chain, Link, Operation};
use crate::runtime::counters::topn::LiveSite;
use crate::runtime::counters::{Atomic, Plain, topn, values};
use crate::runtime::identity::Start;
use crate::runtime::image::Image;
use crate::runtime::message::Line;
use crate::runtime::sys::Errno;
use crate::runtime::{process, stream, sys};

static IMAGE: Image = Image::new();
static LINK: Link = Link::new(&IMAGE);

/// Where the images of a process meet, see [`crate::runtime::chain`].
#[unsafe(export_name = "countersink_images")]
static CHAIN: Chain = Chain::new();

/// Numbers the functions of the image in the order of their first calls; counted inline.
#[unsafe(export_name = "__gcov_time_profiler_counter")]
static TIME: AtomicI64 = AtomicI64::new(0);

core::arch::global_asm!(
    ".hidden __gcov_init",
    ".hidden __gcov_exit",
    ".hidden __gcov_merge_add",
    ".hidden __gcov_merge_topn",
    ".hidden __gcov_merge_ior",
    ".hidden __gcov_merge_time_profile",
    ".hidden __gcov_time_profiler_counter",
    ".hidden __gcov_fork",
    ".hidden __gcov_execv",
    ".hidden __gcov_execvp",
    ".hidden __gcov_execve",
    ".hidden countersink_topn",
    ".hidden countersink_topn_atomic",
);

unsafe extern "C" {
    /// The ELF header of this image, NULL if the linker left it out. In `runtime-c/image.c`.
    safe fn countersink_image_start() -> *mut u8;
    /// In `runtime-c/exec.c`; its address only.
    fn __gcov_execl();
    /// In `runtime-c/indirect_call.c`; its address only.
    fn __gcov_indirect_call_profiler_v4();
    safe fn fork() -> c_int;
    fn execv(path: *const c_char, arguments: *const *mut c_char) -> c_int;
    fn execvp(file: *const c_char, arguments: *const *mut c_char) -> c_int;
    fn execve(
        path: *const c_char,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int;
}

/// Who takes this member of the archive takes those of `runtime-c`, so that wherever the archive
/// stands on the link line nothing is left for libgcov.
#[used]
static OTHERS: [unsafe extern "C" fn(); 2] = [__gcov_execl, __gcov_indirect_call_profiler_v4];

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

// Registration.

fn tokens() -> Tokens {
    let address = |function: Merge| function as usize;
    Tokens {
        add: address(__gcov_merge_add),
        topn: address(__gcov_merge_topn),
        ior: address(__gcov_merge_ior),
        time: address(__gcov_merge_time_profile),
    }
}

/// Registers an object.
#[unsafe(no_mangle)]
unsafe extern "C" fn __gcov_init(info: *mut Info) {
    let Some(info) = NonNull::new(info) else { return };
    // SAFETY: constructors of instrumented objects pass their own `gcov_info`, which is static.
    match unsafe { Object::new(info, &tokens()) } {
        Ok(_) => {}
        Err(Refusal::Empty) => return,
        Err(Refusal::Version(path)) => return refuse(path),
    }
    if IMAGE.objects.is_empty() {
        // SAFETY: this is a constructor, no code of the program runs yet that could change it.
        let pattern = unsafe { sys::environment(c"COUNTERSINK_FILE") };
        let start = NonNull::new(countersink_image_start());
        // SAFETY: the linker puts the header at the start of the image's first page.
        let start = start.map(|start| unsafe { Start::new(start) });
        IMAGE.begin(tokens(), start, pattern.map(CStr::to_bytes));
        CHAIN.join(&LINK);
    }
    // SAFETY: a good object, see above, and every constructor runs once.
    unsafe { IMAGE.objects.push(info) };
}

fn refuse(path: &CStr) {
    Line::about(path.to_bytes()).text(b"made by a gcc before 10; its counts are not kept").print();
}

/// Ends the image: its first call writes, the calls of the other objects' destructors find nothing
/// left to do.
#[unsafe(no_mangle)]
extern "C" fn __gcov_exit() {
    CHAIN.leave(&LINK);
}

// Merge functions: never called, objects hold their addresses to say how their counters merge. They
// must not become one function, or the addresses would be equal.

type Merge = extern "C" fn(*mut AtomicI64, c_uint);

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

// Profilers. Their counters are the compiler's, who knows how many it passes.

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
            if let Some(site) = unsafe { LiveSite::new(counters) } {
                site.count::<$update, { topn::NODES }>(value, &IMAGE.nodes);
            }
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

// libgcov's interface for programs.

#[unsafe(no_mangle)]
extern "C" fn __gcov_dump() {
    let _ = CHAIN.for_all(&LINK, Operation::Dump);
}

#[unsafe(no_mangle)]
extern "C" fn __gcov_reset() {
    let _ = CHAIN.for_all(&LINK, Operation::Reset);
}

/// libgcov had it up to GCC 10: dump, then reset.
#[unsafe(no_mangle)]
extern "C" fn __gcov_flush() {
    __gcov_dump();
    __gcov_reset();
}

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
    let Ok(object) = (unsafe { Object::new(info, &tokens()) }) else { return };
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
    let name = unsafe { CStr::from_ptr(name) };
    stream::file_name(name, Callback { dump, argument });
}

// Our interface for programs, see `runtime-c/countersink.h`.

fn status(result: Result<(), Errno>) -> c_int {
    result.map_or_else(|error| error.raw_os_error().wrapping_neg(), |()| 0)
}

#[unsafe(no_mangle)]
extern "C" fn countersink_flush() -> c_int {
    status(CHAIN.for_all(&LINK, Operation::Flush))
}

#[unsafe(no_mangle)]
extern "C" fn countersink_reset() -> c_int {
    status(CHAIN.for_all(&LINK, Operation::Discard))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_set_file(pattern: *const c_char) -> c_int {
    let pattern = match pattern.is_null() {
        true => c"",
        // SAFETY: the program passes a string.
        false => unsafe { CStr::from_ptr(pattern) },
    };
    status(CHAIN.for_all(&LINK, Operation::SetPattern(pattern.to_bytes())))
}

#[unsafe(no_mangle)]
extern "C" fn countersink_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

#[unsafe(no_mangle)]
extern "C" fn countersink_before_fork() {
    process::before_fork(&CHAIN);
}

#[unsafe(no_mangle)]
extern "C" fn countersink_after_fork_parent() {
    process::after_fork_parent(&CHAIN);
}

#[unsafe(no_mangle)]
extern "C" fn countersink_after_fork_child() {
    process::after_fork_child(&CHAIN, &LINK);
}

#[unsafe(no_mangle)]
extern "C" fn countersink_before_exec() -> c_int {
    status(process::before_exec(&CHAIN, &LINK, &IMAGE))
}

#[unsafe(no_mangle)]
extern "C" fn countersink_exec_failed() {
    process::exec_failed(&CHAIN, &LINK, &IMAGE);
}

// The calls that the compiler rewrites. The variadic ones are in `runtime-c/exec.c`.

#[unsafe(no_mangle)]
extern "C" fn __gcov_fork() -> c_int {
    process::before_fork(&CHAIN);
    let process = fork();
    match process {
        0 => process::after_fork_child(&CHAIN, &LINK),
        _ => process::after_fork_parent(&CHAIN),
    }
    process
}

fn exec(exec: impl FnOnce() -> c_int) -> c_int {
    countersink_before_exec();
    let result = exec();
    countersink_exec_failed();
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __gcov_execv(path: *const c_char, arguments: *const *mut c_char) -> c_int {
    // SAFETY: the program's own call, passed on.
    exec(|| unsafe { execv(path, arguments) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __gcov_execvp(file: *const c_char, arguments: *const *mut c_char) -> c_int {
    // SAFETY: the program's own call, passed on.
    exec(|| unsafe { execvp(file, arguments) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __gcov_execve(
    path: *const c_char,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    // SAFETY: the program's own call, passed on.
    exec(|| unsafe { execve(path, arguments, environment) })
}
