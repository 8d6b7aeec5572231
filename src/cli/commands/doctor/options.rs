//! Whether the program of the training and the one that is compiled with the profile come from equal compilers with
//! equal options. Other options change which code there is, and a profile fits worse, in silence.

use std::collections::{BTreeMap, BTreeSet};
use std::prelude::v1::*;

use super::Verdict;
use crate::cli::commands::flags::all_with_profile;
use crate::cli::terminal::visible::visible;
use crate::convert::number::Number;
use crate::program::debug::producer::Compilation;

/// What a comparison says.
pub fn compare(trained: &[Compilation], last: &[Compilation]) -> (Verdict, String) {
    if trained.is_empty() || last.is_empty() {
        let what = "the program of --final";
        let which = if trained.is_empty() { "the program" } else { what };
        let text =
            format!("{which} does not record them: compile with -g or -frecord-gcc-switches");
        return (Verdict::Note, text);
    }
    if trained.iter().all(|found| found.source.is_none())
        || last.iter().all(|found| found.source.is_none())
    {
        return without_sources(trained, last);
    }
    let both = pairs(trained, last, |path| path.to_owned());
    // Another folder of the build.
    let both = match both.is_empty() {
        true => pairs(trained, last, |path| {
            path.rsplit(|&byte| byte == b'/').next().unwrap_or(path).to_owned()
        }),
        false => both,
    };
    let all = Number(both.len() as u64, "source");
    let differing: Vec<_> = both
        .iter()
        .filter_map(|(source, mine, theirs)| Some((source, difference(mine, theirs)?)))
        .collect();
    match differing.first() {
        _ if both.is_empty() => {
            (Verdict::Note, "the program of --final has none of the sources".to_owned())
        }
        None if both.iter().all(|(_, mine, _)| mine.options.is_empty()) => {
            let what = "the same compiler, which records no options; clang does with -grecord-command-line";
            (Verdict::Note, format!("{what} ({all})"))
        }
        None => (Verdict::Good, format!("the same for {all}")),
        Some((source, what)) => {
            let source = visible(&String::from_utf8_lossy(source));
            let number = differing.len();
            (Verdict::Bad, format!("other ones for {number} of {all}, such as {source}: {what}"))
        }
    }
}

/// The compilations of sources that both programs have, by a part of their paths.
fn pairs<'c>(
    trained: &'c [Compilation],
    last: &'c [Compilation],
    part: impl Fn(&[u8]) -> Vec<u8>,
) -> Vec<(Vec<u8>, &'c Compilation, &'c Compilation)> {
    let by_part = |all: &'c [Compilation]| -> BTreeMap<Vec<u8>, &'c Compilation> {
        all.iter().filter_map(|found| Some((part(found.source.as_ref()?), found))).collect()
    };
    let (mine, theirs) = (by_part(trained), by_part(last));
    mine.into_iter()
        .filter_map(|(part, mine)| Some((part.clone(), mine, *theirs.get(&part)?)))
        .collect()
}

/// Compares what all sources together have.
fn without_sources(trained: &[Compilation], last: &[Compilation]) -> (Verdict, String) {
    let other =
        last.iter().find(|theirs| trained.iter().all(|mine| difference(mine, theirs).is_some()));
    match other.and_then(|theirs| difference(trained.first()?, theirs)) {
        None => (Verdict::Good, "the same".to_owned()),
        Some(what) => (Verdict::Bad, format!("other ones: {what}")),
    }
}

/// How two compilations of a source differ, if they do. Options that `flags --optimise` prints do not count.
fn difference(mine: &Compilation, theirs: &Compilation) -> Option<String> {
    if mine.compiler != theirs.compiler {
        let [mine, theirs] = [mine, theirs].map(|found| visible(&found.compiler));
        return Some(format!("{mine} here, {theirs} there"));
    }
    let expected: BTreeSet<&str> = all_with_profile().collect();
    let only = |a: &Compilation, b: &Compilation| {
        let only =
            a.options.difference(&b.options).filter(|option| !expected.contains(option.as_str()));
        only.map(|option| visible(option)).collect::<Vec<_>>().join(" ")
    };
    let named =
        |options: String| if options.is_empty() { "nothing else".to_owned() } else { options };
    match (only(mine, theirs), only(theirs, mine)) {
        (mine, theirs) if mine.is_empty() && theirs.is_empty() => None,
        (mine, theirs) => Some(format!("{} here, {} there", named(mine), named(theirs))),
    }
}
