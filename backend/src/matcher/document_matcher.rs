//! Evaluates an expression on a document, and finds its contributing patterns.
//!
//! Pure: a caller's function matches patterns in the text. It is called only if the answer matters;
//! filters and path patterns come first.

use super::bad_expr::BadExpr;
use super::bounded_matcher::BoundedMatcher;
use super::compiler::Compiler;
use super::filters;
use super::line_matcher::{self, LineMatcher, RANGES_MAX};
use super::pattern::{self, infallible, is_match};
use super::ranges::remove_overlaps;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use index::filter::{DocumentFacts, FilterExpr};
use index::plan::{BadPattern, DocumentQuery, TrigramQuery};
use schema::message::{Expr, Field, Filter, Pattern, Reading};

#[derive(Debug)]
pub struct DocumentMatcher {
    root: Node,
    pub(crate) texts: Vec<TextTerm>,
    paths: Vec<RegexMatcher>,
    pub(crate) query: DocumentQuery,
    finds_names: bool,
    pub(crate) reads_languages: bool,
    pub(crate) compiler: Compiler,
}

/// Pattern on a document's text, or expression on one of its lines.
#[derive(Debug)]
pub(crate) struct TextTerm {
    pub(crate) expr: Expr,
    pub(crate) matcher: TextMatcher,
    blocks: TrigramQuery,
}

#[derive(Clone, Debug)]
pub(crate) enum TextMatcher {
    Line(LineMatcher),
    /// Matches may span lines.
    MultiLine(BoundedMatcher),
}

#[derive(Debug)]
enum Node {
    Filter(FilterExpr),
    Path(usize),
    Text(usize),
    /// Cheaper nodes first.
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

/// Contributing patterns, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternSet {
    pub(crate) texts: u64,
    paths: u64,
}

impl DocumentMatcher {
    pub(crate) fn new(
        expr: &Expr,
        finds_names: bool,
        compiler: &Compiler,
    ) -> Result<DocumentMatcher, BadExpr> {
        let mut builder = MatcherBuilder {
            compiler: compiler.for_one_of(expr.patterns().len()),
            texts: Vec::new(),
            paths: Vec::new(),
            next: 0,
        };
        let root = builder.node(expr)?;
        Ok(DocumentMatcher {
            reads_languages: root.reads_languages(),
            root,
            query: plan(expr)?,
            texts: builder.texts,
            paths: builder.paths,
            finds_names,
            compiler: builder.compiler,
        })
    }

    pub(crate) fn is_slow(&self) -> bool {
        self.texts.iter().any(|text| match &text.matcher {
            TextMatcher::Line(matcher) => matcher.is_slow(u64::MAX),
            TextMatcher::MultiLine(matcher) => matcher.is_slow(u64::MAX),
        })
    }

    /// `None` without a match. `has_text` matches a text term.
    pub(crate) fn evaluate<E>(
        &self,
        document: &DocumentFacts<'_>,
        mut has_text: impl FnMut(usize) -> Result<bool, E>,
    ) -> Result<Option<PatternSet>, E> {
        let mut patterns = self.evaluate_node(&self.root, document, &mut has_text, true)?;
        if self.finds_names
            && let Some(patterns) = &mut patterns
        {
            patterns.texts = 0;
        }
        Ok(patterns)
    }

    /// `all` finds all contributing patterns, not only a match.
    fn evaluate_node<E>(
        &self,
        node: &Node,
        document: &DocumentFacts<'_>,
        has_text: &mut impl FnMut(usize) -> Result<bool, E>,
        all: bool,
    ) -> Result<Option<PatternSet>, E> {
        let none = PatternSet::default();
        let mut evaluate = |node, all| self.evaluate_node(node, document, has_text, all);
        Ok(match node {
            Node::Filter(tree) => tree.holds(document).then_some(none),
            &Node::Path(index) => {
                is_match(&self.paths[index], document.path).then_some(PatternSet {
                    paths: 1 << index,
                    ..none
                })
            }
            &Node::Text(index) => has_text(index)?.then_some(PatternSet {
                texts: 1 << index,
                ..none
            }),
            Node::Not(inner) => evaluate(inner, false)?.is_none().then_some(none),
            Node::All(nodes) => {
                let mut patterns = none;
                for node in nodes {
                    match evaluate(node, all)? {
                        Some(more) => patterns = patterns.union(more),
                        None => return Ok(None),
                    }
                }
                Some(patterns)
            }
            Node::Any(nodes) => {
                let mut found: Option<PatternSet> = None;
                for node in nodes {
                    if let Some(more) = evaluate(node, all)? {
                        found = Some(found.unwrap_or_default().union(more));
                        if !all {
                            break;
                        }
                    }
                }
                found
            }
        })
    }

    /// Ascending, without overlaps.
    pub(crate) fn path_ranges(&self, patterns: PatternSet, path: &[u8]) -> Vec<(usize, usize)> {
        let mut ranges = Vec::new();
        let paths = self.paths.iter().enumerate();
        for (_, matcher) in paths.filter(|(index, _)| patterns.paths >> index & 1 == 1) {
            infallible(matcher.find_iter(path, |found| {
                ranges.push((found.start(), found.end()));
                ranges.len() < RANGES_MAX
            }));
        }
        remove_overlaps(&mut ranges);
        if ranges.is_empty() {
            ranges.push((0, 0));
        }
        ranges
    }

