//! A pattern's trigram query: the condition that a block satisfies if the pattern matches in it.
//!
//! The method is Russ Cox's ("Regular Expression Matching with a Trigram Index", 2012) over
//! `regex-syntax`'s HIR. Differences: strings are folded as the index is (so a search that ignores
//! case needs no alternatives), sets are larger (`[0-9]-[0-9]` is a union of a hundred short lists,
//! far cheaper than a scan), and prefixes and suffixes keep only the two bytes that can be part of a
//! trigram across the border.
//! **Invariant:** never a false negative: a line that matches satisfies the query. Where a set would
//! exceed its bound the query gets weaker, in the end "all".
//! Planning does not look at an index: what a trigram costs is decided by the shard.

mod info;
mod multiline;
mod pattern;
mod query;

pub use multiline::{DocumentQuery, plan_multiline};
pub use pattern::BadPattern;
pub(crate) use pattern::{NESTING_MAX, parse};
pub use query::TrigramQuery;

use info::Info;

/// Returns the query of the regular expression `pattern`, as ripgrep reads it (Unicode, `^` and `$`
/// at lines), when it is searched for within a line.
///
/// ```
/// let query = index::plan::plan("fopen\\(.*\"r\"", false).unwrap();
/// assert_eq!(query.to_string(), r#""\"r\"" "en(" "fop" "ope" "pen""#);
/// assert_eq!(index::plan::plan("a|bc", false).unwrap().to_string(), "all");
/// ```
pub fn plan(pattern: &str, ignore_case: bool) -> Result<TrigramQuery, BadPattern> {
    let hir = parse(pattern, ignore_case)?;
    Ok(Info::of(&hir).into_query())
}

#[cfg(test)]
mod tests;
