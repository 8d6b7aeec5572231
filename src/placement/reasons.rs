//! Says what a rule went by when it gave a position its block: what the code shows of the position, the blocks of the
//! line, and why an inlined copy has the block. For people; no rule reads it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Rule;
use super::assignment::PlacedPosition;
use super::facts::Facts;
use super::facts::position_evidence::{Count, PositionEvidence};
use super::solve::counted::Line;

/// More blocks of a line are not named.
const MOST_BLOCKS: usize = 8;

/// What speaks for a position's block.
pub fn reasons(facts: &Facts<'_, '_>, placed: &PlacedPosition) -> Vec<String> {
    let shown = facts.positions.iter().find(|position| position.at == placed.at);
    let mut reasons = Vec::from([code(facts, placed, shown)]);
    reasons.extend(blocks(facts, placed));
    let rule = placed.copy_by.unwrap_or(placed.rule);
    if placed.at.instance != 0 {
        reasons.extend(copy(facts, placed, rule));
    }
    reasons
}

/// What the code shows.
fn code(
    facts: &Facts<'_, '_>,
    placed: &PlacedPosition,
    shown: Option<&PositionEvidence>,
) -> String {
    let Some(PositionEvidence { count, has_instructions, .. }) = shown else {
        let has = facts.observations.iter().any(|observation| observation.at == placed.at);
        return if has { "only the code has it" } else { "the code does not have it" }.to_string();
    };
    match (count, has_instructions) {
        (Count::Exactly(count), true) => format!("its instructions ran {}", times(*count)),
        (Count::Exactly(count), false) => {
            format!(
                "it has no instruction, but a row of the line table at code that ran {}",
                times(*count)
            )
        }
        (Count::AtLeast(count), _) => {
            format!("some of its code ran {}, and how often the rest ran is unknown", times(*count))
        }
        (Count::Unknown, _) => "how often its code ran is unknown".to_string(),
    }
}

/// The blocks of its line, and their counts.
fn blocks(facts: &Facts<'_, '_>, placed: &PlacedPosition) -> Option<String> {
    let is_its = |line: &&Line| (line.file, line.line) == (placed.at.file, placed.at.line);
    let of_line: Vec<&Line> = facts.lines.iter().filter(is_its).collect();
    let named = of_line.iter().take(MOST_BLOCKS).map(|line| {
        let way = if facts.has_block(line) { "" } else { "the way to " };
        format!("{way}{} ({})", facts.number_of(line), facts.count(line))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    Some(match of_line.len() {
        0 => return None,
        1 => format!("the line's only block is {named}"),
        2..=MOST_BLOCKS => format!("the line has the blocks {named}"),
        all => format!("the line has the blocks {named} and {} more", all - MOST_BLOCKS),
    })
}

/// Why a copy has the block.
fn copy(facts: &Facts<'_, '_>, placed: &PlacedPosition, rule: Rule) -> Option<String> {
    // Rules add copies that the debug information lacks.
    let Some(instance) = facts.instances.get(placed.at.instance as usize) else {
        return Some(
            "the debug information lacks the copy, and the block also has the line of its call"
                .to_string(),
        );
    };
    let call = facts.call_of(placed.at.instance).1;
    match rule {
        Rule::CallOrder | Rule::SomeCallOrder => {
            Some(format!("block {} also has line {call}, the copy's call ({rule})", placed.block))
        }
        Rule::Segments => {
            let copies = facts.segments.of.get(&instance.declared_at())?;
            let of_copy = copies.iter().find(|copy| copy.instance == placed.at.instance)?;
            let ((first, _), (last, _)) = of_copy.places?;
            Some(format!("blocks {first} to {last} are the copy's ({rule})"))
        }
        _ => {
            let entered = facts.entered.get(placed.at.instance as usize).copied().flatten()?;
            Some(format!("the copy was entered {}", times(entered)))
        }
    }
}

fn times(count: i64) -> String {
    match count {
        1 => "once".to_string(),
        count => format!("{count} times"),
    }
}
