//! Holes of templates: code in `${…}`, which may have templates with holes.

use super::super::families::Family;
use super::super::quote;
use super::super::{LineState, Tokens};
use super::Reader;

/// Holes in each other. Deeper ones are text.
const HOLES_MAX: usize = 4;

/// Open holes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holes {
    /// Open braces in each.
    braces: [u8; HOLES_MAX],
    depth: u8,
}

impl Holes {
    fn innermost(&mut self) -> Option<&mut u8> {
        let index = usize::from(self.depth).checked_sub(1)?;
        self.braces.get_mut(index)
    }

    pub(super) fn around(self, state: LineState, family: &Family) -> LineState {
        let has_holes = |form: u8| {
            let quote = family.quotes.get(usize::from(form));
            quote.is_some_and(|quote| quote.has(quote::HOLES))
        };
        match state {
            _ if self.depth == 0 => state,
            LineState::Code => LineState::Hole {
                holes: self,
                in_text: false,
            },
            LineState::Quote { form, .. } if has_holes(form) => LineState::Hole {
                holes: self,
                in_text: true,
            },
            _ => state,
        }
    }
}

impl<T: Tokens> Reader<'_, T> {
    /// Opens a hole, if `${` is here and it is not too deep.
    pub(super) fn open_hole(&mut self) -> bool {
        let is_deep = usize::from(self.holes.depth) == HOLES_MAX;
        if is_deep || !self.rest().starts_with(b"${") {
            return false;
        }
        self.at += 2;
        self.holes.depth += 1;
        if let Some(braces) = self.holes.innermost() {
            *braces = 0;
        }
        true
    }

    /// Counts a brace in a hole. Returns true if it ends the hole.
    pub(super) fn ends_hole(&mut self, brace: u8) -> bool {
        let Some(braces) = self.holes.innermost() else {
            return false;
        };
        match (brace, *braces) {
            (b'}', 0) => {
                self.holes.depth -= 1;
                return true;
            }
            (b'}', _) => *braces -= 1,
            _ => *braces = braces.saturating_add(1),
        }
        false
    }

    /// Reads the text of a template around a hole that ended, or one of an earlier line.
    pub(super) fn template(&mut self, start: usize) -> Option<LineState> {
        let mut quotes = (0..).zip(self.syntax.family.quotes);
        let (form, quote) = quotes.find(|(_, quote)| quote.has(quote::HOLES))?;
        self.text(form, quote, start)
    }
}
