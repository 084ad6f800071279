//! A pattern's trigram query: the condition that a block satisfies if the pattern matches in it.
//!
//! The method is Russ Cox's ("Regular Expression Matching with a Trigram Index", 2012) over
//! `regex-syntax`'s HIR. Differences: strings are folded as the index is (so a search that ignores
//! case needs no alternatives), sets are larger (`[0-9]-[0-9]` is a union of a hundred short lists,
//! far cheaper than a scan), and prefixes and suffixes keep only the two bytes that can be part of a
//! trigram across the border.
//!
//! For every sub-expression it is known (`Info`): the set of its matches when that is small
//! (`exact`); else sets of prefixes and suffixes; and a query that each match satisfies. When two
//! expressions are concatenated, the strings that cross the border give new trigrams.
//!
//! **Invariant:** never a false negative: a line that matches satisfies the query. Where a set would
//! exceed its bound the query gets weaker, in the end "all".
//! Planning does not look at an index: what a trigram costs is decided by the shard.

mod multiline;
mod query;

pub use multiline::{DocumentQuery, plan_multiline};
pub use query::TrigramQuery;

use crate::trigram::Trigram;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use regex_syntax::{Error, ParserBuilder};
use std::collections::BTreeSet;

/// Nesting of a pattern, at most: ripgrep's limit.
pub(crate) const NESTING_MAX: u32 = 250;
/// Strings in an exact set. A pattern with more alternatives is planned by prefixes and suffixes.
const EXACT_MAX: usize = 128;
/// Bytes of all strings of an exact set.
const EXACT_BYTES_MAX: usize = 16 << 10;
/// Strings in a set of prefixes or suffixes, and in the product of two such sets.
const AFFIXES_MAX: usize = 256;
/// Code points of a class that are enumerated; `[^a]` has a million.
const CLASS_MAX: u32 = 512;
/// Copies of a repeated expression that are analysed: more add no new trigram.
const COPIES_MAX: u32 = 4;

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

/// Returns the query of a text that is searched for as it is, or without regard to case.
///
/// [`plan`] would find the same query for most texts, through a parser and sets of strings. Only where a letter has more than two cases
/// (`s` has `ſ`, `k` has the Kelvin sign) this query is the weaker and much smaller one: each three letters may be
/// written in any of their ways, whatever their neighbours are. `test_subclass` has 16 ways, of 13 trigrams each.
///
/// ```
/// let query = index::plan::plan_literal("Hash", true).unwrap();
/// assert_eq!(query.to_string(), r#"("ash" | "a\xc5\xbf" "\xc5\xbfh") ("has" | "a\xc5\xbf" "ha\xc5")"#);
/// ```
pub fn plan_literal(text: &str, ignore_case: bool) -> Result<TrigramQuery, BadPattern> {
    if ignore_case && !text.is_ascii() {
        return plan(&regex_syntax::escape(text), true);
    }
    let windows = text.as_bytes().windows(3);
    let windows = windows.map(|window| [window[0], window[1], window[2]]);
    Ok(TrigramQuery::and(windows.map(|window| {
        if ignore_case && window.iter().any(|&byte| other_case(byte).is_some()) {
            ways_to_write(window)
        } else {
            Trigram::of(window).map_or(TrigramQuery::None, TrigramQuery::Trigram)
        }
    })))
}

/// Returns the query of the ways to write an ASCII text, without regard to case, that are not ASCII.
///
/// ```
/// let query = index::plan::plan_other_cases("Hash").unwrap();
/// assert_eq!(query.to_string(), r#""a\xc5\xbf" ("ha\xc5" | "\xc5\xbfh")"#);
/// assert_eq!(index::plan::plan_other_cases("hat").unwrap().to_string(), "none");
/// assert_eq!(index::plan::plan_other_cases("é"), None);
/// ```
pub fn plan_other_cases(text: &str) -> Option<TrigramQuery> {
    let has_other_case = |&byte: &u8| other_case(byte).is_some();
    if !text.is_ascii() {
        return None;
    }
    if !text.as_bytes().iter().any(has_other_case) {
        return Some(TrigramQuery::None);
    }
    if text.len() < 3 {
        return Some(TrigramQuery::All);
    }
    let windows = text.as_bytes().windows(3);
    let windows = windows.filter(|window| window.iter().any(has_other_case));
    let queries = windows.map(|window| {
        let ways = spellings([window[0], window[1], window[2]]);
        let others = ways.into_iter().filter(|way| !way.is_ascii());
        trigrams_of(&others.collect())
    });
    Some(TrigramQuery::or(queries))
}

/// Returns the character that is not ASCII and a case of an ASCII letter.
fn other_case(byte: u8) -> Option<&'static str> {
    match byte.to_ascii_lowercase() {
        b'k' => Some("\u{212a}"),
        b's' => Some("\u{17f}"),
        _ => None,
    }
}

/// Returns a query for texts that contain three letters in any case.
fn ways_to_write(letters: [u8; 3]) -> TrigramQuery {
    trigrams_of(&spellings(letters).into_iter().collect())
}

