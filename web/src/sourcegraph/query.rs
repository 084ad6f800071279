//! Search of a request, and the repositories that a condition on names selects.

use crate::compat::FoundFile;
use crate::http::rendering;
use crate::problem::Problem;
use crate::search::params::Params;
use crate::state::Call;
use crate::suggest::Corpus;
use crate::symbols::Enclosing;
use axum::http::Method;
use frontend::query::sourcegraph::{self, NameFilter, PatternType, Search, Show};
use frontend::query::{Notice, Query};
use frontend::{Listing, Match, Scope, SearchError, SearchHandle, SearchRequest, SearchResult};
use schema::message::{ListKind, ListRequest};
use std::sync::Arc;
use std::time::Duration;

pub(super) const COUNT_DEFAULT: u64 = 10_000;

/// Replies of a list of repositories, about a thousand each.
pub(super) const PARTS_MAX: usize = 64;

const CONTEXT_LINES_MAX: u32 = 10;

/// Files read for containers of symbols.
const CONTAINER_FILES_MAX: usize = 500;

const CONTAINER_WAIT: Duration = Duration::from_millis(200);

pub(super) struct StreamParams {
    pub(super) chunks: bool,
    pub(super) context: u32,
    pub(super) display: u64,
}

impl StreamParams {
    pub(super) fn of(params: &Params) -> Result<StreamParams, Problem> {
        let display: i64 = params.number("display", -1)?;
        let context: u32 = params.number("cl", 1)?;
        Ok(StreamParams {
            chunks: matches!(
                params.bytes("cm"),
                Some(b"t" | b"true" | b"1" | b"T" | b"TRUE")
            ),
            context: context.min(CONTEXT_LINES_MAX),
            display: u64::try_from(display).unwrap_or(u64::MAX),
        })
    }
}

pub(super) fn pattern_type(params: &Params) -> Result<PatternType, Problem> {
    let name = params.text("patternType")?.or(params.text("t")?);
    match (name.filter(|name| !name.is_empty()), params.text("v")?) {
        (Some(name), _) => PatternType::named(name).ok_or_else(|| {
            let detail = format!("t={name} is not a pattern type");
            Problem::bad_request(detail).hint("expected keyword, standard, literal or regexp")
        }),
        (None, Some(version)) if !version.is_empty() => PatternType::of_version(version)
            .ok_or_else(|| {
                let detail = format!("v={version} is not a version");
                Problem::bad_request(detail).hint("expected V1, V2 or V3")
            }),
        _ => Ok(PatternType::default()),
    }
}

pub(super) fn parse(params: &Params) -> Result<Search, Problem> {
    let query = params.text("q")?.unwrap_or_default();
    Ok(sourcegraph::parse(query, pattern_type(params)?)?)
}

/// Restricts the search to the repositories of its predicates.
pub(super) async fn narrowed(
    call: &Call,
    scope: &Scope,
    search: Search,
) -> Result<Search, Problem> {
    let (mut found, mut is_complete) = (Vec::new(), true);
    for predicate in &search.predicates {
        let request = SearchRequest {
            client: call.params.search_client(),
            timeout: search.parsed.timeout,
            ..SearchRequest::new(scope, predicate.query.clone())
        };
        let handle = call.coordinator.search(request).await?;
        let answer = handle.finished().await.map_err(|error| match error {
            SearchError::BadQuery(bad) => SearchError::BadQuery(predicate.query.named(bad)),
            error => error,
        })?;
        is_complete &= answer.is_complete();
        let whole = Arc::clone(&answer);
        let read = rendering(&answer, move || whole.package_list(0..whole.packages()));
        found.push(read.await?.into_iter().map(|it| it.name).collect());
    }
    let mut narrowed = match found.is_empty() {
        true => search,
        false => search.narrowed(&found)?,
    };
    if !is_complete {
        narrowed.parsed.notices.push(Notice {
            at: None,
            reason: "some repositories were not asked for the predicate".to_owned(),
            hint: None,
        });
    }
    Ok(narrowed)
}

/// Starts the search, which other interfaces share unless it has more context.
pub(super) async fn start(
    call: &Call,
    scope: &Scope,
    search: &Search,
    context: u32,
) -> Result<SearchHandle, Problem> {
    let mut query = search.parsed.query.clone();
    if context > Query::CONTEXT_DEFAULT {
        let mut wide = query.search();
        wide.context_lines = context;
        query = Query::of(wide)?;
    }
    let request = SearchRequest {
        client: call.params.search_client(),
        timeout: search.parsed.timeout,
        ..SearchRequest::new(scope, query)
    };
    Ok(call.coordinator.search(request).await?)
}

/// Definitions around symbols of the first files.
pub(super) async fn containers(corpus: Corpus<'_>, files: &[FoundFile], show: Show) -> Enclosing {
    if show != Show::Symbols {
        return Enclosing::default();
    }
    let files = files.iter().take(CONTAINER_FILES_MAX);
    let symbols: Vec<&Match> = files.flat_map(|file| &file.matches).collect();
    Enclosing::of(corpus, &symbols, CONTAINER_WAIT).await
}

pub(super) async fn finished(
    handle: &SearchHandle,
    search: &Search,
) -> Result<Arc<SearchResult>, Problem> {
    Ok(handle.finished().await.map_err(|error| match error {
        SearchError::BadQuery(bad) => SearchError::BadQuery(search.parsed.locate(bad)),
        error => error,
    })?)
}

pub(super) async fn repositories(
    corpus: Corpus<'_>,
    names: Option<&NameFilter>,
) -> Result<Listing, Problem> {
    let request = ListRequest::new(ListKind::Packages, b"", b"", u32::MAX);
    let mut list = corpus.parts(request, PARTS_MAX).await?;
    list.entries
        .retain(|entry| names.is_none_or(|names| names.matches(entry.name(), &entry.package)));
    Ok(list)
}

pub(super) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}
