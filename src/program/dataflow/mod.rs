//! Follows what registers and slots of the stack hold: addresses of sites on their way to calls ([`walk`]), and
//! addresses and values of counters ([`values`]).

mod followed;
mod held;
mod known;
mod mentions;
pub mod state;
pub mod taken;
pub mod values;
pub mod walk;
