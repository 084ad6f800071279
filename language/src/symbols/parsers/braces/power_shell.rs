//! PowerShell.

use super::Braces;
use crate::symbols::scopes::define_qualified;
use crate::symbols::{Kind, Line, Outline, Role, Token};

impl Braces {
    pub(super) fn power_shell(
        &mut self,
        line: &Line<'_>,
        at: usize,
        outline: &mut Outline<'_>,
    ) -> usize {
        let is_word = |word: &[u8]| line.text(at, outline).eq_ignore_ascii_case(word);
        let is_function = is_word(b"function") || is_word(b"filter") || is_word(b"workflow");
        let kind = match () {
            () if is_function => Kind::Function,
            () if is_word(b"class") => Kind::Class,
            () if is_word(b"enum") => Kind::Enum,
            () => return self.power_shell_member(line, at, outline),
        };
        let Some((name, next)) = line.name(at + 1, b":.?!") else {
            return at + 1;
        };
        self.align(at, outline);
        let definition = define_qualified(name, b":", kind, outline);
        self.expect(definition, 0, outline);
        next
    }

    /// `$name = value`, `[Type]$name`, `[Type] Name(…) {`
    fn power_shell_member(
        &mut self,
        line: &Line<'_>,
        at: usize,
        outline: &mut Outline<'_>,
    ) -> usize {
        let token = line.tokens[at];
        match (outline.scope_kind(), token.role) {
            (None, Role::Key) if outline.depth() == 0 && line.is_assignment(at + 1) => {
                self.property(token, Kind::Variable, outline);
            }
            (None, Role::Key) if outline.depth() == 0 && line.is_assignment(at + 3) => {
                let is_scoped = line.is(at + 1, b':') && line.is_word(at + 2);
                if let Some(name) = line.tokens.get(at + 2).filter(|_| is_scoped) {
                    self.names.define(name.range(), Kind::Variable, outline);
                }
            }
            (Some(Kind::Class), Role::Key) => self.property(token, Kind::Field, outline),
            (Some(Kind::Class), _) if line.is(at + 1, b'(') => {
                self.function(at, token.range(), Kind::Method, outline);
            }
            (Some(Kind::Enum), _) if token.is_word() => {
                outline.define(token.range(), Kind::Enumerator);
            }
            _ => {}
        }
        at + 1
    }

    fn property(&mut self, token: Token, kind: Kind, outline: &mut Outline<'_>) {
        let mut name = token.text(outline).iter().skip(1);
        let is_plain = name.all(|byte| !b"{(".contains(byte));
        if is_plain {
            self.names.define(token.start + 1..token.end, kind, outline);
        }
    }
}
