//! A query's fields as they were typed, and what is made of them.

use super::case::Case;
use super::limits::{CONTEXT_LINES_MAX, LIMIT_MAX, TYPED_BYTES_MAX};
use super::native::{self, Native};
use super::node::{Defaults, Node, Term, joined};
use super::options::{Options, yes_or_no};
use super::place::Places;
use super::{BadQuery, Notice, Query, SourceText, check};
use crate::query::filter;
use schema::message::{Expr, Field, Syntax, Want};
use std::time::Duration;

/// A query's fields as they were typed; `None` stands for the field's default. What the query itself
/// says, in [`q`](Self::q), goes before.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryInput<'a> {
    /// The query.
    pub q: &'a str,
    /// `keyword` (the default): in the language of this program; `literal` or `regexp`: one pattern,
    /// spaces included.
    pub mode: Option<&'a str>,
    /// `yes`: upper and lower case differ; `no`: they do not; `auto`: they do in patterns with an
    /// upper case letter. The default is `auto` of keywords, and else `yes`.
    pub case: Option<&'a str>,
    /// `yes`: patterns are whole words; `no` (the default).
    pub word: Option<&'a str>,
    /// Lines of context.
    pub context: Option<&'a str>,
    /// `matches` (the default), `documents` or `count`.
    pub want: Option<&'a str>,
    /// How many of the best are wanted; 0 (the default): all.
    pub limit: Option<&'a str>,
    /// Filters, as [`filter::parse`] takes them; like those of the query that are repeated, they must
    /// all hold, but for those of which a document can satisfy but one.
    pub filters: &'a [(Field, &'a str)],
}

/// What was understood of what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The query.
    pub query: Query,
    /// How long it may take, when that was typed too.
    pub timeout: Option<Duration>,
    /// What may have been meant otherwise.
    pub notices: Vec<Notice>,
    pub(super) places: Places,
}

impl ParsedQuery {
    /// A backend's refusal, which says which pattern or filter it is about, with the place in what
    /// was typed. Others stay as they are.
    pub fn locate(&self, bad: BadQuery) -> BadQuery {
        self.places.locate(self.query.expr(), bad)
    }

    /// Checks an expression, and says of its faults where they were typed.
    pub(super) fn new(
        expr: Expr,
        context_lines: u32,
        places: Places,
    ) -> Result<ParsedQuery, BadQuery> {
        match Query::new(expr.clone(), context_lines) {
            Ok(query) => Ok(ParsedQuery {
                query,
                timeout: None,
                notices: Vec::new(),
                places,
            }),
            Err(bad) => Err(places.locate(&expr, bad)),
        }
    }
}

impl Query {
    /// Parses what was typed.
    pub fn parse(typed: &QueryInput<'_>) -> Result<ParsedQuery, BadQuery> {
        if typed.q.len() > TYPED_BYTES_MAX {
            let bytes = typed.q.len();
            let reason = format!("a query of {bytes} bytes, the most is {TYPED_BYTES_MAX}");
            return Err(BadQuery::new(reason));
        }
        let native = typed.native()?;
        let options = native.options;
        let defaults = typed.defaults(&options)?;
        let mut places = Places::default();
        let mut parts = Vec::new();
        parts.extend(
            native
                .node
                .map(|node| node.into_expr(defaults, &mut places)),
        );
        for &(field, typed) in typed.filters {
            parts.push(parameter(field, typed, &mut places)?);
        }
        if parts.is_empty() {
            return Err(check::empty());
        }
        let expr = joined(parts);
        check::check_positive(&expr).map_err(|bad| places.locate(&expr, bad))?;
        let context_lines = match options.context_lines {
            Some(lines) => lines,
            None => typed.context_lines()?,
        };
        let limit = options.count.map_or_else(|| typed.limit(), Ok)?;
        let parsed = ParsedQuery::new(expr, context_lines, places)?;
        let query = match defaults.names {
            true => parsed.query.of_names(),
            false => parsed.query,
        };
        Ok(ParsedQuery {
            query: query.wanting(typed.want()?, limit)?,
            timeout: options.timeout,
            notices: native.notices,
            ..parsed
        })
    }
}

impl QueryInput<'_> {
    /// The query, taken apart as its mode says.
    fn native(&self) -> Result<Native, BadQuery> {
        let whole = |syntax, text: SourceText| Native {
            node: (!text.is_empty()).then(|| {
                Node::Pattern(Term {
                    text,
                    syntax,
                    flags: Default::default(),
                    in_text: false,
                })
            }),
            options: Options::default(),
            notices: Vec::new(),
        };
        match self.mode {
            None | Some("keyword") => native::parse(self.q),
            Some("literal") => Ok(whole(Syntax::Literal, SourceText::plain(self.q))),
            Some("regexp") => Ok(whole(
                Syntax::Regexp,
                SourceText::plain(self.q).into_regexp(),
            )),
            Some(other) => {
                let what = format!("mode={other}");
                Err(BadQuery::unknown(&what, "keyword, literal or regexp"))
            }
        }
    }

    fn defaults(&self, options: &Options) -> Result<Defaults, BadQuery> {
        let case = match self.mode {
            None | Some("keyword") => Case::Auto,
            _ => Case::Yes,
        };
        let word = self.word.unwrap_or("no");
        let word = yes_or_no(word)
            .ok_or_else(|| BadQuery::unknown(&format!("word={word}"), "yes or no"))?;
        Ok(Defaults {
            case: options.case.unwrap_or(Case::typed(self.case, case)?),
            word: options.word.unwrap_or(word),
            names: options.names.unwrap_or_default(),
        })
    }

    fn context_lines(&self) -> Result<u32, BadQuery> {
        let Some(number) = self.context else {
            return Ok(Query::CONTEXT_DEFAULT);
        };
        number.parse().map_err(|_| {
            let expected = format!("a number from 0 to {CONTEXT_LINES_MAX}");
            BadQuery::unknown(&format!("context={number}"), &expected)
        })
    }

    fn want(&self) -> Result<Want, BadQuery> {
        match self.want {
            None | Some("matches") => Ok(Want::Matches),
            Some("documents") => Ok(Want::Documents),
            Some("count") => Ok(Want::Count),
            Some(other) => {
                let what = format!("want={other}");
                Err(BadQuery::unknown(&what, "matches, documents or count"))
            }
        }
    }

    fn limit(&self) -> Result<u64, BadQuery> {
        let Some(number) = self.limit else {
            return Ok(0);
        };
        number.parse().map_err(|_| {
            let expected = format!("a number from 0 (all) to {LIMIT_MAX}");
            BadQuery::unknown(&format!("limit={number}"), &expected)
        })
    }
}

/// A filter that stands beside the query.
fn parameter(field: Field, typed: &str, places: &mut Places) -> Result<Expr, BadQuery> {
    let (filter, text, negated) = filter::parse_alone(field, typed)?;
    let filter = Expr::Filter(filter);
    places.add_parameter(filter.clone(), text, typed);
    Ok(if negated { filter.negated() } else { filter })
}
