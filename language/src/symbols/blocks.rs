//! Languages with braces: a [`Grammar`] reads each statement at its end, or at the `{` behind it.
//! A statement includes its brackets, but not the content of braces. Its bound makes the work for
//! each sign bounded.

mod statement;

#[cfg(test)]
mod tests;

pub(super) use statement::Statement;

use crate::symbols::{Line, Outline, Parser, Role, SCOPES_MAX, Token, is_of};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    /// File or namespace.
    #[default]
    Top,
    Body,
    Record,
    Values,
    /// Class, trait, `impl`.
    Methods,
    Constants,
    Variables,
    Types,
}

pub(super) enum Open {
    /// Part of the statement.
    Part,
    Scope(Option<u32>, Scope),
    Ignored(Option<u32>),
}

pub(super) type Heads = &'static [(Scope, &'static str)];

pub(super) trait Grammar {
    /// Deepest scopes, besides [`Scope::Top`], of definitions that begin with these words in the
    /// first column.
    const HEADS: Heads = &[];

    /// Scopes whose statements end at commas, too.
    const COMMAS: &'static [Scope] = &[Scope::Values];

    fn open(&mut self, statement: &Statement, outline: &mut Outline<'_>) -> Open;

    /// Takes a statement before a `{` in brackets.
    fn open_in_brackets(&mut self, _statement: &Statement, _outline: &Outline<'_>) -> Open {
        Open::Part
    }

    /// Takes a statement that a sign or `\n` ends.
    fn end(&mut self, statement: &Statement, sign: u8, outline: &mut Outline<'_>);

    fn is_end(&self, statement: &Statement, sign: u8, _outline: &Outline<'_>) -> bool {
        sign == b';' || sign == b',' && Self::COMMAS.contains(&statement.scope)
    }

    fn is_end_of_line(&self, _statement: &Statement, _outline: &Outline<'_>) -> bool {
        false
    }

    fn group(&self, _statement: &Statement, _outline: &Outline<'_>) -> Option<Scope> {
        None
    }

    fn restart(&self, word: &[u8]) -> Option<Scope> {
        let head = Self::HEADS.iter().find(|(_, words)| is_of(words, word));
        head.map(|(scope, _)| *scope)
    }
}

pub(super) struct Blocks<G> {
    grammar: G,
    statement: Statement,
    /// Outer scopes with their brackets, as in the outline.
    around: Vec<(Scope, usize)>,
    ignored: usize,
    is_scope_ignored: bool,
    /// True between strings of an attribute.
    in_attribute: bool,
}

impl<G: Grammar> Parser for Blocks<G> {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let is_open =
            self.ignored > 0 || !self.around.is_empty() || !self.statement.tokens().is_empty();
        if line.is_begin
            && is_open
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
            && !self.statement.tokens().is_empty()
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
            in_attribute: false,
        }
    }

    #[inline]
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(sign) if self.ignored > 0 => self.ignore(sign, token, outline),
            _ if self.ignored > 0 => {}
            Role::Sign(sign) => self.sign(sign, token, outline),
            // Attributes, over several lines, and their strings.
            Role::Meta if outline.bytes(token.start..token.start + 1) != b"@" => {
                let text = token.text(outline);
                self.in_attribute |= text.starts_with(b"#[") || text.starts_with(b"#![");
                return;
            }
            Role::String if self.in_attribute => return,
            _ => self.statement.push(token),
        }
        self.in_attribute = false;
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
            self.grammar.open_in_brackets(&self.statement, outline)
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
        let brackets = self.statement.brackets;
        self.around.push((self.statement.scope, brackets));
        self.statement.clear();
        outline.enter(definition);
        self.statement.scope = scope;
    }

    fn close(&mut self, token: Token, outline: &mut Outline<'_>) {
        self.end(token.text(outline)[0], outline);
        self.leave(token.end, outline);
    }

    fn leave(&mut self, end: u32, outline: &mut Outline<'_>) {
        if let Some((scope, brackets)) = self.around.pop() {
            self.statement.scope = scope;
            self.statement.brackets = brackets;
            outline.leave(end);
        }
    }

    fn end(&mut self, sign: u8, outline: &mut Outline<'_>) {
        if !self.statement.tokens().is_empty() {
            self.grammar.end(&self.statement, sign, outline);
            self.statement.clear();
        }
    }

    /// Closes all that cannot be around a definition.
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
        self.statement.brackets = 0;
    }
}
