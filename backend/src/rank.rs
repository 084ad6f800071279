//! Rank of a match: Debian Code Search's formula, independent of arrival order.
//!
//! ```text
//! rank = score and place
//! score = 1 + static + path + line + 2 T
//!   static  of the document, in the shard (popularity of the package, class of the path)
//!   path    0.1460 M(path): the literal at i as file name: 0.95 + 0.05 (1 - i/len), whole word:
//!           0.75 + 0.2 (1 - i/len), elsewhere: 0.5 + 0.25 (1 - i/len), absent, or none: 0.5
//!   line    0.3 D: how much the line and those behind it look like a definition of the match, 0 to
//!           1 in quarters, and if it defines a word of the query, 0.02 F: what tells it from copies
//!   T       0 to 4: how close to each other the words of a phrase are (`phrase`)
//! place = (1 - leading blanks/100) L: the first range on word boundaries at i:
//!         0.75 + 0.25 (1 - i/len), none: 0.5
//! ```
//!
//! The score orders matches of different documents, the place those of one ([`order::rank`]). A
//! search for names uses a name rank instead of the line's: the literal's share of the file name.
//!
//! Ranks are computed in f32 in this order of operations, so every backend gets the same bits.
//! Words are ASCII, and literals ignore ASCII case. `scripts/compare/ranking` measures the mean
//! reciprocal rank.

use language::symbols::LEVEL_MAX;
use language::words::words_in;
use schema::order;
use std::iter;

const PATH_MAX: f32 = 0.1460;
/// Maximum of a line, for a definition: the difference between source and vendored files
/// (`scripts/compare/ranking`).
const LINE_MAX: f32 = 0.3;
/// Tie-breaker of equal definitions, below a step of levels.
const FAVOUR_MAX: f32 = 0.02;
/// Directories above a file that count against it.
const DEPTH_MAX: usize = 8;
/// Highest [`name_rank`]: above popularity and class, so an exact file name comes first.
const NAME_MAX: f32 = 2.0;
const STEM_SHARE: f32 = 0.8;

/// Score of a tier: above all other parts, so higher tiers come first.
const TIER: f32 = 2.0;

/// Closeness of the words of a phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tier(pub(crate) u8);

impl Tier {
    /// All words within a few lines.
    pub(crate) const NEAR: Tier = Tier(1);
    /// All words on one line.
    pub(crate) const LINE: Tier = Tier(2);
    /// Worst pattern of the phrase.
    pub(crate) const PHRASE: Tier = Tier(3);
    pub(crate) const MAX: Tier = Tier(4);
}

/// Highest rank up to this tier and `static_rank`.
pub(crate) fn bound(static_rank: f32, tier: Tier, finds_names: bool) -> f32 {
    let rank = with_tier(best_document_rank(static_rank), tier);
    order::rank(document_bound(rank, finds_names), 1.0)
}

pub(crate) fn with_tier(document_rank: f32, Tier(tier): Tier) -> f32 {
    document_rank + TIER * f32::from(tier)
}

/// Highest [`document_rank`] up to this static rank.
pub fn best_document_rank(static_rank: f32) -> f32 {
    1.0 + static_rank + PATH_MAX
}

/// [`document_rank`] without a literal in the path.
pub fn other_document_rank(static_rank: f32) -> f32 {
    1.0 + static_rank + PATH_MAX * 0.5
}

/// Highest score of a match in a document of this [`document_rank`].
pub fn document_bound(document_rank: f32, finds_names: bool) -> f32 {
    document_rank
        + if finds_names {
            NAME_MAX
        } else {
            LINE_MAX + FAVOUR_MAX
        }
}

/// Rank shared by a document's matches, with the best of the `literals` for its path.
pub fn document_rank(static_rank: f32, path: &[u8], literals: &[String]) -> f32 {
    let path_ranks = literals.iter().map(|literal| path_rank(path, literal));
    1.0 + static_rank + path_ranks.fold(PATH_MAX * 0.5, f32::max)
}

/// Rank added by the document's name in a search for names.
pub fn name_rank(path: &[u8], literals: &[String]) -> f32 {
    let shares = literals
        .iter()
        .map(|literal| name_share(path, literal.as_bytes()));
    NAME_MAX * shares.fold(0.0, f32::max)
}

fn name_share(path: &[u8], literal: &[u8]) -> f32 {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let stem = name.split(|&byte| byte == b'.').next().unwrap_or(name);
    let is = |other: &[u8]| other.eq_ignore_ascii_case(literal);
    let ends_path = path.len() > literal.len()
        && path[path.len() - literal.len() - 1] == b'/'
        && is(&path[path.len() - literal.len()..]);
    if is(path) || ends_path {
        return 1.0;
    }
    if is(stem) {
        return STEM_SHARE;
    }
    match occurrences(name, literal).next() {
        Some(0) => 0.6,
        Some(_) => 0.5,
        None if occurrences(path, literal).next().is_some() => 0.2,
        None => 0.0,
    }
}

