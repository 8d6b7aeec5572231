//! Object files and programs as they will be in memory: [`image`] lays out their sections, [`relocate`](fn@relocate)
//! gives those of an object file addresses first.

pub mod image;
mod relocate;

pub use relocate::relocate;
