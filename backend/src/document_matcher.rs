//! The judge of a document: whether an expression holds of it, and which of its patterns contribute.
//!
//! It is pure: what patterns match in a document's text is asked of whoever has that ([`DocumentSource`]), and
//! only when it matters: filters and paths first.

use crate::bad_expr::BadExpr;
use crate::compiled_query;
use crate::line_matcher::{self, LineMatcher};
use crate::pattern::{self, SizeLimits};
use crate::scan::RANGES_MAX;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use index::filter::FilterExpr;
use index::plan::{DocumentQuery, TrigramQuery};
use schema::message::{Expr, Pattern};

/// Judges documents.
#[derive(Debug)]
pub struct DocumentMatcher {
    root: Node,
    pub(crate) texts: Vec<TextTerm>,
    paths: Vec<RegexMatcher>,
    /// Which documents to look at.
    pub(crate) query: DocumentQuery,
    /// What is found of a document is its name.
    names: bool,
}

/// A pattern that is looked for in a document's text, or what is said of one of its lines.
#[derive(Debug)]
pub(crate) struct TextTerm {
    /// What it is.
    pub(crate) expr: Expr,
    pub(crate) judge: TextMatcher,
    /// Which blocks to look at.
    pub(crate) look: TrigramQuery,
}

/// The judge of a text.
#[derive(Clone, Debug)]
pub(crate) enum TextMatcher {
    Line(LineMatcher),
    /// A match may go over lines.
    MultiLine(RegexMatcher),
}

#[derive(Debug)]
enum Node {
    Filter(FilterExpr),
    /// Index in `paths`.
    Path(usize),
    /// Index in `texts`.
    Text(usize),
    /// Those that cost less first.
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

/// Which patterns contribute to that an expression holds, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternSet {
    pub(crate) texts: u64,
    pub(crate) paths: u64,
}

/// What a document is called, and what is in it.
pub(crate) trait DocumentSource {
    type Error;

    fn directory(&self) -> &[u8];
    fn path(&self) -> &[u8];
    /// Whether a text matches at least once.
    fn matches(&mut self, text: usize) -> Result<bool, Self::Error>;
}

impl DocumentMatcher {
    /// Compiles an expression without the filters that must all hold.
    pub(crate) fn new(expr: &Expr, names: bool) -> Result<DocumentMatcher, BadExpr> {
        let mut building = MatcherBuilder {
            room: SizeLimits::of_one_of(expr.patterns().len()),
            texts: Vec::new(),
            paths: Vec::new(),
            next: 0,
        };
        let root = building.node(expr)?;
        Ok(DocumentMatcher {
            root,
            query: building.query(expr)?,
            texts: building.texts,
            paths: building.paths,
            names,
        })
    }

    /// What contributes to that the expression holds of a document; `None`: it does not.
    pub(crate) fn judge<L: DocumentSource>(
        &self,
        look: &mut L,
    ) -> Result<Option<PatternSet>, L::Error> {
        let marks = self.holds(&self.root, look, true)?;
        Ok(marks.map(|marks| match self.names {
            true => PatternSet { texts: 0, ..marks },
            false => marks,
        }))
    }

    /// `all`: what contributes is to be known, not only whether the node holds.
    fn holds<L: DocumentSource>(
        &self,
        node: &Node,
        look: &mut L,
        all: bool,
    ) -> Result<Option<PatternSet>, L::Error> {
        let none = PatternSet::default();
        Ok(match node {
            Node::Filter(tree) => tree.holds(look.directory(), look.path()).then_some(none),
            &Node::Path(index) => is_match(&self.paths[index], look.path()).then_some(PatternSet {
                paths: 1 << index,
                ..none
            }),
            &Node::Text(index) => look.matches(index)?.then_some(PatternSet {
                texts: 1 << index,
                ..none
            }),
            Node::Not(inner) => match self.holds(inner, look, false)? {
                Some(_) => None,
                None => Some(none),
            },
            Node::All(parts) => {
                let mut marks = none;
                for part in parts {
                    match self.holds(part, look, all)? {
                        Some(more) => marks = marks.with(more),
                        None => return Ok(None),
                    }
                }
                Some(marks)
            }
            Node::Any(parts) => {
                let mut found: Option<PatternSet> = None;
                for part in parts {
                    if let Some(more) = self.holds(part, look, all)? {
                        found = Some(found.unwrap_or_default().with(more));
                        if !all {
                            break;
                        }
                    }
                }
                found
            }
        })
    }

    /// What in a path matches one of the marked patterns: ascending, none in another.
    pub(crate) fn path_ranges(&self, marks: PatternSet, path: &[u8]) -> Vec<(usize, usize)> {
        let mut ranges = Vec::new();
        let marked = self.paths.iter().enumerate();
        for (_, matcher) in marked.filter(|(index, _)| marks.paths >> index & 1 == 1) {
            let all = matcher.find_iter(path, |found| {
                ranges.push((found.start(), found.end()));
                ranges.len() < RANGES_MAX
            });
            all.unwrap_or_else(|error| unreachable!("{error}"));
        }
        apart(&mut ranges);
        if ranges.is_empty() {
            ranges.push((0, 0));
        }
        ranges
    }

