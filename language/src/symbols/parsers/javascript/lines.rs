//! Lines that end statements, recovery from unbalanced braces, and tags of scripts.

use super::{Form, Head, JavaScript, Place};
use crate::symbols::{Line, Outline, Role, Token, is_of};

impl JavaScript {
    pub(super) fn begin_line(&mut self, first: Token, indent: usize, outline: &mut Outline<'_>) {
        if indent == 0 && self.is_declaration(first, outline) {
            self.close_nested(outline);
        }
        let ends = match self.place() {
            Place::Object | Place::NamedObject | Place::Enum => false,
            _ => self.head.brackets == 0 && !self.continues(first, outline),
        };
        if ends {
            self.end_statement(outline);
        }
        if ends || self.head.form == Form::Statement && self.head.name.is_none() {
            self.head.indent = indent;
        }
    }

    fn continues(&self, first: Token, outline: &Outline<'_>) -> bool {
        if self.last_is_of(b"=,.(+-*/&|?:<~^%") || self.is_arrow {
            return true;
        }
        if let Some(last) = self.last.filter(|last| last.role == Role::Keyword) {
            let words = "return break continue this null true false undefined super get set of \
                         from debugger void";
            let ends = is_of(words, last.text(outline));
            let is_name = self.head.name.is_some_and(|name| Some(name) == self.last);
            if !ends && !is_name {
                return true;
            }
        }
        match first.role {
            Role::Sign(b'{') => {
                self.head.awaited.is_some() || self.head.is_call && self.is_in_members()
            }
            Role::Sign(sign) => b".?:=,)]&|+%<>".contains(&sign),
            Role::Keyword => matches!(
                first.text(outline),
                b"in" | b"instanceof" | b"extends" | b"implements"
            ),
            _ => false,
        }
    }

    fn is_declaration(&self, first: Token, outline: &Outline<'_>) -> bool {
        let is_open = self.head.brackets > 0 || !self.scopes.is_empty();
        let words = "function class export import interface namespace abstract declare";
        is_open && first.role == Role::Keyword && is_of(words, first.text(outline))
    }

    /// Closes scopes that a declaration in column 0 cannot be in.
    fn close_nested(&mut self, outline: &mut Outline<'_>) {
        let holds = |scope: &super::Scope| {
            let Head {
                form, definition, ..
            } = scope.head;
            let is_inner = definition.is_none() || scope.head.brackets > 0;
            let is_wrapper = form != Form::Declaration && scope.place == Place::Body && is_inner;
            scope.head.indent == 0 && (is_wrapper || scope.place == Place::Top)
        };
        let kept = self.scopes.iter().take_while(|scope| holds(scope)).count();
        let end = self.last.map_or(0, |last| last.end);
        self.deeper = 0;
        while self.scopes.len() > kept {
            self.scopes.pop();
            outline.leave(end);
        }
        self.head = Head::default();
    }

    pub(super) fn is_outside_script(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) -> bool {
        let text = outline.bytes(line.range.clone()).trim_ascii_start();
        let is_tag = text.starts_with(b"<script") || text.starts_with(b"</script");
        if is_tag {
            self.scopes.clear();
            (self.deeper, self.last) = (0, None);
            self.head = Head::default();
            outline.leave_to(0, line.range.start);
            self.in_script = text.starts_with(b"<script");
        }
        is_tag || !self.in_script
    }
}
