//! Addresses of its pages, as they stand in bug reports and bookmarks: each is sent on to the page here
//! that shows the same.
//!
//! `/search` and `/show` are addresses of both. A search with `literal` or `perpkg` is one of its own,
//! and so is a file with `file`; the query that the native address gets says in the native language
//! what was meant.

use crate::conditional::KnownTags;
use crate::pages::{self, Form, encode};
use crate::params::{Params, lossy};
use crate::path::Path;
use crate::problem::{self, Problem};
use crate::state::App;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use frontend::query::dcs;
use schema::message::Syntax;

/// A page of results: of an old link, or a native one.
pub(crate) async fn search_page(
    State(app): State<App>,
    known: KnownTags,
    params: Params,
) -> Response {
    let is_one = |name, value: &[u8]| params.bytes(name) == Some(value);
    if params.bytes("literal").is_none() && params.bytes("perpkg").is_none() {
        return pages::search(State(app), known, params).await;
    }
    let link = Link {
        query: params.bytes("q").unwrap_or_default(),
        syntax: match is_one("literal", b"1") {
            true => Syntax::Literal,
            false => Syntax::Regexp,
        },
        by_package: is_one("perpkg", b"1"),
        page: params.bytes("page").unwrap_or_default(),
    };
    link.follow(Form::new(&params))
}

/// A page of a search, in the form that its addresses had before.
pub(crate) async fn results(Path((query, page)): Path<(String, String)>, uri: Uri) -> Response {
    old(&query, &page, false, uri).await
}

/// The same by package.
pub(crate) async fn results_per_package(
    Path((query, page)): Path<(String, String)>,
    uri: Uri,
) -> Response {
    old(&query, &page, true, uri).await
}

async fn old(query: &str, page: &str, by_package: bool, uri: Uri) -> Response {
    let number = page.strip_prefix("page_");
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some(page) = number.filter(is_number) else {
        return problem::not_found(uri).await.into_response();
    };
    // From a time when all queries were regular expressions.
    let link = Link {
        query: query.as_bytes(),
        syntax: Syntax::Regexp,
        by_package,
        page: page.as_bytes(),
    };
    link.follow(Form::default())
}

/// What a link to a page of results asks for.
struct Link<'a> {
    query: &'a [u8],
    syntax: Syntax,
    by_package: bool,
    page: &'a [u8],
}

impl Link<'_> {
    fn follow(&self, form: Form) -> Response {
        match self.href() {
            Ok(href) => found(&href),
            Err(problem) => pages::problem_page(problem, form),
        }
    }

    /// The native address.
    fn href(&self) -> Result<String, Problem> {
        let query = str::from_utf8(self.query);
        let query = query.map_err(|_| Problem::bad_request("q is not UTF-8"))?;
        let query = dcs::parse(query, self.syntax)?.query;
        let mut href = format!("/search?q={}", encode(query.interpreted_as().as_bytes()));
        if self.by_package {
            href.push_str("&group=package");
        }
        if !matches!(self.page, b"" | b"0") {
            href.push_str(&format!("&page={}", encode(self.page)));
        }
        Ok(href)
    }
}

/// A file: by its name with its package's, or natively.
pub(crate) async fn show_page(State(app): State<App>, params: Params) -> Response {
    let Some(name) = params.bytes("file") else {
        return pages::show(State(app), params).await.into_response();
    };
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let slash = name.iter().position(|&byte| byte == b'/');
    let Some((package, path)) = slash.map(|at| (&name[..at], &name[at + 1..])) else {
        let detail = format!("file={} is no package and path", lossy(Some(name)));
        let problem = Problem::bad_request(detail).hint("file=i3-wm_4.22-1/src/main.c");
        return problem.into_response();
    };
    let mut href = format!("/show?package={}&path={}", encode(package), encode(path));
    if let Some(line) = params.bytes("line").filter(|line| !line.is_empty()) {
        let line = encode(line);
        href.push_str(&format!("&line={line}#L{line}"));
    }
    found(&href)
}

fn found(href: &str) -> Response {
    let location = HeaderValue::from_str(href).expect("an address is encoded");
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}
