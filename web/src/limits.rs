//! Every bound that a client can meet, by the name under which an error speaks of it.

use super::body::BODY_BYTES_MAX;
use super::gate::{ADDRESS_BYTES_MAX, HEADERS_BYTES_MAX};
use super::openapi::problems::Any;
use super::params::{PARAMETERS_MAX, Params};
use super::problem::Problem;
use super::{App, KEEP, api, file};
use axum::extract::State;
use axum::response::Response;
use frontend::DOCUMENTS_MAX;
use frontend::page::{PER_DOCUMENT_MAX, PER_PACKAGE_MAX, PER_PAGE_MAX};
use frontend::query;

// These three are backends' own: what a frontend knows of queries is in `query::limits`.

/// Candidate blocks above which a search waits for its turn; as backends have it.
pub(super) const HEAVY_BLOCKS: u64 = 8192;

/// Bytes that a compiled pattern may take; as backends have it.
const PATTERN_BYTES_MAX: usize = 16 << 20;

/// Bytes that a compiled filter may take; as backends have it.
const FILTER_BYTES_MAX: usize = 1 << 20;

/// What a client can ask for, and how much of it.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub(super) struct Limits {
    query: QueryLimits,
    page: PageLimits,
    request: RequestLimits,
    server: ServerLimits,
}

/// Of what is searched for.
#[derive(serde::Serialize, utoipa::ToSchema)]
struct QueryLimits {
    /// Bytes of patterns and filters, without what is written around them.
    bytes: u64,
    /// Bytes of the query as it is typed.
    typed_bytes: u64,
    /// Patterns and filters.
    atoms: u64,
    /// How deep it may nest, a pattern alone being 1.
    depth: u64,
    /// How deep groups and repetitions may nest in a regular expression.
    regexp_nesting: u64,
    /// Bytes that a pattern may take once it is compiled.
    compiled_pattern_bytes: usize,
    /// Bytes that a filter may take once it is compiled.
    compiled_filter_bytes: usize,
    /// Lines of context before and after a match.
    context_lines: u64,
    /// The most that `limit` may be.
    limit: u64,
    /// The time that a search has when nobody says.
    timeout_default_ms: u64,
    /// The most that `timeout` may be.
    timeout_ms: u64,
    /// Candidate blocks above which a search waits for its turn.
    light_blocks: u64,
}

/// Of a part of an answer.
#[derive(serde::Serialize, utoipa::ToSchema)]
struct PageLimits {
    /// The most that `per_page` may be.
    per_page: usize,
    /// The most that `per_package` may be.
    per_package: usize,
    /// The most that `per_document` may be.
    per_document: usize,
    /// Documents that pages by document have; the best ones.
    documents: usize,
    /// Matches that an export may have; none: as many as there are.
    export: Option<u64>,
    /// Bytes of a file in one answer when nobody says; a backend may send less than what is asked for.
    file_bytes_default: u64,
    /// How long a search that nobody waits for goes on for who has its id. A cursor is good as long
    /// as its answer is kept, or can be had again over the same documents.
    kept_ms: u64,
}

/// Of a request, whatever it is.
#[derive(serde::Serialize, utoipa::ToSchema)]
struct RequestLimits {
    address_bytes: usize,
    /// Names and values of all headers.
    header_bytes: usize,
    body_bytes: usize,
    parameters: usize,
}

/// Of all that the server does at once.
#[derive(serde::Serialize, utoipa::ToSchema)]
struct ServerLimits {
    /// Searches that cost much and run at once.
    running: usize,
    /// Searches that cost much and wait; more are refused.
    queued: usize,
    /// Bytes of finished answers that are kept.
    spool_bytes: u64,
}

/// Every bound that a client can meet.
#[utoipa::path(
    get, path = "/api/v2/limits", operation_id = "limits", tag = "index",
    responses((status = 200, description = "Every bound", body = Limits), Any)
)]
pub(super) async fn limits(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    params.expect(&[])?;
    let config = app.frontend.config();
    Ok(api::json(&Limits {
        query: QueryLimits {
            bytes: of_queries("query_bytes"),
            typed_bytes: of_queries("typed_bytes"),
            atoms: of_queries("atoms"),
            depth: of_queries("depth"),
            regexp_nesting: of_queries("regexp_nesting"),
            compiled_pattern_bytes: PATTERN_BYTES_MAX,
            compiled_filter_bytes: FILTER_BYTES_MAX,
            context_lines: of_queries("context"),
            limit: of_queries("limit"),
            timeout_default_ms: config.timeout.as_millis() as u64,
            timeout_ms: config.timeout_max.as_millis() as u64,
            light_blocks: HEAVY_BLOCKS,
        },
        page: PageLimits {
            per_page: PER_PAGE_MAX,
            per_package: PER_PACKAGE_MAX,
            per_document: PER_DOCUMENT_MAX,
            documents: DOCUMENTS_MAX,
            export: None,
            file_bytes_default: file::COUNT_DEFAULT,
            kept_ms: KEEP.as_millis() as u64,
        },
        request: RequestLimits {
            address_bytes: ADDRESS_BYTES_MAX,
            header_bytes: HEADERS_BYTES_MAX,
            body_bytes: BODY_BYTES_MAX,
            parameters: PARAMETERS_MAX,
        },
        server: ServerLimits {
            running: config.running_max,
            queued: config.queued_max,
            spool_bytes: config.spool_bytes_max,
        },
    }))
}

/// What queries are held to, by its name.
fn of_queries(name: &str) -> u64 {
    let mut limits = query::limits().into_iter();
    let limit = limits.find(|limit| limit.name == name);
    limit.expect("a bound of queries has this name").value
}
