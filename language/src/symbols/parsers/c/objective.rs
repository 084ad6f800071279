//! Objective-C.

use super::declarator::closing;
use super::{Block, C, Context};
use crate::symbols::{Kind, Line, Outline, Role, Token};

impl C {
    /// Returns false for other lines.
    pub(super) fn objective(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) -> bool {
        let [first, rest @ ..] = line.tokens else {
            return false;
        };
        let kind = match first.text(outline) {
            b"@interface" => Kind::Class,
            b"@implementation" => Kind::Implementation,
            b"@protocol" => Kind::Interface,
            b"@end" => {
                self.leave_objective(first.end, outline);
                return true;
            }
            b"@optional" | b"@required" | b"@public" | b"@private" | b"@protected" => {
                self.end();
                return true;
            }
            _ => return false,
        };
        self.leave_objective(first.start, outline);
        let Some(name) = rest.first().filter(|name| name.is_word()) else {
            return true;
        };
        if rest.last().is_some_and(|last| last.is(b';')) {
            self.forward(rest, kind, outline);
            return true;
        }
        let definition = outline.define(name.range(), kind);
        self.enter_context(Context::Objective, definition, outline);
        if rest.last().is_some_and(|last| last.is(b'{')) {
            self.enter_context(Context::Type, None, outline);
        }
        true
    }

    fn leave_objective(&mut self, end: u32, outline: &mut Outline<'_>) {
        let is_objective = |scope: &Block| scope.context == Context::Objective;
        if let Some(depth) = self.scopes.iter().position(is_objective) {
            self.leave_to(depth, end, outline);
        }
    }

    /// `@class A, B;`
    fn forward(&self, names: &[Token], kind: Kind, outline: &mut Outline<'_>) {
        for name in names.iter().filter(|name| name.is_word()) {
            outline.declare(name.range(), kind);
        }
    }

    pub(super) fn objective_end(&self, statement: &[Token], outline: &mut Outline<'_>) -> bool {
        let Some(first) = statement.first() else {
            return false;
        };
        match (first.role, first.text(outline)) {
            (Role::Meta, b"@class") => self.forward(&statement[1..], Kind::Class, outline),
            (Role::Meta, b"@property") => return false,
            (Role::Meta, _) if self.context() == Context::Objective => {}
            (Role::Sign(b'-' | b'+'), _) if self.context() == Context::Objective => {
                let method = method(statement, outline);
                outline.set_declaration(method);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn is_method(&self) -> bool {
        let first = self.statement().first();
        let is_sign = first.is_some_and(|first| first.is(b'-') || first.is(b'+'));
        is_sign && self.context() == Context::Objective
    }
}

/// Takes the first part of a method's name.
pub(super) fn method(statement: &[Token], outline: &mut Outline<'_>) -> Option<u32> {
    let has_type = statement.get(1).is_some_and(|it| it.is(b'('));
    let at = usize::from(has_type) * closing(statement, 1);
    let name = statement.get(at + 1).filter(|name| name.is_word())?;
    outline.define(name.range(), Kind::Method)
}
