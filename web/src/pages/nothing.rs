//! Suggestions for a search without a match: the query without one part, in any case, as text, or
//! with a similar spelling; and unknown names of packages.
//!
//! Concurrent searches under one time limit count their matches; uncounted suggestions are dropped.

use super::form::{Form, FormFilter};
use super::parts::{self, Origin, QueryPart};
use super::visible;
use crate::search::choice::{Case, Mode};
use crate::suggest::Corpus;
use frontend::query::{ParsedQuery, Query};
use frontend::{SearchRequest, SearchResult};
use futures_util::future::join_all;
use schema::message::{Expr, Field, Filter, Pattern, Want};
use std::ops::Range;
use std::time::Duration;
use tokio::time::timeout;

const QUERIES_MAX: usize = 8;

const WORDS_MAX: usize = 2;

const PACKAGES_MAX: usize = 3;

const WITHOUT: &str = "without";
const AS_TEXT: &str = "with the text";
const ANY_CASE: &str = "in upper or lower case";
const PARTS_OF_WORDS: &str = "also as parts of words";

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
    pub(super) change: &'static str,
    pub(super) part: String,
    pub(super) href: String,
    pub(super) found: u64,
}

#[derive(Clone, Debug)]
pub(super) struct UnknownPackage {
    pub(super) name: String,
    /// Names, with the addresses of the query in these packages.
    pub(super) similar: Vec<(String, String)>,
}

#[derive(Clone, Copy)]
pub(super) struct Suggester<'a> {
    pub(super) corpus: Corpus<'a>,
    pub(super) client: u64,
    pub(super) form: &'a Form,
}

