//! Place of a block of changed lines that fits several places: git's choice, by indents.
//!
//! The heuristic of `gix-imara-diff` differs: it counts a form feed as blank, and the last line as
//! a block's beginning. Either may blame another commit.
//!
//! Both cuts of a block have an indent and a penalty; the place with the lowest wins, the last
//! among equals. Weights are git's.

use gix_imara_diff::Token;
use std::ops::{Add, Range};

const SLIDING_MAX: u32 = 100;

/// Blank lines considered around a cut.
const BLANKS_MAX: usize = 20;

const INDENT_MAX: i32 = 200;

/// End at the best place, from `earliest_end` to that of `block`.
pub(crate) fn best_end(
    tokens: &[Token],
    block: Range<u32>,
    earliest_end: u32,
    indent: impl Fn(Token) -> Option<i32>,
) -> u32 {
    let size = block.end - block.start;
    let first = (earliest_end)
        .max(block.start.saturating_sub(1))
        .max(block.end.saturating_sub(SLIDING_MAX));
    let cost = |at: u32| Cut::at(tokens, at as usize, &indent).cost();
    let mut best = (first, cost(first) + cost(first - size));
    for end in first + 1..=block.end {
        let cost = cost(end) + cost(end - size);
        if !best.1.is_less(cost) {
            best = (end, cost);
        }
    }
    best.0
}

/// `None` if blank.
pub(crate) fn indent(line: &[u8]) -> Option<i32> {
    let mut columns = 0;
    for byte in line {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 8 - columns % 8,
            b'\n' | b'\r' => {}
            _ => return Some(columns),
        }
        if columns >= INDENT_MAX {
            return Some(INDENT_MAX);
        }
    }
    None
}

struct Cut {
    is_end: bool,
    indent: Option<i32>,
    before: Side,
    /// Lines after that line.
    after: Side,
}

/// Blank lines beside a cut, and the next indent.
struct Side {
    blanks: i32,
    indent: Option<i32>,
}

#[derive(Clone, Copy)]
struct Cost {
    /// -1 at the end of a text.
    indent: i32,
    penalty: i32,
}

impl Cut {
    fn at(tokens: &[Token], at: usize, indent: impl Fn(Token) -> Option<i32>) -> Cut {
        let (before, after) = tokens.split_at(at);
        Cut {
            is_end: after.is_empty(),
            indent: after.first().and_then(|token| indent(*token)),
            before: Side::of(before.iter().rev().map(|token| indent(*token))),
            after: Side::of(after.iter().skip(1).map(|token| indent(*token))),
        }
    }

    fn cost(&self) -> Cost {
        let blanks_after = match self.indent {
            None => 1 + self.after.blanks,
            Some(_) => 0,
        };
        let blanks = self.before.blanks + blanks_after;
        let indent = self.indent.or(self.after.indent);
        let is_start = self.before.indent.is_none() && self.before.blanks == 0;
        let relative = match (self.before.indent, indent) {
            (Some(before), Some(indent)) => self.relative(before, indent, blanks > 0),
            _ => 0,
        };
        let ends = i32::from(is_start) + 21 * i32::from(self.is_end);
        Cost {
            indent: indent.unwrap_or(-1),
            penalty: ends - 30 * blanks + 6 * blanks_after + relative,
        }
    }

    fn relative(&self, before: i32, indent: i32, has_blanks: bool) -> i32 {
        let begins_block = self.after.indent.is_some_and(|after| after > indent);
        match (indent - before, has_blanks) {
            (0, _) => 0,
            (1.., true) => 10,
            (1.., false) => -4,
            (_, true) => 17,
            (_, false) if begins_block => 24,
            (_, false) => 23,
        }
    }
}

impl Side {
    fn of(indents: impl Iterator<Item = Option<i32>>) -> Side {
        let mut blanks = 0;
        for indent in indents.take(BLANKS_MAX) {
            if indent.is_some() {
                return Side { blanks, indent };
            }
            blanks += 1;
        }
        let indent = (blanks as usize == BLANKS_MAX).then_some(0);
        Side { blanks, indent }
    }
}

impl Cost {
    fn is_less(self, other: Cost) -> bool {
        60 * (self.indent - other.indent).signum() + self.penalty < other.penalty
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            indent: self.indent + other.indent,
            penalty: self.penalty + other.penalty,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_indent_that_git_sees() {
        assert_eq!(indent(b"  a\n"), Some(2));
        assert_eq!(indent(b"  \ta\n"), Some(8));
        assert_eq!(indent(b" \t \r\n"), None);
        assert_eq!(indent(b"\x0c\n"), Some(0));
        assert_eq!(indent(&[b' '; 300]), Some(INDENT_MAX));
    }
}
