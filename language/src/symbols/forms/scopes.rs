//! Effects of matches: definitions, and scopes with words or levels.

use super::Act;
use crate::symbols::scopes::Names;
use crate::symbols::{Kind, Outline, Parent};
use std::ops::Range;

const SCOPES_MAX: usize = 64;

const LEVEL_MAX: usize = 254;

pub(super) struct Found {
    pub(super) act: Act,
    pub(super) name: Option<Range<u32>>,
    pub(super) of: Option<Range<u32>>,
    pub(super) start: u32,
    pub(super) end: u32,
}

#[derive(Default)]
pub(super) struct Scopes {
    open: Vec<Scope>,
    deeper: usize,
    names: Names,
    has_methods: bool,
    pub(super) last: Option<u32>,
    margin: Option<u32>,
    later: Option<(Range<u32>, Kind)>,
    /// End of the last line with code; 0 if bodies end where others begin.
    pub(super) end: u32,
}

struct Scope {
    word: &'static str,
    level: u8,
    definition: Option<u32>,
}

impl Scopes {
    pub(super) fn new(has_methods: bool) -> Scopes {
        Scopes {
            has_methods,
            ..Scopes::default()
        }
    }

    pub(super) fn apply(&mut self, found: &Found, outline: &mut Outline<'_>) -> bool {
        let name = found.name.clone().unwrap_or(0..0);
        match found.act {
            Act::Define(kind) => self.define(kind, found, outline),
            Act::Declare(kind) => self.declare(kind, found, outline),
            Act::First(kind) => self.first(name, kind, outline),
            Act::Outer(kind) if outline.depth() == 0 => self.first(name, kind, outline),
            Act::Root(kind) => drop(outline.define_in(Parent::None, name, kind)),
            Act::Words(kind) => self.words(name, kind, outline),
            Act::Margin(kind) => {
                let column = name.start - found.start;
                if column <= *self.margin.get_or_insert(column) {
                    self.define(kind, found, outline);
                }
            }
            Act::Level(kind, level) => self.level(kind, level, found, outline),
            Act::Depth(kind) => self.level(kind, depth(found, outline), found, outline),
            Act::Column(kind) => self.level(kind, column(found, outline), found, outline),
            Act::Unit(kind, word) => {
                self.leave_to(0, found.start, outline);
                self.open(kind, word, found, outline);
            }
            Act::Open(kind, word) | Act::Ports(kind, word) => self.open(kind, word, found, outline),
            Act::Prototype(kind, word) => {
                self.declare(kind, found, outline);
                self.enter(word, self.last, outline);
            }
            Act::Later(kind) => self.later = Some((name, kind)),
            Act::Become(kind) => {
                if let Some(last) = self.last.take() {
                    outline.definition(last).kind = kind;
                }
            }
            act => return self.change(act, found, outline),
        }
        false
    }

    fn change(&mut self, act: Act, found: &Found, outline: &mut Outline<'_>) -> bool {
        match act {
            Act::Enter(word) => self.enter(word, None, outline),
            Act::Close => self.close(found.end, outline),
            Act::CloseTo => {
                let word = found.name.clone().map(|name| outline.bytes(name));
                self.close_to(word.unwrap_or_default(), found.end, outline);
            }
            Act::Leave => self.close(found.start, outline),
            Act::Forward => {
                outline.set_declaration(self.open.last().and_then(|scope| scope.definition));
                self.close(found.end, outline);
            }
            Act::Rename(word) | Act::Retry(word) => self.rename(word),
            Act::Group(word) => {
                let is_list = |scope: &Scope| scope.definition.is_none() && scope.word != "begun";
                if self.open.last().is_some_and(is_list) {
                    self.rename(word);
                } else {
                    self.enter(word, None, outline);
                }
            }
            Act::Turn(kind, word) => {
                if let Some(index) = self.open.last().and_then(|scope| scope.definition) {
                    outline.definition(index).kind = kind;
                }
                if word.is_empty() {
                    self.close(found.end, outline);
                } else {
                    self.rename(word);
                }
            }
            _ => {}
        }
        matches!(act, Act::Leave | Act::Retry(_))
    }

    pub(super) fn define(&mut self, kind: Kind, found: &Found, outline: &mut Outline<'_>) {
        let Some(name) = found.name.clone() else {
            self.last = None;
            return;
        };
        let kind = self.kind_of(kind, found, outline);
        let is_row = matches!(found.act, Act::Underlined(..));
        let of = found.of.clone().filter(|of| !of.is_empty() && !is_row);
        self.last = outline.define_of(of, name, kind);
    }

    fn first(&mut self, name: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        if self.names.is_new(0, kind, outline.bytes(name.clone())) {
            outline.define(name, kind);
        }
    }

    fn declare(&mut self, kind: Kind, found: &Found, outline: &mut Outline<'_>) {
        self.define(kind, found, outline);
        outline.set_declaration(self.last);
    }

