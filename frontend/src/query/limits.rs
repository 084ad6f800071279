//! Limits of a query that the frontend checks. Backends also limit the size of compiled patterns.

/// Bytes of a query's patterns and filters. People type far less; a longer query is a mistake of a
/// script, and every backend would spend time to compile it.
pub const QUERY_BYTES_MAX: usize = 4 << 10;

/// Bytes of a query as typed: every byte may be escaped, and every term has quotes and parentheses.
pub const TYPED_BYTES_MAX: usize = 4 * QUERY_BYTES_MAX;

/// Lines of context on either side of a match.
pub const CONTEXT_LINES_MAX: u32 = 10;

/// The largest limit. A limit is for clients that read a few pages; above it, finding all matches costs
/// no more.
pub const LIMIT_MAX: u64 = 10_000;

/// Nesting of groups and repetitions in a regular expression: the parsers recurse, here and in backends.
pub const NESTING_MAX: u32 = 250;
