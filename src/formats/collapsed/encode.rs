//! Writes a profile as collapsed stacks. The [parent module](super) has the layout.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::formats::EncodeError;
use crate::formats::frame_names::{FrameNames, NameOf};
use crate::profile::{Profile, SymbolId};

/// The text of a profile. `name_of` gives the name to show for a name in the object file.
pub fn encode(profile: &Profile, name_of: NameOf<'_>) -> Result<Vec<u8>, EncodeError> {
    let names = FrameNames::new(&profile.symbols, name_of);
    let mut sums = BTreeMap::<Vec<SymbolId>, u64>::new();
    let mut stack = Vec::new();
    profile.for_each_stack(&mut |frames, record| {
        let Some(count) = record.count.filter(|&count| count > 0) else { return };
        stack.clear();
        stack.extend(frames.iter().map(|frame| frame.symbol));
        match sums.get_mut(&stack) {
            Some(sum) => *sum = sum.saturating_add(count),
            None => _ = sums.insert(stack.clone(), count),
        }
    });
    let most = profile.most_text();
    let mut text = String::new();
    for (stack, count) in sums {
        for (place, symbol) in stack.into_iter().enumerate() {
            if place > 0 {
                text.push(';');
            }
            text += &names.of(symbol).replace(';', ":");
        }
        let _ = writeln!(text, " {count}");
        if text.len() > most {
            return Err(EncodeError::Large(most));
        }
    }
    Ok(text.into_bytes())
}
