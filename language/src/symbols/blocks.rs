//! Statements and scopes of languages with braces.
//!
//! [`Blocks`] collects the tokens of a statement and asks the [`Grammar`] at its end, or at the
//! `{` behind it, for definitions and for the scope that opens. Brackets inside of a statement are
//! part of it; the content of braces inside of it is not.
//!
//! **Invariant:** a statement has [`STATEMENT_TOKENS_MAX`] tokens at most, so a grammar reads a
//! bounded number of tokens for each sign.

use super::Kind;
use super::outline::{Outline, SCOPES_MAX};
use super::parser::{Line, Parser, Role, Token};

/// Tokens of a statement; the rest of a longer one is dropped.
const STATEMENT_TOKENS_MAX: usize = 256;

/// Scope around a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    /// File, module, namespace.
    #[default]
    Top,
    /// Code of a function.
    Body,
    /// Fields.
    Record,
    /// Values of an enumeration.
    Values,
    /// Methods: class, trait, `impl`.
    Methods,
    /// Group of constants.
    Constants,
    /// Group of variables.
    Variables,
    /// Group of types.
    Types,
}

/// Meaning of an opening sign.
pub(super) enum Open {
    /// Part of the statement.
    Part,
    /// Scope, and the definition that it belongs to.
    Scope(Option<u32>, Scope),
    /// Scope without definitions inside.
    Ignored(Option<u32>),
}

/// Definitions in the statements of a language.
pub(super) trait Grammar {
    /// Takes a statement before a `{`.
    fn open(&mut self, statement: &Statement, outline: &mut Outline<'_>) -> Open;

    /// Takes a statement before its end: a sign, or `\n`.
    fn end(&mut self, statement: &Statement, sign: u8, outline: &mut Outline<'_>);

    /// True if a sign ends a statement.
    fn is_end(&self, statement: &Statement, sign: u8, _outline: &Outline<'_>) -> bool {
        sign == b';' || sign == b',' && statement.scope == Scope::Values
    }

    /// True if the end of the line ends a statement.
    fn is_end_of_line(&self, _statement: &Statement, _outline: &Outline<'_>) -> bool {
        false
    }

    /// Scope that a `(` opens.
    fn group(&self, _statement: &Statement, _outline: &Outline<'_>) -> Option<Scope> {
        None
    }

    /// For a word in the first column that begins a definition: the deepest scope that may be
    /// around it, besides [`Scope::Top`].
    fn restart(&self, _word: &[u8]) -> Option<Scope> {
        None
    }
}

/// Tokens of a statement.
#[derive(Default)]
pub(super) struct Statement {
    tokens: Vec<Token>,
    pub(super) scope: Scope,
    /// Open round and square brackets.
    brackets: usize,
    /// End of the last token, also of a dropped one.
    end: u32,
}

impl Statement {
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub(super) fn get(&self, at: usize) -> Option<Token> {
        self.tokens.get(at).copied()
    }

    pub(super) fn last(&self) -> Option<Token> {
        self.tokens.last().copied()
    }

    /// Index of one of its tokens.
    pub(super) fn index(&self, token: Token) -> Option<usize> {
        let starts = self
            .tokens
            .binary_search_by_key(&token.start, |it| it.start);
        starts.ok()
    }

    /// Bytes of a word; empty for other tokens.
    pub(super) fn word<'t>(&self, at: usize, outline: &Outline<'t>) -> &'t [u8] {
        let word = self.get(at).filter(Token::is_word);
        word.map_or(b"", |word| word.text(outline))
    }

