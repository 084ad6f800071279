//! `/search` and `/print`: redirects to our pages, JSON, and raw files.

use super::found;
use super::links::Links;
use super::list;
use super::request::SearchOptions;
use super::shape::{FileMatch, LineMatch, RepositoryStats, SearchResult, Stats};
use crate::http::links::{FileAddress, encode};
use crate::http::response;
use crate::pages::{self, Form};
use crate::problem::Problem;
use crate::search::params::Params;
use crate::state::{App, Call};
use access::Viewer;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use frontend::query::limits::CONTEXT_LINES_MAX;
use frontend::query::zoekt::{self, ResultType, ZoektQuery};
use schema::message::{Expr, Field, ListEntry};
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;

const FILES_DEFAULT: usize = 50;

/// Zoekt's limit of these searches.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Page {
    Result(ResultPage),
    Repos(RepositoriesPage),
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct ResultPage {
    last: Last,
    query_str: String,
    query: String,
    stats: Stats,
    duration: u64,
    file_matches: Vec<File>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Last {
    query: String,
    num: usize,
    ctx: u32,
    auto_focus: bool,
    debug: bool,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct File {
    file_name: String,
    repo: String,
    #[serde(rename = "ResultID")]
    result: String,
    language: String,
    #[serde(rename = "DuplicateID")]
    duplicate: String,
    branches: Vec<String>,
    matches: Vec<Line>,
    #[serde(rename = "URL")]
    url: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    #[serde(rename = "URL")]
    url: String,
    file_name: String,
    line_num: u32,
    fragments: Vec<Fragment>,
    before: String,
    after: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Fragment {
    pre: String,
    r#match: String,
    post: String,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct RepositoriesPage {
    last: Last,
    stats: RepositoryStats,
    repos: Vec<RepositoryRow>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct RepositoryRow {
    name: String,
    #[serde(rename = "URL")]
    url: String,
    index_time: String,
    branches: Vec<BranchRow>,
    files: u64,
    size: u64,
    memory_size: u64,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct BranchRow {
    name: String,
    version: String,
    #[serde(rename = "URL")]
    url: String,
}

/// True for zoekt's results: our pages have none of these parameters.
pub(crate) fn is_search(params: &Params) -> bool {
    is_json(params)
        || ["num", "ctx"]
            .iter()
            .any(|name| params.bytes(name).is_some())
}

pub(super) fn is_json(params: &Params) -> bool {
    params.bytes("format") == Some(b"json")
}

pub(crate) async fn search_page(call: &Call, links: &Links) -> Response {
    let params = &call.params;
    if is_json(params) {
        let page = json(call, links).await;
        return page.map(|page| response::json(&page)).into_response();
    }
    let query = params.text("q").map(Option::unwrap_or_default);
    let parsed = query.and_then(|query| Ok(zoekt::parse(query, 0)?));
    match parsed {
        Ok(zoekt) => {
            let query = encode(zoekt.parsed.query.interpreted_as().as_bytes());
            let group = if is_about_repositories(&zoekt) {
                "&group=package"
            } else {
                ""
            };
            Redirect::to(&format!("/search?q={query}{group}")).into_response()
        }
        Err(problem) => pages::problem_page(problem, Form::new(params)),
    }
}

fn is_about_repositories(zoekt: &ZoektQuery) -> bool {
    let is_package = |atom: &Expr| matches!(atom, Expr::Filter(it) if it.field == Field::Package);
    zoekt.results == ResultType::Repositories
        || zoekt.parsed.query.expr.atoms().into_iter().all(is_package)
}

async fn json(call: &Call, links: &Links) -> Result<Page, Problem> {
    let params = &call.params;
    let query = params.text("q")?.unwrap_or_default();
    if query.is_empty() {
        return Err(Problem::bad_request("no query found"));
    }
    let context_lines = params.number("ctx", 0)?;
    if context_lines > CONTEXT_LINES_MAX {
        let detail =
            format!("the number of context lines must be between 0 and {CONTEXT_LINES_MAX}");
        return Err(Problem::bad_request(detail));
    }
    let tree = zoekt::tree(query)?;
    let is_list = tree.results() == ResultType::Repositories;
    let prepared = list::prepare(call, tree, context_lines).await?;
    let number = params.number("num", 0).ok().filter(|&number| number > 0);
    let last = Last {
        query: query.to_owned(),
        num: number.unwrap_or(FILES_DEFAULT),
        ctx: context_lines,
        auto_focus: true,
        debug: false,
    };
    if is_list || prepared.query.as_ref().is_some_and(is_about_repositories) {
        let found = list::find(call, &prepared).await?;
        let shown = number.unwrap_or(usize::MAX);
        return Ok(Page::Repos(RepositoriesPage {
            last,
            stats: list::sum(&found.entries),
            repos: found
                .entries
                .iter()
                .take(shown)
                .map(|it| row(it, links))
                .collect(),
        }));
    }
    let options = SearchOptions {
        context_lines,
        files_max: Some(last.num),
        timeout: Some(TIMEOUT),
        ..SearchOptions::default()
    };
    let query_of = |it: &ZoektQuery| it.parsed.query.interpreted_as();
    let understood = prepared.query.as_ref().map(query_of);
    let found = found::whole(call, links.clone(), prepared, &options).await?;
    let page = ResultPage {
        last,
        query_str: query.to_owned(),
        query: understood.unwrap_or_default(),
        ..ResultPage::new(found, links)
    };
    Ok(Page::Result(page))
}

fn row(entry: &ListEntry, links: &Links) -> RepositoryRow {
    let stats = list::stats(entry);
    let branches = list::branches(entry).into_iter();
    let branch = |branch: super::shape::Branch| BranchRow {
        url: links.commit(&entry.package, &encode(branch.version.as_bytes())),
        name: branch.name,
        version: branch.version,
    };
    RepositoryRow {
        name: String::from_utf8_lossy(&entry.package).into_owned(),
        url: links.repository(&entry.package),
        index_time: list::time(entry.indexed as i64),
        branches: branches.map(branch).collect(),
        files: stats.documents,
        size: stats.content_bytes,
        memory_size: stats.index_bytes,
    }
}

impl ResultPage {
    fn new(found: SearchResult, links: &Links) -> ResultPage {
        let mut seen = HashMap::new();
        let files = found.files.into_iter().map(|found| {
            let mut file = File::new(&found, links);
            let first = seen
                .entry(found.checksum.0)
                .or_insert_with(|| file.result.clone());
            if *first != file.result {
                file.duplicate.clone_from(first);
            }
            file
        });
        ResultPage {
            file_matches: files.collect(),
            duration: found.stats.duration,
            stats: found.stats,
            ..ResultPage::default()
        }
    }
}

impl File {
    fn new(found: &FileMatch, links: &Links) -> File {
        let (package, path) = &found.source;
        let address = FileAddress::current(package, path).at(&found.version);
        let line = |line: &LineMatch| Line {
            url: links.to(&address.show_href(line.line_number)),
            file_name: found.file_name.clone(),
            line_num: line.line_number,
            fragments: fragments(line),
            before: text(line.before.as_ref().map_or(&[], |it| &it.0)),
            after: text(line.after.as_ref().map_or(&[], |it| &it.0)),
        };
        File {
            file_name: found.file_name.clone(),
            repo: found.repository.clone(),
            result: format!("{}:{}", found.repository, found.file_name),
            language: found.language.clone(),
            branches: found.branches.clone(),
            matches: found.line_matches.iter().map(line).collect(),
            url: links.to(&address.show_href(0)),
            ..File::default()
        }
    }
}

/// Each begins behind the one before. The last has the rest of the line.
fn fragments(line: &LineMatch) -> Vec<Fragment> {
    let (bytes, mut at) = (&line.line.0[..], 0);
    let part = |start: usize, end: usize| text(bytes.get(start..end.max(start)).unwrap_or(&[]));
    let fragments = line.line_fragments.iter().map(|it| {
        let start = it.line_offset as usize;
        let end = start.saturating_add(it.match_length as usize);
        let pre = part(std::mem::replace(&mut at, end), start);
        Fragment {
            pre,
            r#match: part(start, end),
            post: String::new(),
        }
    });
    let mut fragments: Vec<_> = fragments.collect();
    if let Some(last) = fragments.last_mut() {
        last.post = part(at, bytes.len());
    }
    fragments
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) async fn print(
    State(app): State<App>,
    viewer: Viewer,
    params: Params,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (package, path) = (params.required("r")?, params.required("f")?);
    let revision = params.text("b")?.filter(|&revision| revision != "HEAD");
    let address = FileAddress::current(package, path).at(revision.unwrap_or_default());
    if params.bytes("format") != Some(b"raw") {
        return Ok(Redirect::to(&address.show_href(0)).into_response());
    }
    let uri = address.raw_href().parse::<Uri>();
    let uri = uri.map_err(|_| Problem::bad_request("r and f are too long"))?;
    let mut response = pages::raw(State(app), viewer, method, uri, headers).await?;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