    pub(crate) fn is_multiline(&self) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|text| matches!(text.matcher, TextMatcher::MultiLine(_)))
    }

    /// True if it needs the symbols of texts.
    pub(crate) fn is_placed(&self) -> bool {
        let is_placed = |text: &TextTerm| match &text.matcher {
            TextMatcher::Line(matcher) => matcher.is_placed(),
            TextMatcher::MultiLine(_) => false,
        };
        self.texts.iter().any(is_placed)
    }

    pub(crate) fn block_queries(&self) -> Vec<&TrigramQuery> {
        self.texts.iter().map(|text| &text.blocks).collect()
    }
}

impl PatternSet {
    pub(crate) fn of_texts(count: usize) -> PatternSet {
        PatternSet {
            texts: (0..count).fold(0, |texts, index| texts | 1 << index),
            paths: 0,
        }
    }

    pub(crate) fn has_text(self, index: usize) -> bool {
        self.texts >> index & 1 == 1
    }

    fn union(self, other: PatternSet) -> PatternSet {
        PatternSet {
            texts: self.texts | other.texts,
            paths: self.paths | other.paths,
        }
    }
}

struct MatcherBuilder {
    compiler: Compiler,
    texts: Vec<TextTerm>,
    paths: Vec<RegexMatcher>,
    next: usize,
}

impl MatcherBuilder {
    fn node(&mut self, expr: &Expr) -> Result<Node, BadExpr> {
        Ok(match expr {
            Expr::Filter(_) => {
                let compiler = &self.compiler;
                Node::Filter(filters::compile(expr, &mut self.next, compiler)?)
            }
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
        nodes.sort_by_key(Node::needs_text);
        Ok(nodes)
    }

    fn path(&mut self, pattern: &Pattern) -> Result<Node, BadExpr> {
        let number = self.next;
        self.next += 1;
        let matcher = self.compiler.line(&[pattern]);
        let matcher = matcher.map_err(|bad| BadExpr::new(number, bad))?;
        self.paths.push(matcher);
        Ok(Node::Path(self.paths.len() - 1))
    }

    fn text(&mut self, expr: &Expr) -> Result<Node, BadExpr> {
        let first = self.next;
        self.next += expr.patterns().len();
        let at = |bad: BadExpr| bad.after(first);
        let compiler = &self.compiler;
        let (matcher, blocks) = match expr {
            Expr::Pattern(it) if pattern::is_multiline(it) => {
                let matcher = BoundedMatcher::new(&[it], true, compiler);
                let matcher = matcher.map_err(|bad| BadExpr::new(first, bad))?;
                (TextMatcher::MultiLine(matcher), TrigramQuery::All)
            }
            _ => (
                TextMatcher::Line(LineMatcher::new(expr, compiler).map_err(at)?),
                line_matcher::plan(expr).map_err(at)?,
            ),
        };
        self.texts.push(TextTerm {
            expr: expr.clone(),
            matcher,
            blocks,
        });
        Ok(Node::Text(self.texts.len() - 1))
    }
}

pub(crate) fn plan_pattern(pattern: &Pattern) -> Result<DocumentQuery, BadPattern> {
    if pattern.in_path {
        line_matcher::plan_pattern(pattern).map(DocumentQuery::Path)
    } else if pattern::is_multiline(pattern) {
        index::plan::plan_multiline(&pattern::expression(pattern), pattern.ignore_case)
    } else {
        line_matcher::plan_pattern(pattern).map(DocumentQuery::Block)
    }
}

/// `None`: the path is not asked for, or may be any.
fn plan_filter(filter: &Filter) -> Option<TrigramQuery> {
    let ignore_case = match (filter.field, filter.reading) {
        (Field::Path, Reading::Regexp) => false,
        (Field::Path, Reading::RegexpIgnoringCase) => true,
        _ => return None,
    };
    index::plan::plan_name(&filter.text, ignore_case).ok()
}

fn plan(expr: &Expr) -> Result<DocumentQuery, BadExpr> {
    let each = |parts: &[Expr]| parts.iter().map(plan).collect::<Result<Vec<_>, _>>();
    Ok(match expr {
        Expr::Filter(filter) => plan_filter(filter).map_or(DocumentQuery::ALL, DocumentQuery::Path),
        Expr::Not(_) => DocumentQuery::ALL,
        Expr::Pattern(it) => plan_pattern(it).map_err(|bad| BadExpr::new(0, bad))?,
        Expr::Line(_) => DocumentQuery::Block(line_matcher::plan(expr)?),
        Expr::All(parts) => DocumentQuery::And(each(parts)?),
        Expr::Any(parts) => DocumentQuery::Or(each(parts)?),
    })
}

impl Node {
    fn reads_languages(&self) -> bool {
        match self {
            Node::Filter(tree) => tree.reads_languages(),
            Node::Path(_) | Node::Text(_) => false,
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().any(Node::reads_languages),
            Node::Not(inner) => inner.reads_languages(),
        }
    }

    fn needs_text(&self) -> bool {
        match self {
            Node::Filter(_) | Node::Path(_) => false,
            Node::Text(_) => true,
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().any(Node::needs_text),
            Node::Not(inner) => inner.needs_text(),
        }
    }
}