/// Returns the ways to write three letters, with ASCII ones in lower case.
fn spellings(letters: [u8; 3]) -> Vec<Vec<u8>> {
    let mut ways = vec![Vec::with_capacity(9)];
    for letter in letters {
        let other = other_case(letter);
        let others = other.map(|other| ways.iter().map(|way| [way, other.as_bytes()].concat()));
        let others: Vec<_> = others.into_iter().flatten().collect();
        let folded = letter.to_ascii_lowercase();
        ways.iter_mut().for_each(|way| way.push(folded));
        ways.extend(others);
    }
    ways
}

/// Why a pattern cannot be planned or searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadPattern {
    /// Offset of the mistake in the pattern, in bytes, if known.
    pub at: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl BadPattern {
    /// Returns a mistake at an unknown offset.
    pub fn new(reason: impl Into<String>) -> BadPattern {
        BadPattern {
            at: None,
            reason: reason.into(),
        }
    }
}

/// Parses a regular expression.
pub(crate) fn parse(pattern: &str, ignore_case: bool) -> Result<Hir, BadPattern> {
    let parsed = ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .crlf(true)
        .case_insensitive(ignore_case)
        .nest_limit(NESTING_MAX)
        .build()
        .parse(pattern);
    parsed.map_err(|error| {
        let (at, reason) = match error {
            Error::Parse(error) => (Some(error.span().start.offset), error.kind().to_string()),
            Error::Translate(error) => (Some(error.span().start.offset), error.kind().to_string()),
            other => (None, other.to_string()),
        };
        BadPattern { at, reason }
    })
}

/// Strings, with ASCII letters in lower case.
type Strings = BTreeSet<Vec<u8>>;

/// What is known about all matches of an expression.
#[derive(Clone)]
struct Info {
    /// All matches, when they are few.
    exact: Option<Strings>,
    /// Every match begins with one of these, of at most two bytes; used when not exact.
    prefixes: Strings,
    /// Every match ends with one of these, of at most two bytes; used when not exact.
    suffixes: Strings,
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

    /// An expression that matches `strings` and nothing else.
    fn exact(strings: Strings) -> Info {
        let info = Info {
            exact: Some(strings),
            prefixes: Strings::new(),
            suffixes: Strings::new(),
            query: TrigramQuery::All,
        };
        if info.exact.as_ref().is_some_and(fits) {
            info
        } else {
            info.inexact()
        }
    }

    /// An expression that may match anything.
    fn any() -> Info {
        let empty: Strings = [Vec::new()].into();
        Info {
            exact: None,
            prefixes: empty.clone(),
            suffixes: empty,
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
            prefixes: cut(&strings, prefix),
            suffixes: cut(&strings, suffix),
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
        // Through a short exact side, the prefixes or suffixes extend into the other side.
        let prefixes = self.exact.as_ref().and_then(|strings| {
            let beyond = next.clone().inexact().prefixes;
            widest(|bytes| product(strings, &shorten(&beyond, prefix, bytes), AFFIXES_MAX))
        });
        let suffixes = next.exact.as_ref().and_then(|strings| {
            let before = self.clone().inexact().suffixes;
            widest(|bytes| product(&shorten(&before, suffix, bytes), strings, AFFIXES_MAX))
        });
        let (first, second) = (self.inexact(), next.inexact());
        let multiline = [(2, 1), (1, 2)].map(|(before, behind)| {
            let before = shorten(&first.suffixes, suffix, before);
            product(
                &before,
                &shorten(&second.prefixes, prefix, behind),
                AFFIXES_MAX,
            )
        });
        let joined = multiline
            .iter()
            .chain([&prefixes, &suffixes])
            .flatten()
            .map(trigrams_of);
        Info {
            exact: None,
            query: TrigramQuery::and(joined.chain([first.query, second.query])),
            prefixes: prefixes.map_or(first.prefixes, |strings| cut(&strings, prefix)),
            suffixes: suffixes.map_or(second.suffixes, |strings| cut(&strings, suffix)),
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
            prefixes: cut(&a.prefixes.union(&b.prefixes).cloned().collect(), prefix),
            suffixes: cut(&a.suffixes.union(&b.suffixes).cloned().collect(), suffix),
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

/// Takes a string's first or last bytes: [`prefix`] or [`suffix`].
type Affix = fn(&[u8], usize) -> &[u8];

fn prefix(string: &[u8], bytes: usize) -> &[u8] {
    &string[..bytes.min(string.len())]
}

fn suffix(string: &[u8], bytes: usize) -> &[u8] {
    &string[string.len().saturating_sub(bytes)..]
}

/// Cuts every string to at most `bytes` bytes.
fn shorten(strings: &Strings, affix: Affix, bytes: usize) -> Strings {
    strings
        .iter()
        .map(|string| affix(string, bytes).to_vec())
        .collect()
}

/// Returns the first set that fits: with two bytes, with one, with none.
fn widest(strings: impl Fn(usize) -> Option<Strings>) -> Option<Strings> {
    (0..=2).rev().find_map(strings)
}

/// Cuts every string to two bytes, or to fewer when the set would exceed its bound.
fn cut(strings: &Strings, affix: Affix) -> Strings {
    widest(|bytes| Some(shorten(strings, affix, bytes)).filter(|cut| cut.len() <= AFFIXES_MAX))
        .expect("a set of empty strings has one element")
}

/// Returns every string of `a` followed by every string of `b`; `None` when these exceed `max`.
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

/// Returns a query for texts that contain one of `strings`. A string with a line end matches in no
/// line.
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

/// Returns the strings of a small class.
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