fn path_rank(path: &[u8], literal: &str) -> f32 {
    let literal = literal.as_bytes();
    let mut found = occurrences(path, literal);
    let m = match found.next() {
        None => 0.5,
        Some(first) => {
            let is_name = name_share(path, literal) >= STEM_SHARE;
            let is_word = |&at: &usize| on_word_boundaries(path, at, at + literal.len());
            match [first].into_iter().chain(found).find(is_word) {
                Some(at) if is_name => 0.95 + 0.05 * (1.0 - share(at, path.len())),
                Some(at) => 0.75 + 0.2 * (1.0 - share(at, path.len())),
                None => 0.5 + 0.25 * (1.0 - share(first, path.len())),
            }
        }
    };
    PATH_MAX * m
}

/// Definition of a match.
#[derive(Clone, Copy, Debug, Default)]
pub struct Defined {
    /// Level of the definition; 0: none.
    pub level: u8,
    /// Result of [`favour`]; 0 if the defined words are unknown.
    pub favour: f32,
}

/// Favour over equal definitions, from 0 to 1: package named by path or query, usable everywhere,
/// not deep in the tree. Copies elsewhere get 0.
pub fn favour(is_own: Option<bool>, is_local: bool, path: &[u8]) -> f32 {
    let Some(is_own) = is_own else {
        return 0.0;
    };
    let depth = path.iter().filter(|&&byte| byte == b'/').count();
    let near = 1.0 - depth.min(DEPTH_MAX) as f32 / DEPTH_MAX as f32;
    0.5 * f32::from(u8::from(is_own)) + 0.25 * f32::from(u8::from(!is_local)) + 0.25 * near
}

/// Rank of a line. `define` gets the words in `ranges`.
pub fn line_rank<E>(
    document_rank: f32,
    line: &[u8],
    ranges: impl IntoIterator<Item = (usize, usize)>,
    define: impl FnOnce(&mut dyn Iterator<Item = (usize, usize)>) -> Result<Defined, E>,
) -> Result<f32, E> {
    let blanks = line
        .iter()
        .take_while(|&&byte| byte == b' ' || byte == b'\t')
        .count()
        .min(100);
    let ranges = ranges.into_iter();
    let mut words = ranges.filter_map(|(start, end)| words_in(line, start, end));
    let (l, defined) = match words.next() {
        Some(first) => (
            0.75 + 0.25 * (1.0 - share(first.0, line.len())),
            define(&mut iter::once(first).chain(words))?,
        ),
        None => (0.5, Defined::default()),
    };
    let place = (1.0 - blanks as f32 / 100.0) * l;
    Ok(order::rank(defined_bound(document_rank, defined), place))
}

/// Highest score of a match on such a line.
pub fn defined_bound(document_rank: f32, Defined { level, favour }: Defined) -> f32 {
    if level == 0 {
        return document_rank;
    }
    let level = f32::from(level) / f32::from(LEVEL_MAX);
    document_rank + (LINE_MAX * level + FAVOUR_MAX * favour)
}

fn share(at: usize, length: usize) -> f32 {
    at as f32 / length.max(1) as f32
}

fn occurrences<'a>(text: &'a [u8], literal: &'a [u8]) -> impl Iterator<Item = usize> {
    text.windows(literal.len())
        .enumerate()
        .filter(|(_, window)| window.eq_ignore_ascii_case(literal))
        .map(|(at, _)| at)
}

