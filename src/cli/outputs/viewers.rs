//! `convert` to the formats of viewers, with names as in the source, and of linkers. The formats belong to
//! [`crate::formats`].

use std::path::Path;
use std::prelude::v1::*;

use super::output::Content;
use crate::cli::inputs::input::Input;
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::names::{Names, hexadecimal, text};
use crate::formats::pprof::encode::Image;
use crate::formats::{callgrind, collapsed, pprof, speedscope, symbol_order};
use crate::profile::Profile;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    Pprof,
    Callgrind,
    Speedscope,
    Collapsed,
    SymbolOrder,
}

impl View {
    /// The contents of a profile's file. `name` is for messages.
    pub fn file(
        self,
        profile: &Profile,
        images: &[Image],
        name: &Path,
    ) -> Result<(Vec<u8>, Content)> {
        let name_of = |name: &[u8]| Names::as_asked(true).of(&text(name));
        let title = || text(name.as_os_str().as_encoded_bytes());
        let bytes = match self {
            Self::Pprof => pprof::encode::encode(profile, images, &name_of),
            Self::Callgrind => callgrind::encode::encode(profile, &name_of),
            Self::Speedscope => speedscope::encode::encode(profile, &title(), &name_of),
            Self::Collapsed => collapsed::encode::encode(profile, &name_of),
            Self::SymbolOrder => symbol_order::encode::encode(profile),
        };
        let content = if self == Self::Pprof { Content::Binary } else { Content::Text };
        Ok((bytes.about(name)?, content))
    }
}

/// The programs that wrote the dumps among some inputs, without dumps that are not read yet.
pub fn images(inputs: &[Input]) -> Vec<Image> {
    let modules = inputs.iter().filter_map(Input::decoded_dump).flat_map(|dump| &dump.modules);
    let image = |module: &crate::raw::dump::Module| Image {
        path: text(&module.path),
        build_id: hexadecimal(module.build_id()),
    };
    let mut images: Vec<Image> = Vec::new();
    for image in modules.map(image) {
        if !images.contains(&image) {
            images.push(image);
        }
    }
    images
}
