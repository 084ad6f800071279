//! Suggestions for a search without a match: the query without one part, in any case, as text, or
//! with a similar spelling; and unknown names of packages.
//!
//! Concurrent searches under one time limit count their matches; uncounted suggestions are dropped.

use super::form::{Form, FormFilter};
use super::parts::{self, Origin, QueryPart};
use super::visible;
use crate::search::choice::{Case, Mode};
use crate::state::App;
use crate::suggest::{near_packages, near_words};
use frontend::query::{ParsedQuery, Query};
use frontend::{Scope, SearchRequest, SearchResult};
use futures_util::future::join_all;
use schema::message::{Expr, Field, Filter, Pattern, Want};
use std::time::Duration;
use tokio::time::timeout;

const QUERIES_MAX: usize = 8;

const WORDS_MAX: usize = 2;

const PACKAGES_MAX: usize = 3;

/// Time limit of all suggestions together.
const TIME_MAX: Duration = Duration::from_millis(400);

#[derive(Clone, Debug, Default)]
pub(super) struct NothingFound {
    /// Names in filters without a visible package.
    pub(super) unknown: Vec<UnknownPackage>,
    pub(super) spellings: Vec<OtherQuery>,
    pub(super) others: Vec<OtherQuery>,
}

#[derive(Clone, Debug)]
pub(super) struct OtherQuery {
    /// Difference, as words before `part`.
    pub(super) change: Change,
    pub(super) part: String,
    pub(super) href: String,
    pub(super) found: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Without,
    AsText,
    AnyCase,
    PartsOfWords,
    Mode(Mode),
    Spelling,
}

#[derive(Clone, Debug)]
pub(super) struct UnknownPackage {
    pub(super) name: String,
    /// Names, with the addresses of the query in these packages.
    pub(super) similar: Vec<(String, String)>,
}

impl Change {
    pub(super) fn words(self) -> &'static str {
        match self {
            Change::Without => "without",
            Change::AsText => "with the text",
            Change::AnyCase => "in upper or lower case",
            Change::PartsOfWords => "also as parts of words",
            Change::Mode(Mode::Keyword) => "as words and filters",
            Change::Mode(Mode::Literal) => "as exact text",
            Change::Mode(Mode::Regexp) => "as a regular expression",
            Change::Spelling => "with the spelling",
        }
    }
}

impl NothingFound {
    /// Suggestions for a query, if its complete answer has no match.
    pub(super) async fn of(
        app: &App,
        scope: &Scope,
        client: u64,
        (form, parsed): (&Form, &ParsedQuery),
        answer: &SearchResult,
    ) -> Option<NothingFound> {
        if answer.found() > 0 || !answer.is_complete() {
            return None;
        }
        let parts = parts::parts(form, parsed);
        let others = candidates(form, &parts).into_iter().take(QUERIES_MAX);
        let others = others.map(|other| counted(app, scope, client, other));
        let words = parts
            .iter()
            .filter_map(|part| Some((part, word(form, part)?)));
        let spellings = words.take(WORDS_MAX);
        let spellings =
            spellings.map(|(part, word)| spellings_of(app, scope, client, (form, part), word));
        let packages = parts
            .iter()
            .filter_map(|part| Some((part, package(form, part)?)));
        let unknown = packages.take(PACKAGES_MAX);
        let unknown = unknown.map(|(part, it)| unknown_package(app, scope, client, part, it));
        let (others, unknown, spellings) =
            tokio::join!(join_all(others), join_all(unknown), join_all(spellings));
        Some(NothingFound {
            unknown: unknown.into_iter().flatten().collect(),
            spellings: spellings.into_iter().flatten().collect(),
            others: others.into_iter().flatten().collect(),
        })
    }
}

fn candidates(form: &Form, parts: &[QueryPart]) -> Vec<(Change, String, Form)> {
    let mut all = Vec::new();
    let first = Form {
        run: None,
        ..form.clone()
    };
    for part in parts {
        if let (Origin::Term(term), "filter") = (&part.origin, part.meaning) {
            let typed = form.q.get(term.clone()).unwrap_or_default();
            let mut q = form.q.clone();
            q.replace_range(term.clone(), &quoted(typed));
            all.push((
                Change::AsText,
                typed.to_owned(),
                Form { q, ..first.clone() },
            ));
        }
        if let Some(without) = &part.without {
            all.push((Change::Without, part.text.clone(), without.clone()));
        }
    }
    if form.word {
        let form = Form {
            word: false,
            ..first.clone()
        };
        all.push((Change::PartsOfWords, String::new(), form));
    }
    let has_capital = form.q.chars().any(char::is_uppercase);
    if form.case == Some(Case::Yes)
        || (form.case.is_none() && (has_capital || form.mode != Mode::Keyword))
    {
        let form = Form {
            case: Some(Case::No),
            ..first.clone()
        };
        all.push((Change::AnyCase, String::new(), form));
    }
    for &mode in other_modes(form) {
        let form = Form {
            mode,
            ..first.clone()
        };
        all.push((Change::Mode(mode), String::new(), form));
    }
    all
}

