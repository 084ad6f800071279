//! Syntax tree.

use super::lexer::AtomKey;
use crate::case::Case;
use crate::source_text::SourceText;

/// Value of `type:`. Of several in a list, the first of these counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResultType {
    Matches,
    Names,
    Repositories,
}

/// Expressions by alternative, without directives.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) alternatives: Vec<Vec<Node>>,
    pub(super) case: Option<Case>,
    pub(super) results: Option<ResultType>,
}

#[derive(Debug)]
pub(super) enum Node {
    Atom {
        key: AtomKey,
        text: SourceText,
        at: usize,
    },
    List(List),
    Not(Box<Node>),
}

impl List {
    pub(super) fn results(&self) -> ResultType {
        match (self.results, &self.alternatives[..]) {
            (Some(results), _) => results,
            (None, [only]) => match &only[..] {
                [Node::List(inner)] => inner.results(),
                _ => ResultType::Matches,
            },
            (None, _) => ResultType::Matches,
        }
    }
}
