//! R with classes of S4 and R6.

use super::Braces;
use crate::symbols::scopes::unquoted;
use crate::symbols::{Kind, Line, Outline, Role};

impl Braces {
    pub(super) fn r(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let token = &line.tokens[at];
        let kind = match token.text(outline) {
            b"setClass" | b"setRefClass" => Some(Kind::Class),
            b"setGeneric" => Some(Kind::Function),
            b"setMethod" => Some(Kind::Method),
            _ => None,
        };
        if let Some(kind) = kind
            && line.is(at + 1, b'(')
            && let Some(name) = line.tokens.get(at + 2).filter(|it| it.role == Role::String)
        {
            outline.define(unquoted(name, outline), kind);
            return at + 3;
        }
        let is_argument = self.brackets & 1 == 1 && self.indent > 0;
        match assigned(line, at + 1) {
            Some(value) if !is_argument => self.r_value(line, at, value, outline),
            Some(value) if self.is_in_r6 && line.text(value, outline) == b"function" => {
                outline.define(unquoted(token, outline), Kind::Method);
                value + 1
            }
            _ => at + 1,
        }
    }

    fn r_value(
        &mut self,
        line: &Line<'_>,
        at: usize,
        value: usize,
        outline: &mut Outline<'_>,
    ) -> usize {
        let name = unquoted(&line.tokens[at], outline);
        match line.text(value, outline) {
            b"function" => self.function(at, name, Kind::Function, outline),
            b"R6Class" | b"setRefClass" | b"setClass" => {
                self.align(at, outline);
                self.is_in_r6 = true;
                outline.define(name, Kind::Class);
            }
            _ if self.scopes.is_empty() && at == 0 => {
                self.is_in_r6 = false;
                self.names.define(name, Kind::Variable, outline);
            }
            _ => {}
        }
        value
    }
}

/// Value behind `<-`, `<<-` or `=`.
fn assigned(line: &Line<'_>, at: usize) -> Option<usize> {
    if line.is_assignment(at) {
        return Some(at + 1);
    }
    let more = usize::from(line.is(at + 1, b'<'));
    let is_arrow = line.is(at, b'<') && line.is(at + 1 + more, b'-') && line.touches(at + 1 + more);
    is_arrow.then_some(at + 2 + more)
}