/// Other modes, without those that find the same.
fn other_modes(form: &Form) -> &'static [Mode] {
    const METACHARACTERS: [char; 14] = [
        '\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$',
    ];
    match form.mode {
        Mode::Keyword if form.q.contains(METACHARACTERS) => &[Mode::Regexp],
        // The text of each filter is searched already.
        Mode::Keyword => &[],
        Mode::Literal => &[Mode::Keyword, Mode::Regexp],
        Mode::Regexp => &[Mode::Keyword, Mode::Literal],
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

async fn counted(
    app: &App,
    scope: &Scope,
    client: u64,
    (change, part, form): (Change, String, Form),
) -> Option<OtherQuery> {
    let found = count(app, scope, client, &form).await?;
    (found > 0).then(|| OtherQuery {
        change,
        part,
        href: form.href(0),
        found,
    })
}

fn word(form: &Form, part: &QueryPart) -> Option<Pattern> {
    let Origin::Term(term) = &part.origin else {
        return None;
    };
    if part.meaning == parts::EXCLUDED {
        return None;
    }
    let alone = parts::with_text(form, form.q.get(term.clone())?);
    match &parts::parse(&alone).ok()?.query.expr {
        Expr::Pattern(pattern) => Some(pattern.clone()),
        _ => None,
    }
}

async fn spellings_of(
    app: &App,
    scope: &Scope,
    client: u64,
    (form, part): (&Form, &QueryPart),
    word: Pattern,
) -> Vec<OtherQuery> {
    let Origin::Term(term) = &part.origin else {
        return Vec::new();
    };
    let others = near_words(&app.coordinator, scope, client, &word)
        .await
        .into_iter();
    let others = others.map(|near| {
        let mut q = form.q.clone();
        q.replace_range(term.clone(), &near);
        let form = Form {
            q,
            run: None,
            ..form.clone()
        };
        counted(app, scope, client, (Change::Spelling, near, form))
    });
    join_all(others).await.into_iter().flatten().collect()
}

/// `None` on a timeout.
async fn count(app: &App, scope: &Scope, client: u64, form: &Form) -> Option<u64> {
    let query = parts::parse(form).ok()?.query;
    count_query(app, scope, client, query).await
}

async fn count_query(app: &App, scope: &Scope, client: u64, query: Query) -> Option<u64> {
    let query = query.wanting(Want::Count, 0).ok()?;
    let request = SearchRequest {
        client: client.into(),
        timeout: Some(TIME_MAX),
        ..SearchRequest::new(scope, query)
    };
    let counted = async {
        let search = app.coordinator.search(request);
        search.await.ok()?.finished().await.ok()
    };
    let answer = timeout(TIME_MAX, counted).await.ok()??;
    answer.is_complete().then(|| answer.found())
}

/// Filter by package, if the part is one.
fn package(form: &Form, part: &QueryPart) -> Option<Filter> {
    let alone = match &part.origin {
        Origin::Term(term) => parts::with_text(form, form.q.get(term.clone())?),
        Origin::Parameter(index) => Form {
            filters: vec![form.filters.get(*index)?.clone()],
            ..parts::with_text(form, "")
        },
    };
    match &parts::parse(&alone).ok()?.query.expr {
        Expr::Filter(filter) if filter.field == Field::Package => Some(filter.clone()),
        _ => None,
    }
}

async fn unknown_package(
    app: &App,
    scope: &Scope,
    client: u64,
    part: &QueryPart,
    filter: Filter,
) -> Option<UnknownPackage> {
    let name = filter
        .text
        .trim_start_matches('^')
        .trim_end_matches('$')
        .to_owned();
    let all = Query::new(Expr::Filter(filter), 0).ok()?;
    if count_query(app, scope, client, all).await? > 0 {
        return None;
    }
    let similar = timeout(
        TIME_MAX,
        near_packages(&app.coordinator, scope, name.as_bytes()),
    )
    .await;
    let similar = similar.ok().and_then(Result::ok).unwrap_or_default();
    let link = |similar: Vec<u8>| {
        let similar = String::from_utf8(similar).ok()?;
        let mut form = part.without.clone()?;
        form.filters.push(FormFilter {
            name: "package",
            typed: format!("={similar}"),
        });
        Some((similar, form.href(0)))
    };
    Some(UnknownPackage {
        similar: similar.into_iter().filter_map(link).collect(),
        name: visible::plain(name.as_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: &Form, expected: &[(Change, &str, &str)]) {
        let parts = parts::parts(form, &parts::parse(form).unwrap());
        let found = candidates(form, &parts);
        let found: Vec<_> = (found.iter())
            .map(|(change, part, form)| (*change, &part[..], &form.q[..]))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_looks_like_a_filter_is_also_searched_for_as_text() {
        let form = Form {
            q: "socket lang:c".to_owned(),
            ..Form::default()
        };
        let expected = [
            (Change::Without, "socket", "lang:c"),
            (Change::AsText, "lang:c", "socket \"lang:c\""),
            (Change::Without, "lang:c", "socket"),
        ];
        check(&form, &expected);
    }

    #[test]
    fn words_and_case_that_are_asked_for_are_left_out() {
        let form = Form {
            q: "Socket".to_owned(),
            word: true,
            ..Form::default()
        };
        let expected = [
            (Change::PartsOfWords, "", "Socket"),
            (Change::AnyCase, "", "Socket"),
        ];
        check(&form, &expected);
    }
}
