//! Ruby, Crystal, Elixir, Lua, Julia, fish: words open scopes, and `end` closes them.
//!
//! [`words`] says for each language what a word does, [`heads`] which other lines define names.

mod heads;
#[cfg(test)]
mod tests;
mod words;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role};
use super::super::scopes::{Names, Scopes, define_qualified, is_container};
use words::Word;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Dialect {
    Ruby,
    Crystal,
    Elixir,
    Lua,
    Julia,
    Fish,
}

pub(in super::super) struct Ends {
    dialect: Dialect,
    scopes: Scopes,
    names: Names,
    /// Function of Elixir before its `do`.
    pending: Option<u32>,
    /// True if the next `do` belongs to a loop that has opened its scope.
    has_loop: bool,
    /// Open round and curly brackets.
    brackets: usize,
    /// Open square brackets.
    squares: usize,
    /// True if a backslash ended the last line.
    is_continued: bool,
    /// True behind `__END__`.
    is_over: bool,
    /// Indentation of this line.
    indent: usize,
    /// End of the last line with code.
    end: u32,
}

impl Parser for Ends {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(last) = line.tokens.last() else {
            return;
        };
        self.is_over |= line.text(0, outline) == b"__END__";
        if self.is_over {
            return;
        }
        if line.is_begin {
            self.has_loop = false;
            self.indent = line.indent(outline);
            if !line.begins_inside && !self.is_continued {
                self.head(line, outline);
            }
        }
        let mut at = 0;
        while let Some(token) = line.tokens.get(at) {
            at = match token.role {
                Role::Keyword => self.keyword(line, at, outline),
                Role::Sign(sign) => self.sign(sign, at),
                _ => at + 1,
            };
        }
        self.end = last.end;
        self.is_continued = last.is(b'\\');
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.drop_pending(outline);
        self.scopes.close_from(0, self.end, outline);
    }
}

impl Ends {
    pub(in super::super) fn new(dialect: Dialect) -> Ends {
        Ends {
            dialect,
            scopes: Scopes::default(),
            names: Names::default(),
            pending: None,
            has_loop: false,
            brackets: 0,
            squares: 0,
            is_continued: false,
            is_over: false,
            indent: 0,
            end: 0,
        }
    }

    fn sign(&mut self, sign: u8, at: usize) -> usize {
        match sign {
            b'(' | b'{' => self.brackets += 1,
            b')' | b'}' => self.brackets = self.brackets.saturating_sub(1),
            b'[' => self.squares += 1,
            b']' => self.squares = self.squares.saturating_sub(1),
            b';' => self.has_loop = false,
            _ => {}
        }
        at + 1
    }

    /// Takes a keyword. Returns the next token to read.
    fn keyword(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let word = words::of(self.dialect, line.text(at, outline));
        if word == Word::Other {
            return at + 1;
        }
        if is_name(line, at) {
            if word == Word::Do {
                self.pending = None;
            }
            return at + 1;
        }
        match word {
            Word::Define(kind) => return self.define(line, at, kind, outline),
            Word::End => self.close(line, at, outline),
            _ if self.dialect == Dialect::Julia && self.squares > 0 => {}
            Word::Do if self.has_loop => self.has_loop = false,
            Word::Do | Word::Open => {
                let definition = self.pending.take().filter(|_| word == Word::Do);
                self.open(line, at, definition, outline);
            }
            Word::Statement | Word::Loop if self.begins_statement(line, at, outline) => {
                self.has_loop = word == Word::Loop;
                self.open(line, at, None, outline);
            }
            _ => {}
        }
        at + 1
    }

    /// False for a modifier, as in `x if y`.
    fn begins_statement(&self, line: &Line<'_>, at: usize, outline: &Outline<'_>) -> bool {
        let Some(before) = at.checked_sub(1).and_then(|at| line.tokens.get(at)) else {
            return !self.is_continued;
        };
        match before.role {
            Role::Sign(sign) => !b")]}".contains(&sign),
            Role::Keyword => words::is_operator(self.dialect, before.text(outline)),
            _ => false,
        }
    }

    fn open(
        &mut self,
        line: &Line<'_>,
        at: usize,
        definition: Option<u32>,
        outline: &mut Outline<'_>,
    ) {
        let head = line.head(at, self.indent);
        self.scopes.open(definition, head, outline);
    }

    fn close(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) {
        if self.dialect == Dialect::Julia && self.squares > 0 {
            if at > 0 {
                return;
            }
            self.squares = 0;
        }
        self.drop_pending(outline);
        let end = line.tokens[at].end;
        if at == 0 {
            self.scopes.close_at(self.indent, end, outline);
        } else {
            self.scopes.close(end, outline);
        }
    }

    /// Closes forgotten scopes before a definition at the beginning of a line.
    fn align(&mut self, outline: &mut Outline<'_>) {
        self.scopes.align(self.indent, self.end, outline);
        if self.indent == 0 {
            (self.brackets, self.squares) = (0, 0);
        }
    }

    fn drop_pending(&mut self, outline: &mut Outline<'_>) {
        if let Some(index) = self.pending.take() {
            outline.definition(index).is_declaration = true;
        }
    }

