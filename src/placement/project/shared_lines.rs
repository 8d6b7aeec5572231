//! Lines that blocks with very different counts share, for a reader that takes one count for all of them.
//!
//! Any count is wrong for some of these blocks. Mostly the reader does better without one: their neighbours tell more.
//! But where a function, an inlined copy or a loop has no other lines, gcc 10 to 12 take it for never executed, and
//! optimise it for size:
//!
//! ```c
//! long sum(const char *p, long n) { long s = 0; for (long i = 0; i < n; i++) s += p[i]; return s; }
//! ```
//!
//! There such a line gets its large count, unless the loop hardly repeats. That is too large for the blocks that were
//! seldom executed; but a function whose blocks all have the same count is optimised like one without a profile, and
//! its place among the hot functions is right. Macros make such functions, however many lines they have themselves.

use alloc::vec;
use alloc::vec::Vec;

use crate::placement::solve::counted::Counted;
use crate::placement::solve::loops::nested;

/// Counts of one line that differ by more than this factor have nothing in common. Measured with gcc 12 on ten
/// programs: 2 and 8 save fewer instructions, and so does any count at all where the line's neighbours have counts.
const LARGEST_RATIO: u64 = 4;

/// A count of a loop that is less than the greatest one by at most this factor shows gcc that the loop is executed
/// often. A line that expands to a large loop, with rare blocks among the others, then does without: OpenJPEG's encoder
/// saves
/// 4.6 instead of 1.6 % with gcc 12.
const LARGEST_RATIO_IN_LOOP: u64 = 16;

/// Whether two counts of one line have nothing in common. The second is no smaller than the first.
pub fn are_unlike(least: u64, greatest: u64) -> bool {
    differ_by_more(LARGEST_RATIO, least, greatest)
}

fn differ_by_more(ratio: u64, least: u64, greatest: u64) -> bool {
    least.checked_mul(ratio).is_some_and(|most| most < greatest)
}

/// What a reader is told about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The copy that has the position.
    pub instance: u32,
    /// Its count, if it gets one.
    pub count: Option<u64>,
    /// Whether it gets a count only because something would have none.
    pub is_needed: bool,
}

/// A block that has a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    pub block: u32,
    /// The index of the position's answer.
    pub answer: usize,
    /// How often the block was executed.
    pub count: u64,
}

/// Gives positions large counts where a loop, a copy, or the function itself would have none. `members` are sorted.
pub fn answer_where_needed(answers: &mut [Answer], members: &[Member], function: &Counted<'_>) {
    let large = large(answers.len(), members);
    // What is told about a loop is also told about those around it.
    for blocks in nested(function.notes.blocks, function.arcs()).iter_mut().rev() {
        blocks.sort_unstable();
        let members: Vec<Member> =
            blocks.iter().flat_map(|&block| of_block(members, block)).collect();
        let greatest = members.iter().map(|member| member.count).max().unwrap_or(0);
        let is_told = |count| !differ_by_more(LARGEST_RATIO_IN_LOOP, count, greatest);
        if !is_any_told(answers, &members, is_told)
            && are_unlike(entries(function, blocks), greatest)
        {
            answer_for(answers, &large, &members, greatest);
        }
    }
    let copies = answers.iter().map(|answer| answer.instance as usize + 1).max().unwrap_or(0);
    let mut of_copies = vec![Vec::new(); copies];
    for &member in members {
        of_copies[answers[member.answer].instance as usize].push(member);
    }
    for members in of_copies {
        let first = members.iter().map(|member| member.count).find(|&count| count > 0);
        let first = first.unwrap_or(0);
        if !is_any_told(answers, &members, |count| !are_unlike(count, first)) {
            answer_for(answers, &large, &members, first);
        }
    }
}

/// How often a loop with these blocks was entered. If it hardly repeats, the reader finds its counts by its
/// neighbours'.
fn entries(function: &Counted<'_>, blocks: &[u32]) -> u64 {
    let Ok(flow) = &function.flow else { return 0 };
    let is_in = |block| blocks.binary_search(&block).is_ok();
    let arcs = function.arcs().iter().zip(&flow.arcs);
    let enter = arcs.filter(|(arc, _)| is_in(arc.destination) && !is_in(arc.source));
    enter.fold(0, |sum: u64, (_, &count)| sum.saturating_add(count.max(0) as u64))
}

/// The positions of a block.
fn of_block(members: &[Member], block: u32) -> impl Iterator<Item = Member> {
    let first = members.partition_point(|member| member.block < block);
    members[first..].iter().copied().take_while(move |member| member.block == block)
}

/// For each answer: the least of the counts of its blocks that are like their greatest.
fn large(answers: usize, members: &[Member]) -> Vec<u64> {
    let mut large = vec![0; answers];
    for &Member { answer, count, .. } in members {
        large[answer] = count.max(large[answer]);
    }
    let greatest = large.clone();
    for &Member { answer, count, .. } in members {
        if !are_unlike(count, greatest[answer]) {
            large[answer] = count.min(large[answer]);
        }
    }
    large
}

/// Whether the reader is told a count like that about any of these.
fn is_any_told(answers: &[Answer], members: &[Member], is_like: impl Fn(u64) -> bool) -> bool {
    members.iter().any(|member| answers[member.answer].count.is_some_and(&is_like))
}

/// Gives positions counts in a part of the function that was executed so often, for blocks with a count like that.
fn answer_for(answers: &mut [Answer], large: &[u64], members: &[Member], executions: u64) {
    if executions == 0 {
        return;
    }
    for member in members.iter().filter(|member| !are_unlike(member.count, executions)) {
        let count = Some(large[member.answer]);
        answers[member.answer] = Answer { count, is_needed: true, ..answers[member.answer] };
    }
}
