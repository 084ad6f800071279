//! Query limits checked by the frontend. Backends also limit compiled patterns.

/// Bytes of patterns and filters. Longer queries are mistakes of scripts, and costly to
/// compile on every backend.
pub const QUERY_BYTES_MAX: usize = 4 << 10;

/// Bytes as typed: every byte may be escaped, every term quoted and in parentheses.
pub const TYPED_BYTES_MAX: usize = 4 * QUERY_BYTES_MAX;

/// Context lines on either side.
pub const CONTEXT_LINES_MAX: u32 = 10;

/// Largest limit, for clients that read a few pages. Past it, finding all costs no more.
pub const LIMIT_MAX: u64 = 10_000;

/// Nesting of regular expressions, since parsers recurse.
pub const NESTING_MAX: u32 = 250;
