//! A checked query in canonical form, and its execution id.
//!
//! Backends refuse more than [`check`]: patterns too large once compiled, and unknown languages.

use super::error::BadQuery;
use super::filter;
use super::limits::{CONTEXT_LINES_MAX, LIMIT_MAX, QUERY_BYTES_MAX};
use super::place::CHANGES;
use super::regexp::check_syntax;
use super::render::{interpreted_as, render};
use crate::scope::Scope;
use fnv::FnvHasher;
use schema::frame::{self, Kind};
use schema::message::{
    ATOMS_MAX, DEPTH_MAX, Expr, Field, Filter, Pattern, Reading, Search, Syntax, TextOrder, Want,
};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use zerocopy::IntoBytes;

/// A checked query: a request without shards. Its context is that of the query, also as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query(pub(super) Search);

impl Deref for Query {
    type Target = Search;

    fn deref(&self) -> &Search {
        &self.0
    }
}

impl Hash for Query {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let it = &self.0;
        (&it.expr, &it.phrase, it.names, it.context_lines).hash(state);
        (it.want, it.limit, it.uncounted, it.per_document).hash(state);
        (it.first_range, it.text).hash(state);
    }
}

impl Query {
    pub const CONTEXT_DEFAULT: u32 = 2;

    /// Checks an expression. Wants all matches.
    pub fn new(expr: Expr, context_lines: u32) -> Result<Query, BadQuery> {
        check(&expr, context_lines)?;
        // Neighbours in a change are no neighbours in the file.
        let has_context = !expr.is_of_history();
        Ok(Query(Search {
            expr: canonical(expr),
            context_lines: if has_context { context_lines } else { 0 },
            ..Search::default()
        }))
    }

    /// Leaves out paths as alternatives to patterns: finds only some of the matches.
    pub fn in_text(&self) -> Query {
        let mut query = self.clone();
        query.0.expr = canonical(in_text(&query.0.expr));
        query
    }

    /// Finds document names instead of lines.
    pub fn of_names(mut self) -> Query {
        self.0.names = true;
        self
    }

    /// Prefers lines that match these patterns, the best one first, then
    /// those with all words nearby.
    pub(super) fn preferring(mut self, phrase: Vec<Pattern>) -> Query {
        self.0.phrase = phrase;
        self
    }

    /// Wants the best `limit` matches or documents (0: all). A count has neither context nor limit.
    pub fn wanting(mut self, want: Want, limit: u64) -> Result<Query, BadQuery> {
        if limit > LIMIT_MAX {
            let bad = BadQuery::new(format!("a limit of {limit}, the maximum is {LIMIT_MAX}"));
            return Err(bad.hint("leave it out to find all; each page loads only its own matches"));
        }
        let is_count = matches!(want, Want::Count | Want::Estimate);
        if is_count && limit > 0 {
            return Err(BadQuery::new("a count cannot have a limit").hint("leave the limit out"));
        }
        (self.0.want, self.0.limit, self.0.text) = (want, limit, TextOrder::None);
        if is_count {
            self.0.context_lines = 0;
        }
        Ok(self)
    }

    /// Stops counting at the limit, which the query must have. The best matches are then often
    /// found without the others.
    pub fn uncounted(mut self) -> Result<Query, BadQuery> {
        if self.limit == 0 {
            let bad = BadQuery::new("total=estimate needs a limit");
            return Err(bad.hint("say with limit=N how many of the best matches are wanted"));
        }
        self.0.uncounted = true;
        Ok(self)
    }

    /// Finds the best documents, each with at most `matches` matches, one of them with its best
    /// score. Backends refuse it if it takes much work.
    ///
    /// Each backend finds its own best, so there may be more than `documents`; the first
    /// `documents` are the best of all.
    pub fn of_best_documents(self, documents: u64, matches: u32) -> Result<Query, BadQuery> {
        let mut query = self.wanting(Want::Matches, documents)?.uncounted()?;
        query.0.per_document = matches.max(1);
        Ok(query)
    }

