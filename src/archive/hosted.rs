//! The symbols of an archive for programs with an operating system: `libcountersink_rt.a`.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int};
use core::ptr::NonNull;

use super::gcov::TOKENS;
use crate::runtime::abi::gcov::{Info, Registry};
use crate::runtime::chain::{Chain, Link, Operation};
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::topn::Owner;
use crate::runtime::identity::Start;
use crate::runtime::image::Image;
use crate::runtime::message::Line;
use crate::runtime::output_path::{OutputPath, Target};
use crate::runtime::signals::{Ours, Signals};
use crate::runtime::sys::{Action, Errno, SignalInfo};
use crate::runtime::{process, sys};

static IMAGE: Image<Registry> = Image::new(Registry::new());
static LINK: Link = Link::new(&IMAGE, &PLACE);
/// Only for a chain of another release.
pub static PLACE: OutputPath = OutputPath::new();
/// Beside the counters if those are live.
#[cfg_attr(feature = "live", unsafe(link_section = ".bss.__gcov_nodes"))]
static NODES: Nodes = Nodes::new();
static SIGNALS: Signals = Signals::new();
const OURS: Ours = Ours { set: countersink_system_action, last: on_signal, once: on_signal_once };

/// Where the images of a process meet, see [`crate::runtime::chain`].
#[unsafe(export_name = "countersink_images")]
pub static CHAIN: Chain = Chain::new();

hide! {
    __gcov_fork
    __gcov_execv
    __gcov_execvp
    __gcov_execve
    countersink_action
    countersink_before_exit
}

unsafe extern "C" {
    /// The ELF header of this image, NULL if the linker left it out. In `runtime-c/image.c`.
    safe fn countersink_image_start() -> *mut u8;
    /// The end of this image's data, NULL if the linker does not tell. In `runtime-c/image.c`.
    safe fn countersink_image_end() -> *mut u8;
    /// The pattern that the program was linked with, NULL if there is none. In `runtime-c/image.c`.
    safe fn countersink_linked_file() -> *mut c_char;
    /// In `runtime-c/signal.c`.
    fn countersink_system_action(number: c_int, new: *const Action, old: *mut Action) -> c_int;
    /// In `runtime-c/exec.c`. Only its address is used.
    fn __gcov_execl();
    safe fn fork() -> c_int;
    safe fn pthread_atfork(before: Hook, parent: Hook, child: Hook) -> c_int;
    safe fn at_quick_exit(function: Hook) -> c_int;
    fn execv(path: *const c_char, arguments: *const *mut c_char) -> c_int;
    fn execvp(file: *const c_char, arguments: *const *mut c_char) -> c_int;
    fn execve(
        path: *const c_char,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int;
}

type Hook = extern "C" fn();

/// Pulls in that member of `runtime-c` together with this one.
#[used]
static OTHER: unsafe extern "C" fn() = __gcov_execl;

/// Where profilers find room for values.
pub fn nodes() -> &'static Nodes {
    &NODES
}

/// Where this image is.
pub fn image() -> core::ops::Range<usize> {
    countersink_image_start().addr()..countersink_image_end().addr()
}

/// The image that owns the counters at this address.
pub fn owner(address: usize) -> Owner {
    // Without live counters here, this image's nodes also serve other such images, with an index at hand.
    let all = cfg!(feature = "live");
    match image().contains(&address) {
        true => Owner::Here,
        false => CHAIN.nodes_at(address, all).map_or(Owner::Unknown, Owner::There),
    }
}

/// The image's objects.
pub fn objects() -> &'static Registry {
    &IMAGE.objects
}

/// Adds an object to the image.
///
/// # Safety
///
/// `info` must be a good one, and not be registered yet.
pub unsafe fn register(info: NonNull<Info>) {
    if IMAGE.member.nodes().is_none() {
        begin_for_gcc();
    }
    // SAFETY: promised by the caller.
    unsafe { IMAGE.objects.push(info, &TOKENS) };
}

#[cold]
#[inline(never)]
fn begin_for_gcc() {
    begin(linked_file(), users_file);
}

/// Begins the image if it has not begun. It writes its counts into the file that the `user` wants, or else into the
/// `linked` one.
pub fn begin(linked: &'static [u8], user: fn() -> Option<&'static [u8]>) {
    if IMAGE.member.nodes().is_some() {
        return;
    }
    CHAIN.meet();
    let start = start();
    IMAGE.begin(&NODES, start, Target { place: CHAIN.place(&LINK), linked }, user);
    if CHAIN.is_empty() {
        catch_signals();
    }
    CHAIN.join(&LINK);
    if start.is_some() {
        CHAIN.add_home(image(), &NODES, cfg!(feature = "live"));
    }
    let (before, parent) = (countersink_before_fork, countersink_after_fork_parent);
    pthread_atfork(before, parent, countersink_after_fork_child);
    at_quick_exit(quick_exit);
}

/// Where the image starts.
pub fn start() -> Option<Start> {
    let start = NonNull::new(countersink_image_start());
    // SAFETY: the linker puts the header at the start of the image's first page.
    start.map(|start| unsafe { Start::new(start) })
}

/// The pattern that the program was linked with, empty if there is none.
pub fn linked_file() -> &'static [u8] {
    let linked = NonNull::new(countersink_linked_file());
    // SAFETY: a string of the program or of a library that this image needs.
    let linked = linked.map(|linked| unsafe { CStr::from_ptr(linked.as_ptr()) });
    linked.map_or(&[], CStr::to_bytes)
}

/// The file that the user wants.
fn users_file() -> Option<&'static [u8]> {
    // SAFETY: this is a constructor, no code of the program runs yet that could change it.
    let file = unsafe { sys::environment(c"COUNTERSINK_FILE") };
    file.map(CStr::to_bytes)
}

