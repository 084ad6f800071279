//! Colours of source text in pages: classes of CSS, and the states of the lexer in a document.

mod document;
mod lines;

#[cfg(test)]
mod tests;

pub(crate) use document::DocumentColours;
pub(crate) use language::lexer::{Colour, ColouredParts, Syntax};
pub(crate) use lines::{LineStates, split_lines};

use language::lexer::LineState;

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
