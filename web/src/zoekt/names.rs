//! Names of files and repositories, as filters match them.

use crate::problem::Problem;
use regex::bytes::{Regex, RegexBuilder};
use schema::message::{Expr, Field, Filter, ListEntry, Reading};
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of a compiled regular expression; as in the index.
const REGEX_BYTES_MAX: usize = 1 << 20;

fn compile(filter: &Filter) -> Option<Regex> {
    let mut builder = RegexBuilder::new(&filter.text);
    builder
        .case_insensitive(filter.reading == Reading::RegexpIgnoringCase)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX);
    builder.build().ok()
}

/// Parts of a path that match filters which are not negated.
#[derive(Default)]
pub(super) struct NameRanges(Vec<Regex>);

impl NameRanges {
    pub(super) fn of(expr: &Expr) -> NameRanges {
        let mut found = Vec::new();
        collect(expr, &mut found);
        NameRanges(found)
    }

    /// Ascending, without overlaps; all of the path if no filter matches a part.
    pub(super) fn find(&self, path: &[u8]) -> Vec<Range<usize>> {
        let found = self.0.iter().flat_map(|regex| regex.find_iter(path));
        let found = found.map(|part| part.range());
        let mut found: Vec<_> = found.filter(|range| !range.is_empty()).collect();
        found.sort_by_key(|range| (range.start, range.end));
        let mut end = 0;
        found.retain(|range| {
            let is_new = range.start >= end;
            end = if is_new { range.end } else { end };
            is_new
        });
        if found.is_empty() {
            found.push(0..path.len());
        }
        found
    }
}

fn collect(expr: &Expr, out: &mut Vec<Regex>) {
    match expr {
        Expr::Filter(filter) if filter.field == Field::Path && filter.reading.is_regexp() => {
            out.extend(compile(filter));
        }
        Expr::All(parts) | Expr::Any(parts) => parts.iter().for_each(|part| collect(part, out)),
        _ => {}
    }
}

/// Expression about repositories alone.
pub(super) struct RepositoryFilter<'e> {
    expr: &'e Expr,
    regexps: HashMap<&'e str, Regex>,
}

impl<'e> RepositoryFilter<'e> {
    /// `None` if it needs a search.
    pub(super) fn of(expr: &'e Expr) -> Option<Result<RepositoryFilter<'e>, Problem>> {
        let mut regexps = HashMap::new();
        for atom in expr.atoms() {
            let Expr::Filter(filter) = atom else {
                return None;
            };
            match (filter.field, filter.reading) {
                (Field::Package, Reading::Exact) => {}
                (Field::Package, Reading::Regexp) => match compile(filter) {
                    Some(regex) => drop(regexps.insert(&filter.text[..], regex)),
                    None => {
                        let detail = "a regular expression of r: is too large";
                        return Some(Err(Problem::bad_request(detail)));
                    }
                },
                (Field::Path, _) if is_everything(filter) => {}
                _ => return None,
            }
        }
        Some(Ok(RepositoryFilter { expr, regexps }))
    }

    pub(super) fn accepts(&self, entry: &ListEntry) -> bool {
        self.holds(self.expr, entry)
    }

    fn holds(&self, expr: &Expr, entry: &ListEntry) -> bool {
        match expr {
            Expr::All(parts) => parts.iter().all(|part| self.holds(part, entry)),
            Expr::Any(parts) => parts.iter().any(|part| self.holds(part, entry)),
            Expr::Not(inner) => !self.holds(inner, entry),
            Expr::Filter(filter) if filter.reading == Reading::Exact => {
                let text = filter.text.as_bytes();
                entry.package == text || entry.name() == text
            }
            Expr::Filter(filter) => {
                let regex = self.regexps.get(&filter.text[..]);
                regex.is_none_or(|regex| regex.is_match(entry.name()))
            }
            Expr::Pattern(_) | Expr::Line(_) => false,
        }
    }
}

/// Filter of a query that excludes nothing.
fn is_everything(filter: &Filter) -> bool {
    filter.text == "^"
}
