//! A pattern's trigram query: what must be in a block for the pattern to match there.
//!
//! The method is Russ Cox's ("Regular Expression Matching with a Trigram Index", 2012) over
//! `regex-syntax`'s HIR: of every sub-expression we know the set of strings it matches, if that is
//! small (`exact`); else sets of what a match can begin and end with; and a query that each match
//! satisfies. Joining two expressions, the strings that cross the border give new trigrams.
//! Differences: strings are folded as the index is (so ignoring case needs no alternatives), sets
//! are larger (`[0-9]-[0-9]` is a union of a hundred short lists, far cheaper than a scan), and
//! begins and ends are kept to the two bytes that can take part in a trigram over the border.
//!
//! **Invariant:** never a false negative: a line that matches satisfies the query. Wherever a set
//! would outgrow its bound the answer gets weaker, in the end to "all".
//! It does not look at an index: what a trigram costs is the shard's business.

use crate::trigram::Trigram;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::collections::BTreeSet;
use std::fmt;

mod multiline;

pub use multiline::{DocumentQuery, plan_multiline};

/// Strings in an exact set. A pattern with more alternatives is planned by their begins and ends.
const EXACT_MAX: usize = 128;
/// Bytes of all strings of an exact set.
const EXACT_BYTES_MAX: usize = 16 << 10;
/// Strings in a set of begins or ends, and in the product of two of them.
const BORDER_MAX: usize = 256;
/// Code points of a class that are looked at one by one; `[^a]` has a million.
const CLASS_MAX: u32 = 512;
/// Copies of a repeated expression that are looked at: more add no trigram that is new.
const COPIES_MAX: u32 = 4;
/// Nodes of a query. Larger ones cost more to look up than they save.
const NODES_MAX: usize = 4096;

/// Nesting of a pattern, as ripgrep's.
pub(crate) const NESTING_MAX: u32 = 250;

/// What must hold for a block to be a candidate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrigramQuery {
    /// Nothing: every block is a candidate.
    All,
    /// What no block can satisfy.
    None,
    /// The block holds the trigram.
    Trigram(Trigram),
    /// All of them; at least two.
    And(Vec<TrigramQuery>),
    /// One of them; at least two.
    Or(Vec<TrigramQuery>),
}

/// Why a pattern cannot be planned or searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadPattern {
    /// Where in the pattern, in bytes, if it can be said.
    pub at: Option<usize>,
    /// Why.
    pub reason: String,
}

/// The query of a pattern: the regular expression `pattern` as ripgrep reads it (Unicode, `^` and
/// `$` at lines), to be found within a line.
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

/// Parses a regular expression, or says where and why it is none.
pub(crate) fn parse(pattern: &str, ignore_case: bool) -> Result<Hir, BadPattern> {
    regex_syntax::ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .crlf(true)
        .case_insensitive(ignore_case)
        .nest_limit(NESTING_MAX)
        .build()
        .parse(pattern)
        .map_err(|error| match error {
            regex_syntax::Error::Parse(error) => BadPattern {
                at: Some(error.span().start.offset),
                reason: error.kind().to_string(),
            },
            regex_syntax::Error::Translate(error) => BadPattern {
                at: Some(error.span().start.offset),
                reason: error.kind().to_string(),
            },
            other => BadPattern {
                at: None,
                reason: other.to_string(),
            },
        })
}

impl TrigramQuery {
    /// All of `queries`, simplified.
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

    /// One of `queries`, simplified.
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
            TrigramQuery::and(
                part.factors()
                    .iter()
                    .filter(|factor| !common.contains(factor))
                    .cloned(),
            )
        });
        let rest = TrigramQuery::or(rest.collect::<Vec<_>>());
        TrigramQuery::and(common.iter().cloned().chain([rest]))
    }

    /// What the query is the AND of.
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

    fn nodes(&self) -> usize {
        match self {
            TrigramQuery::And(parts) | TrigramQuery::Or(parts) => {
                1 + parts.iter().map(TrigramQuery::nodes).sum::<usize>()
            }
            _ => 1,
        }
    }
}

/// What every one of `parts` requires: `ab | abc` is `ab`, and `xa | xb` is `x` and one of a, b.
fn common_factors(parts: &BTreeSet<TrigramQuery>) -> BTreeSet<TrigramQuery> {
    let factors = parts
        .iter()
        .map(|part| BTreeSet::from_iter(part.factors().iter().cloned()));
    factors.reduce(|a, b| &a & &b).unwrap_or_default()
}

