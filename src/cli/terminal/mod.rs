//! What people read on a terminal: messages, names, tables.

pub mod error;
pub mod markdown;
pub mod message;
pub mod names;
pub mod percent;
pub mod print;
pub mod progress;
pub mod style;
pub mod suggestion;
pub mod table;
pub mod visible;
