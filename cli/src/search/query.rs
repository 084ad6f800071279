//! What is asked, for the one parser of all and for a server alike: nothing is understood twice.

use super::arguments::{Asked, Filters, Mode};
use crate::terminal;
use frontend::query::filter;
use frontend::{BadQuery, Notice, ParsedQuery, Query, QueryInput};
use schema::message::{Expr, Field};
use std::process::ExitCode;

/// A query as it was typed, with what is said beside it.
pub(crate) struct Question<'a> {
    q: String,
    mode: &'static str,
    case: Option<&'static str>,
    word: bool,
    filters: Vec<(Field, &'a str)>,
    context: Option<u32>,
    limit: Option<u64>,
    want: Option<&'static str>,
}

/// A query that cannot be searched for, and the text that is at fault.
pub(crate) struct Refused {
    q: String,
    bad: Box<BadQuery>,
}

impl<'a> Question<'a> {
    /// The question of a command line; of several regular expressions, for any of them.
    pub(crate) fn new(asked: &Asked, filters: &'a Filters) -> Result<Question<'a>, Refused> {
        let alone = |q: &str, filters| Question {
            q: q.to_owned(),
            mode: mode_name(asked.mode()),
            case: case(asked),
            word: asked.word_regexp,
            filters,
            context: None,
            limit: None,
            want: None,
        };
        match (&asked.query, &asked.regexp[..]) {
            (Some(query), _) => Ok(alone(query, filters.typed())),
            (None, [regexp]) => Ok(alone(regexp, filters.typed())),
            (None, several) => {
                let each = several.iter().map(|regexp| alone(regexp, Vec::new()));
                any(each, filters.typed())
            }
        }
    }

    /// With lines of context around each match.
    pub(crate) fn context(self, lines: u32) -> Self {
        let context = Some(lines);
        Question { context, ..self }
    }

    /// With a wish for what is found: the name of a `Want`, and how many of the best.
    pub(crate) fn wanting(self, want: Option<&'static str>, limit: Option<u64>) -> Self {
        Question {
            want,
            limit,
            ..self
        }
    }

    pub(crate) fn parse(&self) -> Result<ParsedQuery, Refused> {
        let [context, limit] = self.numbers();
        let typed = QueryInput {
            q: &self.q,
            mode: Some(self.mode),
            case: self.case,
            word: self.word.then_some("yes"),
            context: context.as_deref(),
            want: self.want,
            limit: limit.as_deref(),
            filters: &self.filters,
        };
        Query::parse(&typed).map_err(|bad| self.refused(bad))
    }

    /// Names and values of the parameters with which a server is asked the same.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, Vec<u8>)> {
        let [context, limit] = self.numbers();
        let said = [
            ("case", self.case),
            ("word", self.word.then_some("yes")),
            ("context", context.as_deref()),
            ("want", self.want),
            ("limit", limit.as_deref()),
        ];
        let said = said
            .iter()
            .filter_map(|(name, value)| Some((*name, (*value)?)));
        let filters = self
            .filters
            .iter()
            .map(|(field, typed)| (filter::name(*field), *typed));
        [("q", &self.q[..]), ("mode", self.mode)]
            .into_iter()
            .chain(said)
            .chain(filters)
            .map(|(name, value)| (name, value.as_bytes().to_vec()))
            .collect()
    }

    /// A backend's refusal, or a server's.
    pub(crate) fn refused(&self, bad: BadQuery) -> Refused {
        let (q, bad) = (self.q.clone(), Box::new(bad));
        Refused { q, bad }
    }

    fn numbers(&self) -> [Option<String>; 2] {
        let context = self.context.map(|lines| lines.to_string());
        [context, self.limit.map(|limit| limit.to_string())]
    }
}

/// What has no parameter, in the language in which every query can be written.
fn any<'a>(
    alternatives: impl Iterator<Item = Question<'a>>,
    filters: Vec<(Field, &'a str)>,
) -> Result<Question<'a>, Refused> {
    let parsed = alternatives.map(|each| Ok(each.parse()?.query.expr().clone()));
    let parts: Vec<Expr> = parsed.collect::<Result<_, _>>()?;
    let query = Query::new(Expr::any(parts), 0).map_err(|bad| Refused {
        q: String::new(),
        bad: Box::new(bad),
    })?;
    Ok(Question {
        q: query.interpreted_as(),
        mode: mode_name(Mode::Keyword),
        case: None,
        word: false,
        filters,
        context: None,
        limit: None,
        want: None,
    })
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Keyword => "keyword",
        Mode::Literal => "literal",
        Mode::Regexp => "regexp",
    }
}

fn case(asked: &Asked) -> Option<&'static str> {
    match asked {
        Asked {
            ignore_case: true, ..
        } => Some("no"),
        Asked {
            case_sensitive: true,
            ..
        } => Some("yes"),
        Asked {
            smart_case: true, ..
        } => Some("auto"),
        _ => None,
    }
}

impl Filters {
    fn typed(&self) -> Vec<(Field, &str)> {
        let each = [
            (Field::Package, &self.package),
            (Field::Path, &self.path),
            (Field::Language, &self.lang),
        ];
        each.into_iter()
            .flat_map(|(field, typed)| typed.iter().map(move |text| (field, &text[..])))
            .collect()
    }
}

impl Refused {
    /// Shows the query, or the filter that is at fault, with a caret under the place.
    pub(crate) fn report(&self) -> ExitCode {
        report_bad_query(&self.q, &self.bad)
    }
}

/// See [`Refused::report`].
pub(crate) fn report_bad_query(query: &str, bad: &BadQuery) -> ExitCode {
    eprintln!("trawl: {}", terminal::harmless(bad.reason.as_bytes()));
    let query = bad.filter.as_deref().unwrap_or(query);
    if let Some(before) = bad.at.and_then(|at| query.get(..at)) {
        eprintln!("  {}", terminal::harmless(query.as_bytes()));
        let width = terminal::harmless(before.as_bytes()).chars().count();
        eprintln!("  {:width$}^", "");
    }
    if let Some(hint) = &bad.hint {
        eprintln!("{}", terminal::harmless(hint.as_bytes()));
    }
    ExitCode::from(crate::ERROR)
}

/// Says what may have been meant otherwise.
pub(crate) fn report_notices(notices: &[Notice]) {
    for Notice { reason, hint, .. } in notices {
        let hint = hint
            .as_ref()
            .map_or(String::new(), |hint| format!("; {hint}"));
        let said = format!("{reason}{hint}");
        eprintln!("trawl: note: {}", terminal::harmless(said.as_bytes()));
    }
}
