//! Files: as a page at a line, and as bytes.

use super::App;
use super::openapi::params as doc;
use super::openapi::problems::{Any, NotFound, Unreachable};
use super::params::{Params, lossy};
use super::problem::Problem;
use crate::render::html::{Form, SHOW_LINES_MAX, ShowPage};
use askama::Template;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use schema::message::{FileRange, FileReply};

/// Lines above the one that a view is about.
const LINES_ABOVE: u32 = 100;

/// Bytes of a file in one answer, when nobody says how many. A backend may send less.
pub(super) const COUNT_DEFAULT: u64 = 512 << 10;

/// A file around a line.
pub(super) async fn show(State(app): State<App>, params: Params) -> Response {
    match page(&app, &params).await {
        Ok(page) => Html(page).into_response(),
        Err(problem) => problem.page(&app, &Params::default()),
    }
}

async fn page(app: &App, params: &Params) -> Result<String, Problem> {
    let (package, path) = name(params)?;
    let line = params.number("line", 0_u32)?;
    let around = line.saturating_sub(LINES_ABOVE).max(1);
    let first = params.number("first", around)?.max(1);
    let count = SHOW_LINES_MAX;
    let reply = file(app, params, FileRange::Lines { first, count }).await?;
    if u64::from(first) > u64::from(reply.total_lines).max(1) || line > reply.total_lines.max(1) {
        let detail = format!("the file has {} lines", reply.total_lines);
        return Err(Problem::missing(detail));
    }
    let marked = Some(line).filter(|&line| line > 0);
    let page = ShowPage::new(app.chrome(Form::default()), (package, path), marked, &reply);
    Ok(page.render().expect("a page fits in memory"))
}

/// A file's bytes, or a part of them. The answer says of how many, and where it begins.
#[utoipa::path(
    get, path = "/api/v2/file", operation_id = "file", tag = "index",
    params(doc::File),
    responses((status = 200, description = "Bytes of a document", content_type = "application/octet-stream", body = String, headers(
        ("x-trawl-offset" = u64, description = "Where they begin"),
        ("x-trawl-total-bytes" = u64, description = "How many the document has")
    )), Any, NotFound, Unreachable)
)]
pub(super) async fn raw(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[&["package", "path", "offset", "count"]])?;
    let offset = params.number("offset", 0)?;
    let count = params.number("count", COUNT_DEFAULT)?;
    let reply = file(&app, &params, FileRange::Bytes { offset, count }).await?;
    let mut response = reply.text.into_response();
    let headers = response.headers_mut();
    // Bytes from a repository are not to be taken for a page of this site, whatever they say.
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert("x-trawl-offset", HeaderValue::from(reply.offset));
    headers.insert("x-trawl-total-bytes", HeaderValue::from(reply.total_bytes));
    Ok(response)
}

async fn file(app: &App, params: &Params, range: FileRange) -> Result<FileReply, Problem> {
    let (package, path) = name(params)?;
    let reply = app.frontend.file(package, path, range).await?;
    reply.ok_or_else(|| {
        let (package, path) = (lossy(Some(package)), lossy(Some(path)));
        Problem::missing(format!("no backend has {package}/{path}"))
    })
}

fn name(params: &Params) -> Result<(&[u8], &[u8]), Problem> {
    let part = |name: &str| {
        let value = params.bytes(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| Problem::bad_request(format!("{name} is missing")))
    };
    Ok((part("package")?, part("path")?))
}
