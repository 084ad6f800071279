//! Lexer states at the line starts of a text.

use super::{LineState, Syntax};

/// Changes of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineStates {
    /// Lines, from 1, ascending.
    changes: Vec<(u32, LineState)>,
}

impl LineStates {
    pub(crate) fn of(syntax: &Syntax, text: &[u8]) -> LineStates {
        let (mut state, mut tokens) = (syntax.begin(), Vec::new());
        let mut changes = vec![(1, state)];
        for (number, line) in (2..).zip(split_lines(text)) {
            tokens.clear();
            let next = syntax.line(line, state, &mut tokens);
            if next != state {
                changes.push((number, next));
                state = next;
            }
        }
        changes.shrink_to_fit();
        LineStates { changes }
    }

    pub(crate) fn at(&self, line: u32) -> LineState {
        let after = self.changes.partition_point(|(first, _)| *first <= line);
        let last = after.checked_sub(1).map(|last| self.changes[last].1);
        last.unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(&self.changes[..])
    }
}

/// Strips `\n` and `\r\n`.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}
