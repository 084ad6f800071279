//! What is asked, as a query: the one parser for all, and what only a command line can say.

use super::arguments::{Asked, Filters, Mode};
use frontend::{BadQuery, Notice, Parsed, Query, Typed};
use schema::message::{Expr, Field};

/// A query that cannot be searched for, and the text that is at fault.
pub(crate) struct Refused {
    pub(crate) text: String,
    pub(crate) bad: BadQuery,
}

/// What else a command line says of a query.
#[derive(Default)]
pub(crate) struct Wish<'a> {
    pub(crate) context: u32,
    pub(crate) limit: Option<u64>,
    pub(crate) want: Option<&'a str>,
}

/// Parses what was asked.
pub(crate) fn parse(asked: &Asked, filters: &Filters, wish: &Wish<'_>) -> Result<Parsed, Refused> {
    let (mode, case) = (mode_name(asked.mode()), case(asked));
    let texts: Vec<&str> = match &asked.query {
        Some(query) => vec![query],
        None => asked.regexp.iter().map(|text| &text[..]).collect(),
    };
    if let ([text], false) = (&texts[..], asked.word_regexp) {
        return parse_with(text, mode, case, filters, wish);
    }
    // What has no parameter is said in the language that every query can be written in.
    let (mut alternatives, mut notices) = (Vec::new(), Vec::new());
    let alone = Filters::default();
    for text in texts {
        let parsed = parse_with(text, mode, case, &alone, &Wish::default())?;
        alternatives.push(match asked.word_regexp {
            true => of_words(parsed.query.expr().clone()),
            false => parsed.query.expr().clone(),
        });
        notices.extend(parsed.notices);
    }
    let any = Query::new(Expr::any(alternatives), 0).map_err(|bad| Refused {
        text: String::new(),
        bad,
    })?;
    let parsed = parse_with(&any.interpreted_as(), "keyword", None, filters, wish)?;
    Ok(Parsed { notices, ..parsed })
}

fn parse_with(
    q: &str,
    mode: &str,
    case: Option<&str>,
    filters: &Filters,
    wish: &Wish<'_>,
) -> Result<Parsed, Refused> {
    let (context, limit) = (wish.context.to_string(), wish.limit.map(|n| n.to_string()));
    let typed = Typed {
        q,
        mode: Some(mode),
        case,
        context: Some(&context),
        want: wish.want,
        limit: limit.as_deref(),
        filters: &filters.typed(),
    };
    Query::parse(&typed).map_err(|bad| Refused {
        text: q.to_owned(),
        bad,
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

/// The same, with patterns that match whole words.
fn of_words(expr: Expr) -> Expr {
    match expr {
        Expr::Pattern(mut pattern) => {
            pattern.word |= !pattern.in_path;
            Expr::Pattern(pattern)
        }
        Expr::Filter(filter) => Expr::Filter(filter),
        Expr::All(parts) => Expr::all(parts.into_iter().map(of_words)),
        Expr::Any(parts) => Expr::any(parts.into_iter().map(of_words)),
        Expr::Not(inner) => of_words(*inner).negated(),
        Expr::Line(inner) => Expr::Line(Box::new(of_words(*inner))),
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

/// Shows what may have been meant otherwise.
pub(crate) fn report_notices(notices: &[Notice]) {
    use crate::terminal::harmless;
    for Notice { reason, hint, .. } in notices {
        let hint = hint
            .as_ref()
            .map_or(String::new(), |hint| format!("; {hint}"));
        eprintln!(
            "trawl: note: {}",
            harmless(format!("{reason}{hint}").as_bytes())
        );
    }
}
