//! Limits of clients.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// All limits.
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
    /// Maximum of `limit`.
    pub limit: u64,
    /// Default of `timeout`.
    pub timeout_default_ms: u64,
    /// Maximum of `timeout`.
    pub timeout_ms: u64,
    /// A search with more candidate blocks is heavy, and waits for admission.
    pub light_blocks: u64,
}

/// Limits of a page or another part of an answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PageLimits {
    /// Maximum of `per_page`.
    pub per_page: usize,
    /// Maximum of `per_package`.
    pub per_package: usize,
    /// Maximum of `per_document`.
    pub per_document: usize,
    /// Best documents on all pages of `group=document`.
    pub documents: usize,
    /// Matches of an export; null: no limit.
    pub export: Option<u64>,
    /// Default of `count` for a file, in bytes. A backend may send less.
    pub file_bytes_default: u64,
    /// Time that a search continues without a client. A cursor is valid while its answer is kept,
    /// or the same documents can be searched again.
    pub kept_ms: u64,
}

/// Limits of any request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RequestLimits {
    pub address_bytes: usize,
    /// Bytes of all header names and values.
    pub header_bytes: usize,
    pub body_bytes: usize,
    /// Time for a body to arrive.
    pub body_ms: u64,
    pub parameters: usize,
    /// Revisions in a body of `POST /api/v2/commits`.
    pub commits: usize,
    pub commits_body_bytes: usize,
}

/// Limits for all clients together.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ServerLimits {
    /// Concurrent heavy searches.
    pub running: usize,
    /// Waiting heavy searches; more are refused.
    pub queued: usize,
    /// Bytes of stored answers.
    pub spool_bytes: u64,
}
