//! Colours of a document, line by line.

use super::{ColouredParts, LineState, LineStates, Syntax};
use std::cell::Cell;
use std::sync::Arc;

/// Coloured bytes of a line.
const LINE_BYTES_MAX: usize = 4096;

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