/// `all`, `none`, `"abc"`; a space is AND, `(a | b)` is OR.
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

fn write_joined(out: &mut fmt::Formatter<'_>, parts: &[TrigramQuery], with: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.write_str(with)?;
        }
        write!(out, "{part}")?;
    }
    Ok(())
}

/// Folded strings.
type Strings = BTreeSet<Vec<u8>>;

/// What is known of all matches of an expression.
#[derive(Clone)]
struct Info {
    /// The matches themselves, when they are few.
    exact: Option<Strings>,
    /// Every match begins with one of these, of at most two bytes; used when not exact.
    begins: Strings,
    /// Every match ends with one of these, of at most two bytes; used when not exact.
    ends: Strings,
    /// Holds for every match.
    query: TrigramQuery,
}

impl Info {
    fn of(hir: &Hir) -> Info {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Info::exact([Vec::new()].into()),
            HirKind::Literal(literal) => Info::exact([literal.0.to_ascii_lowercase()].into()),
            HirKind::Class(class) => strings_of(class).map_or_else(Info::any, Info::exact),
            HirKind::Capture(capture) => Info::of(&capture.sub),
            HirKind::Repetition(repetition) => Info::of_repetition(repetition),
            HirKind::Concat(parts) => parts
                .iter()
                .map(Info::of)
                .reduce(Info::concat)
                .unwrap_or_else(Info::any),
            HirKind::Alternation(parts) => parts
                .iter()
                .map(Info::of)
                .reduce(Info::alternate)
                .unwrap_or_else(Info::any),
        }
    }

    fn of_repetition(repetition: &Repetition) -> Info {
        let one = Info::of(&repetition.sub);
        if repetition.min == 0 {
            let empty = Info::exact([Vec::new()].into());
            return match repetition.max {
                Some(0) => empty,
                Some(1) => one.alternate(empty),
                _ => Info::any(),
            };
        }
        let copies = repetition.min.min(COPIES_MAX);
        let joined = (1..copies).fold(one.clone(), |joined, _| joined.concat(one.clone()));
        if repetition.max == Some(copies) {
            joined
        } else {
            joined.inexact()
        }
    }

    /// Matches `strings` and nothing else.
    fn exact(strings: Strings) -> Info {
        let info = Info {
            exact: Some(strings),
            begins: Strings::new(),
            ends: Strings::new(),
            query: TrigramQuery::All,
        };
        if info.exact.as_ref().is_some_and(fits) {
            info
        } else {
            info.inexact()
        }
    }

    /// May match anything.
    fn any() -> Info {
        let empty: Strings = [Vec::new()].into();
        Info {
            exact: None,
            begins: empty.clone(),
            ends: empty,
            query: TrigramQuery::All,
        }
    }

    /// The same knowledge without the exact set.
    fn inexact(self) -> Info {
        let Some(strings) = self.exact else {
            return self;
        };
        Info {
            query: TrigramQuery::and([self.query, trigrams_of(&strings)]),
            begins: cut(&strings, begin),
            ends: cut(&strings, end),
            exact: None,
        }
    }

    fn concat(self, next: Info) -> Info {
        if let (Some(a), Some(b)) = (&self.exact, &next.exact)
            && let Some(both) = product(a, b, EXACT_MAX)
            && fits(&both)
        {
            let query = TrigramQuery::and([self.query, next.query]);
            return Info {
                query,
                ..Info::exact(both)
            };
        }
        // A short exact side reaches through to what stands beyond it.
        let begins = self.exact.as_ref().and_then(|strings| {
            let beyond = next.clone().inexact().begins;
            widest(|bytes| product(strings, &shorten(&beyond, begin, bytes), BORDER_MAX))
        });
        let ends = next.exact.as_ref().and_then(|strings| {
            let before = self.clone().inexact().ends;
            widest(|bytes| product(&shorten(&before, end, bytes), strings, BORDER_MAX))
        });
        let (first, second) = (self.inexact(), next.inexact());
        let multiline = [(2, 1), (1, 2)].map(|(before, behind)| {
            let before = shorten(&first.ends, end, before);
            product(&before, &shorten(&second.begins, begin, behind), BORDER_MAX)
        });
        let joined = multiline
            .iter()
            .chain([&begins, &ends])
            .flatten()
            .map(trigrams_of);
        Info {
            exact: None,
            query: TrigramQuery::and(joined.chain([first.query, second.query])),
            begins: begins.map_or(first.begins, |strings| cut(&strings, begin)),
            ends: ends.map_or(second.ends, |strings| cut(&strings, end)),
        }
    }

    fn alternate(self, other: Info) -> Info {
        if let (Some(a), Some(b)) = (&self.exact, &other.exact) {
            let both: Strings = a.union(b).cloned().collect();
            if fits(&both) {
                return Info {
                    query: TrigramQuery::or([self.query, other.query]),
                    ..Info::exact(both)
                };
            }
        }
        let (a, b) = (self.inexact(), other.inexact());
        Info {
            exact: None,
            begins: cut(&a.begins.union(&b.begins).cloned().collect(), begin),
            ends: cut(&a.ends.union(&b.ends).cloned().collect(), end),
            query: TrigramQuery::or([a.query, b.query]),
        }
    }

    fn into_query(self) -> TrigramQuery {
        self.inexact().query
    }
}

