//! Limits of clients.

shapes! {
    /// All limits.
    struct Limits {
        query: QueryLimits,
        page: PageLimits,
        request: RequestLimits,
        server: ServerLimits,
    }

    /// Limits of a query.
    struct QueryLimits {
        /// Bytes of patterns and filters, without operators and field names.
        bytes: u64,
        /// Bytes of the query as typed.
        typed_bytes: u64,
        /// Patterns and filters.
        atoms: u64,
        /// Nesting depth; a single pattern has depth 1.
        depth: u64,
        /// Nesting depth of groups and repetitions in a regular expression.
        regexp_nesting: u64,
        /// Bytes of a compiled pattern.
        compiled_pattern_bytes: usize,
        /// Bytes of a compiled filter.
        compiled_filter_bytes: usize,
        /// Lines of context before and after a match.
        context_lines: u64,
        /// Maximum of `limit`.
        limit: u64,
        /// Default of `timeout`.
        timeout_default_ms: u64,
        /// Maximum of `timeout`.
        timeout_ms: u64,
        /// A search with more candidate blocks is heavy, and waits for admission.
        light_blocks: u64,
    }

    /// Limits of a page or another part of an answer.
    struct PageLimits {
        /// Maximum of `per_page`.
        per_page: usize,
        /// Maximum of `per_package`.
        per_package: usize,
        /// Maximum of `per_document`.
        per_document: usize,
        /// Best documents on all pages of `group=document`.
        documents: usize,
        /// Matches of an export; null: no limit.
        export: Option<u64>,
        /// Default of `count` for a file, in bytes. A backend may send less.
        file_bytes_default: u64,
        /// Time that a search continues without a client. A cursor is valid while its answer is
        /// kept, or the same documents can be searched again.
        kept_ms: u64,
    }

    /// Limits of any request.
    struct RequestLimits {
        address_bytes: usize,
        /// Bytes of all header names and values.
        header_bytes: usize,
        body_bytes: usize,
        /// Time for a body to arrive.
        body_ms: u64,
        parameters: usize,
        /// Revisions in a body of `POST /api/v2/commits`.
        commits: usize,
        commits_body_bytes: usize,
    }

    /// Limits for all clients together.
    struct ServerLimits {
        /// Concurrent heavy searches.
        running: usize,
        /// Waiting heavy searches; more are refused.
        queued: usize,
        /// Bytes of stored answers.
        spool_bytes: u64,
    }
}
