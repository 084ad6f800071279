//! `GET /search/code`: files with fragments, best first.

use super::addresses::{Addresses, sha};
use super::fragments;
use super::repository::{self, full_name, near};
use crate::http::links::{FileAddress, encode};
use crate::http::rendering;
use crate::http::response::{NO_STORE, REVALIDATE, is_whole, json};
use crate::problem::Problem;
use crate::search::params::Params;
use crate::search::run::finished;
use crate::state::Call;
use axum::http::{HeaderValue, Uri, header};
use axum::response::Response;
use frontend::query::{ParsedQuery, Query, github};
use frontend::{Match, Scope, SearchRequest, SearchResult, SpoolError};
use schema::message::{Expr, Field, Want};
use serde_json::{Value, json};
use std::sync::Arc;

const PER_PAGE_DEFAULT: usize = 30;
const PER_PAGE_MAX: usize = 100;

const FILES_MAX: usize = 1000;

const UNKNOWN_REPOSITORY: &str = "The listed users and repositories cannot be searched either \
    because the resources do not exist or you do not have permission to view them.";

const WORDS_MAX: usize = 2;

pub(super) async fn code(call: Call, uri: Uri, addresses: Addresses) -> Result<Response, Problem> {
    let page = Page::of(&call.params)?;
    let q = call.params.required("q").and(call.params.text("q"))?;
    let q = q.unwrap_or_default();
    let parsed = github::parse(q)?;
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
    let mut notices: Vec<String> = parsed.notices.iter().map(|it| it.reason.clone()).collect();
    if answer.found() == 0 && answer.is_complete() {
        check_repositories(&call, &scope, q, &parsed).await?;
        let notice = call.coordinator.notice_of_revisions(&scope, &parsed.query);
        notices.extend(notice.map(|notice| notice.reason));
        notices.extend(spellings(&call, &scope, &parsed).await);
    }
    let whole = Arc::clone(&answer);
    let links = page.links(&addresses, &uri, &call.params, answer.documents());
    let body = rendering(&answer, move || body(&whole, page, &addresses, &notices)).await?;
    let mut response = json(&body);
    let cache = if is_whole(&answer) {
        REVALIDATE
    } else {
        NO_STORE
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, cache);
    headers.extend(links.map(|links| (header::LINK, links)));
    Ok(response)
}

#[derive(Clone, Copy, Debug)]
struct Page {
    number: usize,
    files: usize,
}

impl Page {
    fn of(params: &Params) -> Result<Page, Problem> {
        let number = params.number("page", 1_usize)?.max(1);
        let files = params.number("per_page", PER_PAGE_DEFAULT)?;
        let page = Page {
            number,
            files: files.clamp(1, PER_PAGE_MAX),
        };
        if page.start() >= FILES_MAX {
            let detail = format!("Only the first {FILES_MAX} search results are available");
            return Err(Problem::bad_request(detail).hint("/api/v2/search pages through all"));
        }
        Ok(page)
    }

    fn start(self) -> usize {
        (self.number - 1).saturating_mul(self.files)
    }

    fn end(self) -> usize {
        (self.start() + self.files).min(FILES_MAX)
    }

    fn links(
        self,
        addresses: &Addresses,
        uri: &Uri,
        params: &Params,
        total: u64,
    ) -> Option<HeaderValue> {
        let last = (total.min(FILES_MAX as u64) as usize).div_ceil(self.files);
        let before = (self.number > 1).then_some(self.number - 1);
        let after = (self.number < last).then_some(self.number + 1);
        let relations = [
            ("prev", before),
            ("next", after),
            ("last", after.map(|_| last)),
            ("first", before.map(|_| 1)),
        ];
        let pairs = params.clone().into_pairs();
        let others = pairs.iter().filter(|(name, _)| name != "page");
        let others: String = others
            .map(|(name, value)| format!("&{}={}", encode(name.as_bytes()), encode(value)))
            .collect();
        let address = addresses.page(uri.path());
        let link = |(relation, page): (&str, Option<usize>)| {
            Some(format!(
                "<{address}?page={}{others}>; rel=\"{relation}\"",
                page?
            ))
        };
        let links: Vec<String> = relations.into_iter().filter_map(link).collect();
        let header = HeaderValue::from_str(&links.join(", ")).ok();
        header.filter(|header| !header.is_empty())
    }
}

fn body(
    answer: &SearchResult,
    page: Page,
    addresses: &Addresses,
    notices: &[String],
) -> Result<Value, SpoolError> {
    let listed = answer.documents_listed()?;
    let documents = answer.document_list(page.start().min(listed)..page.end().min(listed))?;
    let lens: Vec<usize> = documents
        .iter()
        .map(|document| document.first.len())
        .collect();
    let positions: Vec<u64> = documents.into_iter().flat_map(|it| it.first).collect();
    let mut matches = &answer.matches_at(&positions)?[..];
    let items = lens.into_iter().filter_map(|len| {
        let (of_file, rest) = matches.split_at(len);
        matches = rest;
        Some(item(addresses, of_file.first()?, of_file))
    });
    let items: Vec<Value> = items.collect();
    let mut body = json!({
        "total_count": answer.documents(),
        "incomplete_results": !is_whole(answer),
        "items": items,
    });
    if !notices.is_empty() {
        body["notices"] = json!(notices);
    }
    Ok(body)
}

fn item(addresses: &Addresses, best: &Match, matches: &[Match]) -> Value {
    let document = &best.document;
    let name = full_name(&document.package);
    let url = addresses.contents(&name, &document.path, &document.revisions.commit);
    let page = FileAddress::of(document).show_href(best.line);
    let path = String::from_utf8_lossy(&document.path);
    let fragments = fragments::of(matches);
    let lines: Vec<String> = fragments
        .iter()
        .filter_map(|it| it.line_numbers())
        .collect();
    let fragments = fragments.into_iter().map(|it| it.json(&url));
    let language = Some(&document.language).filter(|name| !name.is_empty());
    json!({
        "name": path.rsplit('/').next(),
        "path": path,
        "sha": sha(&document.hash),
        "url": url,
        "git_url": url,
        "html_url": addresses.page(&page),
        "repository": repository::json(addresses, &document.package),
        "score": best.rank,
        "language": language,
        "line_numbers": lines,
        "text_matches": fragments.collect::<Vec<_>>(),
    })
}

/// Fails if no repository of a filter exists, as GitHub does.
async fn check_repositories(
    call: &Call,
    scope: &Scope,
    q: &str,
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
