//! The syntax tree of a query, before the options that hold for the whole query are applied.

use super::error::Notice;
use super::lex::Flags;
use super::options::Options;
use super::source_text::SourceText;
use schema::message::{Filter, Syntax};

/// A parsed query.
#[derive(Debug, Default)]
pub(super) struct Ast {
    /// `None`: the query has only options.
    pub(super) node: Option<Node>,
    pub(super) options: Options,
    pub(super) notices: Vec<Notice>,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Pattern(Term),
    Filter(Filter, SourceText),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Line(Box<Node>),
}

/// A pattern as it was typed.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) text: SourceText,
    pub(super) syntax: Syntax,
    pub(super) flags: Flags,
    /// Searches the text of documents, even where names are searched.
    pub(super) in_text: bool,
}