    pub(super) fn is(&self, at: usize, sign: u8) -> bool {
        self.get(at).is_some_and(|token| token.is(sign))
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.is_word())
    }

    /// True if no byte is between a token and the one before.
    pub(super) fn is_adjacent(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.get(before));
        let both = before.zip(self.get(at));
        both.is_some_and(|(before, token)| before.end == token.start)
    }

    /// Index behind the bracket that opens at `at`; `at` itself if none does.
    pub(super) fn behind(&self, at: usize) -> usize {
        let Some(Role::Sign(open @ (b'(' | b'[' | b'<' | b'{'))) = self.get(at).map(|it| it.role)
        else {
            return at;
        };
        let close = if open == b'(' { b')' } else { open + 2 };
        let mut depth = 0;
        for (index, token) in self.tokens.iter().enumerate().skip(at) {
            match token.role {
                Role::Sign(sign) if sign == open => depth += 1,
                // The end of an arrow is no bracket.
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

    /// Index of the next token outside of round and square brackets.
    pub(super) fn next(&self, at: usize) -> usize {
        match self.get(at).map(|token| token.role) {
            Some(Role::Sign(b'(' | b'[')) => self.behind(at),
            _ => at + 1,
        }
    }

    fn is_arrow(&self, at: usize) -> bool {
        let before = at.checked_sub(1);
        before.is_some_and(|before| self.is(before, b'-') || self.is(before, b'='))
    }

    /// First of these signs outside of brackets.
    pub(super) fn find(&self, signs: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(token) = self.get(at) {
            match token.role {
                Role::Sign(sign) if signs.contains(&sign) => return Some(at),
                _ => at = self.next(at),
            }
        }
        None
    }

    /// Last word before an index.
    pub(super) fn word_before(&self, at: usize) -> Option<Token> {
        let word = self.get(at.checked_sub(1)?)?;
        word.is_word().then_some(word)
    }

    /// Defines words with commas between, from `at`. Returns the index behind them.
    pub(super) fn define_list(
        &self,
        mut at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        while let Some(word) = self.get(at).filter(Token::is_word) {
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

    /// End of the last token, also of one beyond the bound.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    pub(super) fn is_string(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.role == Role::String)
    }

    fn push(&mut self, token: Token) {
        self.end = token.end;
        if self.tokens.len() < STATEMENT_TOKENS_MAX {
            self.tokens.push(token);
        }
    }

    fn clear(&mut self) {
        self.tokens.clear();
        self.brackets = 0;
    }
}

/// Parser of a language with braces.
pub(super) struct Blocks<G> {
    grammar: G,
    statement: Statement,
    /// Scopes around the statement's; each is one of the outline, too.
    around: Vec<Scope>,
    /// Open braces of an ignored part.
    ignored: usize,
    is_scope_ignored: bool,
}

impl<G: Grammar> Parser for Blocks<G> {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if line.is_begin
            && let Some(first) = line.tokens.first()
            && first.start == line.range.start
            && first.is_word()
            && let Some(scope) = self.grammar.restart(first.text(outline))
        {
            self.restart(scope, first.start, outline);
        }
        for token in line.tokens {
            self.token(*token, outline);
        }
        let may_end = line.is_end && !line.ends_inside && self.statement.brackets == 0;
        if may_end
            && self.ignored == 0
            && !self.statement.tokens.is_empty()
            && self.grammar.is_end_of_line(&self.statement, outline)
        {
            self.end(b'\n', outline);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        if self.ignored == 0 {
            self.end(b'\n', outline);
        }
    }
}

impl<G: Grammar> Blocks<G> {
    pub(super) fn of(grammar: G) -> Blocks<G> {
        Blocks {
            grammar,
            statement: Statement::default(),
            around: Vec::new(),
            ignored: 0,
            is_scope_ignored: false,
        }
    }

    #[inline]
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(sign) if self.ignored > 0 => self.ignore(sign, token, outline),
            _ if self.ignored > 0 => {}
            Role::Sign(sign) => self.sign(sign, token, outline),
            // Attributes, over several lines.
            Role::Meta if outline.bytes(token.start..token.start + 1) != b"@" => {}
            _ => self.statement.push(token),
        }
    }

    fn ignore(&mut self, sign: u8, token: Token, outline: &mut Outline<'_>) {
        match sign {
            b'{' => self.ignored += 1,
            b'}' => self.ignored -= 1,
            _ => return,
        }
        if self.ignored == 0 && self.is_scope_ignored {
            outline.leave(token.end);
        } else if self.ignored == 0 {
            self.statement.push(token);
        }
    }

    fn sign(&mut self, sign: u8, token: Token, outline: &mut Outline<'_>) {
        let brackets = self.statement.brackets;
        match sign {
            b'(' if brackets == 0
                && let Some(scope) = self.grammar.group(&self.statement, outline) =>
            {
                self.enter(None, scope, outline);
                return;
            }
            b'(' | b'[' => self.statement.brackets += 1,
            b')' | b']' if brackets > 0 => self.statement.brackets -= 1,
            b')' if self.is_in_group() => return self.close(token, outline),
            b'{' => return self.open(outline),
            b'}' => return self.close(token, outline),
            _ if brackets == 0 && self.grammar.is_end(&self.statement, sign, outline) => {
                return self.end(sign, outline);
            }
            _ => {}
        }
        self.statement.push(token);
    }

    fn is_in_group(&self) -> bool {
        let scope = self.statement.scope;
        matches!(scope, Scope::Constants | Scope::Variables | Scope::Types)
    }

    fn open(&mut self, outline: &mut Outline<'_>) {
        let open = if self.statement.brackets > 0 {
            Open::Part
        } else {
            self.grammar.open(&self.statement, outline)
        };
        match open {
            Open::Scope(definition, scope) if self.around.len() < SCOPES_MAX => {
                self.enter(definition, scope, outline);
            }
            Open::Scope(definition, _) | Open::Ignored(definition) => {
                outline.enter(definition);
                self.statement.clear();
                (self.ignored, self.is_scope_ignored) = (1, true);
            }
            Open::Part => (self.ignored, self.is_scope_ignored) = (1, false),
        }
    }

    fn enter(&mut self, definition: Option<u32>, scope: Scope, outline: &mut Outline<'_>) {
        self.statement.clear();
        outline.enter(definition);
        self.around.push(self.statement.scope);
        self.statement.scope = scope;
    }

    fn close(&mut self, token: Token, outline: &mut Outline<'_>) {
        self.end(token.text(outline)[0], outline);
        self.leave(token.end, outline);
    }

    fn leave(&mut self, end: u32, outline: &mut Outline<'_>) {
        if let Some(scope) = self.around.pop() {
            self.statement.scope = scope;
            outline.leave(end);
        }
    }

    fn end(&mut self, sign: u8, outline: &mut Outline<'_>) {
        if !self.statement.tokens.is_empty() {
            self.grammar.end(&self.statement, sign, outline);
            self.statement.clear();
        }
    }

    /// Closes everything that can not be around a definition.
    fn restart(&mut self, deepest: Scope, at: u32, outline: &mut Outline<'_>) {
        let may_stay = |scope: Scope| scope == Scope::Top || scope == deepest;
        if self.ignored > 0 && self.is_scope_ignored {
            outline.leave(at);
        }
        self.ignored = 0;
        self.end(b'\n', outline);
        while !may_stay(self.statement.scope) && !self.around.is_empty() {
            self.leave(at, outline);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Language;
    use crate::symbols::Symbols;

    const LANGUAGES: [&str; 18] = [
        "go", "rust", "zig", "php", "nim", "nix", "proto", "thrift", "capnp", "fbs", "webidl",
        "graphql", "hcl", "puppet", "antlr", "sql", "tfvars", "tf",
    ];

    /// Definitions of a hostile text, in each language.
    fn count(text: &[u8]) -> usize {
        let of = |name| Symbols::of(Language::named(name), text).definitions.len();
        LANGUAGES.map(of).iter().sum()
    }

    #[test]
    fn hostile_texts_end() {
        let open = [
            "{",
            "(",
            "[",
            "<",
            "\"",
            "'",
            "`",
            "fn a(",
            "func f(x interface {",
            "struct s {",
            "type T struct {",
            "a = {",
            "with ",
            "class a {",
            "create table t(",
            "<?php ",
            "#[",
            "  proc a =\n    ",
            "a:",
            "/*",
            "enum e { a,",
            "union {",
            "const (",
            "= ",
            "x ? {",
        ];
        for part in open {
            count(part.repeat(5_000).as_bytes());
            count(format!("{}{}", part.repeat(2000), "}])>".repeat(9000)).as_bytes());
        }
        let mut state = 1_u32;
        let bytes = b"{}()[]<>;:,=.#\"'`@$&|\n\n\t -/*\\afntype0\xff\0";
        let random = (0..100_000).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bytes[(state >> 16) as usize % bytes.len()]
        });
        count(&random.collect::<Vec<_>>());
    }

    #[test]
    fn definitions_behind_an_open_bracket_are_found() {
        for (language, head) in [
            ("go", "func NAME() {}\n"),
            ("rust", "pub fn NAME() {}\n"),
            ("zig", "pub fn NAME() void {}\n"),
            ("php", "class NAME {}\n"),
            ("nim", "proc NAME() = 1\n"),
            ("proto", "message NAME {}\n"),
            ("thrift", "struct NAME {}\n"),
            ("capnp", "struct NAME {}\n"),
            ("fbs", "table NAME {}\n"),
            ("webidl", "interface NAME {};\n"),
            ("graphql", "type NAME {}\n"),
            ("hcl", "resource \"a\" \"NAME\" {}\n"),
            ("puppet", "class NAME {}\n"),
            ("antlr", "fragment NAME : 'a' ;\n"),
            ("sql", "create table NAME (a int);\n"),
        ] {
            let php = if language == "php" { "<?php\n" } else { "" };
            let text = format!("{php}a = ((\n\n{head}");
            let symbols = Symbols::of(Language::named(language), text.as_bytes());
            let mut names = symbols.definitions.iter().map(|it| it.name.clone());
            let is_name = |it| {
                &text[std::ops::Range {
                    start: it,
                    end: it + 4,
                }] == "NAME"
            };
            assert!(names.any(|it| is_name(it.start as usize)), "{language}");
        }
    }
}
