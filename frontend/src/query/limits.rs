//! Limits of a query.

use schema::message::{ATOMS_MAX, DEPTH_MAX};

/// Bytes of a query's patterns and filters. People type far less; a longer query is a mistake of a
/// script, and every backend would spend time to compile it.
pub(super) const QUERY_BYTES_MAX: usize = 4 << 10;

/// Bytes of a query as typed: every byte may be escaped, and every term has quotes and parentheses.
pub(super) const TYPED_BYTES_MAX: usize = 4 * QUERY_BYTES_MAX;

/// Lines of context on either side of a match.
pub(super) const CONTEXT_LINES_MAX: u32 = 10;

/// The largest limit. A limit is for clients that read a few pages; above it, finding all matches costs
/// no more.
pub(super) const LIMIT_MAX: u64 = 10_000;

/// Nesting of groups and repetitions in a regular expression: the parsers recurse, here and in backends.
pub(super) const NESTING_MAX: u32 = 250;

/// A limit, for documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name in the API.
    pub name: &'static str,
    /// The maximum.
    pub value: u64,
    /// The unit.
    pub unit: &'static str,
    /// What it limits.
    pub what: &'static str,
}

/// Returns the limits that the frontend checks. Backends also limit the size of compiled patterns.
pub fn limits() -> Vec<Limit> {
    let limit = |name, value, unit, what| Limit {
        name,
        value,
        unit,
        what,
    };
    vec![
        limit(
            "query_bytes",
            QUERY_BYTES_MAX as u64,
            "bytes",
            "patterns and filters of a query, without what is written around them",
        ),
        limit(
            "typed_bytes",
            TYPED_BYTES_MAX as u64,
            "bytes",
            "a query as it is typed",
        ),
        limit("atoms", ATOMS_MAX as u64, "patterns and filters", "a query"),
        limit(
            "depth",
            DEPTH_MAX as u64,
            "levels",
            "parentheses in a query, and what is joined in them",
        ),
        limit(
            "regexp_nesting",
            NESTING_MAX.into(),
            "levels",
            "groups and repetitions in a regular expression",
        ),
        limit(
            "context",
            CONTEXT_LINES_MAX.into(),
            "lines",
            "context on either side of a match",
        ),
        limit(
            "limit",
            LIMIT_MAX,
            "matches or documents",
            "`limit=` and `count:`; none is all",
        ),
    ]
}