fn on_word_boundaries(text: &[u8], start: usize, end: usize) -> bool {
    let is_word = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    start < end
        && is_word(start.checked_sub(1)) != is_word(Some(start))
        && is_word(Some(end)) != is_word(end.checked_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Rank of a line whose matches have this level.
    fn defining(document_rank: f32, line: &[u8], range: (usize, usize), level: u8) -> f32 {
        let Ok(rank) = line_rank(document_rank, line, [range], |_| {
            Ok::<_, Infallible>(Defined { level, favour: 1.0 })
        });
        rank
    }

    fn alone(document_rank: f32, line: &[u8], range: (usize, usize)) -> f32 {
        defining(document_rank, line, range, 0)
    }

    #[test]
    fn whole_words_and_early_words_rank_higher() {
        let path = |path: &[u8]| path_rank(path, "font");
        assert_eq!(path(b"font.c"), PATH_MAX);
        assert!(path(b"font.c") > path(b"lib/font.c"));
        assert!(
            path(b"lib/FONT.c") > path(b"fonts.c"),
            "a late word ranks above an early part of a word"
        );
        assert!(path(b"fonts.c") > path(b"x.c"));
        assert_eq!(1.0 + path(b"x.c"), document_rank(0.0, b"font.c", &[]));
        assert!(
            path(b"fonts/font.c") > path(b"fonts/x.c"),
            "the word comes after a part of a word"
        );
        let names = ["a/b/c/font.c", "font/x.c", "xfont/x.c", "x.c"];
        assert!(names.is_sorted_by(|a, b| path(a.as_bytes()) > path(b.as_bytes())));
    }

    #[test]
    fn lines_rank_by_definition_then_by_first_word_and_indent() {
        let line = |line: &[u8], at| alone(1.0, line, (at, at + 4));
        assert_eq!(line(b"font", 0), order::rank(1.0, 1.0));
        let level = |level| defining(1.0, b"    font", (4, 8), level);
        assert_eq!(
            level(LEVEL_MAX),
            order::rank(1.0 + LINE_MAX + FAVOUR_MAX, 0.96 * 0.875)
        );
        assert!(level(2) > level(1) && level(1) > line(b"font", 0));
        assert!(line(b"font x", 0) > line(b"x font", 2));
        assert!(line(b"font", 0) > line(b"fonts", 0));
        assert!(line(b" fonts", 1) > line(b"        fonts", 8));
        assert_eq!(line(&b" ".repeat(300), 200), 1.0, "never negative");
        assert_eq!(
            alone(1.0, b"", (0, 0)),
            order::rank(1.0, 0.5),
            "an empty range has no word"
        );
    }

    #[test]
    fn what_is_beside_the_word_of_a_range_does_not_matter() {
        let line = b"static int font (int a)";
        let word = alone(1.0, line, (11, 15));
        for range in [(11, 17), (10, 15), (10, 16)] {
            assert_eq!(alone(1.0, line, range), word);
        }
        assert!(alone(1.0, line, (12, 17)) < word);
    }

    #[test]
    fn no_rank_is_above_the_bound() {
        let font = ["x".to_owned(), "font".to_owned()];
        let document = document_rank(0.7, b"font", &font);
        let score = |rank| order::RankKey::of(rank).score;
        let best = score(defining(document, b"fn font", (3, 7), LEVEL_MAX));
        let none = Tier::default();
        assert!(best >= score(bound(0.7, none, false)));
        assert!(best >= score(document_bound(document, false)));
        assert!(score(document + name_rank(b"font", &font)) >= score(bound(0.7, none, true)));
        let exact = defining(
            with_tier(document, Tier::MAX),
            b"fn font",
            (3, 7),
            LEVEL_MAX,
        );
        assert!(score(exact) >= score(bound(0.7, Tier::MAX, false)));
    }

    #[test]
    fn a_line_of_a_higher_tier_comes_before_the_best_one_of_a_lower_tier() {
        let best = bound(1.0267, Tier(2), false);
        let worst = with_tier(document_rank(0.0, b"x", &[]), Tier(3));
        let worst = alone(worst, b"", (0, 0));
        assert!(worst > best);
        assert!(
            bound(1.0267, Tier::MAX, false) < 16.0,
            "the highest score that a rank can have"
        );
    }

    #[test]
    fn the_definition_that_is_meant_comes_before_copies() {
        let score = |level, favour| defined_bound(1.0, Defined { level, favour });
        let step = |score| order::RankKey::of(order::rank(score, 0.0)).score;
        let favours = [
            favour(Some(true), false, b"a.c"),
            favour(Some(true), true, b"a.c"),
            favour(Some(false), false, b"a.c"),
            favour(Some(false), false, b"copy/a.c"),
            favour(Some(false), false, b"of/a/copy/a.c"),
            favour(Some(false), true, b"a.c"),
            favour(Some(false), true, b"a/b/c/d/e/f/g/h/i/j.c"),
        ];
        assert_eq!(favour(None, false, b"a.c"), 0.0);
        assert_eq!((favours[0], favours[6]), (1.0, 0.0));
        let steps = favours.map(|favour| step(score(1, favour)));
        assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
        assert!(score(3, 1.0) < score(4, 0.0), "not before a better one");
        assert_eq!(score(0, 1.0), 1.0, "a use is as good anywhere");
    }

    #[test]
    fn files_with_the_searched_name_come_first() {
        let ranks = |typed: &str, paths: &[&str]| {
            let typed = [typed.to_owned()];
            let ranks = paths.iter().map(|path| name_rank(path.as_bytes(), &typed));
            ranks.collect::<Vec<_>>()
        };
        let paths = [
            "a/Font.c",
            "font/font.h",
            "fonts.c",
            "xfont.c",
            "font/x.c",
            "x.c",
        ];
        assert!(ranks("font", &paths).is_sorted_by(|a, b| a >= b));
        let paths = ["src/font.c", "font.c.in", "xfont.c", "font/x.c"];
        assert!(ranks("font.c", &paths).is_sorted_by(|a, b| a > b));
        assert_eq!(
            ranks("src/font.c", &["src/font.c", "a/src/font.c"]),
            [2.0; 2]
        );
    }
}
