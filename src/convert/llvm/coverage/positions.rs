//! Counts at the positions of functions, for compilers, from a program's coverage mapping and its counters.
//!
//! The counts of lines are exact. What a profile has beyond that, the mapping does not tell: functions called
//! indirectly, and what the compiler inlined. Two statements of one line have one count, the larger one.

use alloc::vec::Vec;

use crate::counters;
use crate::formats::coverage_mapping::Mapping;
use crate::formats::profraw::names::Names;
use crate::profile::{Position, Profile};

use super::counted::{Counted, Left, counted, torn};
use super::lines::lines;
use super::segments::segments;
use super::{Lines, TooManyLines};

/// A profile, and what is not in it.
#[derive(Clone, Debug, Default)]
pub struct Positioned {
    /// The profile.
    pub profile: Profile,
    /// Functions in it.
    pub functions: usize,
    /// Functions whose declaration is not known: their lines count from the beginning of their body.
    pub undeclared: usize,
    /// Functions that are left out.
    pub left: Left,
    /// Functions whose counters contradict each other, see [`Converted::torn`](super::Converted::torn).
    pub torn: Vec<Vec<u8>>,
}

/// The profile of a program with this mapping and these names. `declared` gives the line that declares a function, by
/// its assembler name, its file, and the line where its body begins.
pub fn positions(
    mapping: &Mapping,
    names: &[Names],
    counters: &counters::Profile,
    path: impl Fn(&[u8]) -> Vec<u8>,
    declared: impl Fn(&[u8], &[u8], u32) -> Option<u32>,
) -> Result<Positioned, TooManyLines> {
    let (functions, left) = counted(mapping, names, counters);
    let mut positioned = Positioned {
        left,
        functions: functions.len(),
        torn: torn(&functions),
        ..Positioned::default()
    };
    let mut budget = Lines::of_mapping(mapping);
    for function in &functions {
        let Some((main, first)) = start(function) else { continue };
        let file = &mapping.files[function.mapping.files[main as usize] as usize];
        let name = assembler_name(function.name, file);
        let start = declared(name, file, first);
        positioned.undeclared += usize::from(start.is_none());
        let start = start.unwrap_or(first);
        let profile = &mut positioned.profile;
        let file = profile.symbols.file(&path(file));
        let symbol = profile.symbols.symbol(name, Some(file));
        profile.symbols.set_declaration_line(symbol, start);
        let of_function = profile.functions.entry(symbol).or_default();
        of_function.head_count = of_function.head_count.saturating_add(function.count);
        for (run, count) in lines(&segments(function.regions_at(main).to_vec())) {
            budget.take(run.len())?;
            for line in run {
                let position = Position::line(line.saturating_sub(start));
                let record = of_function.body.positions.entry(position).or_default();
                let sum = record.count.get_or_insert(0);
                *sum = sum.saturating_add(count);
            }
        }
    }
    Ok(positioned)
}

/// The place of a function's own file, and the line where its body begins.
fn start(function: &Counted<'_>) -> Option<(u32, u32)> {
    let main = function.main_file()?;
    Some((main, function.regions_at(main).first()?.start.line))
}

/// The name without that of the source file, which LLVM puts before the names of functions local to it.
fn assembler_name<'n>(name: &'n [u8], file: &[u8]) -> &'n [u8] {
    let end =
        name.iter().position(|&byte| byte == b':').filter(|&end| file.ends_with(&name[..end]));
    end.map_or(name, |end| &name[end + 1..])
}