/// Puts counters into a file after all objects have registered and before any other constructor runs.
#[cfg(feature = "live")]
#[used]
#[unsafe(link_section = ".init_array.00101")]
static LIVE: Hook = go_live;

#[cfg(feature = "live")]
extern "C" fn go_live() {
    use crate::runtime::counters::shared;
    use crate::runtime::live::Region;
    unsafe extern "C" {
        /// In `runtime-c/live.c`.
        safe fn countersink_live_bound(end: c_int) -> *mut u8;
    }
    if !IMAGE.objects.is_empty() {
        let [start, end] = [0, 1].map(|end| countersink_live_bound(end));
        // SAFETY: the linker script says so.
        let region = unsafe { Region::new(start, end) };
        // libgcov's profilers, where those come first, keep values outside of the pages.
        if let Some(region) = region.filter(|_| image().contains(&super::gcov::profiler())) {
            shared::add_pages(region.addresses());
        }
        IMAGE.go_live(region);
    }
}

/// Does what the user asked for in `COUNTERSINK_ON_SIGNAL`.
fn catch_signals() {
    // SAFETY: this is a constructor, no code of the program runs yet that could change it.
    if let Some(list) = unsafe { sys::environment(c"COUNTERSINK_ON_SIGNAL") } {
        CHAIN.set_signals(SIGNALS.catch(list.to_bytes(), OURS));
    }
}

extern "C" fn on_signal(number: c_int, info: *const SignalInfo, context: *const u8) {
    let goes_on = process::flush_before_the_end(&CHAIN, &LINK);
    // SAFETY: this is the handler.
    unsafe { SIGNALS.go_on(number, info, context, OURS) };
    if goes_on == Ok(false) {
        process::exec_failed(&CHAIN, &LINK);
    }
}

extern "C" fn on_signal_once(number: c_int, info: *const SignalInfo, context: *const u8) {
    // SAFETY: this is the handler.
    unsafe { SIGNALS.call_once(number, info, context, OURS) };
}

/// `sigaction` of a program linked for it, see `runtime-c/wrap_signal.c`. Gives 0 or a negative error number.
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_action(
    number: c_int,
    new: *const Action,
    old: *mut Action,
) -> c_int {
    // SAFETY: NULL or the program's action, with room behind it.
    let new = unsafe { new.as_ref() };
    status(SIGNALS.wrapped(CHAIN.signals(), number, new, OURS).map(|before| {
        // SAFETY: the caller has room for an action.
        unsafe { old.write(before) };
    }))
}

/// Runs at `quick_exit`, which runs no destructors.
extern "C" fn quick_exit() {
    process::before_exit(&CHAIN, &LINK);
}

/// Before a call that ends the process at once, see `runtime-c/wrap.c`.
#[unsafe(no_mangle)]
extern "C" fn countersink_before_exit() {
    process::before_exit(&CHAIN, &LINK);
}

/// Says that an object does not take part.
pub fn refuse(path: &CStr) {
    Line::about(path.to_bytes()).text(b"made by a gcc before 10; its counts are not kept").print();
}

/// Every object's destructor calls this. Further destructors may run afterwards.
#[unsafe(no_mangle)]
extern "C" fn __gcov_exit() {}

/// Ends the image: the linker sorts destructors, and this one runs last.
#[used]
#[unsafe(link_section = ".fini_array.00000")]
static END: Hook = end;

extern "C" fn end() {
    if IMAGE.member.nodes().is_some() {
        CHAIN.leave(&LINK);
        // Also where other images remain: no signal must find the code of a library that is gone.
        SIGNALS.release(CHAIN.signals(), OURS);
    }
}

// libgcov's interface for programs. LLVM's runtime for clang's `--coverage` has some of it, too, and must be the one
// that such a program calls: it alone has counters to write. So ours are weak.

core::arch::global_asm!(
    ".weak __gcov_dump",
    ".weak __gcov_reset",
    ".weak __gcov_fork",
    ".set __gcov_dump, countersink_gcov_dump",
    ".set __gcov_reset, countersink_gcov_reset",
    ".set __gcov_fork, countersink_gcov_fork",
    ".hidden countersink_gcov_dump",
    ".hidden countersink_gcov_reset",
    ".hidden countersink_gcov_fork",
);

#[unsafe(no_mangle)]
extern "C" fn countersink_gcov_dump() {
    let _ = CHAIN.for_all(&LINK, Operation::Dump);
}

#[unsafe(no_mangle)]
extern "C" fn countersink_gcov_reset() {
    let _ = CHAIN.for_all(&LINK, Operation::Reset);
}

/// libgcov had it up to GCC 10: dump, then reset.
#[unsafe(no_mangle)]
extern "C" fn __gcov_flush() {
    countersink_gcov_dump();
    countersink_gcov_reset();
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
extern "C" fn countersink_before_fork() {
    CHAIN.before_fork();
}

#[unsafe(no_mangle)]
extern "C" fn countersink_after_fork_parent() {
    CHAIN.after_fork_parent();
}

#[unsafe(no_mangle)]
extern "C" fn countersink_after_fork_child() {
    CHAIN.after_fork_child(&LINK);
}

#[unsafe(no_mangle)]
extern "C" fn countersink_before_exec() -> c_int {
    status(process::before_exec(&CHAIN, &LINK))
}

#[unsafe(no_mangle)]
extern "C" fn countersink_exec_failed() {
    process::exec_failed(&CHAIN, &LINK);
}

// The calls that the compiler rewrites. The variadic ones are in `runtime-c/exec.c`.

/// The hooks of every fork do all the work.
#[unsafe(no_mangle)]
extern "C" fn countersink_gcov_fork() -> c_int {
    fork()
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