    /// Finds only the first range of each match, which is cheaper. Matches and order stay the same.
    pub fn with_first_range(mut self) -> Query {
        self.0.first_range = true;
        self
    }

    /// Finds only text, `package/path:number:line`, best first or, with [`TextOrder::Found`], as
    /// found. Only `Renderer::text` and `SearchHandle::follow_text` read such a result, several
    /// times as fast. No context. No effect with a limit or for anything but matches.
    pub fn with_text(mut self, order: TextOrder) -> Query {
        let is_plain = self.limit == 0 && self.want == Want::Matches && !self.expr.is_of_history();
        self.0.text = if is_plain { order } else { TextOrder::None };
        self
    }

    /// True with a filter of revisions, which searches all indexed ones, not only the default ones.
    pub fn selects_revisions(&self) -> bool {
        self.expr.atoms().into_iter().any(|atom| {
            matches!(atom, Expr::Filter(filter)
                if matches!(filter.field, Field::Revision | Field::Branch))
        })
    }

    /// Longest directory, with its slash, that has every match because of
    /// filters like `path:^src/`.
    pub fn directory(&self) -> Option<Vec<u8>> {
        let selected = |factor: &Expr| match factor {
            Expr::Filter(Filter {
                field: Field::Path,
                reading: Reading::Regexp,
                text,
            }) => filter::selected_directory(text).map(String::into_bytes),
            _ => None,
        };
        let directories = self.expr.factors().iter().filter_map(selected);
        directories.max_by_key(Vec::len)
    }

    /// Revisions that have every match; empty if the query has patterns for them, or none.
    pub fn revisions(&self) -> Vec<String> {
        let revision = |filter: &Expr| match filter {
            Expr::Filter(Filter {
                field: Field::Revision | Field::Branch,
                reading: Reading::Exact,
                text,
            }) => Some(text.clone()),
            _ => None,
        };
        let factors = self.expr.factors().iter();
        let named = factors.map(|factor| match factor {
            Expr::Any(all) => all.iter().map(revision).collect(),
            one => Some(vec![revision(one)?]),
        });
        named.flatten().next().unwrap_or_default()
    }

    /// Number of best matches kept; 0: all.
    pub fn kept_matches(&self) -> u64 {
        // Backends already limit documents and matches.
        if self.per_document > 0 { 0 } else { self.limit }
    }

    /// Native text that parses to the same query, without context and `want`.
    pub fn interpreted_as(&self) -> String {
        render(&self.expr, self.names, self.limit)
    }

    /// Adds the filter's text to an atom's error, for callers without the typed query. Others
    /// [locate](super::ParsedQuery::locate) it.
    pub fn named(&self, bad: BadQuery) -> BadQuery {
        let atoms = self.expr.atoms();
        let filter = match bad.atom.and_then(|atom| atoms.get(atom)) {
            Some(Expr::Filter(filter)) => Some(filter.text.clone()),
            _ => bad.filter,
        };
        BadQuery { filter, ..bad }
    }

    /// Request of the query, without shards.
    pub fn search(&self) -> Search {
        let is_text = self.text != TextOrder::None;
        Search {
            context_lines: if is_text { 0 } else { self.context_lines },
            ..self.0.clone()
        }
    }

    pub fn of(search: Search) -> Result<Query, BadQuery> {
        let mut query = Query::new(search.expr, search.context_lines)?;
        query.0.phrase = search.phrase;
        query.0.names = search.names;
        query.0.first_range = search.first_range;
        let query = query.wanting(search.want, search.limit)?;
        let query = query.with_text(search.text);
        match search.per_document {
            0 if search.uncounted => query.uncounted(),
            0 => Ok(query),
            matches => query.of_best_documents(search.limit, matches),
        }
    }

    /// Encodes the query for versions with the same protocol.
    pub fn encode(&self) -> Vec<u8> {
        let mut frame = Vec::new();
        let encoded = self.0.encode(&mut frame);
        encoded.expect("the bounds of a query keep it below a frame's");
        frame
    }

