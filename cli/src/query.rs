//! A query from the command line: parsed here, and sent to a server as it was typed.
//!
//! There is one parser of queries, `frontend::query`. This module only collects what it needs from
//! the flags, and shows what it objects to.

mod flags;

pub(crate) use flags::QueryFlags;

use crate::exit;
use crate::terminal::escaped;
use frontend::query::filter;
use frontend::{BadQuery, Notice, ParsedQuery, Query, QueryInput};
use schema::message::{Expr, Field};
use std::process::ExitCode;

/// A query as it was typed, and its options.
pub(crate) struct TypedQuery<'a> {
    q: String,
    mode: &'static str,
    case: Option<&'static str>,
    word: bool,
    filters: Vec<(Field, &'a str)>,
    context: Option<String>,
    limit: Option<String>,
    want: Option<&'static str>,
}

/// A query that cannot be searched for, and its text.
pub(crate) struct RejectedQuery {
    q: String,
    bad: Box<BadQuery>,
}

impl<'a> TypedQuery<'a> {
    /// Returns the query of a command line.
    pub(crate) fn new(flags: &'a QueryFlags) -> Result<TypedQuery<'a>, RejectedQuery> {
        let query = |q: &str| TypedQuery {
            q: q.to_owned(),
            mode: flags.mode(),
            case: flags.case(),
            word: flags.word_regexp,
            filters: Vec::new(),
            context: None,
            limit: None,
            want: None,
        };
        let query = match (&flags.query, &flags.regexp[..]) {
            (Some(text), _) => query(text),
            (None, [regexp]) => query(regexp),
            (None, several) => any(several.iter().map(|regexp| query(regexp)))?,
        };
        let filters = flags.filters();
        Ok(TypedQuery { filters, ..query })
    }

    /// Asks for lines of context around each match.
    pub(crate) fn context(self, lines: u32) -> Self {
        let context = Some(lines.to_string());
        TypedQuery { context, ..self }
    }

    /// Asks for a kind of result (the name of a `schema::message::Want`) and for only the best matches.
    pub(crate) fn wanting(self, want: Option<&'static str>, limit: Option<u64>) -> Self {
        let limit = limit.map(|limit| limit.to_string());
        TypedQuery {
            want,
            limit,
            ..self
        }
    }

    /// Parses the query.
    pub(crate) fn parse(&self) -> Result<ParsedQuery, RejectedQuery> {
        let typed = QueryInput {
            q: &self.q,
            mode: Some(self.mode),
            case: self.case,
            word: self.word.then_some("yes"),
            context: self.context.as_deref(),
            want: self.want,
            limit: self.limit.as_deref(),
            filters: &self.filters,
        };
        Query::parse(&typed).map_err(|bad| self.rejected(bad))
    }

    /// Names and values of the API parameters for this query.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, &[u8])> {
        let options = [
            ("q", Some(&self.q[..])),
            ("mode", Some(self.mode)),
            ("case", self.case),
            ("word", self.word.then_some("yes")),
            ("context", self.context.as_deref()),
            ("want", self.want),
            ("limit", self.limit.as_deref()),
        ];
        let filters = self.filters.iter();
        let filters = filters.map(|(field, typed)| (filter::name(*field), Some(*typed)));
        options
            .into_iter()
            .chain(filters)
            .filter_map(|(name, value)| Some((name, value?.as_bytes())))
            .collect()
    }

    /// The rejection of this query by a backend or a server.
    pub(crate) fn rejected(&self, bad: BadQuery) -> RejectedQuery {
        let (q, bad) = (self.q.clone(), Box::new(bad));
        RejectedQuery { q, bad }
    }
}

/// A query for any of several. The API takes one query, so they are written as one in the language of
/// keywords.
fn any<'a>(
    alternatives: impl Iterator<Item = TypedQuery<'a>>,
) -> Result<TypedQuery<'a>, RejectedQuery> {
    let parsed = alternatives.map(|each| Ok(each.parse()?.query.expr().clone()));
    let parts: Vec<Expr> = parsed.collect::<Result<_, _>>()?;
    let query = Query::new(Expr::any(parts), 0).map_err(|bad| RejectedQuery {
        q: String::new(),
        bad: Box::new(bad),
    })?;
    Ok(TypedQuery {
        q: query.interpreted_as(),
        mode: "keyword",
        case: None,
        word: false,
        filters: Vec::new(),
        context: None,
        limit: None,
        want: None,
    })
}

impl RejectedQuery {
    /// Prints what is wrong with the query.
    pub(crate) fn report(&self) -> ExitCode {
        report_bad_query(&self.q, &self.bad)
    }
}

/// Prints what is wrong with a query: the reason, and the query, or the filter that is at fault, with a
/// caret below the place.
pub(crate) fn report_bad_query(query: &str, bad: &BadQuery) -> ExitCode {
    eprintln!("trawl: {}", escaped(&bad.reason));
    let query = bad.filter.as_deref().unwrap_or(query);
    if let Some(before) = bad.at.and_then(|at| query.get(..at)) {
        eprintln!("  {}", escaped(query));
        let width = escaped(before).chars().count();
        eprintln!("  {:width$}^", "");
    }
    if let Some(hint) = &bad.hint {
        eprintln!("{}", escaped(hint));
    }
    exit::error()
}

/// Prints how the query was understood where something else may have been meant.
pub(crate) fn report_notices(notices: &[Notice]) {
    for Notice { reason, hint, .. } in notices {
        match hint {
            Some(hint) => eprintln!("trawl: note: {}; {}", escaped(reason), escaped(hint)),
            None => eprintln!("trawl: note: {}", escaped(reason)),
        }
    }
}
