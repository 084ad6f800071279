//! Syntax tree, parsed or built by a client of the gRPC interface.

use super::lexer::AtomKey;
use crate::case::Case;
use crate::source_text::SourceText;
use schema::message::Field;
use std::mem;

/// Value of `type:`. In a list with several, the first variant counts.
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
    /// Any of some names.
    Exact(Field, Vec<String>),
    List(List),
    Not(Box<Node>),
}

#[derive(Debug)]
pub struct QueryTree(pub(super) Node);

impl QueryTree {
    pub fn all(parts: impl IntoIterator<Item = QueryTree>) -> QueryTree {
        let parts = parts.into_iter().map(|part| part.0).collect();
        List::of(vec![parts])
    }

    pub fn any(parts: impl IntoIterator<Item = QueryTree>) -> QueryTree {
        List::of(parts.into_iter().map(|part| vec![part.0]).collect())
    }

    pub fn constant(value: bool) -> QueryTree {
        List::of(if value { vec![Vec::new()] } else { Vec::new() })
    }

    pub fn negated(self) -> QueryTree {
        QueryTree(Node::Not(Box::new(self.0)))
    }

    pub fn term(key: AtomKey, value: &str, is_case_sensitive: bool) -> QueryTree {
        let atom = Node::Atom {
            key,
            text: SourceText::plain(0, value),
            at: 0,
        };
        QueryTree(Node::List(List {
            alternatives: vec![vec![atom]],
            case: Some(if is_case_sensitive {
                Case::Yes
            } else {
                Case::No
            }),
            results: None,
        }))
    }

    pub fn exact(field: Field, names: Vec<String>) -> QueryTree {
        QueryTree(Node::Exact(field, names))
    }

    pub fn of_type(self, results: ResultType) -> QueryTree {
        QueryTree(Node::List(List {
            alternatives: vec![vec![self.0]],
            case: None,
            results: Some(results),
        }))
    }

    pub fn results(&self) -> ResultType {
        match &self.0 {
            Node::List(list) => list.results(),
            _ => ResultType::Matches,
        }
    }

    pub(super) fn has_inner_subquery(&self) -> bool {
        let mut node = &self.0;
        while let Node::List(list) = node {
            match &list.alternatives[..] {
                [only] if list.results.is_none() && only.len() == 1 => node = &only[0],
                _ => return list.nodes().any(Node::has_subquery),
            }
        }
        node.has_subquery()
    }

    /// Replaces an innermost `type:repo` by the packages that it finds, `None` without any.
    pub fn take_subquery(&mut self) -> Option<(QueryTree, Subquery<'_>)> {
        let node = self.0.subquery()?;
        let mut inner = mem::replace(node, Node::Exact(Field::Package, Vec::new()));
        if let Node::List(list) = &mut inner {
            list.results = None;
        }
        Some((QueryTree(inner), Subquery(node)))
    }

    /// Takes sets of more than `most` packages; a match is in each set.
    pub fn take_sets(&mut self, most: usize) -> Vec<Vec<String>> {
        let mut sets = Vec::new();
        self.0.take_sets(most, &mut sets);
        sets
    }
}

#[derive(Debug)]
pub struct Subquery<'t>(&'t mut Node);

impl Subquery<'_> {
    pub fn found(self, packages: Vec<String>) {
        *self.0 = Node::Exact(Field::Package, packages);
    }
}

impl Node {
    fn subquery(&mut self) -> Option<&mut Node> {
        if !self.has_subquery() {
            return None;
        }
        let is_innermost = match self {
            Node::List(list) => !list.nodes().any(Node::has_subquery),
            _ => false,
        };
        if is_innermost {
            return Some(self);
        }
        match self {
            Node::Not(inner) => inner.subquery(),
            Node::List(list) => {
                let nodes = list.alternatives.iter_mut().flatten();
                nodes.filter_map(Node::subquery).next()
            }
            Node::Atom { .. } | Node::Exact(..) => None,
        }
    }

    fn has_subquery(&self) -> bool {
        match self {
            Node::Not(inner) => inner.has_subquery(),
            Node::List(list) => {
                list.results == Some(ResultType::Repositories)
                    || list.nodes().any(Node::has_subquery)
            }
            Node::Atom { .. } | Node::Exact(..) => false,
        }
    }

    fn take_sets(&mut self, most: usize, sets: &mut Vec<Vec<String>>) {
        match self {
            Node::Exact(Field::Package, names) if names.len() > most => {
                sets.push(mem::take(names));
                *self = QueryTree::constant(true).0;
            }
            Node::List(list) => {
                if let [only] = &mut list.alternatives[..] {
                    only.iter_mut().for_each(|node| node.take_sets(most, sets));
                }
            }
            _ => {}
        }
    }

    fn shown(&self) -> Option<ResultType> {
        match self {
            Node::List(list) => list.shown(),
            Node::Atom { key, .. } if key.finds_text() => Some(ResultType::Matches),
            _ => None,
        }
    }

    /// Numbers of terms and of their bytes.
    pub(super) fn size(&self) -> (usize, usize) {
        match self {
            Node::Atom { text, .. } => (1, text.as_str().len()),
            Node::Exact(_, names) => (names.len(), 0),
            Node::Not(inner) => inner.size(),
            Node::List(list) => list
                .nodes()
                .map(Node::size)
                .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1)),
        }
    }
}

impl List {
    fn of(alternatives: Vec<Vec<Node>>) -> QueryTree {
        QueryTree(Node::List(List {
            alternatives,
            ..List::default()
        }))
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.alternatives.iter().flatten()
    }

    pub(super) fn results(&self) -> ResultType {
        self.shown().unwrap_or(ResultType::Matches)
    }

    /// Type of a list, or of the parts of its only alternative.
    fn shown(&self) -> Option<ResultType> {
        match (self.results, &self.alternatives[..]) {
            (Some(results), _) => Some(results),
            (None, [only]) => only.iter().filter_map(Node::shown).min(),
            (None, _) => Some(ResultType::Matches),
        }
    }
}