    pub fn decode(bytes: &[u8]) -> Option<Query> {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
        let frame = frame::decode(&words.as_bytes()[..bytes.len()]).ok()??;
        let is_search = frame.kind == Kind::Search && frame.bytes == bytes.len();
        let search = Search::decode(frame.payload).ok().filter(|_| is_search)?;
        Query::of(search).ok()
    }

    /// Execution id for a scope and generation. Ids may collide: compare query and scope too.
    pub fn identity(&self, scope: &Scope, generation: &str) -> String {
        self.identity_for(scope.hash(), generation)
    }

    /// Like [`identity`](Self::identity), with the hash of a scope.
    pub fn identity_for(&self, scope: [u8; 16], generation: &str) -> String {
        let mut hasher = FnvHasher::default();
        // Hashed with their lengths, so neighbours stay apart.
        (scope, generation).hash(&mut hasher);
        self.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// Moves required filters to the end, sorted and deduplicated, so that their order does not matter.
fn canonical(expr: Expr) -> Expr {
    let factors = expr.factors().iter().cloned();
    let (mut filters, rest): (Vec<_>, Vec<_>) = factors.partition(Expr::is_filter);
    filters.sort_by_cached_key(filter_order);
    filters.dedup();
    Expr::all(rest.into_iter().chain(filters))
}

pub(super) fn filter_order(expr: &Expr) -> (Option<Field>, bool, String) {
    let first = match expr.atoms().first() {
        Some(Expr::Filter(filter)) => Some(filter.field),
        _ => None,
    };
    let is_negated = matches!(expr, Expr::Not(_));
    (first, is_negated, interpreted_as(expr))
}

pub(super) fn text_bytes(expr: &Expr) -> usize {
    let atoms = expr.atoms().into_iter();
    let bytes = atoms.map(|atom| match atom {
        Expr::Pattern(pattern) => pattern.text.len(),
        Expr::Filter(filter) => filter.text.len(),
        _ => 0,
    });
    bytes.sum()
}

fn check(expr: &Expr, context_lines: u32) -> Result<(), BadQuery> {
    let (atoms, bytes) = (expr.atoms(), text_bytes(expr));
    let depth = expr.depth();
    if bytes > QUERY_BYTES_MAX {
        return Err(BadQuery::too_long("the query", bytes, QUERY_BYTES_MAX));
    }
    if atoms.len() > ATOMS_MAX {
        return Err(BadQuery::too_many(atoms.len()));
    }
    if depth > DEPTH_MAX {
        return Err(BadQuery::too_deep(depth));
    }
    if context_lines > CONTEXT_LINES_MAX {
        let reason = format!("{context_lines} lines of context, the limit is {CONTEXT_LINES_MAX}");
        return Err(BadQuery::new(reason));
    }
    check_history(expr)?;
    atoms.into_iter().enumerate().try_for_each(|(index, atom)| {
        check_atom(atom).map_err(|bad| BadQuery {
            atom: Some(index),
            ..bad
        })
    })
}

fn check_history(expr: &Expr) -> Result<(), BadQuery> {
    let of_history = |atom: &Expr| match atom {
        Expr::Filter(it) => it.field > Field::Type,
        Expr::Pattern(it) => it.place.classes != 0 && it.place.classes & !CHANGES == 0,
        _ => false,
    };
    let atom = expr.atoms().into_iter().position(of_history);
    match atom.filter(|_| !expr.is_of_history()) {
        None => Ok(()),
        atom => Err(BadQuery {
            atom,
            ..BadQuery::new("a condition on commits in a search of files")
                .hint("add type:diff to search changes, or type:commit to search messages")
        }),
    }
}

fn check_atom(atom: &Expr) -> Result<(), BadQuery> {
    match atom {
        Expr::Filter(filter) => filter::check(filter),
        Expr::Pattern(pattern) if pattern.text.is_empty() => Err(BadQuery::empty()),
        Expr::Pattern(pattern) if pattern.syntax == Syntax::Regexp => check_syntax(&pattern.text),
        _ => Ok(()),
    }
}

/// Refuses an expression that documents satisfy by lacking something, at the first negated atom.
/// Filters alone may exclude.
pub(super) fn check_positive(expr: &Expr) -> Result<(), BadQuery> {
    if expr.patterns().is_empty() || is_positive(expr, false) {
        return Ok(());
    }
    let (subject, where_to) = match expr {
        Expr::Any(_) => ("an alternative", " to it"),
        _ => ("the query", ""),
    };
    let mut signs = Vec::new();
    signs_of_atoms(expr, false, &mut signs);
    Err(BadQuery {
        atom: signs.iter().position(|&negated| negated),
        ..BadQuery::new(format!("{subject} has only negated terms")).hint(format!(
            "add a term without -{where_to}; to search for text that begins with -, quote it: \"-x\""
        ))
    })
}

pub(super) fn is_positive(expr: &Expr, negated: bool) -> bool {
    match (expr, negated) {
        (Expr::Pattern(_) | Expr::Filter(_), _) => !negated,
        (Expr::All(parts), false) | (Expr::Any(parts), true) => {
            parts.iter().any(|part| is_positive(part, negated))
        }
        (Expr::All(parts), true) | (Expr::Any(parts), false) => {
            parts.iter().all(|part| is_positive(part, negated))
        }
        (Expr::Not(inner), _) => is_positive(inner, !negated),
        (Expr::Line(inner), false) => is_positive(inner, false),
        (Expr::Line(_), true) => false,
    }
}

fn signs_of_atoms(expr: &Expr, negated: bool, signs: &mut Vec<bool>) {
    match expr {
        Expr::Pattern(_) | Expr::Filter(_) => signs.push(negated),
        Expr::All(parts) | Expr::Any(parts) => {
            let parts = parts.iter();
            parts.for_each(|part| signs_of_atoms(part, negated, signs));
        }
        Expr::Not(inner) => signs_of_atoms(inner, !negated, signs),
        Expr::Line(inner) => signs_of_atoms(inner, negated, signs),
    }
}

fn in_text(expr: &Expr) -> Expr {
    let each = |parts: &[Expr]| parts.iter().map(in_text).collect::<Vec<_>>();
    let is_path = |part: &Expr| matches!(part, Expr::Filter(it) if it.field == Field::Path);
    match expr {
        Expr::All(parts) => Expr::all(each(parts)),
        Expr::Any(parts) if !parts.iter().all(is_path) => {
            let others = parts.iter().filter(|part| !is_path(part));
            Expr::any(others.map(in_text))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{QueryInput, selecting};

    fn directory(filter: &str) -> Option<String> {
        let typed = QueryInput {
            q: "x",
            filters: &[(Field::Path, filter)],
            ..QueryInput::default()
        };
        let directory = Query::parse(&typed).unwrap().query.directory();
        directory.map(|directory| String::from_utf8(directory).unwrap())
    }

    #[test]
    fn a_filter_selects_a_directory_only_if_it_is_one() {
        assert_eq!(directory("^src/a-b/").as_deref(), Some("src/a-b/"));
        for other in [
            "^src", "src/", "^a.b/", r"^\w/", "^a|b/", "^/", "^(?i)a/", r"^a/\\", "-^a/", "=a/",
        ] {
            assert_eq!(directory(other), None, "{other}");
        }
    }

    #[test]
    fn revisions_are_those_that_are_named() {
        let revisions = |q| {
            let typed = QueryInput {
                q,
                ..QueryInput::default()
            };
            Query::parse(&typed).unwrap().query.revisions()
        };
        assert_eq!(revisions("x rev:v1.0"), ["v1.0"]);
        assert_eq!(revisions("x (rev:a or branch:b)"), ["a", "b"]);
        for other in [
            "x",
            "x -rev:a",
            "x rev:v*",
            "x (rev:a or path:b)",
            "rev:a or x",
        ] {
            assert_eq!(revisions(other), [""; 0], "{other}");
        }
    }

    #[test]
    fn the_filter_that_selects_a_directory_is_read_as_such() {
        for name in [
            "src", "a b", "c++", "a.b/(x)", "[1]*?", r"a\b", "ü", "$x^", "{}|",
        ] {
            assert_eq!(directory(&selecting(name)), Some(format!("{name}/")));
        }
    }
}
