//! Tokens of a statement.

use super::Scope;
use crate::symbols::{Kind, Outline, Role, Token};

/// Bound of tokens; further ones are dropped.
const STATEMENT_TOKENS_MAX: usize = 256;

#[derive(Default)]
pub(crate) struct Statement {
    tokens: Vec<Token>,
    pub(crate) scope: Scope,
    pub(crate) brackets: usize,
    /// End, with dropped tokens.
    end: u32,
}

impl Statement {
    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub(crate) fn get(&self, at: usize) -> Option<Token> {
        self.tokens.get(at).copied()
    }

    pub(crate) fn last(&self) -> Option<Token> {
        self.tokens.last().copied()
    }

    pub(crate) fn index(&self, token: Token) -> Option<usize> {
        let tokens = &self.tokens;
        tokens
            .binary_search_by_key(&token.start, |it| it.start)
            .ok()
    }

    pub(crate) fn word<'t>(&self, at: usize, outline: &Outline<'t>) -> &'t [u8] {
        self.name(at).map_or(b"", |word| word.text(outline))
    }

    pub(crate) fn name(&self, at: usize) -> Option<Token> {
        self.get(at).filter(Token::is_word)
    }

    /// Defines the path from a word to the end.
    pub(crate) fn define_path(&self, at: usize, kind: Kind, outline: &mut Outline<'_>) {
        if let (Some(first), Some(last)) = (self.name(at), self.last()) {
            outline.define(first.start..last.end, kind);
        }
    }

    pub(crate) fn is(&self, at: usize, sign: u8) -> bool {
        self.get(at).is_some_and(|token| token.is(sign))
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.name(at).is_some()
    }

    pub(crate) fn is_adjacent(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.get(before));
        let both = before.zip(self.get(at));
        both.is_some_and(|(before, token)| before.end == token.start)
    }

    /// Index behind the brackets at `at`, or `at`.
    pub(crate) fn behind(&self, at: usize) -> usize {
        let Some(Role::Sign(open @ (b'(' | b'[' | b'<' | b'{'))) = self.get(at).map(|it| it.role)
        else {
            return at;
        };
        let close = if open == b'(' { b')' } else { open + 2 };
        let mut depth = 0;
        for (index, token) in self.tokens.iter().enumerate().skip(at) {
            match token.role {
                Role::Sign(sign) if sign == open => depth += 1,
                Role::Sign(b'>') if close == b'>' && self.is_arrow(index) => {}
                Role::Sign(sign) if sign == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return index + 1;
            }
        }
        self.tokens.len()
    }

    /// Skips round and square brackets.
    pub(crate) fn next(&self, at: usize) -> usize {
        match self.get(at).map(|token| token.role) {
            Some(Role::Sign(b'(' | b'[')) => self.behind(at),
            _ => at + 1,
        }
    }

    fn is_arrow(&self, at: usize) -> bool {
        let before = at.checked_sub(1);
        before.is_some_and(|before| self.is(before, b'-') || self.is(before, b'='))
    }

    pub(crate) fn find(&self, signs: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(token) = self.get(at) {
            match token.role {
                Role::Sign(sign) if signs.contains(&sign) => return Some(at),
                _ => at = self.next(at),
            }
        }
        None
    }

    pub(crate) fn word_before(&self, at: usize) -> Option<Token> {
        self.name(at.checked_sub(1)?)
    }

    /// Defines words between commas. Returns the index behind them.
    pub(crate) fn define_list(
        &self,
        mut at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        while let Some(word) = self.name(at) {
            if word.text(outline) != b"_" {
                outline.define(word.range(), kind);
            }
            at += 1;
            if !self.is(at, b',') {
                break;
            }
            at += 1;
        }
        at
    }

    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    pub(crate) fn is_string(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.role == Role::String)
    }

    pub(crate) fn push(&mut self, token: Token) {
        self.end = token.end;
        if self.tokens.len() < STATEMENT_TOKENS_MAX {
            self.tokens.push(token);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.tokens.clear();
        self.brackets = 0;
    }
}
