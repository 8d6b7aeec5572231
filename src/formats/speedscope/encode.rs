//! Writes a profile for speedscope. The [parent module](super) has the layout.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;
use serde::Serialize;

use crate::formats::EncodeError;
use crate::formats::frame_names::{FrameNames, NameOf, path};
use crate::profile::{Profile, SymbolId};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: String,
    active_profile_index: u32,
    shared: Shared,
    profiles: [Sampled; 1],
}

#[derive(Serialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Serialize)]
struct Frame {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// The text of a profile. `title` is its name in the viewer. `name_of` gives the name to show for a name in the object
/// file.
pub fn encode(profile: &Profile, title: &str, name_of: NameOf<'_>) -> Result<Vec<u8>, EncodeError> {
    let symbols = &profile.symbols;
    let names = FrameNames::new(symbols, name_of);
    let mut frames = Vec::new();
    let mut indexes = HashMap::new();
    let mut sums = BTreeMap::<Vec<usize>, u64>::new();
    let most = profile.most_text();
    let mut numbers = 0;
    profile.for_each_stack(&mut |stack, record| {
        let Some(count) = record.count.filter(|&count| count > 0) else { return };
        if numbers > most {
            return;
        }
        let index = |symbol: SymbolId| {
            *indexes.entry(symbol).or_insert_with(|| {
                let (name, file) = (names.of(symbol).into(), path(symbols, symbol));
                frames.push(Frame { name, file, line: symbols.declaration_line(symbol) });
                frames.len() - 1
            })
        };
        let stack: Vec<usize> = stack.iter().map(|frame| frame.symbol).map(index).collect();
        let length = stack.len();
        let sum = sums.entry(stack).or_insert_with(|| {
            numbers += length;
            0
        });
        *sum = sum.saturating_add(count);
    });
    if numbers > most {
        return Err(EncodeError::Large(most));
    }
    let weights: Vec<u64> = sums.values().copied().collect();
    let all = Sampled {
        kind: "sampled",
        name: "executions",
        unit: "none",
        start_value: 0,
        end_value: weights.iter().fold(0, |sum, &weight| sum.saturating_add(weight)),
        samples: sums.into_keys().collect(),
        weights,
    };
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("countersink ", env!("CARGO_PKG_VERSION")),
        name: title.into(),
        active_profile_index: 0,
        shared: Shared { frames },
        profiles: [all],
    };
    let mut text = serde_json::to_vec(&file).map_err(|_| EncodeError::Large(most))?;
    text.push(b'\n');
    Ok(text)
}
