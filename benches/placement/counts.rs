//! The counts of lines, from a profile in JSON: by function, or by inlined copy.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::self_counting::At;

/// Executions of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Those whose place is certain.
    pub certain: u64,
    /// Those whose place is an estimate.
    pub estimated: u64,
}

impl Count {
    pub fn all(self) -> u64 {
        self.certain.saturating_add(self.estimated)
    }
}

/// A function and a line from its start. Functions of several files may share a name.
pub type Line = (String, String, u64);

/// What is known about places.
pub type Counts<K> = BTreeMap<K, Count>;

/// How the places of estimates were inferred, and executions, by symbol and line from its start.
pub type Estimates = BTreeMap<(String, u64), Vec<(String, u64)>>;

/// Something that is in a line of a function.
pub trait Place {
    /// The function's symbol, and the line from its start.
    fn line(&self) -> (String, u64);
}

impl Place for Line {
    fn line(&self) -> (String, u64) {
        (self.1.clone(), self.2)
    }
}

impl Place for At {
    fn line(&self) -> (String, u64) {
        let function = self.within.last().map_or(&self.function, |(_, symbol)| symbol);
        (function.clone(), self.line.into())
    }
}

/// The counts of each line of a function, summed over its copies.
pub fn by_line(profile: &Value) -> Result<Counts<Line>, String> {
    let mut counts = Counts::new();
    let files = list(profile, "files")?;
    let file = |function: &Value| {
        let number = function["file"].as_u64().unwrap_or(u64::MAX) as usize;
        files.get(number).and_then(Value::as_str).unwrap_or("").to_owned()
    };
    walk(profile, &mut |function: &Value, _, line, count| {
        let name = function["name"].as_str().unwrap_or("").to_owned();
        let sum: &mut Count = counts.entry((file(function), name, line)).or_default();
        sum.certain += count.certain;
        sum.estimated += count.estimated;
    })?;
    Ok(counts)
}

/// The counts of each counted statement, and those that they should have. A count in a copy that never was is in the
/// former, too.
pub fn by_copy(
    profile: &Value,
    truth: impl Iterator<Item = (At, u64)>,
) -> Result<(Counts<At>, Counts<At>), String> {
    let certain = |(at, certain)| (at, Count { certain, estimated: 0 });
    let mut truth: Counts<At> = truth.map(certain).collect();
    let helper =
        |symbol: &str| symbol.trim_start_matches("_Z2").split("ILi").next().map(str::to_owned);
    let innermost = |at: &At| {
        (at.within.last().map_or(Some(at.function.clone()), |(_, symbol)| helper(symbol)), at.line)
    };
    let known: BTreeSet<_> = truth.keys().map(innermost).collect();
    let mut measured = Counts::new();
    walk(profile, &mut |function: &Value, within: &[(u64, String)], line, count| {
        let name = function["name"].as_str().unwrap_or("").to_owned();
        let mut within: Vec<(u32, String)> =
            within.iter().map(|(line, symbol)| (*line as u32, symbol.clone())).collect();
        // The way there starts with the function itself, and ends with the innermost call.
        let outer = if within.is_empty() { name } else { within.remove(0).1 };
        let at = At { function: outer, within, line: line as u32 };
        if known.contains(&innermost(&at)) {
            measured.insert(at, count);
        }
    })?;
    for at in measured.keys() {
        truth.entry(at.clone()).or_default();
    }
    Ok((measured, truth))
}

/// Calls `take` with each body's function, the way to it, a line, and the line's largest count there. The way has the
/// outermost function first, at line 0, if there are any calls.
fn walk(
    profile: &Value,
    take: &mut impl FnMut(&Value, &[(u64, String)], u64, Count),
) -> Result<(), String> {
    for function in list(profile, "functions")? {
        body(function, &mut Vec::new(), take)?;
    }
    Ok(())
}

fn body(
    function: &Value,
    within: &mut Vec<(u64, String)>,
    take: &mut impl FnMut(&Value, &[(u64, String)], u64, Count),
) -> Result<(), String> {
    let mut largest: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
    for location in list(function, "locations")? {
        let line = location["line"].as_u64().ok_or("a location without a line")?;
        if let Some(count) = location["count"].as_u64() {
            let is_certain = location["is_estimate"] != true;
            let known = largest.entry(line).or_default();
            *known = (*known).max((count, is_certain));
        }
        for inlined in location["inlined"].as_array().into_iter().flatten() {
            let is_outermost = within.is_empty();
            let name = |function: &Value| function["name"].as_str().unwrap_or("").to_owned();
            if is_outermost {
                within.push((0, name(function)));
            }
            within.push((line, name(inlined)));
            body(inlined, within, take)?;
            within.truncate(if is_outermost { 0 } else { within.len() - 1 });
        }
    }
    for (line, (count, is_certain)) in largest {
        let count = match is_certain {
            true => Count { certain: count, estimated: 0 },
            false => Count { certain: 0, estimated: count },
        };
        take(function, within, line, count);
    }
    Ok(())
}

fn list<'v>(value: &'v Value, name: &str) -> Result<&'v Vec<Value>, String> {
    value[name].as_array().ok_or_else(|| format!("no {name} in the profile"))
}

/// How the account says that places were inferred.
pub fn estimates(account: &Value) -> Result<Estimates, String> {
    let mut found = Estimates::new();
    for kind in account["estimates"].as_array().ok_or("no estimates in the account")? {
        let how = kind["how"].as_str().unwrap_or("").to_owned();
        for line in list(kind, "lines")? {
            let function = line["function"].as_str().unwrap_or("").to_owned();
            let number = line["line"].as_u64().unwrap_or(0);
            let executions = line["executions"].as_u64().unwrap_or(0);
            found.entry((function, number)).or_default().push((how.clone(), executions));
        }
    }
    Ok(found)
}

/// The share of executions that the account says stand at a wrong place.
pub fn stated_error(account: &Value) -> f64 {
    let number = |name: &str| account["executions"][name].as_f64().unwrap_or(0.0);
    number("misplaced") / number("all").max(1.0)
}

/// The share of executions that the account says stand at their places.
pub fn stated_placed(account: &Value) -> f64 {
    let number = |name: &str| account["executions"][name].as_f64().unwrap_or(0.0);
    (number("placed") - number("misplaced")) / number("all").max(1.0)
}
