//! Lines that end statements, blocks by indentation, and recovery from unbalanced braces.

use super::{Dialect, Form, Head, Java, Place};
use crate::symbols::{Kind, Outline, Role, Token, is_of};

impl Java {
    pub(super) fn begin_line(&mut self, first: Token, indent: usize, outline: &mut Outline<'_>) {
        if self.dialect.has_lines() && self.head.brackets == 0 {
            if self.dialect == Dialect::Scala && self.opens_block(indent) {
                self.open_indented(outline);
            } else if !self.continues(first, outline) && !self.is_constructor_of(outline) {
                self.end_statement(false, outline);
            }
            self.pop_indented(Some(indent), outline);
        }
        if self.is_suspect && indent == 0 && !first.is(b'}') {
            self.close_outer(outline);
        }
        let is_nested = self.scopes.last().is_some_and(|it| it.head.indent > 0);
        self.is_suspect = indent == 0 && first.is(b'}') && is_nested;
        if self.is_begin() {
            self.head.indent = indent;
        }
    }

    fn is_begin(&self) -> bool {
        let ends = |last: Token| last.is(b';') || last.is(b'}') || last.is(b'{') || last.is(b',');
        let head = &self.head;
        head.form == Form::Plain
            && head.name.is_none()
            && !head.has_type
            && head.brackets == 0
            && (self.dialect.has_lines() || self.last.is_none_or(ends))
    }

    fn continues(&self, first: Token, outline: &Outline<'_>) -> bool {
        let head = &self.head;
        if head.angles > 0 && !head.in_value {
            return true;
        }
        let is_open = |last: Token| last.is_of(b"=,:.<&|+");
        if self.last.is_some_and(is_open) && head.tick.is_none() {
            return true;
        }
        match first.role {
            Role::Sign(b'{') => head.definition.is_some() || head.name.is_some(),
            Role::Sign(b'(') => self.dialect == Dialect::Scala && head.definition.is_some(),
            Role::Sign(sign) => b".?:=,)]&|-".contains(&sign),
            Role::Keyword | Role::Word => is_of(
                "where extends implements with throws rethrows by constructor",
                first.text(outline),
            ),
            _ => false,
        }
    }

    /// True for Kotlin's `constructor` of a class in an earlier line.
    fn is_constructor_of(&self, outline: &Outline<'_>) -> bool {
        let next = self.next.map(|next| next.text(outline));
        matches!(self.head.form, Form::Type(_)) && next == Some(b"constructor")
    }

    fn opens_block(&self, indent: usize) -> bool {
        let head = &self.head;
        if indent <= head.indent {
            return false;
        }
        match head.form {
            Form::Type(Kind::Implementation) if head.name.is_none() => self.last_is(b')'),
            Form::Type(_) => !head.in_value && self.last_is(b':'),
            Form::Function | Form::Value(_) => {
                let has_with = self.last.is_some_and(|last| last.role == Role::Keyword);
                self.last_is(b'=') || has_with && !head.in_value
            }
            _ => false,
        }
    }

    fn open_indented(&mut self, outline: &mut Outline<'_>) {
        self.end_name(b':', outline);
        let is_type = !self.last_is(b'=');
        let place = match self.head.form {
            Form::Type(Kind::Module) => Place::Top,
            _ if is_type => Place::Type,
            _ => Place::Body,
        };
        let definition = self.head.definition;
        self.push(place, definition, false, outline);
        self.last = None;
    }

    /// Closes blocks by indentation; all without an indent.
    pub(super) fn pop_indented(&mut self, indent: Option<usize>, outline: &mut Outline<'_>) {
        while let Some(scope) = self.scopes.last()
            && !scope.has_brace
            && indent.is_none_or(|indent| indent <= scope.head.indent)
        {
            let end = self.last.map_or(0, |last| last.end);
            self.pop(end, outline);
            self.head = Head::at(self.head.indent);
        }
    }

    /// Closes scopes that a definition in column 0 cannot be in.
    pub(super) fn close_nested(&mut self, is_type: bool, outline: &mut Outline<'_>) {
        let holds = |scope: &super::Scope| {
            let is_block = matches!(scope.head.form, Form::Plain | Form::Other);
            let is_open = is_block && scope.head.definition.is_none() && !scope.head.is_call;
            let is_around = match scope.place {
                Place::Top => true,
                Place::Type | Place::Enum => !is_type,
                Place::Body => is_open,
            };
            scope.head.indent == 0 && (is_around || is_open)
        };
        let kept = self.scopes.iter().take_while(|scope| holds(scope)).count();
        self.close_to(kept, outline);
    }

    /// Closes scopes that a brace in column 0 left open.
    fn close_outer(&mut self, outline: &mut Outline<'_>) {
        let outer = self.scopes.iter().rposition(|scope| scope.head.indent == 0);
        if let Some(outer) = outer {
            self.close_to(outer, outline);
            self.head = Head::at(self.head.indent);
        }
    }

    fn close_to(&mut self, depth: usize, outline: &mut Outline<'_>) {
        if self.scopes.len() <= depth {
            return;
        }
        let (head, end) = (self.head, self.last.map_or(0, |last| last.end));
        self.deeper = 0;
        while self.scopes.len() > depth {
            self.pop(end, outline);
        }
        self.head = head;
    }
}
