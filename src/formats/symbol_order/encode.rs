//! Writes the order of a profile's functions. The [parent module](super) has the layout.

use alloc::vec::Vec;

use hashbrown::HashSet;

use crate::formats::EncodeError;
use crate::profile::Profile;

/// The symbols of the functions with a time of their first call, the earliest first.
///
/// # Errors
///
/// No function has a time, or a name has a line break.
pub fn encode(profile: &Profile) -> Result<Vec<u8>, EncodeError> {
    let timed = profile.functions.iter().filter(|(_, function)| function.timestamp > 0);
    let name_of = |symbol| profile.symbols.name(symbol);
    let mut timed: Vec<(u64, &[u8])> =
        timed.map(|(&symbol, function)| (function.timestamp, name_of(symbol))).collect();
    if timed.is_empty() {
        let why =
            "no function has a time of its first call: gcc counts these with -fprofile-generate";
        return Err(EncodeError::Form(why));
    }
    timed.sort_unstable();
    let mut text = Vec::new();
    let mut known = HashSet::new();
    for (_, name) in timed.into_iter().filter(|&(_, name)| known.insert(name)) {
        if name.contains(&b'\n') {
            return Err(EncodeError::Name(name.to_vec()));
        }
        text.extend_from_slice(name);
        text.push(b'\n');
    }
    Ok(text)
}
