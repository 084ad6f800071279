//! The colours of one document, line by line, as a page shows it.

use super::{ColouredParts, LineState, LineStates, Syntax};
use std::cell::Cell;
use std::sync::Arc;

/// Bytes of a line that have colours. What follows in it has none.
const LINE_BYTES_MAX: usize = 4096;

/// The colours of a document.
pub(crate) struct DocumentColours {
    syntax: Option<&'static Syntax>,
    /// How each line begins. Without them, a line begins as the one before it ends, if that was read.
    states: Option<Arc<LineStates>>,
    /// The line that is expected next, and how it begins.
    next: Cell<(u32, LineState)>,
}

impl DocumentColours {
    /// The colours of a document that is read in the order of its lines. If these do not begin with the first
    /// one, what the first of them is inside of is unknown, and taken for code.
    pub(crate) fn reading(language: &str) -> DocumentColours {
        DocumentColours::new(language, None)
    }

    /// The colours of a document of which it is known how each line begins.
    pub(crate) fn new(language: &str, states: Option<Arc<LineStates>>) -> DocumentColours {
        let syntax = Syntax::of(language);
        let begin = syntax.map_or(LineState::Code, Syntax::begin);
        DocumentColours {
            syntax,
            states,
            next: Cell::new((1, begin)),
        }
    }

    /// Guesses whether the first of some consecutive whole lines is inside of a block comment, unless that is known. It
    /// is, if the end of a comment comes before a beginning, or if a line begins with a star as in most comments.
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

    /// The coloured parts of a line, which is whole and without its end.
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
