//! GCC's instrumentation, releases 10 to 17: the structures behind `__gcov_init`.

mod object;
mod registry;

pub use object::{Array, Function, Info, Object, Part, Refusal, Tokens};
pub use registry::Registry;
