//! Pascal and Delphi: routines, types with members, constants, variables.

#[cfg(test)]
mod tests;

use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use super::super::{Kind, Parent};
use super::words::{Scopes, Statement, Word, behind_brackets, define_list, define_members};

#[derive(Default)]
pub(crate) struct Pascal {
    statement: Statement,
    scopes: Scopes,
    section: Section,
    /// Routines are declarations.
    in_interface: bool,
    /// Type before the token that shows members.
    of_type: Option<u32>,
    /// Routine that `forward` may follow.
    routine: Option<u32>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    Types,
    Constants,
    Variables,
}

impl Parser for Pascal {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens {
            self.token(*token, outline);
        }
    }
}

impl Pascal {
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        let may_end = self.statement.depth == 0;
        if let Some(of_type) = self.of_type
            && may_end
            && self.type_head(of_type, token, outline)
        {
            return;
        }
        if token.is(b';') && may_end {
            self.end_statement(outline);
        } else if token.role == Role::Keyword && may_end && self.keyword(token, outline) {
            self.statement.clear();
        } else {
            self.statement.push(token);
        }
    }

    fn type_head(&mut self, of_type: u32, token: Token, outline: &mut Outline<'_>) -> bool {
        let has_parent = self
            .statement
            .tokens
            .last()
            .is_some_and(|last| last.is(b')'));
        match Word::of(Some(&token), outline).text() {
            b"of" => {
                self.of_type = None;
                outline.definition(of_type).kind = Kind::Type;
            }
            b"helper" | b"abstract" | b"sealed" => return true,
            b"for" => {
                self.statement.push(token);
                return true;
            }
            _ if self.is_behind_for(outline) => {
                self.statement.clear();
                return true;
            }
            _ if token.is(b'(') || token.is(b'[') => {}
            _ if token.is(b';') => {
                self.of_type = None;
                let kind = outline.definition(of_type).kind;
                outline.definition(of_type).is_declaration =
                    !has_parent && matches!(kind, Kind::Class | Kind::Interface);
                self.statement.clear();
                return true;
            }
            _ => {
                self.of_type = None;
                self.scopes.open("type", Some(of_type), outline);
                self.section = Section::Variables;
                self.statement.clear();
            }
        }
        false
    }

    fn is_behind_for(&self, outline: &Outline<'_>) -> bool {
        Word::of(self.statement.tokens.last(), outline).text() == b"for"
    }

    fn in_code(&self) -> bool {
        matches!(self.scopes.innermost(), "routine" | "begun" | "deep")
    }

    fn keyword(&mut self, token: Token, outline: &mut Outline<'_>) -> bool {
        let word = Word::of(Some(&token), outline);
        let is_first = self.statement.tokens.is_empty();
        let inside = self.scopes.innermost();
        match word.text() {
            b"begin" if inside == "routine" => self.scopes.rename("begun"),
            b"begin" => self.scopes.open("begun", None, outline),
            b"case" | b"try" | b"asm" if inside == "begun" => {
                self.scopes.open("begun", None, outline);
            }
            b"asm" if inside == "routine" => self.scopes.rename("begun"),
            b"end" => {
                if inside == "type" {
                    self.section = Section::Types;
                }
                self.scopes.close(token.end, outline);
            }
            b"then" | b"else" | b"do" | b"of" if inside == "begun" => {}
            b"type" if is_first => self.section = Section::Types,
            b"const" | b"resourcestring" if is_first => self.section = Section::Constants,
            b"var" | b"threadvar" if is_first => self.section = Section::Variables,
            b"private" | b"public" | b"protected" | b"published" | b"strict"
                if is_first || inside == "type" =>
            {
                self.section = Section::Variables;
            }
            b"interface" if is_first => self.in_interface = true,
            b"implementation" | b"initialization" | b"finalization" if is_first => {
                self.in_interface = false;
                self.section = Section::Other;
            }
            b"uses" | b"label" | b"exports" if is_first => self.section = Section::Other,
            b"procedure" | b"function" | b"constructor" | b"destructor"
                if is_first && inside == "begun" =>
            {
                outline.leave_to(0, token.start);
                self.scopes = Scopes::default();
                return false;
            }
            b"class" | b"record" | b"object" | b"interface" | b"dispinterface" => {
                return self.begin_type(word.text(), outline);
            }
            _ => return false,
        }
        true
    }

    /// `Name = packed record`
    fn begin_type(&mut self, word: &[u8], outline: &mut Outline<'_>) -> bool {
        let kind = match word {
            b"class" | b"object" => Kind::Class,
            b"record" => Kind::Struct,
            _ => Kind::Interface,
        };
        let tokens = behind_brackets(&self.statement.tokens);
        let last = Word::of(tokens.last(), outline);
        let is_type = tokens.last().is_some_and(|last| last.is(b'='))
            || matches!(last.text(), b"packed" | b"type");
        if is_type && tokens[0].is_word() && self.section == Section::Types && !self.in_code() {
            self.of_type = outline.define(tokens[0].range(), kind);
            return self.of_type.is_some();
        }
        if kind == Kind::Struct {
            self.scopes.open("record", None, outline);
        }
        kind == Kind::Struct
    }

    fn end_statement(&mut self, outline: &mut Outline<'_>) {
        let tokens = std::mem::take(&mut self.statement.tokens);
        let mut code = tokens.as_slice();
        while code.first().is_some_and(|open| open.is(b'[')) {
            code = behind_brackets(code);
        }
        if !code.is_empty() {
            self.declaration(code, outline);
        }
        self.statement.tokens = tokens;
        self.statement.clear();
    }

    fn declaration(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let first = Word::of(tokens.first(), outline);
        let rest = match first.text() {
            b"class" => &tokens[1..],
            _ => tokens,
        };
        let rest = match Word::of(rest.first(), outline).text() {
            b"var" | b"threadvar" => &rest[1..],
            _ => rest,
        };
        let word = Word::of(rest.first(), outline);
        match word.text() {
            b"procedure" | b"function" | b"constructor" | b"destructor" | b"operator" => {
                return self.routine(&rest[1..], outline);
            }
            b"unit" | b"program" | b"library" | b"package" => {
                return define_dotted(&rest[1..], outline);
            }
            b"forward" | b"external" => {
                if let Some(index) = self.routine.take() {
                    outline.definition(index).is_declaration = true;
                    self.scopes.close(rest[0].end, outline);
                }
                return;
            }
            b"property" => {
                rest.get(1)
                    .map(|name| outline.define(name.range(), Kind::Field));
                return;
            }
            _ => {}
        }
        if !self.in_code() {
            self.names(rest, outline);
        }
    }

    fn routine(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let (mut name, mut of) = (None, None);
        let mut angles = 0_usize;
        for token in tokens {
            match token.role {
                Role::Sign(b'<') => angles += 1,
                Role::Sign(b'>') => angles = angles.saturating_sub(1),
                Role::Sign(b'.') => {}
                _ if token.is_word() && angles == 0 => {
                    of = name.replace(token.range());
                }
                _ if angles == 0 => break,
                _ => {}
            }
        }
        let Some(name) = name else { return };
        if self.scopes.innermost() == "type" {
            outline.declare(name, Kind::Method);
        } else if self.in_interface {
            outline.declare(name, Kind::Function);
        } else {
            self.routine = match of {
                Some(of) => outline.define_in(Parent::Name(of), name, Kind::Method),
                None => outline.define(name, Kind::Function),
            };
            self.scopes.open("routine", self.routine, outline);
        }
    }

    fn names(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let position = |sign| tokens.iter().position(|token| token.is(sign));
        let (equals, colon) = (position(b'='), position(b':'));
        let inside = self.scopes.innermost();
        match self.section {
            Section::Types => {
                let Some(equals) = equals else { return };
                let value = &tokens[equals + 1..];
                let is_enum = value.first().is_some_and(|open| open.is(b'('));
                let kind = if is_enum { Kind::Enum } else { Kind::Type };
                let index = outline.define(tokens[0].range(), kind);
                if is_enum {
                    outline.enter(index);
                    define_members(value, Kind::Enumerator, outline);
                    outline.leave(tokens.last().map_or(0, |last| last.end));
                }
            }
            Section::Constants if equals.is_some() => {
                outline.define(tokens[0].range(), Kind::Constant);
            }
            Section::Variables => {
                let in_type = matches!(inside, "type" | "record");
                let kind = if in_type { Kind::Field } else { Kind::Variable };
                let names = &tokens[..colon.unwrap_or(0)];
                let is_variant = Word::of(tokens.first(), outline).text() == b"case";
                if !is_variant
                    && inside != "record"
                    && names.iter().all(|it| it.is_word() || it.is(b','))
                {
                    define_list(names, kind, outline);
                }
            }
            _ => {}
        }
    }
}

fn define_dotted(tokens: &[Token], outline: &mut Outline<'_>) {
    let parts = tokens.iter().take_while(|it| it.is_word() || it.is(b'.'));
    if let (Some(first), Some(last)) = (tokens.first(), parts.last()) {
        outline.define(first.start..last.end, Kind::Module);
    }
}
