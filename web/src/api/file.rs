//! Files as bytes.

use super::call::Call;
use super::openapi::described as doc;
use crate::problem::Problem;
use crate::source::file_range::describe;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schema::message::FileRange;

/// Default of `count`. A backend may send less.
pub(crate) const COUNT_DEFAULT: u64 = 512 << 10;

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
