//! Expressions of atoms and lists. Constants are folded, since an [`Expr`] has none.

use super::lexer::AtomKey;
use super::tree::{List, Node};
use crate::case::Case;
use crate::error::{BadQuery, YES_OR_NO, choose};
use crate::re2;
use crate::regexp;
use crate::source_text::{SourceMap, SourceText};
use language::Language;
use regex_syntax::hir::{Class, Hir, HirKind};
use schema::message::{Expr, Field, Filter, Pattern, Place, Reading, Role, Syntax};

/// Matches nothing, but a pattern with a line end is searched for over lines.
const OVER_LINES: &str = r"\n{0}";

pub(super) enum Folded {
    Const(bool),
    Expr(Expr),
}

impl Folded {
    fn joined(parts: Vec<Folded>, is_all: bool) -> Folded {
        let mut exprs = Vec::new();
        for part in parts {
            match part {
                Folded::Const(value) if value == is_all => {}
                Folded::Const(_) => return part,
                Folded::Expr(expr) => exprs.push(expr),
            }
        }
        match (exprs.len(), is_all) {
            (0, _) => Folded::Const(is_all),
            (_, true) => Folded::Expr(Expr::all(exprs)),
            (_, false) => Folded::Expr(Expr::any(exprs)),
        }
    }

    fn negated(self) -> Folded {
        match self {
            Folded::Const(value) => Folded::Const(!value),
            Folded::Expr(expr) => Folded::Expr(expr.negated()),
        }
    }
}

pub(super) fn everything() -> Expr {
    filter(Field::Path, Reading::Regexp, "^")
}

fn filter(field: Field, reading: Reading, text: &str) -> Expr {
    Expr::Filter(Filter {
        field,
        reading,
        text: text.to_owned(),
    })
}

/// Regular expression of a value, or its only match as text.
struct Regexp {
    text: SourceText,
    literal: Option<String>,
    has_upper: bool,
    /// A class matches line ends, as `\s` and `[^a]` do.
    spans_lines: bool,
}

impl Regexp {
    /// `None` for one that matches everywhere.
    fn parse(typed: &SourceText) -> Result<Option<Regexp>, BadQuery> {
        let text = re2::translated(typed.as_str(), 0).within(typed);
        let hir = regexp::hir(text.as_str()).map_err(|bad| BadQuery {
            at: bad.at.map(|at| text.at(at)),
            ..bad
        })?;
        let has_flags = text.as_str().contains("(?");
        let literal = literal(&hir).filter(|_| !has_flags);
        if literal.as_ref().is_some_and(String::is_empty) {
            return Ok(None);
        }
        Ok(Some(Regexp {
            has_upper: has_upper(&hir) || text.as_str().contains("(?i"),
            spans_lines: any_class(&hir, &|start, end| (start..=end).contains(&'\n')),
            text,
            literal,
        }))
    }

    fn ignores(&self, case: Case) -> bool {
        let (text, syntax) = self.parts();
        case.ignores(text, syntax) && (case == Case::No || !self.has_upper)
    }

    fn parts(&self) -> (&str, Syntax) {
        match &self.literal {
            Some(literal) => (literal, Syntax::Literal),
            None => (self.text.as_str(), Syntax::Regexp),
        }
    }
}

fn literal(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Empty => Some(String::new()),
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        HirKind::Capture(capture) => literal(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(literal).collect(),
        _ => None,
    }
}

/// Classes count by their bounds, as zoekt compares them: `\w` and `[^A]` have upper-case ones.
fn has_upper(hir: &Hir) -> bool {
    let is_upper = |start: char, end: char| start.is_ascii_uppercase() || end.is_ascii_uppercase();
    any_class(hir, &is_upper)
}

/// True if a class or a literal has such a range of characters.
fn any_class(hir: &Hir, is_such: &dyn Fn(char, char) -> bool) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => {
            let mut bytes = literal.0.iter().map(|&byte| char::from(byte));
            bytes.any(|letter| is_such(letter, letter))
        }
        HirKind::Class(Class::Unicode(class)) => class
            .iter()
            .any(|range| is_such(range.start(), range.end())),
        HirKind::Class(Class::Bytes(class)) => {
            let mut ranges = class.iter();
            ranges.any(|range| is_such(range.start().into(), range.end().into()))
        }
        HirKind::Repetition(repetition) => any_class(&repetition.sub, is_such),
        HirKind::Capture(capture) => any_class(&capture.sub, is_such),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().any(|part| any_class(part, is_such))
        }
    }
}

