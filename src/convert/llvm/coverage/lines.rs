//! Counts of lines from the segments of a file.
//!
//! A line has the largest count of the code that starts in it and of what holds at its beginning. It has none if
//! nothing counts there, or if it begins with text that the preprocessor skipped and no code follows.
//!
//! One thing differs from `llvm-cov`. After a block that may return early, clang puts a gap with the count 0 between
//! the block's end and the next statement. The code around the gap goes on there, and `llvm-cov` gives the line of the
//! statement the gap's count. Here the line has the count of the code.

use core::ops::Range;

use super::segments::Segment;

/// Lines with one count: from the first of the range on, without its end.
pub type Run = (Range<u32>, u64);

/// The counts of the lines from the first segment to the last, in their order.
pub fn lines(segments: &[Segment]) -> impl Iterator<Item = Run> {
    let mut before: Option<&Segment> = None;
    segments.chunk_by(|a, b| a.start.line == b.start.line).flat_map(move |of_line| {
        let line = of_line[0].start.line;
        let between = before.and_then(|last| Some((last.start.line + 1..line, last.count?)));
        let here = count(of_line, before).map(|count| (line..line.saturating_add(1), count));
        before = of_line.last();
        between.into_iter().chain(here)
    })
}

/// The count of a line with these segments.
fn count(segments: &[Segment], before: Option<&Segment>) -> Option<u64> {
    let starts = segments.iter().filter(|segment| segment.is_entry);
    let code = starts.clone().filter(|segment| !segment.is_gap);
    let code = code.filter_map(|segment| segment.count).max();
    let goes_on = |first: &&Segment| !first.is_entry && !first.is_gap && first.count.is_some();
    let before = match before {
        Some(gap) if gap.is_gap => segments.first().filter(goes_on).or(Some(gap)),
        before => before,
    };
    let before = before.and_then(|segment| segment.count);
    let begins_skipped =
        segments.first().is_some_and(|first| first.is_entry && first.count.is_none());
    match begins_skipped && starts.filter_map(|segment| segment.count).next().is_none() {
        true => None,
        false => code.max(before),
    }
}
