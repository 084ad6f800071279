//! Runs of bytes of one class.

pub use crate::lexer::Class;

use std::ops::Range;

/// Bytes of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offsets.
    pub range: Range<u32>,
    /// Class.
    pub class: Class,
}

/// Adds bytes, besides those that have a class; blanks between runs of one class join them.
pub(super) fn add(runs: &mut Vec<Run>, text: &[u8], mut range: Range<u32>, class: Class) {
    let end = runs.last().map_or(0, |last| last.range.end);
    range.start = range.start.max(end);
    if range.is_empty() {
        return;
    }
    match runs.last_mut() {
        Some(last) if last.class == class && is_blank(text, last.range.end..range.start) => {
            last.range.end = range.end;
        }
        _ => runs.push(Run { range, class }),
    }
}

fn is_blank(text: &[u8], range: Range<u32>) -> bool {
    let between = &text[range.start as usize..range.end as usize];
    between.iter().all(u8::is_ascii_whitespace)
}
