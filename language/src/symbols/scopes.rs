//! Open scopes of script languages with the indentation of their heads, and names in a line.
//!
//! Closing words and braces are counted; where the count is wrong, the indentation corrects it.

use super::outline::{Outline, SCOPES_MAX};
use super::parser::{Line, Role, Token};
use super::{Kind, Parent};
use fnv::{FnvHashSet, FnvHasher};
use std::hash::Hasher;
use std::ops::Range;

/// Open scopes and the columns of their heads.
#[derive(Default)]
pub(super) struct Scopes {
    /// At most [`SCOPES_MAX`]; deeper ones are counted by the outline.
    heads: Vec<Head>,
    /// Outer scopes that no brace closes.
    floor: usize,
}

/// Place of a scope's first word or brace.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    /// Indentation of its line.
    pub(super) indent: usize,
    /// Its column.
    pub(super) column: usize,
}

impl Scopes {
    pub(super) fn open(&mut self, definition: Option<u32>, head: Head, outline: &mut Outline<'_>) {
        outline.enter(definition);
        if self.heads.len() < SCOPES_MAX {
            self.heads.push(head);
        }
    }

    /// Closes the innermost scope.
    pub(super) fn close(&mut self, end: u32, outline: &mut Outline<'_>) {
        if outline.depth() == self.heads.len() {
            self.heads.pop();
        }
        outline.leave(end);
    }

    /// Closes the scope that a first word or brace of a line ends. One that is too deep is ignored;
    /// one that is not deep enough closes forgotten scopes, too.
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

    /// Closes scopes with heads at this indentation or a deeper one.
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

    /// True if no scope is open that a brace closes.
    pub(super) fn is_at_floor(&self) -> bool {
        self.heads.len() <= self.floor
    }

    /// Protects all open scopes.
    pub(super) fn raise_floor(&mut self) {
        self.floor = self.heads.len();
    }

    /// Closes protected scopes.
    pub(super) fn lower_floor(&mut self, end: u32, outline: &mut Outline<'_>) {
        self.floor = 0;
        self.close_from(0, end, outline);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }
}

/// True for classes, modules and other scopes of methods.
pub(super) fn is_container(kind: Kind) -> bool {
    kind.is_type() || matches!(kind, Kind::Module | Kind::Implementation)
}

/// Names of a scope seen before.
#[derive(Default)]
pub(super) struct Names(FnvHashSet<u64>);

/// Words before `def` and the like.
const MODIFIERS_MAX: usize = 6;

/// Tokens of parameters in one line.
const BRACKET_TOKENS_MAX: usize = 256;

/// Names remembered; later ones all look new.
const NAMES_MAX: usize = 1 << 16;

impl Names {
    /// Defines a variable or field, unless its scope has one of that name.
    pub(super) fn define(&mut self, name: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        let mut hasher = FnvHasher::default();
        hasher.write_u32(outline.innermost().map_or(0, |index| index + 1));
        hasher.write_u8(kind as u8);
        hasher.write(outline.bytes(name.clone()));
        if self.0.len() == NAMES_MAX || self.0.insert(hasher.finish()) {
            outline.define(name, kind);
        }
    }
}

impl Line<'_> {
    /// Text of a token; empty if there is none.
    pub(super) fn text<'t>(&self, at: usize, outline: &Outline<'t>) -> &'t [u8] {
        self.tokens.get(at).map_or(b"", |it| it.text(outline))
    }

    /// True if a token is this sign.
    pub(super) fn is(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|it| it.is(sign))
    }

    /// True if a token is a word.
    pub(super) fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_word)
    }

    /// True if nothing is between a token and the one before.
    pub(super) fn touches(&self, at: usize) -> bool {
        let after = at.checked_sub(1).and_then(|at| self.tokens.get(at..at + 2));
        after.is_some_and(|pair| pair[0].end == pair[1].start)
    }

    /// True for `=`, but not `==`, `=~` or `=>`.
    pub(super) fn is_assignment(&self, at: usize) -> bool {
        let is_longer = |sign| self.touches(at + 1) && self.is(at + 1, sign);
        self.is(at, b'=') && !b"=~>".iter().any(|sign| is_longer(*sign))
    }

    /// Words, numbers and `signs` without blanks between: their range, and the next token.
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

    /// True if only a few words, such as `private`, come before a token.
    pub(super) fn is_head(&self, at: usize) -> bool {
        at < MODIFIERS_MAX && self.tokens.iter().take(at).all(Token::is_word)
    }

    /// Token behind the bracket that closes the one here, or [`BRACKET_TOKENS_MAX`] later.
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

    /// Column of a token; a tab is one.
    pub(super) fn head(&self, at: usize, indent: usize) -> Head {
        let start = self.tokens.get(at).map_or(0, |it| it.start);
        let first = self.tokens.first().map_or(0, |it| it.start);
        Head {
            indent,
            column: indent + start.saturating_sub(first) as usize,
        }
    }
}

/// Splits a name at its last `.`, `:` or the like; `None` without a qualifier.
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

/// Defines a name that may have a qualifier.
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
        Some((qualifier, name)) => outline.define_in(Parent::Name(qualifier), name, kind),
        None => outline.define(name, kind),
    }
}

/// Bytes inside of a string's quotes.
pub(super) fn unquoted(token: &Token, outline: &Outline<'_>) -> Range<u32> {
    let text = token.text(outline);
    let is_quote = |byte: Option<&u8>| byte.is_some_and(|byte| b"\"'`".contains(byte));
    let start = token.start + u32::from(is_quote(text.first()));
    let end = token.end - u32::from(text.len() > 1 && is_quote(text.last()));
    start..end.max(start)
}
