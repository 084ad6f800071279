//! Query language of Sourcegraph, for its clients and links.
//!
//! Words, `AND`, `OR`, `NOT`, parentheses and `field:value`, in the four pattern types. A pattern
//! matches a text or its path, in any case. Filters around alternatives apply to all of them.

mod field;
mod hoist;
mod key;
mod lower;
mod names;
mod narrow;
mod options;
mod parser;
mod predicate;
mod scan;
mod tree;

pub use lower::Search;
pub use names::NameFilter;
pub use options::{PatternType, Show};
pub use predicate::Predicate;

use super::error::BadQuery;
use super::input::check_length;
use lower::Lowering;

/// `patterntype:` overrides `default`.
pub fn parse(query: &str, default: PatternType) -> Result<Search, BadQuery> {
    check_length(query)?;
    let pattern_type = key::pattern_type(query)?.unwrap_or(default);
    let (node, options) = parser::parse(query, pattern_type)?;
    Lowering::new(options).search(node)
}
