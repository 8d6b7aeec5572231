//! GCC's instrumentation, releases 10 to 17: the structures behind `__gcov_init`.

mod object;
mod parts;
mod registry;

pub use object::{Array, Function, Info, Merge, Object, Refusal, Shift, Tokens, string};
pub use parts::{Part, Parts};
pub use registry::Registry;
