//! The compilers that people name: their commands, their versions, their flags.

pub mod command;
pub mod command_words;
pub mod compilation;
pub mod gcc;
pub mod identifiers;
pub mod llvm;
pub mod rustc_target;
