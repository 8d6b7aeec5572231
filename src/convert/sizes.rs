//! Sizes of a program's functions and of their inlined copies, from its debug information: the bytes of machine
//! code that belong to each, and not to what is inlined in it in turn.

use std::prelude::v1::*;

use object::{Object as _, ObjectSymbol as _};

use crate::formats::afdo_v1_v3::names::without_clones;
use crate::profile::{Map, SymbolId, Symbols};
use crate::program::debug::Sections;
use crate::program::debug::declared::Declarations;
use crate::program::debug::functions::{Function, functions};
use crate::program::debug::units::Units;
use crate::samples::sizes::Sizes;
use crate::samples::{Frame, Site};

/// Why a program's sizes are not known.
pub type Why = String;

/// The sizes in a program. New names go to `symbols`. Discriminators of call sites are not looked at. Damaged parts of
/// the debug information are left out.
pub fn sizes(program: &[u8], symbols: &mut Symbols) -> Result<Sizes, Why> {
    let file = object::File::parse(program).map_err(|error| error.to_string())?;
    let sections = Sections::load(&file);
    let (units, error) = Units::new(sections.borrow(), &|path| path.to_vec());
    let names: Vec<(u64, Vec<u8>)> = file
        .symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .filter_map(|symbol| Some((symbol.address(), symbol.name_bytes().ok()?.to_vec())))
        .collect();
    let names: Map<u64, Vec<u8>> = names.into_iter().collect();
    let mut sizes = Sizes::default();
    for number in 0..units.all().len() as u32 {
        let (found, _) = functions(&units, number);
        let mut declarations = Declarations::new(&units, number, &found.members);
        for function in &found.functions {
            if let Some(name) = names.get(&function.ranges[0].start) {
                // A name that cannot be noted is that of the debug information.
                let _ = declarations.name(function.copies[0].entry, &[without_clones(name)]);
            }
        }
        for function in &found.functions {
            add(function, &mut declarations, symbols, &mut sizes);
        }
    }
    match (sizes.copies(), error) {
        (0, Some(error)) => Err(format!("debug information: {error}")),
        (0, None) => Err("has no debug information about functions; compile it with -g".into()),
        _ => Ok(sizes),
    }
}

fn add(
    function: &Function,
    declarations: &mut Declarations<'_, '_>,
    symbols: &mut Symbols,
    sizes: &mut Sizes,
) {
    let mut own: Vec<u64> = function
        .copies
        .iter()
        .map(|copy| function.ranges_of(copy).iter().map(|range| range.end - range.start).sum())
        .collect();
    let all = own.clone();
    for (place, copy) in function.copies.iter().enumerate().skip(1) {
        let caller = &mut own[copy.caller as usize];
        *caller = caller.saturating_sub(all[place]);
    }
    // Each copy's function, and the line where that is declared.
    let declared: Vec<Option<(SymbolId, u32)>> = function
        .copies
        .iter()
        .map(|copy| {
            let index = declarations.function(copy.entry).ok().flatten()?;
            let declared = &declarations.tables.functions[index as usize];
            Some((symbols.symbol(&declared.name, None), declared.line))
        })
        .collect();
    for (place, &size) in own.iter().enumerate() {
        if let Some(frames) = frames(function, &declared, place) {
            sizes.add(&frames, size);
        }
    }
}

/// The frames around a copy, the outermost first; `None` if one of them is unknown.
fn frames(
    function: &Function,
    declared: &[Option<(SymbolId, u32)>],
    mut place: usize,
) -> Option<Vec<Frame>> {
    let mut frames = vec![Frame { function: declared[place]?.0, site: Site::default() }];
    while place > 0 {
        let copy = &function.copies[place];
        place = copy.caller as usize;
        let (caller, line) = declared[place]?;
        let line = copy.line.wrapping_sub(line) & 0xffff;
        frames.push(Frame { function: caller, site: Site::line(line) });
    }
    frames.reverse();
    Some(frames)
}