fn fits(strings: &Strings) -> bool {
    strings.len() <= EXACT_MAX && strings.iter().map(Vec::len).sum::<usize>() <= EXACT_BYTES_MAX
}

/// Takes a string's first or last bytes: [`begin`] or [`end`].
type Part = fn(&[u8], usize) -> &[u8];

fn begin(string: &[u8], bytes: usize) -> &[u8] {
    &string[..bytes.min(string.len())]
}

fn end(string: &[u8], bytes: usize) -> &[u8] {
    &string[string.len().saturating_sub(bytes)..]
}

/// Every string cut by `part` to at most `bytes` bytes.
fn shorten(strings: &Strings, part: Part, bytes: usize) -> Strings {
    strings
        .iter()
        .map(|string| part(string, bytes).to_vec())
        .collect()
}

/// The first that fits, of two bytes, of one and of none.
fn widest(strings: impl Fn(usize) -> Option<Strings>) -> Option<Strings> {
    (0..=2).rev().find_map(strings)
}

/// Every string cut by `part` to as many of two bytes as keep the set within its bound.
fn cut(strings: &Strings, part: Part) -> Strings {
    widest(|bytes| Some(shorten(strings, part, bytes)).filter(|cut| cut.len() <= BORDER_MAX))
        .expect("cut to nothing there is one string")
}

/// Every string of `a` followed by every string of `b`; `None` when they are more than `max`.
fn product(a: &Strings, b: &Strings, max: usize) -> Option<Strings> {
    if a.len() * b.len() > max {
        return None;
    }
    Some(
        a.iter()
            .flat_map(|a| b.iter().map(move |b| [&a[..], b].concat()))
            .collect(),
    )
}

/// What holds for a text that contains one of `strings`. One that holds a line's end cannot be
/// contained in a line.
fn trigrams_of(strings: &Strings) -> TrigramQuery {
    TrigramQuery::or(strings.iter().map(|string| {
        let windows = string
            .windows(3)
            .map(|window| [window[0], window[1], window[2]]);
        TrigramQuery::and(
            windows
                .map(|bytes| Trigram::of(bytes).map_or(TrigramQuery::None, TrigramQuery::Trigram)),
        )
    }))
}

/// The folded strings of a small class.
fn strings_of(class: &Class) -> Option<Strings> {
    match class {
        Class::Unicode(class) => {
            let points: u32 = class
                .iter()
                .map(|range| u32::from(range.end()) - u32::from(range.start()) + 1)
                .sum();
            let strings = || {
                class
                    .iter()
                    .flat_map(|range| range.start()..=range.end())
                    .map(|point| {
                        point
                            .to_ascii_lowercase()
                            .encode_utf8(&mut [0; 4])
                            .as_bytes()
                            .to_vec()
                    })
            };
            (points <= CLASS_MAX).then(|| strings().collect())
        }
        Class::Bytes(class) => Some(
            class
                .iter()
                .flat_map(|range| range.start()..=range.end())
                .map(|byte| vec![byte.to_ascii_lowercase()])
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests;