impl Suggester<'_> {
    /// Suggestions for the query, if its complete answer has no match.
    pub(super) async fn suggest(
        self,
        parsed: &ParsedQuery,
        answer: &SearchResult,
    ) -> Option<NothingFound> {
        if answer.found() > 0 || !answer.is_complete() {
            return None;
        }
        let form = self.form;
        let parts = parts::parts(form, parsed);
        let others = candidates(form, &parts).into_iter().take(QUERIES_MAX);
        let others = others.map(|other| self.counted(other));
        let words = parts.iter().filter_map(|part| word(form, part));
        let spellings = words.take(WORDS_MAX);
        let spellings = spellings.map(|(term, word)| self.spellings_of(term, word));
        let packages = parts.iter();
        let packages = packages.filter_map(|part| Some((part, package(form, part)?)));
        let unknown = packages.take(PACKAGES_MAX);
        let unknown = unknown.map(|(part, filter)| self.unknown_package(part, filter));
        let (others, unknown, spellings) =
            tokio::join!(join_all(others), join_all(unknown), join_all(spellings));
        Some(NothingFound {
            unknown: unknown.into_iter().flatten().collect(),
            spellings: spellings.into_iter().flatten().collect(),
            others: others.into_iter().flatten().collect(),
        })
    }

    /// `None` without matches, and on a timeout.
    async fn counted(
        self,
        (change, part, form): (&'static str, String, Form),
    ) -> Option<OtherQuery> {
        let found = self.count(parts::parse(&form).ok()?.query).await?;
        (found > 0).then(|| OtherQuery {
            change,
            part,
            href: form.href(0),
            found,
        })
    }

    async fn count(self, query: Query) -> Option<u64> {
        let query = query.wanting(Want::Count, 0).ok()?;
        let request = SearchRequest {
            client: self.client.into(),
            timeout: Some(TIME_MAX),
            ..SearchRequest::new(self.corpus.scope, query)
        };
        let counted = async {
            let search = self.corpus.coordinator.search(request);
            search.await.ok()?.finished().await.ok()
        };
        let answer = timeout(TIME_MAX, counted).await.ok()??;
        answer.is_complete().then(|| answer.found())
    }

    async fn spellings_of(self, term: Range<usize>, word: Pattern) -> Vec<OtherQuery> {
        let Corpus { coordinator, scope } = self.corpus;
        let others = coordinator.near_words(scope, self.client, &word).await;
        let others = others.into_iter().map(|near| {
            let form = with_term(self.form, &term, &near);
            self.counted(("with the spelling", near, form))
        });
        join_all(others).await.into_iter().flatten().collect()
    }

    async fn unknown_package(self, part: &QueryPart, filter: Filter) -> Option<UnknownPackage> {
        let name = filter.text.trim_start_matches('^').trim_end_matches('$');
        let name = name.to_owned();
        let all = Query::new(Expr::Filter(filter), 0).ok()?;
        if self.count(all).await? > 0 {
            return None;
        }
        let similar = timeout(TIME_MAX, self.corpus.near_packages(name.as_bytes())).await;
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
}

fn candidates(form: &Form, parts: &[QueryPart]) -> Vec<(&'static str, String, Form)> {
    let mut all = Vec::new();
    let first = Form {
        run: None,
        ..form.clone()
    };
    for part in parts {
        if let (Origin::Term(term), "filter") = (&part.origin, part.meaning) {
            let typed = form.q.get(term.clone()).unwrap_or_default();
            let quoted = with_term(form, term, &quoted(typed));
            all.push((AS_TEXT, typed.to_owned(), quoted));
        }
        if let Some(without) = &part.without {
            all.push((WITHOUT, part.text.clone(), without.clone()));
        }
    }
    let mut push = |change, change_form: &dyn Fn(&mut Form)| {
        let mut form = first.clone();
        change_form(&mut form);
        all.push((change, String::new(), form));
    };
    if form.word {
        push(PARTS_OF_WORDS, &|form| form.word = false);
    }
    let has_capital = form.q.chars().any(char::is_uppercase);
    if form.case == Some(Case::Yes)
        || (form.case.is_none() && (has_capital || form.mode != Mode::Keyword))
    {
        push(ANY_CASE, &|form| form.case = Some(Case::No));
    }
    for &mode in other_modes(form) {
        let words = match mode {
            Mode::Keyword => "as words and filters",
            Mode::Literal => "as exact text",
            Mode::Regexp => "as a regular expression",
        };
        push(words, &|form| form.mode = mode);
    }
    all
}

fn with_term(form: &Form, term: &Range<usize>, text: &str) -> Form {
    let mut q = form.q.clone();
    q.replace_range(term.clone(), text);
    Form {
        q,
        run: None,
        ..form.clone()
    }
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

/// `None` if the part is not a word.
fn word(form: &Form, part: &QueryPart) -> Option<(Range<usize>, Pattern)> {
    match (&part.origin, alone(form, part)?) {
        (Origin::Term(term), Expr::Pattern(pattern)) if part.meaning != parts::EXCLUDED => {
            Some((term.clone(), pattern))
        }
        _ => None,
    }
}

fn package(form: &Form, part: &QueryPart) -> Option<Filter> {
    match alone(form, part)? {
        Expr::Filter(filter) if filter.field == Field::Package => Some(filter),
        _ => None,
    }
}

fn alone(form: &Form, part: &QueryPart) -> Option<Expr> {
    let alone = match &part.origin {
        Origin::Term(term) => parts::with_text(form, form.q.get(term.clone())?),
        Origin::Parameter(index) => Form {
            filters: vec![form.filters.get(*index)?.clone()],
            ..parts::with_text(form, "")
        },
    };
    Some(parts::parse(&alone).ok()?.query.expr.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: &Form, expected: &[(&str, &str, &str)]) {
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
            (WITHOUT, "socket", "lang:c"),
            (AS_TEXT, "lang:c", "socket \"lang:c\""),
            (WITHOUT, "lang:c", "socket"),
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
        let expected = [(PARTS_OF_WORDS, "", "Socket"), (ANY_CASE, "", "Socket")];
        check(&form, &expected);
    }
}
