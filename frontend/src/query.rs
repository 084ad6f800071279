//! What the user typed, understood or refused.
//!
//! A query is an expression of patterns and filters, whether lines or names are found, what is wanted
//! of what matches and how much of it, and how many lines of context its matches carry. Page, page
//! size and grouping are not part of it: they are ways to look at its answer.
//!
//! There is one expression and several languages that are parsed to it: `native`, which is also the
//! one that queries are rendered in, whole strings as one pattern, and [`dcs`], that of Debian Code
//! Search. Whoever asks says which it is; it is never guessed. This is not the last judge of what
//! can be searched for: a backend's refusal arrives as a [`BadQuery`] too.
//!
//! **Invariant:** a [`Query`] has been checked; one that exists can be sent to a backend.

mod bad;
mod case;
mod check;
pub mod dcs;
pub mod filter;
mod keys;
pub(crate) mod lex;
mod limits;
mod native;
mod node;
mod options;
mod place;
mod render;
mod text;
mod typed;

pub use bad::{BadQuery, Notice};
pub(crate) use check::check_syntax;
pub use limits::{CONTEXT_LINES_MAX, LIMIT_MAX, Limit, QUERY_BYTES_MAX, TYPED_BYTES_MAX, limits};
pub use options::time;
pub(crate) use render::render;
pub use render::{quoted, slashed};
pub(crate) use text::SourceText;
pub use typed::{ParsedQuery, QueryInput};

use fnv::FnvHasher;
use schema::message::{Expr, Field, Search, Want};
use std::hash::{Hash, Hasher};

/// Who may see the answer. There is one scope until an authorization service says otherwise; it is
/// part of a run's identity so that answers never cross scopes then.
const SCOPE: &str = "public";

/// A query that is well formed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    expr: Expr,
    /// What is found of a document is its name.
    names: bool,
    context_lines: u32,
    want: Want,
    /// 0: all.
    limit: u64,
}

impl Query {
    /// Lines of context when nobody says otherwise.
    pub const CONTEXT_DEFAULT: u32 = 2;

    /// Checks an expression. All matches are wanted.
    pub fn new(expr: Expr, context_lines: u32) -> Result<Query, BadQuery> {
        check::check(&expr, context_lines)?;
        Ok(Query {
            expr: in_order(expr),
            names: false,
            context_lines,
            want: Want::Matches,
            limit: 0,
        })
    }

    /// The same, which finds names of documents, never lines.
    pub fn of_names(self) -> Query {
        Query {
            names: true,
            ..self
        }
    }

    /// The same, with another wish: only the best `limit` matches or documents, 0 for all. A count
    /// has neither lines of context nor a limit.
    pub fn wanting(self, want: Want, limit: u64) -> Result<Query, BadQuery> {
        if limit > LIMIT_MAX {
            return Err(
                BadQuery::new(format!("a limit of {limit}, the most is {LIMIT_MAX}"))
                    .hint("leave it out for all; pages take only what is on them"),
            );
        }
        let is_count = matches!(want, Want::Count | Want::Estimate);
        if is_count && limit > 0 {
            return Err(BadQuery::new("a count has no limit").hint("leave it out"));
        }
        Ok(Query {
            want,
            limit,
            context_lines: if is_count { 0 } else { self.context_lines },
            ..self
        })
    }

    /// What is searched for.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// Whether what is found of a document is its name, never a line.
    pub fn names(&self) -> bool {
        self.names
    }

    /// Lines of context before and after each match.
    pub fn context_lines(&self) -> u32 {
        self.context_lines
    }

    /// What is wanted of what matches.
    pub fn want(&self) -> Want {
        self.want
    }

    /// How many of the best matches or documents are wanted; 0: all.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The query as it was understood, in the language of this program, which understands it the
    /// same. Lines of context, and what is wanted of what is found, are not in it.
    pub fn interpreted_as(&self) -> String {
        render(&self.expr, self.names, self.limit)
    }

    /// The fault of an atom with the text of the filter that it is about: for those who do not know
    /// what was typed. Others [locate](ParsedQuery::locate) it.
    pub(crate) fn named(&self, bad: BadQuery) -> BadQuery {
        let atoms = self.expr.atoms();
        let filter = match bad.atom.and_then(|atom| atoms.get(atom)) {
            Some(Expr::Filter(filter)) => Some(filter.text.clone()),
            _ => bad.filter,
        };
        BadQuery { filter, ..bad }
    }

    /// What backends are asked, but for shards and deadline.
    pub(crate) fn search(&self) -> Search {
        Search {
            expr: self.expr.clone(),
            names: self.names,
            context_lines: self.context_lines,
            want: self.want,
            limit: self.limit,
            ..Search::default()
        }
    }

    /// The query that asks this.
    pub(crate) fn of(search: Search) -> Result<Query, BadQuery> {
        let query = Query::new(search.expr, search.context_lines)?;
        let query = match search.names {
            true => query.of_names(),
            false => query,
        };
        query.wanting(search.want, search.limit)
    }

    /// Names the run of this query over one generation. A name, not a proof: whoever finds a run
    /// under it compares the query as well.
    pub fn identity(&self, generation: &str) -> String {
        let mut hasher = FnvHasher::default();
        // Lengths are part of what `Hash` of strings and lists gives, so no two run together.
        (SCOPE, generation).hash(&mut hasher);
        self.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// The same expression, with the conditions that must all hold, and in which there is no pattern,
/// last, in order and each once: whoever types them in another order asks the same.
fn in_order(expr: Expr) -> Expr {
    let factors = expr.factors().iter().cloned();
    let (mut conditions, rest): (Vec<_>, Vec<_>) = factors.partition(Expr::is_filter);
    conditions.sort_by_cached_key(order);
    conditions.dedup();
    Expr::all(rest.into_iter().chain(conditions))
}

/// What filters, and what is made of them, are sorted by.
fn order(expr: &Expr) -> (Option<Field>, bool, String) {
    let first = match expr.atoms().first() {
        Some(Expr::Filter(filter)) => Some(filter.field),
        _ => None,
    };
    let is_negated = matches!(expr, Expr::Not(_));
    (first, is_negated, render(expr, false, 0))
}

#[cfg(test)]
mod property;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod tests;
