//! Definitions by forms: a table of patterns a language, compiled to one automaton.
//!
//! The first pattern that matches a line or statement says what it defines, and which scope it
//! opens or closes. In a pattern the first group is the name, `of` its parent, `list` names of
//! members. Comments and strings match nothing.

mod lines;
mod scopes;
mod statements;
#[cfg(test)]
mod tests;

pub(super) use lines::Lines;
pub(super) use statements::{Endings, Statements};

use super::Kind;
use regex_automata::meta::{Config, Regex};
use regex_automata::util::primitives::PatternID;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use std::ops::Range;
use std::sync::OnceLock;

/// Bound of a table's automaton; the largest has a quarter of it.
const AUTOMATON_BYTES_MAX: usize = 4 << 20;

const GROUPS_MAX: usize = 4;

/// Pattern, with `scopes~` before it if it is for these scopes only.
pub(super) type Row = (&'static str, Act);

pub(super) type Piece = (&'static str, &'static str);

pub(super) struct Table {
    flags: u32,
    goes_on: &'static [u8],
    needs: Option<u8>,
    /// Parts of patterns: `{NAME}`.
    parts: &'static [Piece],
    rows: &'static [Row],
    patterns: OnceLock<Patterns>,
}

struct Patterns {
    all: Regex,
    sources: Vec<String>,
    /// Compiled at their first match, since groups are slow in a large one.
    rows: Vec<OnceLock<Pattern>>,
}

struct Pattern {
    regex: Regex,
    name: Option<usize>,
    of: Option<usize>,
    list: Option<usize>,
}

pub(super) const FOLD: u32 = 1;
/// The first pattern may match several times, and another one behind it.
pub(super) const REPEATED: u32 = 1 << 1;
pub(super) const ANYWHERE: u32 = 1 << 2;
pub(super) const NEXT: u32 = 1 << 3;
/// Brackets may go over lines, which define nothing.
pub(super) const BRACKETS: u32 = 1 << 4;
pub(super) const RECIPES: u32 = 1 << 5;
/// Settings come between rows before the text.
pub(super) const SETTINGS: u32 = 1 << 6;
pub(super) const BLANKS: u32 = 1 << 7;
/// Texts have `scope>` before them.
pub(super) const SCOPES: u32 = 1 << 8;
/// Statements without indentation have `-` before them.
pub(super) const MARGIN: u32 = 1 << 9;
pub(super) const METHODS: u32 = 1 << 10;

/// Effect of a row. Words name scopes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Skip,
    Define(Kind),
    Declare(Kind),
    First(Kind),
    Outer(Kind),
    Root(Kind),
    Words(Kind),
    List(Kind),
    Ports(Kind, &'static str),
    Margin(Kind),
    Level(Kind, u8),
    /// [`Act::Level`], if the row `of` below has the name's length.
    Underlined(Kind, u8),
    Depth(Kind),
    Column(Kind),
    Braced(Kind),
    Unit(Kind, &'static str),
    Open(Kind, &'static str),
    Prototype(Kind, &'static str),
    Enter(&'static str),
    Close,
    CloseTo,
    Leave,
    /// Closes a scope, whose definition is a declaration.
    Forward,
    Rename(&'static str),
    Retry(&'static str),
    Group(&'static str),
    Turn(Kind, &'static str),
    Become(Kind),
    /// Kind of the definition that this name gets later.
    Later(Kind),
    /// Skips lines up to one with this begin; an empty one has no indentation.
    Until(&'static str),
    Fence,
}

impl Table {
    pub(super) const fn of(rows: &'static [Row]) -> Table {
        Table {
            rows,
            flags: 0,
            goes_on: b"",
            needs: None,
            parts: &[],
            patterns: OnceLock::new(),
        }
    }

    pub(super) const fn with(mut self, flags: u32) -> Table {
        self.flags = flags;
        self
    }

    pub(super) const fn goes_on(mut self, sign: &'static [u8]) -> Table {
        self.goes_on = sign;
        self
    }

    pub(super) const fn needs(mut self, sign: u8) -> Table {
        self.needs = Some(sign);
        self
    }

    pub(super) const fn parts(mut self, parts: &'static [Piece]) -> Table {
        self.parts = parts;
        self
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn may_match(&self, text: &[u8]) -> bool {
        match self.needs {
            Some(sign) if self.has(ANYWHERE) => memchr::memchr(sign, text).is_some(),
            Some(sign) => text.first() == Some(&sign),
            None => true,
        }
    }

    fn patterns(&self) -> &Patterns {
        self.patterns.get_or_init(|| {
            let patterns = self.rows.iter().map(|row| self.pattern(row.0));
            let patterns: Vec<String> = patterns.collect();
            let all = self.compiled(&patterns);
            let rows = patterns.iter().map(|_| OnceLock::new()).collect();
            Patterns {
                all,
                sources: patterns,
                rows,
            }
        })
    }

    fn compiled(&self, patterns: &[String]) -> Regex {
        let syntax = syntax::Config::new()
            .unicode(false)
            .utf8(false)
            .multi_line(true)
            .case_insensitive(self.has(FOLD));
        let config = Config::new().utf8_empty(false);
        let mut builder = Regex::builder();
        builder.syntax(syntax);
        builder.configure(config.nfa_size_limit(Some(AUTOMATON_BYTES_MAX)));
        builder.build_many(patterns).expect("tables are tested")
    }

    fn find(&self, text: &[u8], from: usize) -> Option<Match> {
        let patterns = self.patterns();
        let anchored = if self.has(ANYWHERE) {
            Anchored::No
        } else {
            Anchored::Yes
        };
        let input = Input::new(text).span(from..text.len()).anchored(anchored);
        let found = patterns.all.search(&input)?;
        let at = found.pattern().as_usize();
        let act = self.rows[at].1;
        let row = patterns.rows[at].get_or_init(|| self.row(&patterns.sources[at]));
        let mut slots = [None; 2 * GROUPS_MAX];
        if row.name.is_some() {
            let input = input.span(found.range()).anchored(Anchored::Yes);
            row.regex.search_slots(&input, &mut slots);
        }
        let get = |group: Option<usize>| {
            let at = 2 * group?;
            Some(slots.get(at)?.as_ref()?.get()..slots.get(at + 1)?.as_ref()?.get())
        };
        Some(Match {
            row: at,
            act,
            whole: found.range(),
            name: get(row.name),
            of: get(row.of),
            list: get(row.list),
        })
    }

    fn row(&self, pattern: &String) -> Pattern {
        let regex = self.compiled(std::slice::from_ref(pattern));
        let groups = regex.group_info();
        let named = |name: &str| groups.to_index(PatternID::ZERO, name);
        let (of, list) = (named("of"), named("list"));
        let mut all = 1..groups.group_len(PatternID::ZERO);
        let name = all.find(|group| ![of, list].contains(&Some(*group)));
        Pattern {
            of,
            list,
            name: name.or(list),
            regex,
        }
    }

    fn pattern(&self, row: &str) -> String {
        let mut row = row.to_owned();
        for (name, part) in self.parts {
            row = row.replace(name, part);
        }
        if !self.has(SCOPES) {
            return row;
        }
        let (scopes, pattern) = row.split_once('~').unwrap_or(("[a-z]*", &row));
        format!("(?:{scopes})>(?:{pattern})")
    }
}

struct Match {
    row: usize,
    act: Act,
    whole: Range<usize>,
    name: Option<Range<usize>>,
    of: Option<Range<usize>>,
    list: Option<Range<usize>>,
}
