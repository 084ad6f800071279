//! Places of matches: class of the bytes, definition or use, by the symbols of the text.
//!
//! Pure: the caller has the symbols. **Invariant:** without a [`Place`] no symbols are needed.

use super::bad_expr::BadExpr;
use super::bounded_matcher::BoundedMatcher;
use super::compiler::Compiler;
use super::long_line::{Effort, GivenUp};
use super::pattern::{self, is_match};
use super::ranges::{RANGES_MAX, without_end};
use fnv::FnvHashMap;
use grep_regex::RegexMatcher;
use index::plan::BadPattern;
use language::symbols::{Class, Definition, Parent, Symbols};
use language::words::words_in;
use schema::message::{Expr, Pattern, Role, Syntax};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

/// Symbols of a text, with the names of parents if a pattern asks for them.
#[derive(Debug, Default)]
pub struct TextSymbols {
    pub symbols: Symbols,
    /// Names of parents by their offsets.
    pub parents: FnvHashMap<u32, Box<[u8]>>,
}

impl TextSymbols {
    pub fn parent(&self, definition: &Definition) -> Option<Range<u32>> {
        match &definition.parent {
            Parent::None => None,
            Parent::Name(name) => Some(name.clone()),
            Parent::Definition(index) => {
                let parent = self.symbols.definitions.get(*index as usize)?;
                Some(parent.name.clone())
            }
        }
    }

    /// Bits of the kinds of definitions with these names in a line at `offset`.
    pub(crate) fn kinds(&self, offset: u32, names: &[(usize, usize)]) -> u32 {
        let at = |place: usize| offset.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
        let kinds = names.iter().flat_map(|&(start, end)| {
            let named = self.definitions(at(start)..at(end)).iter();
            let named = named.filter(move |it| it.name == (at(start)..at(end)));
            named.map(|it| 1 << it.kind as u32)
        });
        kinds.fold(0, |bits, kind: u32| bits | kind)
    }

    /// Ascending by the starts of their names.
    pub(crate) fn definitions(&self, range: Range<u32>) -> &[Definition] {
        let all = &self.symbols.definitions;
        let start = all.partition_point(|it| it.name.start < range.start);
        let count = all[start..].partition_point(|it| it.name.start < range.end);
        &all[start..start + count]
    }

    /// Highest level of a definition in a line at `offset` that is one of these words, alone or
    /// with its parent (`Class::name`), and the word's start.
    pub(crate) fn best_of(
        &self,
        line: &[u8],
        offset: u32,
        words: &mut dyn Iterator<Item = (usize, usize)>,
    ) -> Option<(u8, usize)> {
        let end = offset.saturating_add(line.len() as u32);
        let definitions = self.definitions(offset..end);
        if definitions.is_empty() {
            return None;
        }
        let level = |(start, end): (usize, usize)| {
            let is_it = |it: &&Definition| {
                let words = |range: Range<u32>| {
                    let start = range.start.checked_sub(offset)? as usize;
                    words_in(line, start, range.end.checked_sub(offset)? as usize)
                };
                let qualified = match &it.parent {
                    Parent::Name(of) if of.end <= it.name.start => words(of.start..it.name.end),
                    _ => None,
                };
                [words(it.name.clone()), qualified].contains(&Some((start, end)))
            };
            let levels = definitions.iter().filter(is_it).map(Definition::level);
            levels.max().map(|level| (level, start))
        };
        words
            .filter_map(level)
            .max_by_key(|(level, start)| (*level, Reverse(*start)))
    }

    /// True if all bytes have one of the classes. An empty range has that of the next byte.
    fn has_classes(&self, range: Range<u32>, classes: u32) -> bool {
        let has = |class: Class| classes >> class as u32 & 1 == 1;
        let (mut at, end) = (range.start, range.end.max(range.start.saturating_add(1)));
        let runs = &self.symbols.runs;
        let first = runs.partition_point(|run| run.range.end <= at);
        for run in runs[first..].iter().take_while(|run| run.range.start < end) {
            let is_outside_before = at < run.range.start;
            if !has(run.class) || is_outside_before && !has(self.symbols.class) {
                return false;
            }
            at = run.range.end;
        }
        at >= end || has(self.symbols.class)
    }
}

