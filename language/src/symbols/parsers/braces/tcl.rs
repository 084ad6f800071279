//! Tcl and its object systems.

use super::Braces;
use crate::symbols::scopes::define_qualified;
use crate::symbols::{Kind, Line, Outline, Role, Token};

const SIGNS: &[u8] = b":-?!.*<>=+/&|@,~^%";

impl Braces {
    pub(super) fn tcl(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let Some((command, next)) = line.name(at, b":") else {
            return at + 1;
        };
        let (kind, name, groups) = match outline.bytes(command) {
            b"proc" | b"::itcl::body" | b"itcl::body" | b"body" => (Kind::Function, next, 1),
            b"method" | b"typemethod" => (Kind::Method, next, 1),
            b"namespace" if line.text(next, outline) == b"eval" => (Kind::Module, next + 1, 0),
            b"oo::class" | b"::oo::class" if line.text(next, outline) == b"create" => {
                (Kind::Class, next + 1, 0)
            }
            b"class" | b"itcl::class" | b"::itcl::class" | b"snit::type" | b"snit::widget" => {
                (Kind::Class, next, 0)
            }
            b"variable" if self.is_outside(outline) => (Kind::Variable, next, 0),
            b"set" if self.scopes.is_empty() => (Kind::Variable, next, 0),
            _ => return next,
        };
        let named = line.name(name, SIGNS);
        let is_part = |it: &Token| it.is(b':') || !matches!(it.role, Role::Key | Role::Sign(_));
        let named = named.filter(|_| line.tokens.get(name).is_some_and(is_part));
        let Some((mut range, next)) = named else {
            return at + 1;
        };
        while outline.bytes(range.clone()).starts_with(b":") {
            range.start += 1;
        }
        if kind == Kind::Variable {
            self.names.define(range, kind, outline);
            return next;
        }
        self.align(at, outline);
        let definition = define_qualified(range, b":", kind, outline);
        if groups == 0 || !line.is(next, b'{') {
            self.expect(definition, 0, outline);
            return next;
        }
        let behind = line.behind_brackets(next, b'{', b'}');
        let is_open = !line.is(behind - 1, b'}');
        self.expect(definition, usize::from(is_open), outline);
        if is_open { next } else { behind }
    }

    fn is_outside(&self, outline: &Outline<'_>) -> bool {
        let kind = outline.scope_kind();
        matches!(kind, Some(Kind::Module | Kind::Class))
    }
}
