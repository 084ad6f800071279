//! Files as bytes, and their outlines.

use super::call::Call;
use super::openapi::described as doc;
use crate::http::blocking;
use crate::model::{FileOutline, readable_owned};
use crate::problem::Problem;
use crate::source::colours::{DocumentColours, split_lines};
use crate::source::file_range::describe;
use crate::source::outline::Outline;
use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schema::message::FileRange;

/// Default of `count`. A backend may send less.
pub(crate) const COUNT_DEFAULT: u64 = 512 << 10;

/// Read in 10 ms.
const OUTLINE_BYTES_MAX: u64 = 1 << 20;

/// Get the bytes of a file, or a part of them.
#[utoipa::path(
    get, path = "/api/v2/file", operation_id = "file", tag = "index",
    params(doc::FileParams, doc::BytesParams),
    responses((status = 200, description = "Bytes of a document", content_type = "application/octet-stream", body = String, headers(
        ("x-trawl-offset" = u64, description = "Where the part begins"),
        ("x-trawl-total-bytes" = u64, description = "Bytes of the document"),
        ("x-trawl-commit" = String, description = "Of a git repository: the commit"),
        ("x-trawl-revisions" = String, description = "Of a git repository: the revisions that have this text, percent-encoded and separated by spaces"),
        ("x-trawl-from-repository" = bool, description = "true if the revision is not indexed, and was read from the repository"),
        ("x-trawl-decoded-from" = String, description = "The encoding from which the text was decoded, such as utf-16le"),
        ("x-trawl-lfs-pointer" = String, description = "If the text is a pointer of Git LFS: the id and the bytes that it names")
    )), doc::Any, doc::NotFound, doc::NotIndexed, doc::BackendLost)
)]
pub(crate) async fn raw(call: Call) -> Result<Response, Problem> {
    call.expect(&[doc::FileParams::NAMES, doc::BytesParams::NAMES])?;
    let offset = call.params.number("offset", 0)?;
    let count = call.params.number("count", COUNT_DEFAULT)?;
    let range = FileRange::Bytes { offset, count };
    let package = call.params.required("package")?;
    let scope = call.viewer.scope_of(package).await?;
    let mut reply = call.corpus(&scope).fetch(&call.params, range).await?.reply;
    let mut response = std::mem::take(&mut reply.text).into_response();
    let headers = response.headers_mut();
    // Keeps browsers from showing repository bytes as a page.
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert("x-trawl-offset", HeaderValue::from(reply.offset));
    headers.insert("x-trawl-total-bytes", HeaderValue::from(reply.total_bytes));
    describe(headers, &reply);
    Ok(response)
}

/// List the lines of a file that look like definitions.
#[utoipa::path(
    get, path = "/api/v2/outline", operation_id = "outline", tag = "index",
    params(doc::FileParams),
    responses((status = 200, description = "Definitions, as far as single lines tell; of a file above 1 MiB, those in its first MiB", body = FileOutline), doc::Any, doc::NotFound, doc::NotIndexed, doc::BackendLost)
)]
pub(crate) async fn outline(call: Call) -> Result<Json<FileOutline>, Problem> {
    call.expect(&[doc::FileParams::NAMES])?;
    let package = call.params.required("package")?;
    let scope = call.viewer.scope_of(package).await?;
    let corpus = call.corpus(&scope);
    let found = corpus
        .fetch_beginning(&call.params, OUTLINE_BYTES_MAX)
        .await?;
    let answer = blocking(move || {
        let reply = found.reply;
        let outline = read_outline(&reply.language, &reply.text);
        let (package, package_base64) = readable_owned(&found.package);
        FileOutline {
            package,
            package_base64,
            language: reply.language,
            definitions: outline.definitions,
            complete: reply.text.len() as u64 == reply.total_bytes && !outline.is_cut,
        }
    });
    Ok(Json(answer.await))
}

fn read_outline(language: &str, text: &[u8]) -> Outline {
    let (mut outline, colours) = (Outline::new(language), DocumentColours::reading(language));
    for (number, line) in (1..).zip(split_lines(text)) {
        outline.add(number, line, &colours.tokens(number, line));
    }
    outline
}