    /// Takes a word such as `def` with the name behind it.
    fn define(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        if line.is_head(at) {
            self.align(outline);
        }
        let is_outside = !outline.innermost_kind().is_some_and(is_container);
        let kind = match kind {
            Kind::Method if is_outside => Kind::Function,
            kind => kind,
        };
        match self.dialect {
            Dialect::Ruby | Dialect::Crystal => self.define_ruby(line, at, kind, outline),
            Dialect::Elixir => self.define_elixir(line, at, kind, outline),
            Dialect::Lua => self.define_lua(line, at, outline),
            Dialect::Julia => self.define_named(line, at, b".", kind, outline),
            Dialect::Fish => self.define_named(line, at, b"-./:@+,", kind, outline),
        }
    }

    fn define_named(
        &mut self,
        line: &Line<'_>,
        at: usize,
        signs: &[u8],
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        let Some((name, next)) = line.name(at + 1, signs).filter(|_| line.is_word(at + 1)) else {
            self.open(line, at, None, outline);
            return at + 1;
        };
        let definition = match self.dialect {
            Dialect::Fish => outline.define(name, kind),
            _ => define_qualified(name, b".", kind, outline),
        };
        self.open(line, at, definition, outline);
        next
    }

    /// `class A::B`, `class << self`, `def self.x=(y)`, `def [](i)`, `def x = 1`.
    fn define_ruby(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        if kind.is_type() && !line.is_word(at + 1) {
            self.open(line, at, None, outline);
            return at + 1;
        }
        let first = line.tokens.get(at + 1).map_or(u32::MAX, |it| it.start);
        let (mut name, mut next) = line.name(at + 1, b".:").unwrap_or((first..first, at + 1));
        let is_function = matches!(kind, Kind::Function | Kind::Method);
        let is_operator = name.is_empty() || outline.bytes(name.clone()).ends_with(b".");
        while let Some(token) = line.tokens.get(next)
            && let Role::Sign(sign) = token.role
            && (is_function && token.start == name.end && !b"();,{".contains(&sign))
            && (is_operator || sign == b'=')
        {
            name.end = token.end;
            next += 1;
        }
        let signs: &[u8] = if is_operator { b"." } else { b".:" };
        let definition = (first != u32::MAX)
            .then(|| define_qualified(name, signs, kind, outline))
            .flatten();
        let before = at
            .checked_sub(1)
            .map_or(&b""[..], |at| line.text(at, outline));
        let is_foreign = line.text(at, outline) == b"fun" && outline.innermost().is_some();
        if before == b"abstract" && is_function || is_foreign {
            if let Some(index) = definition {
                outline.definition(index).is_declaration = true;
            }
        } else if !(is_function && line.is_assignment(behind_parameters(line, next))) {
            self.open(line, at, definition, outline);
        }
        next
    }

    /// `def f(x) do`; its `do` opens the scope.
    fn define_elixir(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        self.drop_pending(outline);
        let has_paren = usize::from(line.is(at + 1, b'('));
        let Some((name, next)) = line.name(at + 1 + has_paren, b".") else {
            return at + 1;
        };
        let definition = define_qualified(name, b".", kind, outline);
        if !matches!(
            line.text(at, outline),
            b"defdelegate" | b"defguard" | b"defguardp"
        ) {
            self.pending = definition;
        }
        next
    }

    /// `function M.f`, `function M:f`, `M.f = function`.
    fn define_lua(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let named = line.name(at + 1, b".:").filter(|_| line.is_word(at + 1));
        let (name, next) = match named {
            Some((name, next)) => (Some(name), next),
            None => (name_before(line, at), at + 1),
        };
        let definition = name.and_then(|name| {
            let is_method = outline.bytes(name.clone()).contains(&b':');
            let kind = if is_method {
                Kind::Method
            } else {
                Kind::Function
            };
            define_qualified(name, b".:", kind, outline)
        });
        self.open(line, at, definition, outline);
        next
    }
}

/// True for `:if`, `if: 1`.
fn is_name(line: &Line<'_>, at: usize) -> bool {
    let is_symbol = line.touches(at) && line.is(at - 1, b':');
    let is_key = line.touches(at + 1)
        && line.is(at + 1, b':')
        && !(line.touches(at + 2) && line.is(at + 2, b':'));
    is_symbol || is_key
}

/// Token behind `(…)`, if that is here.
fn behind_parameters(line: &Line<'_>, at: usize) -> usize {
    if line.is(at, b'(') {
        line.behind_brackets(at, b'(', b')')
    } else {
        at
    }
}

/// Name before `= function`.
fn name_before(line: &Line<'_>, at: usize) -> Option<std::ops::Range<u32>> {
    let last = at.checked_sub(2).filter(|last| line.is(last + 1, b'='))?;
    let end = line.tokens.get(last).filter(|it| it.is_word())?.end;
    let mut first = last;
    while line.touches(first) && (line.is_word(first - 1) || line.is(first - 1, b'.')) {
        first -= 1;
    }
    Some(line.tokens[first].start..end)
}
