//! Trigram query of a pattern: a condition on every block in which it matches.
//!
//! Russ Cox's method ("Regular Expression Matching with a Trigram Index", 2012) over the HIR of
//! `regex-syntax`. But strings are folded, sets are larger (`[0-9]-[0-9]` is a union of a hundred
//! short lists), and affixes keep only the two bytes that can cross a border.
//!
//! `Info` of a sub-expression: its matches if few, else affixes, and a query that every match
//! satisfies. Concatenation adds trigrams across the border.
//!
//! **Invariant:** never a false negative: a matching line satisfies the query. A set beyond its
//! bound weakens the query, in the end to "all". Planning looks at no index.

#![deny(clippy::disallowed_methods)]

mod multiline;
mod query;

pub use multiline::{DocumentQuery, plan_multiline, plan_name};
pub use query::TrigramQuery;

use crate::trigram::Trigram;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use regex_syntax::{Error, ParserBuilder};
use std::collections::BTreeSet;

/// Nesting of a pattern: ripgrep's limit.
pub(crate) const NESTING_MAX: u32 = 250;
/// Strings in an exact set; beyond, affixes are used.
const EXACT_MAX: usize = 128;
const EXACT_BYTES_MAX: usize = 16 << 10;
/// Strings in a set of affixes or product.
const AFFIXES_MAX: usize = 256;
/// Enumerated code points; `[^a]` has a million.
const CLASS_MAX: usize = 512;
/// Analysed copies of a repetition: more add no trigram.
const COPIES_MAX: u32 = 4;

/// Query of a regular expression within a line, as ripgrep reads it (Unicode, `^` and
/// `$` at lines).
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

/// Query of a literal, optionally ignoring case.
///
/// Equals [`plan`] for most texts, without a parser. Weaker but much smaller for letters with more
/// than two cases (`s` has `ſ`, `k` the Kelvin sign), since each window is planned alone.
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
            trigrams_of(&spellings(window).into_iter().collect())
        } else {
            Trigram::of(window).map_or(TrigramQuery::None, TrigramQuery::Trigram)
        }
    })))
}

/// Query of the non-ASCII spellings of an ASCII text.
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

fn other_case(byte: u8) -> Option<&'static str> {
    match byte.to_ascii_lowercase() {
        b'k' => Some("\u{212a}"),
        b's' => Some("\u{17f}"),
        _ => None,
    }
}

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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadPattern {
    /// Offset in bytes, if known.
    pub at: Option<usize>,
    pub reason: String,
}

impl BadPattern {
    pub fn new(reason: impl Into<String>) -> BadPattern {
        BadPattern {
            at: None,
            reason: reason.into(),
        }
    }
}

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

type Strings = BTreeSet<Vec<u8>>;

#[derive(Clone)]
struct Info {
    exact: Option<Strings>,
    /// Every match begins with one, of up to two bytes; unused if exact.
    prefixes: Strings,
    /// Every match ends with one, of up to two bytes; unused if exact.
    suffixes: Strings,
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
            HirKind::Concat(parts) => Info::joined(parts, Info::concat),
            HirKind::Alternation(parts) => Info::joined(parts, Info::alternate),
        }
    }

    fn joined(parts: &[Hir], join: fn(Info, Info) -> Info) -> Info {
        let parts = parts.iter().map(Info::of);
        parts.reduce(join).unwrap_or_else(Info::any)
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

    fn any() -> Info {
        let empty: Strings = [Vec::new()].into();
        Info {
            exact: None,
            prefixes: empty.clone(),
            suffixes: empty,
            query: TrigramQuery::All,
        }
    }

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
        // A short exact side extends the affixes of the other.
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
            let behind = shorten(&second.prefixes, prefix, behind);
            product(&before, &behind, AFFIXES_MAX)
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

type Affix = fn(&[u8], usize) -> &[u8];

fn prefix(string: &[u8], bytes: usize) -> &[u8] {
    &string[..bytes.min(string.len())]
}

fn suffix(string: &[u8], bytes: usize) -> &[u8] {
    &string[string.len().saturating_sub(bytes)..]
}

fn shorten(strings: &Strings, affix: Affix, bytes: usize) -> Strings {
    let cut = strings.iter().map(|string| affix(string, bytes).to_vec());
    cut.collect()
}

/// First set that fits: two bytes, one, none.
fn widest(strings: impl Fn(usize) -> Option<Strings>) -> Option<Strings> {
    (0..=2).rev().find_map(strings)
}

/// Two bytes, or fewer beyond the bound.
fn cut(strings: &Strings, affix: Affix) -> Strings {
    widest(|bytes| Some(shorten(strings, affix, bytes)).filter(|cut| cut.len() <= AFFIXES_MAX))
        .expect("a set of empty strings has one element")
}

fn product(a: &Strings, b: &Strings, max: usize) -> Option<Strings> {
    if a.len() * b.len() > max {
        return None;
    }
    let pairs = a
        .iter()
        .flat_map(|a| b.iter().map(move |b| [&a[..], b].concat()));
    Some(pairs.collect())
}

/// Texts with one of `strings`; none with a line end.
fn trigrams_of(strings: &Strings) -> TrigramQuery {
    TrigramQuery::or(strings.iter().map(|string| {
        let windows = string
            .windows(3)
            .map(|window| [window[0], window[1], window[2]]);
        let trigram = |bytes| Trigram::of(bytes).map_or(TrigramQuery::None, TrigramQuery::Trigram);
        TrigramQuery::and(windows.map(trigram))
    }))
}

fn strings_of(class: &Class) -> Option<Strings> {
    match class {
        Class::Unicode(class) => {
            let count: usize = class.iter().map(|range| range.len()).sum();
            let points = || class.iter().flat_map(|range| range.start()..=range.end());
            let string = |point: char| point.to_ascii_lowercase().to_string().into_bytes();
            (count <= CLASS_MAX).then(|| points().map(string).collect())
        }
        Class::Bytes(class) => {
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            Some(bytes.map(|byte| vec![byte.to_ascii_lowercase()]).collect())
        }
    }
}

#[cfg(test)]
mod tests;
