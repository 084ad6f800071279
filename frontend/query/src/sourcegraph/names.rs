//! Condition on the name of a repository, without a search.

use crate::error::BadQuery;
use regex::bytes::{Regex, RegexBuilder};
use schema::message::{Expr, Reading};
use std::collections::HashSet;

const PROGRAM_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug)]
pub enum NameFilter {
    Regexp(Regex),
    Exact(Vec<u8>),
    /// Directories.
    OneOf(HashSet<Vec<u8>>),
    All(Vec<NameFilter>),
    Any(Vec<NameFilter>),
    Not(Box<NameFilter>),
}

impl NameFilter {
    pub(super) fn new(expr: &Expr) -> Result<NameFilter, BadQuery> {
        let list = |parts: &[Expr]| parts.iter().map(NameFilter::new).collect::<Result<_, _>>();
        Ok(match expr {
            Expr::Filter(filter) if filter.reading == Reading::Exact => {
                NameFilter::Exact(filter.text.clone().into_bytes())
            }
            Expr::Filter(filter) => {
                let mut builder = RegexBuilder::new(&filter.text);
                builder.case_insensitive(filter.reading == Reading::RegexpIgnoringCase);
                let regexp = builder.size_limit(PROGRAM_BYTES_MAX).build();
                let invalid = |_| BadQuery::new("the regular expression is too large");
                NameFilter::Regexp(regexp.map_err(invalid)?)
            }
            Expr::All(parts) => NameFilter::All(list(parts)?),
            Expr::Any(parts) => NameFilter::Any(list(parts)?),
            Expr::Not(inner) | Expr::Line(inner) => {
                NameFilter::Not(Box::new(NameFilter::new(inner)?))
            }
            Expr::Pattern(_) => return Err(BadQuery::new("not a filter of repositories")),
        })
    }

    /// `directory` is the name with its version.
    pub fn matches(&self, name: &[u8], directory: &[u8]) -> bool {
        let matches = |part: &NameFilter| part.matches(name, directory);
        match self {
            NameFilter::Regexp(regexp) => regexp.is_match(name),
            NameFilter::Exact(text) => text == name || text == directory,
            NameFilter::OneOf(set) => set.contains(directory),
            NameFilter::All(parts) => parts.iter().all(matches),
            NameFilter::Any(parts) => parts.iter().any(matches),
            NameFilter::Not(inner) => !matches(inner),
        }
    }
}
