//! `GET /search/code`: files with fragments, best first.

use super::addresses::{Addresses, sha};
use super::fragments::{self, Fragment};
use super::paging::Page;
use super::repository::{RepositoryShape, near};
use crate::http::links::FileAddress;
use crate::http::rendering;
use crate::http::response::{NO_STORE, REVALIDATE, is_whole};
use crate::problem::Problem;
use crate::search::run::finished;
use crate::state::Call;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use frontend::query::{ParsedQuery, Query, github};
use frontend::{Match, Scope, SearchRequest, SearchResult, SpoolError};
use schema::message::{Expr, Field, Want};
use serde::{Serialize, Serializer};
use std::sync::Arc;

const FILES_MAX: usize = 1000;

const UNKNOWN_REPOSITORY: &str = "The listed users and repositories cannot be searched either \
    because the resources do not exist or you do not have permission to view them.";

/// Notices, for clients that do not show the member.
const NOTICES: HeaderName = HeaderName::from_static("x-trawl-notices");

const NOTICES_BYTES_MAX: usize = 1 << 10;

const WORDS_MAX: usize = 2;

pub(super) async fn code(call: Call, addresses: Addresses) -> Result<Response, Problem> {
    let page = Page::of(&call.params)?;
    if page.is_behind(FILES_MAX) {
        let detail = format!("Only the first {FILES_MAX} search results are available");
        return Err(Problem::bad_request(detail).hint("/api/v2/search pages through all"));
    }
    call.params.required("q")?;
    let parsed = github::parse(call.params.text("q")?.unwrap_or_default())?;
    let scope = call.viewer.scope().await?;
    let request = SearchRequest {
        client: call.params.search_client(),
        ..SearchRequest::new(&scope, parsed.query.clone())
    };
    let search = call.coordinator.search(request).await?;
    let answer = finished(&search, Some(&parsed)).await?;
    if answer.is_unavailable() {
        let detail = "no backend answered; the search will work again when one does";
        return Err(Problem::unavailable(detail));
    }
    let notices = notices(&call, &scope, &parsed, &answer).await?;
    let header = HeaderValue::from_bytes(notices.join("; ").as_bytes());
    let whole = Arc::clone(&answer);
    let on_page = addresses.clone();
    let body = rendering(&answer, move || {
        let found = Found {
            answer: &whole,
            page,
            addresses: &on_page,
            notices: &notices,
        };
        found.json()
    });
    let mut response = ([(header::CONTENT_TYPE, "application/json")], body.await?).into_response();
    let is_whole = is_whole(&answer);
    let cache = if is_whole { REVALIDATE } else { NO_STORE };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, cache);
    if let Some(notices) = header
        .ok()
        .filter(|it| (1..NOTICES_BYTES_MAX).contains(&it.len()))
    {
        headers.insert(NOTICES, notices);
    }
    let pages = (answer.documents() as usize).min(FILES_MAX);
    page.link(&mut response, &addresses, &call.params, pages);
    Ok(response)
}

async fn notices(
    call: &Call,
    scope: &Scope,
    parsed: &ParsedQuery,
    answer: &SearchResult,
) -> Result<Vec<String>, Problem> {
    let mut notices: Vec<String> = parsed.notices.iter().map(|it| it.reason.clone()).collect();
    if answer.found() == 0 && answer.is_complete() {
        check_repositories(call, scope, parsed).await?;
        let notice = call.coordinator.notice_of_revisions(scope, &parsed.query);
        notices.extend(notice.map(|notice| notice.reason));
        notices.extend(spellings(call, scope, parsed).await);
    }
    Ok(notices)
}

struct Found<'a> {
    answer: &'a SearchResult,
    page: Page,
    addresses: &'a Addresses,
    notices: &'a [String],
}

