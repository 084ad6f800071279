//! Query language of zoekt, for its clients, scripts and links.
//!
//! ```text
//! list  = { expr | directive } { "or" { expr | directive } }
//! expr  = { "-" } ( "( " list ")" | [ key ] token )
//! ```
//!
//! A token without a key matches text or path. A `(` opens a group only if a space follows before
//! its `)`. `case:` applies to its list and inner lists without one, `type:` to its whole list.
//! Marks that no repository has (`archived:yes`, `meta.x:`) match nothing.
//!
//! Zoekt finds nothing for an unknown language, or if no file can match. This parser reports an
//! error. Values are translated from [RE2](super::re2).

mod lexer;
mod lower;
mod tree;

use super::case::Case;
use super::checked::{Query, check_positive, is_positive};
use super::error::{BadQuery, choose};
use super::input::{ParsedQuery, check_length};
use super::limits::TYPED_BYTES_MAX;
use super::source_text::{SourceMap, SourceText};
pub use lexer::AtomKey;
pub use tree::{QueryTree, ResultType, Subquery};

use lexer::{Token, TokenKind, next};
use lower::{Folded, Lowering};
use schema::message::{ATOMS_MAX, DEPTH_MAX, Expr};
use tree::{List, Node};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoektQuery {
    pub parsed: ParsedQuery,
    pub results: ResultType,
}

const RESULT_TYPES: [(&str, ResultType); 4] = [
    ("filematch", ResultType::Matches),
    ("filename", ResultType::Names),
    ("file", ResultType::Names),
    ("repo", ResultType::Repositories),
];

/// An empty query matches every file. Matches have at least `context_lines`.
pub fn parse(typed: &str, context_lines: u32) -> Result<ZoektQuery, BadQuery> {
    let tree = tree(typed)?;
    if tree.has_inner_subquery() {
        let bad = BadQuery::new("type:repo must apply to the whole query");
        return Err(bad.hint("search for the repositories first, then with r: in these"));
    }
    let query = check(&tree, context_lines)?;
    query.ok_or_else(|| BadQuery::new("no file can match the query"))
}

pub fn tree(typed: &str) -> Result<QueryTree, BadQuery> {
    check_length(typed)?;
    let mut parser = Parser {
        typed,
        at: 0,
        depth: 0,
    };
    let list = parser.list()?;
    if let Some(letter) = typed[parser.at..].chars().next() {
        let bad = match letter {
            ')' => BadQuery::new(") closes no group").hint("search for it as \\)"),
            _ => BadQuery::new("an empty text matches every file").hint("leave it out"),
        };
        return Err(bad.at(parser.at));
    }
    Ok(QueryTree(Node::List(list)))
}

/// `None` if no file can match, without a reason to report.
pub fn check(tree: &QueryTree, context_lines: u32) -> Result<Option<ZoektQuery>, BadQuery> {
    let (terms, bytes) = tree.0.size();
    if terms > ATOMS_MAX {
        return Err(BadQuery::too_many(terms));
    }
    if bytes > TYPED_BYTES_MAX {
        return Err(BadQuery::too_long("the query", bytes, TYPED_BYTES_MAX));
    }
    let mut sources = SourceMap::default();
    sources.add(&lower::everything(), SourceText::default(), None);
    let mut lowering = Lowering::new(&mut sources);
    let expr = match lowering.node(&tree.0, Case::Auto)? {
        Folded::Const(true) => lower::everything(),
        Folded::Const(false) => return lowering.reason().map_or(Ok(None), Err),
        Folded::Expr(expr) if check_positive(&expr).is_ok() => expr,
        Folded::Expr(expr) => positive(expr),
    };
    let context_lines = context_lines.max(Query::CONTEXT_DEFAULT);
    Ok(Some(ZoektQuery {
        parsed: ParsedQuery::new(expr, context_lines, sources)?,
        results: tree.results(),
    }))
}

