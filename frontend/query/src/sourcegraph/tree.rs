//! Syntax tree of a query.

use crate::source_text::SourceText;
use schema::message::{Field, Reading, Syntax};

#[derive(Clone, Debug)]
pub(super) enum Tree {
    Pattern(Word),
    /// Without a reading it is a regular expression.
    Filter(Field, Option<Reading>, SourceText),
    /// Condition on repositories at this place of the query: one of their files satisfies it.
    Repositories(usize, Box<Tree>),
    All(Vec<Tree>),
    Any(Vec<Tree>),
    Not(Box<Tree>),
}

#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: SourceText,
    pub(super) syntax: Syntax,
    /// Not searched for in paths.
    pub(super) in_text: bool,
    pub(super) joins: bool,
}

pub(super) fn one_or(mut parts: Vec<Tree>, list: impl Fn(Vec<Tree>) -> Tree) -> Option<Tree> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(list(parts)),
    }
}
