//! GCC's instrumentation, releases 10 to 17: the structures behind `__gcov_init`.

mod array;
mod function;
mod module;
mod object;
mod registry;

pub use array::{Array, Sites};
pub use function::{Arrays, Function, Functions};
pub use object::{Info, Merge, Object, Refusal, Tokens, string};
pub use registry::{AllArrays, Registered, Registry};

/// Size of a pointer, and of the words of structures.
const POINTER: usize = size_of::<usize>();
