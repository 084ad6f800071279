//! Narrows a search to the repositories that its predicates select.

use super::lower::Search;
use super::names::NameFilter;
use crate::checked::Query;
use crate::error::BadQuery;
use schema::message::{Expr, Field, Filter, Reading};
use schema::name::package_name;
use std::collections::BTreeSet;

impl Search {
    /// `found`: directories of repositories, by predicate.
    pub fn narrowed(&self, found: &[Vec<Vec<u8>>]) -> Result<Search, BadQuery> {
        let found = self.predicates.iter().zip(found);
        let mut narrowed = self.clone();
        if let Some(names) = &self.names {
            let sets = found.map(|(predicate, names)| {
                let set = NameFilter::OneOf(names.iter().cloned().collect());
                match predicate.negated {
                    true => NameFilter::Not(Box::new(set)),
                    false => set,
                }
            });
            narrowed.names = Some(NameFilter::All(sets.chain([names.clone()]).collect()));
            return Ok(narrowed);
        }
        let most = found.clone().map(|(_, names)| names.len()).max();
        let filters = found.map(|(predicate, names)| match predicate.negated {
            true => one_of(names).negated(),
            false => one_of(names),
        });
        let mut search = self.parsed.query.search();
        search.expr = Expr::all([search.expr.clone()].into_iter().chain(filters));
        narrowed.parsed.query = Query::of(search).map_err(|_| {
            let count = most.unwrap_or(0);
            let reason = format!("{count} repositories satisfy a predicate, too many to search in");
            BadQuery::new(reason).hint("narrow them with repo:NAME")
        })?;
        Ok(narrowed)
    }
}

fn one_of(directories: &[Vec<u8>]) -> Expr {
    // Directories may end in a version.
    let names = directories.iter().flat_map(|it| [package_name(it), it]);
    let names: BTreeSet<String> = names.map(escaped).collect();
    let names: Vec<String> = names.into_iter().collect();
    Expr::Filter(Filter {
        field: Field::Package,
        reading: Reading::Regexp,
        text: format!("^(?:{})$", names.join("|")),
    })
}

fn escaped(name: &[u8]) -> String {
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        out.push_str(&regex_syntax::escape(chunk.valid()));
        for byte in chunk.invalid() {
            out.push_str(&format!("(?-u:\\x{byte:02x})"));
        }
    }
    out
}