impl Found<'_> {
    fn json(&self) -> Result<Vec<u8>, SpoolError> {
        let listed = self.answer.documents_listed()?.min(FILES_MAX);
        let documents = self.answer.document_list(self.page.range(listed))?;
        let lens = documents.iter().map(|it| it.first.len());
        let lens: Vec<usize> = lens.collect();
        let positions: Vec<u64> = documents.into_iter().flat_map(|it| it.first).collect();
        let mut matches = &self.answer.matches_at(&positions)?[..];
        let items = lens.into_iter().filter_map(|len| {
            let (of_file, rest) = matches.split_at(len);
            matches = rest;
            Some(Item {
                addresses: self.addresses,
                best: of_file.first()?,
                matches: of_file,
            })
        });
        let body = ItemList {
            total_count: self.answer.documents(),
            incomplete_results: !is_whole(self.answer),
            items: items.collect(),
            notices: self.notices,
        };
        Ok(serde_json::to_vec(&body).expect("shapes are plain data"))
    }
}

#[derive(Serialize)]
pub(super) struct ItemList<'a, T> {
    pub(super) total_count: u64,
    pub(super) incomplete_results: bool,
    pub(super) items: Vec<T>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) notices: &'a [String],
}

struct Item<'a> {
    addresses: &'a Addresses,
    best: &'a Match,
    matches: &'a [Match],
}

#[derive(Serialize)]
struct ItemShape<'a> {
    name: Option<&'a str>,
    path: &'a str,
    sha: String,
    url: &'a str,
    git_url: &'a str,
    html_url: String,
    repository: RepositoryShape,
    score: f32,
    language: Option<&'a str>,
    line_numbers: Vec<String>,
    text_matches: Vec<Fragment<'a>>,
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = &*self.best.document;
        let repository = RepositoryShape::new(self.addresses, &document.package);
        let commit = &document.revisions.commit;
        let url = Addresses::contents(&repository.url, &document.path, commit);
        let page = FileAddress::of(document).show_href(self.best.line);
        let path = String::from_utf8_lossy(&document.path);
        let fragments = fragments::of(self.matches, &url);
        let lines = fragments.iter().filter_map(Fragment::line_numbers);
        let shape = ItemShape {
            name: path.rsplit('/').next(),
            path: &path,
            sha: sha(&document.hash),
            url: &url,
            git_url: &url,
            html_url: self.addresses.page(&page),
            repository,
            score: self.best.rank,
            language: Some(&document.language[..]).filter(|name| !name.is_empty()),
            line_numbers: lines.collect(),
            text_matches: fragments,
        };
        shape.serialize(serializer)
    }
}

/// Fails if no repository of a filter exists, as GitHub does.
async fn check_repositories(
    call: &Call,
    scope: &Scope,
    parsed: &ParsedQuery,
) -> Result<(), Problem> {
    let factors = parsed.query.expr.factors().iter();
    for factor in factors.filter(|factor| is_of_packages(factor)) {
        let query = Query::new(factor.clone(), 0)?.wanting(Want::Count, 0)?;
        let request = SearchRequest {
            client: call.params.search_client(),
            ..SearchRequest::new(scope, query)
        };
        let answer = call.coordinator.search(request).await?.finished().await?;
        if answer.found() == 0 && answer.is_complete() {
            let problem = Problem::bad_request(UNKNOWN_REPOSITORY);
            let q = call.params.text("q")?.unwrap_or_default();
            let mut words = q.split_whitespace();
            let name = words.find_map(|word| word.strip_prefix("repo:"));
            return Err(near(call, scope, problem, name.unwrap_or_default()).await);
        }
    }
    Ok(())
}

fn is_of_packages(factor: &Expr) -> bool {
    let is_it = |atom: &&Expr| matches!(atom, Expr::Filter(it) if it.field == Field::Package);
    !matches!(factor, Expr::Not(_)) && factor.atoms().iter().all(is_it)
}

async fn spellings(call: &Call, scope: &Scope, parsed: &ParsedQuery) -> Vec<String> {
    let mut notices = Vec::new();
    for pattern in parsed.query.expr.patterns().into_iter().take(WORDS_MAX) {
        let near = &call.coordinator;
        let near = near.near_words(scope, call.params.client, pattern).await;
        if !near.is_empty() {
            let near = near.join(", ");
            notices.push(format!("{}: near spellings are {near}", pattern.text));
        }
    }
    notices
}
