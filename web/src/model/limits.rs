//! Limits of clients.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The limits of queries, pages, requests and the server.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Limits {
    pub query: QueryLimits,
    pub page: PageLimits,
    pub request: RequestLimits,
    pub server: ServerLimits,
}

/// Limits of a query.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QueryLimits {
    /// Bytes of patterns and filters, without operators and field names.
    pub bytes: u64,
    /// Bytes of the query as typed.
    pub typed_bytes: u64,
    /// Patterns and filters.
    pub atoms: u64,
    /// Nesting depth; a single pattern has depth 1.
    pub depth: u64,
    /// Nesting depth of groups and repetitions in a regular expression.
    pub regexp_nesting: u64,
    /// Bytes of a compiled pattern.
    pub compiled_pattern_bytes: usize,
    /// Bytes of a compiled filter.
    pub compiled_filter_bytes: usize,
    /// Lines of context before and after a match.
    pub context_lines: u64,
    /// The highest value of `limit`.
    pub limit: u64,
    /// The default of `timeout`.
    pub timeout_default_ms: u64,
    /// The highest value of `timeout`.
    pub timeout_ms: u64,
    /// A search with more candidate blocks is heavy, and waits for admission.
    pub light_blocks: u64,
}

/// Limits of a page or another part of an answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PageLimits {
    /// The highest value of `per_page`.
    pub per_page: usize,
    /// The highest value of `per_package`.
    pub per_package: usize,
    /// The highest value of `per_document`.
    pub per_document: usize,
    /// Documents on all pages of `group=document`, the best ones.
    pub documents: usize,
    /// Matches of an export; null: no limit.
    pub export: Option<u64>,
    /// The default of `count` for a file, in bytes. A backend may send less than requested.
    pub file_bytes_default: u64,
    /// How long a search without a client continues, for a client that has its id. A cursor is valid
    /// while its answer is kept, or can be searched again over the same documents.
    pub kept_ms: u64,
}

/// Limits of any request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RequestLimits {
    pub address_bytes: usize,
    /// Bytes of the names and values of all headers.
    pub header_bytes: usize,
    pub body_bytes: usize,
    /// How long a body may take to arrive.
    pub body_ms: u64,
    pub parameters: usize,
    /// Revisions in a body of `POST /api/v2/commits`, and its bytes.
    pub commits: usize,
    pub commits_body_bytes: usize,
}

/// Limits of the server, for all clients together.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ServerLimits {
    /// Heavy searches that run at the same time.
    pub running: usize,
    /// Heavy searches that wait; more are refused.
    pub queued: usize,
    /// Bytes of finished answers that are kept.
    pub spool_bytes: u64,
}
