//! Trigram query: AND and OR of trigrams, as a condition on a block.

use crate::trigram::Trigram;
use std::collections::BTreeSet;
use std::fmt;

/// A larger query costs more than it saves.
const NODES_MAX: usize = 4096;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrigramQuery {
    All,
    None,
    Trigram(Trigram),
    /// All hold; at least two.
    And(Vec<TrigramQuery>),
    /// One holds; at least two.
    Or(Vec<TrigramQuery>),
}

impl TrigramQuery {
    pub fn and(queries: impl IntoIterator<Item = TrigramQuery>) -> TrigramQuery {
        let mut parts = BTreeSet::new();
        for query in queries {
            match query {
                TrigramQuery::All => {}
                TrigramQuery::None => return TrigramQuery::None,
                TrigramQuery::And(inner) => parts.extend(inner),
                other => drop(parts.insert(other)),
            }
        }
        TrigramQuery::from_parts(parts, TrigramQuery::All, TrigramQuery::And)
    }

    pub fn or(queries: impl IntoIterator<Item = TrigramQuery>) -> TrigramQuery {
        let mut parts = BTreeSet::new();
        for query in queries {
            match query {
                TrigramQuery::None => {}
                TrigramQuery::All => return TrigramQuery::All,
                TrigramQuery::Or(inner) => parts.extend(inner),
                other => drop(parts.insert(other)),
            }
        }
        if parts.iter().map(TrigramQuery::nodes).sum::<usize>() > NODES_MAX {
            return TrigramQuery::All;
        }
        let common = common_factors(&parts);
        if common.is_empty() || parts.len() < 2 {
            return TrigramQuery::from_parts(parts, TrigramQuery::None, TrigramQuery::Or);
        }
        let rest = parts.iter().map(|part| {
            let others = part.factors().iter().filter(|it| !common.contains(it));
            TrigramQuery::and(others.cloned())
        });
        let rest = TrigramQuery::or(rest.collect::<Vec<_>>());
        TrigramQuery::and(common.iter().cloned().chain([rest]))
    }

    fn factors(&self) -> &[TrigramQuery] {
        match self {
            TrigramQuery::And(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    fn from_parts(
        mut parts: BTreeSet<TrigramQuery>,
        neutral: TrigramQuery,
        join: fn(Vec<TrigramQuery>) -> TrigramQuery,
    ) -> TrigramQuery {
        match parts.len() {
            0 => neutral,
            1 => parts.pop_first().expect("one part"),
            _ => join(parts.into_iter().collect()),
        }
    }

    /// True if the text has the trigrams.
    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        match self {
            TrigramQuery::All => true,
            TrigramQuery::None => false,
            TrigramQuery::Trigram(trigram) => {
                let mut windows = text.windows(3);
                windows.any(|three| Trigram::of([three[0], three[1], three[2]]) == Some(*trigram))
            }
            TrigramQuery::And(parts) => parts.iter().all(|part| part.is_in(text)),
            TrigramQuery::Or(parts) => parts.iter().any(|part| part.is_in(text)),
        }
    }

    pub(crate) fn has_definitions(&self) -> bool {
        match self {
            TrigramQuery::All | TrigramQuery::None => false,
            TrigramQuery::Trigram(trigram) => trigram.is_definition(),
            TrigramQuery::And(parts) | TrigramQuery::Or(parts) => {
                parts.iter().any(TrigramQuery::has_definitions)
            }
        }
    }

    pub(crate) fn without_definitions(&self) -> TrigramQuery {
        let each = |parts: &[TrigramQuery]| -> Vec<_> {
            parts
                .iter()
                .map(TrigramQuery::without_definitions)
                .collect()
        };
        match self {
            TrigramQuery::Trigram(trigram) if trigram.is_definition() => TrigramQuery::All,
            TrigramQuery::And(parts) => TrigramQuery::and(each(parts)),
            TrigramQuery::Or(parts) => TrigramQuery::or(each(parts)),
            other => other.clone(),
        }
    }

    fn nodes(&self) -> usize {
        match self {
            TrigramQuery::And(parts) | TrigramQuery::Or(parts) => {
                1 + parts.iter().map(TrigramQuery::nodes).sum::<usize>()
            }
            _ => 1,
        }
    }
}

/// Conditions in all `parts`: `x a | x b` has the factor `x`.
fn common_factors(parts: &BTreeSet<TrigramQuery>) -> BTreeSet<TrigramQuery> {
    let factors = parts
        .iter()
        .map(|part| BTreeSet::from_iter(part.factors().iter().cloned()));
    factors.reduce(|a, b| &a & &b).unwrap_or_default()
}

/// Renders `all`, `none` or `"abc"`; a space is AND, `(a | b)` is OR.
impl fmt::Display for TrigramQuery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrigramQuery::All => out.write_str("all"),
            TrigramQuery::None => out.write_str("none"),
            TrigramQuery::Trigram(trigram) => write!(out, "{trigram:?}"),
            TrigramQuery::And(parts) => write_joined(out, parts, " "),
            TrigramQuery::Or(parts) => {
                out.write_str("(")?;
                write_joined(out, parts, " | ")?;
                out.write_str(")")
            }
        }
    }
}

impl fmt::Debug for TrigramQuery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

pub(super) fn write_joined<T: fmt::Display>(
    out: &mut fmt::Formatter<'_>,
    parts: impl IntoIterator<Item = T>,
    separator: &str,
) -> fmt::Result {
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            out.write_str(separator)?;
        }
        write!(out, "{part}")?;
    }
    Ok(())
}
