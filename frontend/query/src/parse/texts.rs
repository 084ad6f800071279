//! Tokens that are text despite their looks: unclosed quotes, operators without operands, signs in
//! a query that would exclude everything.
//!
//! A misplaced token is found by parsing, with a notice. A query that is too large is all text.

use crate::error::{BadQuery, Notice};
use crate::lex::Lexer;
use schema::message::ATOMS_MAX;
use std::collections::BTreeMap;

/// Each costs a parse of some microseconds.
const TEXTS_MAX: usize = ATOMS_MAX;

#[derive(Debug)]
pub(super) struct Texts {
    reasons: BTreeMap<usize, BadQuery>,
    /// Signs of terms other than filters are text.
    pub(super) has_signs: bool,
}

impl Texts {
    pub(super) fn new(has_signs: bool) -> Texts {
        Texts {
            reasons: BTreeMap::new(),
            has_signs,
        }
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.reasons.contains_key(&at)
    }

    pub(super) fn add(&mut self, at: usize, bad: BadQuery) -> bool {
        let known = self.reasons.insert(at, bad);
        assert!(known.is_none(), "text is never out of place: offset {at}");
        self.reasons.len() <= TEXTS_MAX
    }

    pub(super) fn notices(self, typed: &str) -> impl Iterator<Item = Notice> {
        self.reasons.into_iter().map(move |(at, bad)| {
            let mut lexer = Lexer::new(typed);
            (lexer.at, lexer.depth) = (at, 1);
            lexer.word();
            Notice {
                at: Some(at),
                reason: format!(
                    "{} is searched for as text: {}",
                    &typed[at..lexer.at],
                    bad.reason
                ),
                hint: bad.hint,
            }
        })
    }
}

#[derive(Debug)]
pub(super) enum Fault {
    Bad(BadQuery),
    /// The token at this offset is not part of the language.
    Text(usize, BadQuery),
    /// It is too large to have a meaning.
    All(BadQuery),
}

impl From<BadQuery> for Fault {
    fn from(bad: BadQuery) -> Fault {
        Fault::Bad(bad)
    }
}

impl Fault {
    pub(super) fn text(at: usize, reason: impl Into<String>) -> Fault {
        Fault::Text(at, BadQuery::new(reason))
    }

    pub(super) fn hint(self, hint: &str) -> Fault {
        match self {
            Fault::Text(at, bad) => Fault::Text(at, bad.hint(hint)),
            other => other,
        }
    }

    pub(super) fn moved(self, to: usize) -> Fault {
        match self {
            Fault::Text(_, bad) => Fault::Text(to, bad),
            other => other,
        }
    }
}
