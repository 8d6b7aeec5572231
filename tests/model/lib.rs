//! The source of the counters, `src/runtime/counters`, with the model checker's atomic types below it and the
//! little that it needs of the dump's formats above. Sites hold two values, so that threads soon come to a
//! full one.

#[path = "atomic.rs"]
pub mod checked;
#[path = "../../src/runtime/counters/mod.rs"]
pub mod counters;
#[path = "../../src/raw/site.rs"]
pub mod site;

pub mod raw {
    pub use crate::site;

    pub mod merge {
        pub const SITE_LIMIT: usize = 2;

        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Pair {
            pub value: i64,
            pub count: i64,
        }
    }
}

pub mod runtime {
    pub use crate::{checked as atomic, counters};
}