    /// Whether a match may go over lines.
    pub(crate) fn crosses_lines(&self) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|text| matches!(text.judge, TextMatcher::MultiLine(_)))
    }

    /// Which blocks to look at, of documents that are.
    pub(crate) fn looks(&self) -> Vec<&TrigramQuery> {
        self.texts.iter().map(|text| &text.look).collect()
    }

    pub(crate) fn plan_text(&self) -> String {
        self.query.to_string()
    }
}

impl PatternSet {
    fn with(self, other: PatternSet) -> PatternSet {
        PatternSet {
            texts: self.texts | other.texts,
            paths: self.paths | other.paths,
        }
    }
}

/// Sorts ranges, and leaves out those that lie over one before them.
pub(crate) fn apart(ranges: &mut Vec<(usize, usize)>) {
    ranges.sort_unstable_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
    let mut last: Option<(usize, usize)> = None;
    ranges.retain(|&(start, end)| {
        let is_empty = start == end;
        let is_apart = last.is_none_or(|last| start > last.1 || (start == last.1 && !is_empty));
        if is_apart {
            last = Some((start, end));
        }
        is_apart
    });
}

fn is_match(matcher: &RegexMatcher, text: &[u8]) -> bool {
    matcher
        .is_match(text)
        .unwrap_or_else(|error| unreachable!("{error}"))
}

/// A matcher that is being compiled.
struct MatcherBuilder {
    /// Of each pattern.
    room: SizeLimits,
    texts: Vec<TextTerm>,
    paths: Vec<RegexMatcher>,
    /// The number of the next pattern or filter.
    next: usize,
}

impl MatcherBuilder {
    fn node(&mut self, expr: &Expr) -> Result<Node, BadExpr> {
        Ok(match expr {
            Expr::Filter(_) => Node::Filter(compiled_query::tree(expr, &mut self.next)?),
            Expr::Pattern(it) if it.in_path => self.path(it)?,
            Expr::Pattern(_) | Expr::Line(_) => self.text(expr)?,
            Expr::All(parts) => Node::All(self.nodes(parts)?),
            Expr::Any(parts) => Node::Any(self.nodes(parts)?),
            Expr::Not(inner) => Node::Not(Box::new(self.node(inner)?)),
        })
    }

    fn nodes(&mut self, parts: &[Expr]) -> Result<Vec<Node>, BadExpr> {
        let nodes = parts.iter().map(|part| self.node(part));
        let mut nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        nodes.sort_by_key(Node::looks_into_text);
        Ok(nodes)
    }

    fn path(&mut self, pattern: &Pattern) -> Result<Node, BadExpr> {
        let number = self.next;
        self.next += 1;
        let matcher = pattern::matcher(&[pattern], self.room);
        let matcher = matcher.map_err(|bad| BadExpr::new(number, bad))?;
        self.paths.push(matcher);
        Ok(Node::Path(self.paths.len() - 1))
    }

    fn text(&mut self, expr: &Expr) -> Result<Node, BadExpr> {
        let first = self.next;
        self.next += expr.patterns().len();
        let at = |bad: BadExpr| bad.behind(first);
        let (judge, look) = match expr {
            Expr::Pattern(it) if pattern::crosses_lines(it) => {
                let matcher = pattern::matcher_across(it, self.room);
                let matcher = matcher.map_err(|bad| BadExpr::new(first, bad))?;
                (TextMatcher::MultiLine(matcher), TrigramQuery::All)
            }
            _ => (
                TextMatcher::Line(LineMatcher::new(expr, self.room).map_err(at)?),
                line_matcher::plan(expr).map_err(at)?,
            ),
        };
        self.texts.push(TextTerm {
            expr: expr.clone(),
            judge,
            look,
        });
        Ok(Node::Text(self.texts.len() - 1))
    }

    /// What must be in a document for the expression to hold.
    fn query(&self, expr: &Expr) -> Result<DocumentQuery, BadExpr> {
        let each = |parts: &[Expr]| {
            let parts = parts.iter().map(|part| self.query(part));
            parts.collect::<Result<Vec<_>, _>>()
        };
        Ok(match expr {
            Expr::Filter(_) | Expr::Not(_) => DocumentQuery::ALL,
            Expr::Pattern(it) if it.in_path => DocumentQuery::ALL,
            Expr::Pattern(it) if pattern::crosses_lines(it) => {
                pattern::plan_multiline(it).map_err(|bad| BadExpr::new(0, bad))?
            }
            Expr::Pattern(_) | Expr::Line(_) => DocumentQuery::Block(line_matcher::plan(expr)?),
            Expr::All(parts) => DocumentQuery::And(each(parts)?),
            Expr::Any(parts) => DocumentQuery::Or(each(parts)?),
        })
    }
}

impl Node {
    fn looks_into_text(&self) -> bool {
        match self {
            Node::Filter(_) | Node::Path(_) => false,
            Node::Text(_) => true,
            Node::All(parts) | Node::Any(parts) => parts.iter().any(Node::looks_into_text),
            Node::Not(inner) => inner.looks_into_text(),
        }
    }
}
