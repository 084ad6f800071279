//! Words in any case, statements, and scopes with `end`.

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Role, Token};

const TOKENS_MAX: usize = 4096;

const SCOPES_MAX: usize = 64;

const WORD_BYTES_MAX: usize = 20;

/// Word in lower case, or empty if longer.
#[derive(Clone, Copy)]
pub(super) struct Word {
    bytes: [u8; WORD_BYTES_MAX],
    len: usize,
}

impl Word {
    pub(super) fn of(token: Option<&Token>, outline: &Outline<'_>) -> Word {
        let (mut bytes, mut len) = ([0; WORD_BYTES_MAX], 0);
        if let Some(token) = token.filter(|token| token.is_word()) {
            let text = token.text(outline);
            if let Some(lower) = bytes.get_mut(..text.len()) {
                lower.copy_from_slice(text);
                lower.make_ascii_lowercase();
                len = text.len();
            }
        }
        Word { bytes, len }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[derive(Default)]
pub(super) struct Statement {
    pub(super) tokens: Vec<Token>,
    pub(super) depth: usize,
}

impl Statement {
    pub(super) fn push(&mut self, token: Token) {
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => self.depth += 1,
            Role::Sign(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.tokens.len() < TOKENS_MAX {
            self.tokens.push(token);
        }
    }

    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.depth = 0;
    }
}

#[derive(Default)]
pub(super) struct Scopes {
    open: Vec<&'static str>,
    deeper: usize,
}

impl Scopes {
    pub(super) fn open(&mut self, word: &'static str, of: Option<u32>, outline: &mut Outline<'_>) {
        if self.open.len() == SCOPES_MAX {
            self.deeper += 1;
            return;
        }
        self.open.push(word);
        outline.enter(of);
    }

    pub(super) fn close(&mut self, end: u32, outline: &mut Outline<'_>) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if self.open.pop().is_some() {
            outline.leave(end);
        }
    }

    pub(super) fn close_to(&mut self, word: &[u8], end: u32, outline: &mut Outline<'_>) {
        let is_it = |open: &&str| open.as_bytes() == word;
        if let Some(at) = self.open.iter().rposition(is_it) {
            self.deeper = 0;
            self.open.truncate(at);
            outline.leave_to(at, end);
        }
    }

    pub(super) fn rename(&mut self, word: &'static str) {
        if let Some(last) = self.open.last_mut().filter(|_| self.deeper == 0) {
            *last = word;
        }
    }

    pub(super) fn innermost(&self) -> &'static str {
        match self.open.last() {
            Some(word) if self.deeper == 0 => word,
            Some(_) => "deep",
            None => "",
        }
    }
}

pub(super) fn define_list(tokens: &[Token], kind: Kind, outline: &mut Outline<'_>) {
    let (mut depth, mut expects) = (0_usize, true);
    for token in tokens {
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => depth += 1,
            Role::Sign(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            Role::Sign(b',') if depth == 0 => expects = true,
            _ if expects && depth == 0 && token.is_word() => {
                outline.define(token.range(), kind);
                expects = false;
            }
            _ => {}
        }
    }
}

pub(super) fn behind_brackets(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.role {
            Role::Sign(b'(' | b'[') => depth += 1,
            Role::Sign(b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let is_bracket = token.is(b')') || token.is(b']');
            return &tokens[at + usize::from(is_bracket)..];
        }
    }
    &[]
}

pub(super) fn define_members(tokens: &[Token], kind: Kind, outline: &mut Outline<'_>) {
    if let [open, inside @ ..] = tokens {
        let mut depth = 1_usize;
        let end = inside.iter().position(|token| {
            match token.role {
                Role::Sign(b'(' | b'[' | b'{') => depth += 1,
                Role::Sign(b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        debug_assert!(matches!(open.role, Role::Sign(_)));
        define_list(&inside[..end.unwrap_or(inside.len())], kind, outline);
    }
}
