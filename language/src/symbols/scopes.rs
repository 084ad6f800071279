//! Open scopes of script languages, and names in a line. The indentation of heads corrects wrong
//! counts of closing words and braces.

use crate::symbols::{Kind, Line, Outline, Role, SCOPES_MAX, Token};
use fnv::{FnvHashSet, FnvHasher};
use std::hash::Hasher;
use std::ops::Range;

#[derive(Default)]
pub(super) struct Scopes {
    /// Bounded by [`SCOPES_MAX`]; the outline counts deeper ones.
    heads: Vec<Head>,
    /// Outer scopes that no brace closes.
    floor: usize,
}

/// Place of a scope's first word or brace.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    pub(super) indent: usize,
    pub(super) column: usize,
}

impl Head {
    pub(super) fn at(indent: usize) -> Head {
        let column = indent;
        Head { indent, column }
    }
}

impl Scopes {
    pub(super) fn open(&mut self, definition: Option<u32>, head: Head, outline: &mut Outline<'_>) {
        outline.enter(definition);
        if self.heads.len() < SCOPES_MAX {
            self.heads.push(head);
        }
    }

    pub(super) fn close(&mut self, end: u32, outline: &mut Outline<'_>) {
        if outline.depth() == self.heads.len() {
            self.heads.pop();
        }
        outline.leave(end);
    }

    /// Closes at a word or brace that begins a line: nothing if it is indented too far, forgotten
    /// scopes too if not far enough.
    pub(super) fn close_at(&mut self, indent: usize, end: u32, outline: &mut Outline<'_>) {
        let Some(head) = self.heads.last().copied().filter(|_| !self.is_at_floor()) else {
            return;
        };
        if indent > head.indent && indent != head.column {
            return;
        }
        self.close(end, outline);
        if head.indent > indent && head.column != indent {
            self.close_from(indent, end, outline);
        }
    }

    /// Closes scopes with at least this indentation.
    pub(super) fn close_from(&mut self, indent: usize, end: u32, outline: &mut Outline<'_>) {
        while let Some(head) = self.heads.last()
            && (head.indent >= indent && !self.is_at_floor())
        {
            self.close(end, outline);
        }
    }

    /// Closes scopes that cannot contain a definition with this indentation.
    pub(super) fn align(&mut self, indent: usize, end: u32, outline: &mut Outline<'_>) {
        while let Some(head) = self.heads.last().filter(|_| !self.is_at_floor()) {
            let may_contain = match outline.scope_kind() {
                Some(kind) => is_container(kind),
                None => indent > 0,
            };
            if head.indent < indent || head.indent == indent && may_contain {
                break;
            }
            self.close(end, outline);
        }
    }

    pub(super) fn is_at_floor(&self) -> bool {
        self.heads.len() <= self.floor
    }

    pub(super) fn raise_floor(&mut self) {
        self.floor = self.heads.len();
    }

    pub(super) fn lower_floor(&mut self, end: u32, outline: &mut Outline<'_>) {
        self.floor = 0;
        self.close_from(0, end, outline);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }
}

/// Scopes of methods.
pub(super) fn is_container(kind: Kind) -> bool {
    kind.is_type() || matches!(kind, Kind::Module | Kind::Implementation)
}

/// Hashes of names with their scopes.
#[derive(Default)]
pub(super) struct Names(FnvHashSet<u64>);

/// Bound of words before `def`.
const MODIFIERS_MAX: usize = 6;

/// Bound of lookahead for a closing bracket.
const BRACKET_TOKENS_MAX: usize = 256;

/// Bound of memory; later names all look new.
const NAMES_MAX: usize = 1 << 16;

impl Names {
    /// Defines the first of a name in a scope.
    pub(super) fn define(&mut self, name: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        let scope = outline.innermost().map_or(0, |index| index + 1);
        if self.is_new(scope, kind, outline.bytes(name.clone())) {
            outline.define(name, kind);
        }
    }

    pub(super) fn is_new(&mut self, scope: u32, kind: Kind, name: &[u8]) -> bool {
        let mut hasher = FnvHasher::default();
        hasher.write_u32(scope);
        hasher.write_u8(kind as u8);
        hasher.write(name);
        self.0.len() == NAMES_MAX || self.0.insert(hasher.finish())
    }
}

