//! Makes an expression of a syntax tree, by the options of the query.

use super::names::NameFilter;
use super::options::{Options, Show, Type};
use super::predicate::{self, Predicate};
use super::scan;
use super::tree::{Tree, Word};
use crate::checked::{Query, check_positive};
use crate::error::BadQuery;
use crate::input::{ParsedQuery, joined};
use crate::place::{ANY_NAME, Restriction, any_symbol};
use crate::source_text::{SourceMap, SourceText};
use schema::message::{Expr, Field, Filter, Pattern, Reading, Syntax};

#[derive(Clone, Debug)]
pub struct Search {
    pub parsed: ParsedQuery,
    pub show: Show,
    /// Number of matches; 0: all.
    pub count: Option<u64>,
    /// Condition on names of repositories, if nothing else is searched.
    pub names: Option<NameFilter>,
    pub predicates: Vec<Predicate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Find {
    Both,
    Text,
    Paths,
    Repositories,
    Symbols,
}

pub(super) struct Lowering {
    options: Options,
    find: Find,
    sources: SourceMap,
}

impl Lowering {
    pub(super) fn new(options: Options) -> Lowering {
        let find = match (&options.types[..], options.show) {
            (_, Some(Show::Symbols)) => Find::Symbols,
            (types, _) if types.contains(&Type::Symbol) => Find::Symbols,
            (types, _) if types.contains(&Type::File) => Find::Both,
            ([Type::Path, ..], _) => Find::Paths,
            ([Type::Repository, ..], _) => Find::Repositories,
            _ if options.is_text_only => Find::Text,
            _ => Find::Both,
        };
        Lowering {
            options,
            find,
            sources: SourceMap::default(),
        }
    }

    pub(super) fn search(mut self, node: Option<Tree>) -> Result<Search, BadQuery> {
        let (node, of_repositories) = predicate::split(node)?;
        let typed = node.map(|node| self.lower(node));
        let is_bare = typed.as_ref().is_none_or(Expr::is_filter);
        let mut expr = match (typed, self.find) {
            (Some(expr), Find::Symbols) if is_bare => joined(vec![self.everything(), expr]),
            (Some(expr), _) => expr,
            (None, Find::Symbols | Find::Repositories) => self.everything(),
            (None, _) if !of_repositories.is_empty() => self.everything(),
            (None, _) => return Err(BadQuery::empty()),
        };
        let predicates = self.predicates(of_repositories, &expr)?;
        if self.find == Find::Symbols {
            let place = Restriction {
                symbols: true,
                kinds: Some(self.options.kinds).filter(|kinds| *kinds > 0),
                ..Restriction::default()
            };
            place.apply(&mut expr);
        }
        let located = check_positive(&expr).map_err(|bad| self.sources.locate(&expr, bad));
        located.map_err(|bad| bad.hint("add a word without NOT"))?;
        let show = self.show(&expr, is_bare);
        let names = (show == Show::Repositories && is_of_names(&expr)).then(|| expr.clone());
        let mut parsed = ParsedQuery::new(expr, Query::CONTEXT_DEFAULT, self.sources)?;
        let names = names.as_ref().map(NameFilter::new).transpose()?;
        if self.find == Find::Paths && !is_bare {
            parsed.query = parsed.query.of_names();
        }
        (parsed.timeout, parsed.notices) = (self.options.timeout, self.options.notices);
        Ok(Search {
            parsed,
            show,
            count: self.options.count,
            names,
            predicates,
        })
    }

    /// Searches for repositories, among those that `expr` names.
    fn predicates(
        &mut self,
        typed: Vec<(bool, Tree)>,
        expr: &Expr,
    ) -> Result<Vec<Predicate>, BadQuery> {
        let names = expr.factors().iter().filter(|part| is_of_names(part));
        let names: Vec<Expr> = names.cloned().collect();
        let find = std::mem::replace(&mut self.find, Find::Text);
        let lowered = typed.into_iter().map(|(negated, files)| {
            let files = [self.lower(files)].into_iter();
            let query = Query::new(Expr::all(files.chain(names.iter().cloned())), 0)?;
            let query = query.of_names();
            Ok(Predicate { query, negated })
        });
        let predicates = lowered.collect();
        self.find = find;
        predicates
    }

    fn show(&self, expr: &Expr, is_bare: bool) -> Show {
        match (self.options.show, self.find) {
            (Some(show), _) => show,
            (None, Find::Symbols) => Show::Symbols,
            (None, Find::Repositories) => Show::Repositories,
            (None, Find::Paths) => Show::Files,
            (None, Find::Both) if is_of_names(expr) => Show::Repositories,
            (None, _) if is_bare => Show::Files,
            (None, _) => Show::Matches,
        }
    }

    fn lower(&mut self, node: Tree) -> Expr {
        match node {
            Tree::Pattern(term) => self.pattern(term),
            Tree::Filter(field, reading, text) => {
                let reading = reading.unwrap_or_else(|| self.regexp());
                self.filter(field, reading, text)
            }
            // Split off before.
            Tree::Repositories(_, files) => self.lower(*files),
            Tree::All(nodes) => joined(self.list(nodes)),
            Tree::Any(nodes) => Expr::any(self.list(nodes)),
            Tree::Not(inner) => self.lower(*inner).negated(),
        }
    }

    fn everything(&mut self) -> Expr {
        let text = SourceText::plain(0, ANY_NAME);
        if self.find != Find::Symbols {
            return self.filter(Field::Package, Reading::RegexpIgnoringCase, text);
        }
        let symbol = any_symbol();
        self.sources.add(&symbol, text, None);
        symbol
    }

    fn list(&mut self, nodes: Vec<Tree>) -> Vec<Expr> {
        nodes.into_iter().map(|node| self.lower(node)).collect()
    }

    fn regexp(&self) -> Reading {
        match self.options.respects_case {
            true => Reading::Regexp,
            false => Reading::RegexpIgnoringCase,
        }
    }

    fn filter(&mut self, field: Field, reading: Reading, text: SourceText) -> Expr {
        let filter = Expr::Filter(Filter {
            field,
            reading,
            text: text.as_str().to_owned(),
        });
        self.sources.add(&filter, text, None);
        filter
    }

    fn pattern(&mut self, term: Word) -> Expr {
        let as_regexp = |term: &Word| match term.syntax {
            Syntax::Literal => scan::escaped(&term.text).into_regexp(),
            Syntax::Regexp => term.text.clone(),
        };
        if self.find == Find::Repositories && !term.in_text {
            return self.filter(Field::Package, self.regexp(), as_regexp(&term));
        }
        let path = (self.find == Find::Both && !term.in_text)
            .then(|| self.filter(Field::Path, self.regexp(), as_regexp(&term)));
        let pattern = Expr::Pattern(Pattern {
            text: term.text.as_str().to_owned(),
            syntax: term.syntax,
            ignore_case: !self.options.respects_case,
            in_path: self.find == Find::Paths && !term.in_text,
            ..Pattern::default()
        });
        self.sources.add(&pattern, term.text, None);
        match path {
            Some(path) => Expr::any([pattern, path]),
            None => pattern,
        }
    }
}

fn is_of_names(expr: &Expr) -> bool {
    let is_name =
        |atom: &Expr| matches!(atom, Expr::Filter(filter) if filter.field == Field::Package);
    expr.atoms().into_iter().all(is_name)
}