    fn kind_of(&self, kind: Kind, found: &Found, outline: &Outline<'_>) -> Kind {
        let bytes = |name: &Range<u32>| outline.bytes(name.clone());
        let name = found.name.as_ref().map(bytes);
        let is_in_type = || matches!(outline.innermost_kind(), Some(Kind::Class | Kind::Struct));
        match &self.later {
            Some((later, kind)) if name == Some(bytes(later)) => *kind,
            _ if kind != Kind::Function || !self.has_methods => kind,
            _ if found.of.is_some() || is_in_type() => Kind::Method,
            _ => kind,
        }
    }

    fn words(&mut self, list: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        let text = outline.bytes(list.clone());
        let mut end = 0;
        for part in text.split_inclusive(u8::is_ascii_whitespace) {
            let start = end;
            end += part.len();
            let word = part.trim_ascii_end();
            let length = word
                .iter()
                .position(|byte| *byte == b'=')
                .unwrap_or(word.len());
            let is_special = match word {
                [b'$', _, .., b')' | b'}'] => {
                    !word[2..word.len() - 1].iter().any(|it| b")}".contains(it))
                }
                [b'.', rest @ ..] => rest.iter().all(u8::is_ascii_uppercase),
                b"%" => true,
                _ => word.iter().any(|byte| b"*\"'\\,&".contains(byte)),
            };
            let is_pair = kind != Kind::Variable || length < word.len();
            if !is_special && is_pair {
                let start = list.start + start as u32;
                self.first(start..start + length as u32, kind, outline);
            }
        }
    }

    pub(super) fn level(
        &mut self,
        kind: Kind,
        level: u8,
        found: &Found,
        outline: &mut Outline<'_>,
    ) {
        let name = found.name.clone().unwrap_or(0..0);
        let start = name.start.max(found.start);
        let start = if start > found.end {
            start
        } else {
            found.start
        };
        let end = if self.end > 0 { self.end } else { start };
        let kept = self
            .open
            .iter()
            .take_while(|scope| scope.level < level)
            .count();
        self.leave_to(kept, end, outline);
        self.margin = None;
        self.define(kind, found, outline);
        if let Some(index) = self.last
            && self.open.len() < SCOPES_MAX
        {
            self.push("", level, Some(index), outline);
        }
    }

    pub(super) fn open(
        &mut self,
        kind: Kind,
        word: &'static str,
        found: &Found,
        outline: &mut Outline<'_>,
    ) {
        self.define(kind, found, outline);
        self.enter(word, self.last, outline);
    }

    pub(super) fn enter(&mut self, word: &'static str, of: Option<u32>, outline: &mut Outline<'_>) {
        if self.open.len() == SCOPES_MAX {
            self.deeper += 1;
        } else {
            self.push(word, u8::MAX, of, outline);
        }
    }

    fn push(
        &mut self,
        word: &'static str,
        level: u8,
        definition: Option<u32>,
        outline: &mut Outline<'_>,
    ) {
        self.open.push(Scope {
            word,
            level,
            definition,
        });
        outline.enter(definition);
    }

    pub(super) fn close(&mut self, end: u32, outline: &mut Outline<'_>) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if self.open.pop().is_some() {
            outline.leave(end);
        }
    }

    fn close_to(&mut self, word: &[u8], end: u32, outline: &mut Outline<'_>) {
        let is_it = |scope: &Scope| {
            let of_word = word.len().checked_sub(scope.word.len());
            let end = of_word.map(|at| &word[at..]);
            end.is_some_and(|end| end.eq_ignore_ascii_case(scope.word.as_bytes()))
        };
        if let Some(at) = self.open.iter().rposition(is_it) {
            self.leave_to(at, end, outline);
        }
    }

    fn leave_to(&mut self, count: usize, end: u32, outline: &mut Outline<'_>) {
        self.deeper = 0;
        self.open.truncate(count);
        outline.leave_to(count, end);
    }

    fn rename(&mut self, word: &'static str) {
        if let Some(last) = self.open.last_mut().filter(|_| self.deeper == 0) {
            last.word = word;
        }
    }

    pub(super) fn innermost(&self) -> &'static str {
        match self.open.last() {
            Some(scope) if self.deeper == 0 => scope.word,
            Some(_) => "deep",
            None => "",
        }
    }
}

fn depth(found: &Found, outline: &Outline<'_>) -> u8 {
    let text = outline.bytes(found.start..found.end);
    let signs = text.iter().take_while(|byte| **byte == text[0]);
    signs.take(LEVEL_MAX).count() as u8
}

fn column(found: &Found, outline: &Outline<'_>) -> u8 {
    let name = found.name.as_ref().map_or(found.start, |name| name.start);
    let before = outline.bytes(found.start..name);
    let quotes = before.iter().rev().take_while(|byte| b"\"'".contains(byte));
    (before.len() - quotes.count()).min(LEVEL_MAX) as u8
}