/// Bytes to search, with the symbols of their text.
#[derive(Clone, Copy)]
pub struct Haystack<'a> {
    /// Whole lines, or one without its end.
    pub bytes: &'a [u8],
    /// Symbols, and offset of the bytes in their text.
    symbols: Option<(&'a TextSymbols, u32)>,
}

impl<'a> Haystack<'a> {
    /// For matchers without places.
    pub fn plain(bytes: &'a [u8]) -> Haystack<'a> {
        Haystack {
            bytes,
            symbols: None,
        }
    }

    /// Bytes at `offset` of a text with these symbols.
    pub fn new(bytes: &'a [u8], symbols: Option<&'a TextSymbols>, offset: u64) -> Haystack<'a> {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        Haystack {
            bytes,
            symbols: symbols.map(|symbols| (symbols, offset)),
        }
    }

    pub fn part(&self, range: Range<usize>) -> Haystack<'a> {
        let start = u32::try_from(range.start).unwrap_or(u32::MAX);
        Haystack {
            bytes: &self.bytes[range],
            symbols: (self.symbols)
                .map(|(symbols, offset)| (symbols, offset.saturating_add(start))),
        }
    }

    /// Without `\n` or `\r\n`.
    pub(crate) fn without_end(&self) -> Haystack<'a> {
        Haystack {
            bytes: without_end(self.bytes),
            ..*self
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PlacedMatcher {
    matcher: BoundedMatcher,
    place: Option<Arc<Place>>,
}

#[derive(Debug)]
struct Place {
    classes: u32,
    role: Role,
    kinds: u32,
    parent: Option<RegexMatcher>,
}

impl PlacedMatcher {
    pub(crate) fn new(pattern: &Pattern, compiler: &Compiler) -> Result<PlacedMatcher, BadPattern> {
        let of = &pattern.place;
        let parent = (!of.parent.is_empty()).then(|| {
            let parent = Pattern {
                text: of.parent.clone(),
                syntax: Syntax::Regexp,
                ignore_case: true,
                ..Pattern::default()
            };
            compiler.line(&[&parent])
        });
        let place = Place {
            classes: of.classes,
            role: of.role,
            kinds: of.kinds,
            parent: parent.transpose()?,
        };
        let whole;
        let searched = if of.role == Role::Definition && pattern.word {
            whole = Pattern {
                text: format!("^(?:{})$", pattern::expression(pattern)),
                syntax: Syntax::Regexp,
                word: false,
                ..pattern.clone()
            };
            &whole
        } else {
            pattern
        };
        Ok(PlacedMatcher {
            matcher: BoundedMatcher::new(&[searched], false, compiler)?,
            place: (!of.is_anywhere()).then(|| Arc::new(place)),
        })
    }

    pub(crate) fn is_slow(&self, blocks: u64) -> bool {
        self.matcher.is_slow(blocks)
    }

    pub(crate) fn for_blocks(&self, blocks: u64) -> PlacedMatcher {
        PlacedMatcher {
            matcher: self.matcher.for_blocks(blocks),
            place: self.place.clone(),
        }
    }

    pub(crate) fn is_match(
        &self,
        line: Haystack<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<bool, GivenUp> {
        if self.place.is_none() {
            return self.matcher.is_match(line.bytes, effort);
        }
        let mut found = false;
        self.for_each(line, effort, |_| {
            found = true;
            false
        })?;
        Ok(found)
    }

    /// Adds ranges of matches in their place, up to [`RANGES_MAX`].
    pub(crate) fn ranges(
        &self,
        line: Haystack<'_>,
        effort: &mut Effort<'_>,
        out: &mut Vec<(usize, usize)>,
    ) {
        let before = out.len();
        // The line was found; fewer ranges are no error.
        let _ = self.for_each(line, effort, |range| {
            out.push((range.start, range.end));
            out.len() - before < RANGES_MAX
        });
    }

    /// Calls `found` with each match in its place, until it returns false.
    fn for_each(
        &self,
        line: Haystack<'_>,
        effort: &mut Effort<'_>,
        mut found: impl FnMut(Range<usize>) -> bool,
    ) -> Result<(), GivenUp> {
        let role = self.place.as_ref().map_or(Role::Any, |place| place.role);
        if role == Role::Definition {
            return self.for_each_definition(line, effort, found);
        }
        let (mut at, mut last_end) = (0, None);
        while let Some(range) = self.matcher.find(line.bytes, at, at == 0, effort)? {
            at = range.end + usize::from(range.is_empty());
            let is_behind_another = range.is_empty() && last_end == Some(range.end);
            last_end = Some(range.end);
            if effort.is_stopped() {
                break;
            }
            if !is_behind_another && self.accepts(&range, line) && !found(range) {
                break;
            }
        }
        Ok(())
    }

    fn for_each_definition(
        &self,
        line: Haystack<'_>,
        effort: &mut Effort<'_>,
        mut found: impl FnMut(Range<usize>) -> bool,
    ) -> Result<(), GivenUp> {
        let (Some(place), Some((text, offset))) = (&self.place, line.symbols) else {
            return Ok(());
        };
        let end = offset.saturating_add(line.bytes.len() as u32);
        for definition in text.definitions(offset..end) {
            let range = &definition.name;
            let (start, end) = (
                (range.start - offset) as usize,
                (range.end - offset) as usize,
            );
            let Some(name) = line.bytes.get(start..end) else {
                continue;
            };
            let is_of_kind = place.kinds == 0 || place.kinds >> definition.kind as u32 & 1 == 1;
            if is_of_kind
                && place.is_below(definition, text)
                && self.matcher.is_match(name, effort)?
                && !found(start..end)
            {
                break;
            }
        }
        Ok(())
    }

    fn accepts(&self, range: &Range<usize>, line: Haystack<'_>) -> bool {
        let Some(place) = &self.place else {
            return true;
        };
        let Some((text, offset)) = line.symbols else {
            return false;
        };
        // A text beyond 4 GiB has no symbols.
        let at = |place: usize| offset.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
        let range = at(range.start)..at(range.end);
        if place.classes != 0 && !text.has_classes(range.clone(), place.classes) {
            return false;
        }
        let mut around = text
            .definitions(offset..range.end.max(range.start.saturating_add(1)))
            .iter();
        place.role != Role::Use
            || !around.any(|it| it.name.end >= range.end && it.name.start <= range.start)
    }
}

impl Place {
    fn is_below(&self, definition: &Definition, text: &TextSymbols) -> bool {
        let Some(matcher) = &self.parent else {
            return true;
        };
        let parent = text.parent(definition);
        let name = parent.and_then(|name| text.parents.get(&name.start));
        name.is_some_and(|name| is_match(matcher, name))
    }
}

/// Pattern that matches each line with a match of `pattern` in its place: the name of a definition
/// is a part of a line.
pub(crate) fn relaxed(pattern: &Pattern) -> Pattern {
    let mut relaxed = Pattern {
        place: schema::message::Place::default(),
        ..pattern.clone()
    };
    if pattern.place.role == Role::Definition {
        relaxed.word = false;
        if pattern.syntax == Syntax::Regexp {
            relaxed.text = pattern::without_looks(&pattern.text);
        }
    }
    relaxed
}

/// Fails for a pattern over several lines beside one with a place.
pub(crate) fn check(expr: &Expr) -> Result<(), BadExpr> {
    let patterns = expr.patterns();
    let placed = patterns.iter().any(|it| !it.place.is_anywhere());
    let over_lines = |it: &&Pattern| !it.in_path && pattern::is_multiline(it);
    match patterns.iter().position(over_lines).filter(|_| placed) {
        None => Ok(()),
        Some(number) => {
            let reason = "a pattern over several lines cannot be combined with in:, sym: or uses:";
            let atoms = expr.atoms();
            let is_pattern = |atom: &&Expr| matches!(atom, Expr::Pattern(_));
            let mut places = (0..).zip(&atoms).filter(|(_, atom)| is_pattern(atom));
            let atom = places.nth(number).map_or(0, |(place, _)| place);
            Err(BadExpr::new(atom, BadPattern::new(reason)))
        }
    }
}
