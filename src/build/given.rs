//! Finished archives: those of the tool's own target in a folder, those of others each in the folder of its name.

use std::fs;
use std::path::{Path, PathBuf};

use super::variant::{self, Variant};
use super::{Archives, refuse};

/// The archives of a folder: the tool's `own` target's, those of its folders, and those `asked_for`.
pub fn archives(folder: &Path, own: String, asked_for: Vec<String>) -> Vec<Archives> {
    let below = folder.join(&own);
    let of_own = if is_target(&below) { below } else { folder.to_owned() };
    let mut names = folders(folder);
    names.extend(asked_for);
    names.sort();
    names.dedup();
    names.retain(|name| *name != own);
    let others = names.into_iter().map(|name| {
        let folder = folder.join(&name);
        let variants =
            variant::ALL.iter().filter(|variant| !variant.is_hosted || has_hosted(&folder));
        found(name, &folder, variants)
    });
    std::iter::once(found(own, &of_own, variant::ALL.iter())).chain(others).collect()
}

/// Names of folders that hold archives.
fn folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| {
        refuse(&format!("COUNTERSINK_ARCHIVES={}: {error}", folder.display()))
    });
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_target(path));
    let names = paths.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    names.collect()
}

fn is_target(folder: &Path) -> bool {
    variant::ALL.iter().any(|variant| folder.join(variant.file_name()).is_file())
}

/// A target has both archives for programs with an operating system, or none.
fn has_hosted(folder: &Path) -> bool {
    let mut hosted = variant::ALL.iter().filter(|variant| variant.is_hosted);
    hosted.any(|variant| folder.join(variant.file_name()).is_file())
}

/// A target's archives in a folder. Ends the build if one is missing.
fn found(
    target: String,
    folder: &Path,
    variants: impl Iterator<Item = &'static Variant>,
) -> Archives {
    let files: Vec<(&'static Variant, PathBuf)> =
        variants.map(|variant| (variant, folder.join(variant.file_name()))).collect();
    if let Some((_, missing)) = files.iter().find(|(_, file)| !file.is_file()) {
        refuse(&format!("COUNTERSINK_ARCHIVES: {target} has no {}", missing.display()));
    }
    Archives { target, files }
}
