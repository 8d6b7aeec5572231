//! Object files and programs as they will be in memory: [`image`] lays out their sections, [`relocate`] gives those of an
//! object file addresses first.

pub mod image;
pub mod relocate;