impl Line<'_> {
    pub(super) fn text<'t>(&self, at: usize, outline: &Outline<'t>) -> &'t [u8] {
        self.tokens.get(at).map_or(b"", |it| it.text(outline))
    }

    pub(super) fn is(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|it| it.is(sign))
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_word)
    }

    /// Adjoins the token before.
    pub(super) fn touches(&self, at: usize) -> bool {
        let after = at.checked_sub(1).and_then(|at| self.tokens.get(at..at + 2));
        after.is_some_and(|pair| pair[0].end == pair[1].start)
    }

    /// Excludes `==`, `=~` and `=>`.
    pub(super) fn is_assignment(&self, at: usize) -> bool {
        let is_longer = |sign| self.touches(at + 1) && self.is(at + 1, sign);
        self.is(at, b'=') && !b"=~>".iter().any(|sign| is_longer(*sign))
    }

    /// Adjoining words, numbers and `signs`: range, and the next token.
    pub(super) fn name(&self, at: usize, signs: &[u8]) -> Option<(Range<u32>, usize)> {
        let is_part = |token: &Token| match token.role {
            Role::Sign(sign) => signs.contains(&sign),
            Role::String | Role::Meta => false,
            _ => true,
        };
        let first = self.tokens.get(at).filter(|it| is_part(it))?;
        let (mut end, mut next) = (first.end, at + 1);
        while let Some(token) = self.tokens.get(next)
            && token.start == end
            && is_part(token)
        {
            end = token.end;
            next += 1;
        }
        Some((first.start..end, next))
    }

    /// Allows words such as `private` before a token.
    pub(super) fn is_head(&self, at: usize) -> bool {
        at < MODIFIERS_MAX && self.tokens.iter().take(at).all(Token::is_word)
    }

    pub(super) fn behind_brackets(&self, at: usize, open: u8, close: u8) -> usize {
        let end = self.tokens.len().min(at + BRACKET_TOKENS_MAX);
        let mut depth = 0_usize;
        for next in at..end {
            if self.is(next, open) {
                depth += 1;
            } else if self.is(next, close) {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return next + 1;
                }
            }
        }
        end
    }

    /// Counts a tab as a column.
    pub(super) fn head(&self, at: usize, indent: usize) -> Head {
        let start = self.tokens.get(at).map_or(0, |it| it.start);
        let first = self.tokens.first().map_or(0, |it| it.start);
        Head {
            indent,
            column: indent + start.saturating_sub(first) as usize,
        }
    }
}

/// Splits a name at the last of `signs`.
pub(super) fn qualifier(
    name: &Range<u32>,
    signs: &[u8],
    outline: &Outline<'_>,
) -> Option<(Range<u32>, Range<u32>)> {
    let text = outline.bytes(name.clone());
    let last = text.iter().rposition(|byte| signs.contains(byte))?;
    let before = text[..last]
        .iter()
        .rposition(|byte| !signs.contains(byte))?;
    let at = name.start + last as u32 + 1;
    Some((name.start..name.start + before as u32 + 1, at..name.end))
}

pub(super) fn define_qualified(
    name: Range<u32>,
    signs: &[u8],
    kind: Kind,
    outline: &mut Outline<'_>,
) -> Option<u32> {
    match qualifier(&name, signs, outline) {
        Some((qualifier, _)) if outline.bytes(qualifier.clone()) == b"self" => {
            outline.define(qualifier.end + 1..name.end, kind)
        }
        Some((qualifier, name)) => outline.define_of(Some(qualifier), name, kind),
        None => outline.define(name, kind),
    }
}

pub(super) fn unquoted(token: &Token, outline: &Outline<'_>) -> Range<u32> {
    let text = token.text(outline);
    let is_quote = |byte: Option<&u8>| byte.is_some_and(|byte| b"\"'`".contains(byte));
    let start = token.start + u32::from(is_quote(text.first()));
    let end = token.end - u32::from(text.len() > 1 && is_quote(text.last()));
    start..end.max(start)
}
