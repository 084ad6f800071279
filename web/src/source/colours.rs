//! Colours of source text in pages: classes of CSS, and the states of the lexer in a document.

pub(crate) use language::lexer::{Colour, ColouredParts, Syntax};

use language::lexer::LineState;
use std::cell::Cell;
use std::sync::Arc;

/// Coloured bytes of a line.
const LINE_BYTES_MAX: usize = 4096;

pub(crate) fn class(colour: Colour) -> &'static str {
    match colour {
        Colour::Comment => "c-c",
        Colour::String => "c-s",
        Colour::Number => "c-n",
        Colour::Keyword => "c-k",
        Colour::Type => "c-t",
        Colour::Meta => "c-p",
        Colour::Key => "c-f",
        Colour::Added => "c-i",
        Colour::Removed => "c-d",
    }
}

pub(crate) struct DocumentColours {
    syntax: Option<&'static Syntax>,
    /// `None`: a line continues the previous one if that was read.
    states: Option<Arc<LineStates>>,
    /// Expected line, and its state.
    next: Cell<(u32, LineState)>,
}

impl DocumentColours {
    /// Colours for reading in line order. From the middle of a file, the initial state is taken for
    /// code.
    pub(crate) fn reading(language: &str) -> DocumentColours {
        DocumentColours::new(language, None)
    }

    pub(crate) fn new(language: &str, states: Option<Arc<LineStates>>) -> DocumentColours {
        let syntax = Syntax::of(language);
        let begin = syntax.map_or(LineState::Code, Syntax::begin);
        DocumentColours {
            syntax,
            states,
            next: Cell::new((1, begin)),
        }
    }

    /// Guesses whether consecutive lines begin inside a block comment: it ends before one begins,
    /// or a line begins with a star.
    pub(crate) fn guess<'t>(&self, first: u32, lines: impl Iterator<Item = &'t [u8]>) {
        let Some(syntax) = self.syntax else {
            return;
        };
        if first == 1 || self.states.is_some() || self.next.get().0 == first {
            return;
        }
        let lines = lines.map(|line| &line[..line.len().min(LINE_BYTES_MAX)]);
        if let Some(state) = syntax.guess(lines) {
            self.next.set((first, state));
        }
    }

    /// `text` is a whole line without its end.
    pub(crate) fn tokens(&self, number: u32, text: &[u8]) -> ColouredParts {
        let mut tokens = Vec::new();
        let Some(syntax) = self.syntax else {
            return tokens;
        };
        let state = match (&self.states, self.next.get()) {
            (Some(states), _) => states.at(number),
            (None, (next, state)) if next == number => state,
            (None, _) => LineState::Code,
        };
        let shown = &text[..text.len().min(LINE_BYTES_MAX)];
        let end = syntax.line(shown, state, &mut tokens);
        self.next.set((number.saturating_add(1), end));
        tokens
    }
}

/// Lexer states at the line starts of a text, as changes of the state.
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

#[cfg(test)]
mod tests;
