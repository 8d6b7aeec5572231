//! GCC's instrumentation, releases 10 to 17: the structures behind `__gcov_init`.

mod object;
mod parts;
mod registry;

pub use object::{Array, Arrays, Function, Info, Merge, Object, Refusal, Shift, Tokens, string};
pub use parts::{AllArrays, Part, Parts};
pub use registry::Registry;