/// Adds a filter for everything to parts that only exclude.
fn positive(expr: Expr) -> Expr {
    match expr {
        expr if is_positive(&expr, false) => expr,
        Expr::Any(parts) => Expr::any(parts.into_iter().map(positive)),
        other => Expr::all([lower::everything(), other]),
    }
}

struct Parser<'a> {
    typed: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    /// Parses a list up to a `)` or the end.
    fn list(&mut self) -> Result<List, BadQuery> {
        let mut list = List::default();
        let (mut part, mut or) = (Vec::new(), None);
        while let Some(token) = self.peek()? {
            match token.kind {
                TokenKind::Close => break,
                TokenKind::Or => {
                    or = Some(self.at);
                    list.alternatives.push(std::mem::take(&mut part));
                    self.at = token.end;
                }
                _ => part.extend(self.expr(&mut list)?),
            }
        }
        list.alternatives.push(part);
        match or {
            Some(at) if list.alternatives.iter().any(Vec::is_empty) => {
                let bad = BadQuery::new("or needs a term before and after it").at(at);
                Err(bad.hint("search for the word as \"or\""))
            }
            _ => Ok(list),
        }
    }

    fn peek(&mut self) -> Result<Option<Token>, BadQuery> {
        let rest = &self.typed[self.at..];
        self.at = self.typed.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
        next(self.typed, self.at)
    }

    /// `None` for a directive, which goes into the list.
    fn expr(&mut self, list: &mut List) -> Result<Option<Node>, BadQuery> {
        let (mut sign, mut negated) = (None, false);
        loop {
            let (at, token) = (self.at, self.peek()?);
            match token {
                Some(token) if token.kind == TokenKind::Negate => {
                    (sign, negated) = (Some(at), !negated);
                    self.at = token.end;
                }
                Some(token) if !matches!(token.kind, TokenKind::Close | TokenKind::Or) => {
                    let node = self.primary(token, list, sign)?;
                    return Ok(match node {
                        Some(node) if negated => Some(Node::Not(Box::new(node))),
                        node => node,
                    });
                }
                _ => {
                    let bad = BadQuery::new("- has no term after it").at(sign.unwrap_or(at));
                    return Err(bad.hint("search for it as \\-"));
                }
            }
        }
    }

    fn primary(
        &mut self,
        token: Token,
        list: &mut List,
        sign: Option<usize>,
    ) -> Result<Option<Node>, BadQuery> {
        let at = self.at;
        self.at = token.end;
        let value = token.text.as_str();
        match token.kind {
            TokenKind::Atom(AtomKey::Case | AtomKey::Type) if sign.is_some() => {
                Err(BadQuery::new("case: and type: cannot be negated").at(at))
            }
            TokenKind::Atom(AtomKey::Case) => {
                let case = choose("case:", value, &Case::CHOICES);
                list.case = Some(case.map_err(|bad| bad.at(at))?);
                Ok(None)
            }
            TokenKind::Atom(AtomKey::Type) => {
                let results = choose("type:", value, &RESULT_TYPES);
                let results = results.map_err(|bad| bad.at(at))?;
                list.results = Some(list.results.map_or(results, |old| old.min(results)));
                Ok(None)
            }
            TokenKind::Atom(key) => Ok(Some(Node::Atom {
                key,
                text: token.text,
                at,
            })),
            _ => self.group(at).map(|group| Some(Node::List(group))),
        }
    }

    fn group(&mut self, at: usize) -> Result<List, BadQuery> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(BadQuery::too_deep(self.depth).at(at));
        }
        let list = self.list()?;
        match self.peek()? {
            Some(token) if token.kind == TokenKind::Close => self.at = token.end,
            _ => {
                let bad = BadQuery::new("( is not closed").at(at);
                return Err(bad.hint("search for it as \\("));
            }
        }
        self.depth -= 1;
        Ok(list)
    }
}