pub(super) struct Lowering<'s> {
    sources: &'s mut SourceMap,
    /// Term that no file satisfies, and the reason.
    impossible: Option<(usize, &'static str)>,
}

impl Lowering<'_> {
    pub(super) fn new(sources: &mut SourceMap) -> Lowering<'_> {
        Lowering {
            sources,
            impossible: None,
        }
    }

    pub(super) fn reason(&self) -> Option<BadQuery> {
        let (at, reason) = self.impossible?;
        Some(BadQuery::new(format!("no file can match: {reason}")).at(at))
    }

    fn list(&mut self, list: &List, case: Case) -> Result<Folded, BadQuery> {
        let case = list.case.unwrap_or(case);
        let mut alternatives = Vec::new();
        for part in &list.alternatives {
            let nodes = part.iter().map(|node| self.node(node, case));
            let values = nodes.collect::<Result<Vec<_>, _>>()?;
            alternatives.push(Folded::joined(values, true));
        }
        let value = Folded::joined(alternatives, false);
        Ok(match value {
            Folded::Expr(expr) if has_two_languages(&expr) => {
                self.impossible
                    .get_or_insert((0, "a file has one language"));
                Folded::Const(false)
            }
            value => value,
        })
    }

    /// `case` is that of the list around it.
    pub(super) fn node(&mut self, node: &Node, case: Case) -> Result<Folded, BadQuery> {
        match node {
            Node::List(list) => self.list(list, case),
            Node::Not(inner) => Ok(self.node(inner, case)?.negated()),
            Node::Exact(field, names) => Ok(self.exact(*field, names)),
            Node::Atom { key, text, at } => self.atom(*key, text, *at, case),
        }
    }

    fn exact(&mut self, field: Field, names: &[String]) -> Folded {
        let filters = names.iter().map(|name| {
            let filter = filter(field, Reading::Exact, name);
            let source = SourceText::plain(0, name);
            self.sources.add(&filter, source, None);
            Folded::Expr(filter)
        });
        Folded::joined(filters.collect(), false)
    }

    fn atom(
        &mut self,
        key: AtomKey,
        text: &SourceText,
        at: usize,
        case: Case,
    ) -> Result<Folded, BadQuery> {
        match key {
            AtomKey::Archived => self.mark("archived:", text, at),
            AtomKey::Fork => self.mark("fork:", text, at),
            AtomKey::Public => self.mark("public:", text, at),
            AtomKey::Meta => self.meta(text, at),
            AtomKey::Lang => self.language(text, at),
            AtomKey::Branch => Ok(self.branch(text)),
            AtomKey::Symbol if text.is_empty() => Err(BadQuery::new("sym: has no value").at(at)),
            AtomKey::Any | AtomKey::Content | AtomKey::File | AtomKey::Repo | AtomKey::Symbol => {
                let regexp = Regexp::parse(text)?;
                Ok(match regexp {
                    Some(regexp) => Folded::Expr(self.regexp(key, regexp, case)),
                    None => Folded::Const(true),
                })
            }
            AtomKey::Case | AtomKey::Type => Ok(Folded::Const(true)),
        }
    }

    /// Mark of repositories, which none has.
    fn mark(&mut self, key: &str, text: &SourceText, at: usize) -> Result<Folded, BadQuery> {
        let wanted = choose(key, text.as_str(), &YES_OR_NO).map_err(|bad| bad.at(at))?;
        if wanted {
            let reason = "repositories are not marked as archived, forks or public here";
            self.impossible.get_or_insert((at, reason));
        }
        Ok(Folded::Const(!wanted))
    }

    fn meta(&mut self, text: &SourceText, at: usize) -> Result<Folded, BadQuery> {
        let Some((_, value)) = text.as_str().split_once(':') else {
            let bad = BadQuery::new("meta. needs a field and a value").at(at);
            return Err(bad.hint("such as meta.team:web"));
        };
        let text = re2::translated(value, 0);
        regexp::hir(text.as_str()).map_err(|bad| BadQuery {
            at: Some(at),
            ..bad
        })?;
        let reason = "repositories have no metadata here";
        self.impossible.get_or_insert((at, reason));
        Ok(Folded::Const(false))
    }

    fn language(&mut self, text: &SourceText, at: usize) -> Result<Folded, BadQuery> {
        let name = text.as_str();
        let Some(language) = Language::named(name) else {
            let bad = BadQuery::new(format!("there is no language {name}")).at(at);
            return Err(match Language::similar_to(name) {
                Some(similar) => bad.hint(format!("did you mean lang:\"{}\"?", similar.name)),
                None => bad,
            });
        };
        let filter = filter(Field::Language, Reading::Exact, language.name);
        self.sources.add(&filter, text.clone(), None);
        Ok(Folded::Expr(filter))
    }

    /// Part of a name. Default branches are searched anyway.
    fn branch(&mut self, text: &SourceText) -> Folded {
        if matches!(text.as_str(), "" | "HEAD") {
            return Folded::Const(true);
        }
        let filter = filter(
            Field::Branch,
            Reading::Glob,
            &format!("*{}*", text.as_str()),
        );
        self.sources.add(&filter, text.clone(), None);
        Folded::Expr(filter)
    }

    fn regexp(&mut self, key: AtomKey, regexp: Regexp, case: Case) -> Expr {
        match key {
            AtomKey::Repo => self.repository(&regexp),
            AtomKey::File => self.path(&regexp, case),
            AtomKey::Content | AtomKey::Symbol => {
                self.pattern(&regexp, case, key == AtomKey::Symbol)
            }
            _ => {
                let content = self.pattern(&regexp, case, false);
                Expr::any([content, self.path(&regexp, case)])
            }
        }
    }

    fn pattern(&mut self, regexp: &Regexp, case: Case, is_symbol: bool) -> Expr {
        let (text, syntax) = regexp.parts();
        let (role, suffix) = match regexp.spans_lines {
            _ if is_symbol => (Role::Definition, ""),
            true if syntax == Syntax::Regexp => (Role::Any, OVER_LINES),
            _ => (Role::Any, ""),
        };
        let pattern = Expr::Pattern(Pattern {
            text: format!("{text}{suffix}"),
            syntax,
            ignore_case: regexp.ignores(case),
            place: Place {
                role,
                ..Place::default()
            },
            ..Pattern::default()
        });
        self.sources.add(&pattern, regexp.text.clone(), None);
        pattern
    }

    fn path(&mut self, regexp: &Regexp, case: Case) -> Expr {
        let reading = if regexp.ignores(case) {
            Reading::RegexpIgnoringCase
        } else {
            Reading::Regexp
        };
        self.filter(Field::Path, reading, &regexp.text)
    }

    /// Names of repositories respect case. `^name$` may be a directory with a version.
    fn repository(&mut self, regexp: &Regexp) -> Expr {
        let named = self.filter(Field::Package, Reading::Regexp, &regexp.text);
        let text = regexp.text.as_str();
        let whole = text.strip_prefix('^').and_then(|it| it.strip_suffix('$'));
        let whole = whole.and_then(|it| literal(&regexp::hir(it).ok()?));
        let Some(whole) = whole.filter(|it| !it.is_empty()) else {
            return named;
        };
        let directory = filter(Field::Package, Reading::Exact, &whole);
        self.sources.add(&directory, regexp.text.clone(), None);
        Expr::any([named, directory])
    }

    fn filter(&mut self, field: Field, reading: Reading, text: &SourceText) -> Expr {
        let filter = filter(field, reading, text.as_str());
        self.sources.add(&filter, text.clone(), None);
        filter
    }
}

fn has_two_languages(expr: &Expr) -> bool {
    let is_language =
        |part: &&Expr| matches!(part, Expr::Filter(it) if it.field == Field::Language);
    let mut languages = expr.factors().iter().filter(is_language);
    let first = languages.next();
    languages.any(|other| Some(other) != first)
}
