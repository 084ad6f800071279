//! How large a query may be, and what it may ask for.

use schema::message::{ATOMS_MAX, DEPTH_MAX};

/// Bytes of a query's patterns and filters. A person's query is far below it; a longer one is a
/// mistake of a script, and costs every backend the time to compile it.
pub const QUERY_BYTES_MAX: usize = 4 << 10;

/// Bytes of a query as it is typed: every byte may have a backslash in front, and every part its
/// quotes and parentheses.
pub const TYPED_BYTES_MAX: usize = 4 * QUERY_BYTES_MAX;

/// Lines of context a match may carry on either side.
pub const CONTEXT_LINES_MAX: u32 = 10;

/// The most that a limit may be. It is for those who want the first few pages and no more; beyond
/// it all matches are no dearer.
pub const LIMIT_MAX: u64 = 10_000;

/// How deep groups and repetitions may nest in a regular expression: its parser recurses, and so
/// does every backend.
pub(super) const NESTING_MAX: u32 = 250;

/// A bound of what may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name, in the words of addresses.
    pub name: &'static str,
    /// The most there may be.
    pub value: u64,
    /// What is counted.
    pub unit: &'static str,
    /// What it is about.
    pub what: &'static str,
}

/// The bounds that a query is held to before it is sent to a backend. How large a pattern may be
/// once it is compiled is a backend's to say.
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
