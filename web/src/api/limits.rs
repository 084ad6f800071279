//! Limits of clients, under the names that errors use.

use super::call::BODY_BYTES_MAX;
use super::openapi::described as doc;
use super::{commits, file};
use crate::http::request_limits::ADDRESS_BYTES_MAX;
use crate::http::response;
use crate::http::server::BodyTime;
use crate::http::server::HEADERS_BYTES_MAX;
use crate::model::{Limits, PageLimits, QueryLimits, RequestLimits, ServerLimits};
use crate::problem::Problem;
use crate::search::params::{PARAMETERS_MAX, Params};
use crate::search::run::KEEP;
use crate::state::App;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use frontend::DOCUMENTS_MAX;
use frontend::page::{PER_DOCUMENT_MAX, PER_PACKAGE_MAX, PER_PAGE_MAX};
use frontend::query::limits::{
    CONTEXT_LINES_MAX, LIMIT_MAX, NESTING_MAX, QUERY_BYTES_MAX, TYPED_BYTES_MAX,
};
use schema::message::{ATOMS_MAX, DEPTH_MAX};

// Limits of backends; a frontend's are in `query::limits`.

/// Beyond it, a search waits for admission.
pub(crate) const HEAVY_BLOCKS: u64 = 8192;

const PATTERN_BYTES_MAX: usize = 16 << 20;

const FILTER_BYTES_MAX: usize = 1 << 20;

/// Get all limits.
#[utoipa::path(
    get, path = "/api/v2/limits", operation_id = "limits", tag = "index",
    responses((status = 200, description = "All limits", body = Limits), doc::Any)
)]
pub(crate) async fn limits(
    State(app): State<App>,
    body_time: Option<Extension<BodyTime>>,
    params: Params,
) -> Result<Response, Problem> {
    params.expect(&[])?;
    let Extension(BodyTime(body_max)) = body_time.unwrap_or_default();
    let config = app.coordinator.config();
    Ok(response::json(&Limits {
        query: QueryLimits {
            bytes: QUERY_BYTES_MAX as u64,
            typed_bytes: TYPED_BYTES_MAX as u64,
            atoms: ATOMS_MAX as u64,
            depth: DEPTH_MAX as u64,
            regexp_nesting: NESTING_MAX.into(),
            compiled_pattern_bytes: PATTERN_BYTES_MAX,
            compiled_filter_bytes: FILTER_BYTES_MAX,
            context_lines: CONTEXT_LINES_MAX.into(),
            limit: LIMIT_MAX,
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
            body_ms: body_max.as_millis() as u64,
            parameters: PARAMETERS_MAX,
            commits: commits::COMMITS_MAX,
            commits_body_bytes: commits::BODY_BYTES_MAX,
        },
        server: ServerLimits {
            running: config.running_max,
            queued: config.queued_max,
            spool_bytes: config.spool_bytes_max,
        },
    }))
}
