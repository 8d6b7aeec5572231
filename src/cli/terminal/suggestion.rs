//! Suggests names for a misspelt one.

use std::collections::BTreeSet;
use std::prelude::v1::*;

use super::visible::visible;

/// Number of names to suggest.
const MOST_SUGGESTIONS: usize = 3;
/// The least likeness to the name asked for, from 0 to 1.
const LEAST_LIKENESS: f64 = 0.6;
/// Longer names take too long to be compared letter by letter.
const LONGEST_NAME: usize = 256;

/// Suggests the names nearest to the one asked for, if any are near. Compares their last parts, behind a
/// separator, regardless of case.
pub fn hint(asked: &str, separator: &str, names: &BTreeSet<String>) -> Option<String> {
    let asked = last(asked, separator);
    let scored = names.iter().filter_map(|name| {
        let likeness = likeness(&asked, &last(name, separator))?;
        // Whole numbers have an order. The largest likeness comes first.
        Some(((-1e6 * likeness) as i64, &**name))
    });
    let nearest: BTreeSet<(i64, &str)> = scored.collect();
    let nearest = nearest.into_iter().take(MOST_SUGGESTIONS).map(|(_, name)| visible(name));
    let nearest: Vec<String> = nearest.collect();
    (!nearest.is_empty()).then(|| format!("near it: {}", nearest.join(", ")))
}

/// Says which names there are, at least the first ones.
pub fn there_is(names: &BTreeSet<String>) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = names.iter().take(NAMED).map(|name| visible(name)).collect();
    match (named.join(", "), names.len()) {
        (_, 0) => "its functions are known without their files".into(),
        (named, all) if all > NAMED => format!("there are {named} and {} more", all - NAMED),
        (named, _) => format!("there is {named}"),
    }
}

fn last(name: &str, separator: &str) -> String {
    name.rsplit(separator).next().unwrap_or(name).to_lowercase()
}

/// 2 for the same name, above 1 for a name that contains it; otherwise the share of letters that need not
/// change.
fn likeness(asked: &str, name: &str) -> Option<f64> {
    if asked == name {
        return Some(2.0);
    }
    if !asked.is_empty() && name.contains(asked) {
        return Some(1.0 + asked.len() as f64 / name.len() as f64);
    }
    if asked.len().max(name.len()) > LONGEST_NAME {
        return None;
    }
    Some(strsim::normalized_damerau_levenshtein(asked, name))
        .filter(|likeness| *likeness >= LEAST_LIKENESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_come_near() {
        let names = ["luaV_execute", "luaV_concat", "luaD_precall", "lua_callk", "main"];
        let names = names.map(String::from).into();
        let hint = |asked| hint(asked, "::", &names).unwrap_or_default();
        assert_eq!(hint("luav_execute"), "near it: luaV_execute");
        assert_eq!(hint("x::execute"), "near it: luaV_execute");
        assert_eq!(hint("luaV_conact"), "near it: luaV_concat");
        assert_eq!(hint("precal"), "near it: luaD_precall");
        assert_eq!(hint("something else"), "");
    }
}
