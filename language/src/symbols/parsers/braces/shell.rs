//! Shells and RPM Spec.

use super::Braces;
use crate::symbols::{Kind, Line, Outline, Role};

const SIGNS: &[u8] = b"-.:+/@,?!~^%";

impl Braces {
    pub(super) fn shell(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let token = &line.tokens[at];
        let text = token.text(outline);
        if text == b"function" {
            let Some((name, next)) = line.name(at + 1, SIGNS) else {
                return at + 1;
            };
            self.function(at, name, Kind::Function, outline);
            let has_brackets = line.is(next, b'(') && line.is(next + 1, b')');
            return next + 2 * usize::from(has_brackets);
        }
        if let Some((name, next)) = line.name(at, SIGNS)
            && line.is(next, b'(')
            && line.is(next + 1, b')')
            && !line.is(next + 2, b')')
            && token.role != Role::Key
        {
            self.function(at, name, Kind::Function, outline);
            return next + 2;
        }
        if self.indent == 0 && at == 0 && self.scopes.is_empty() {
            self.shell_variables(line, text, outline);
        }
        at + 1
    }

    fn shell_variables(&mut self, line: &Line<'_>, first: &[u8], outline: &mut Outline<'_>) {
        let kind = match first {
            b"alias" => Kind::Macro,
            b"readonly" => Kind::Constant,
            b"export" | b"declare" | b"typeset" => Kind::Variable,
            _ => {
                if line.touches(1) && line.is(1, b'=') && line.tokens[0].role == Role::Word {
                    let name = line.tokens[0].range();
                    self.names.define(name, Kind::Variable, outline);
                }
                return;
            }
        };
        let mut at = 1;
        while at < line.tokens.len() {
            let signs: &[u8] = if kind == Kind::Macro { SIGNS } else { b"" };
            let named = line.name(at, signs).filter(|_| !line.touches(at));
            if let Some((name, next)) = named
                && line.is(next, b'=')
                && line.touches(next)
            {
                self.names.define(name, kind, outline);
            }
            at += 1;
        }
    }

    pub(super) fn spec(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let kind = match line.text(at, outline) {
            b"%define" | b"%global" => Kind::Macro,
            b"%package" => Kind::Module,
            b"%changelog" => {
                self.is_over = true;
                return line.tokens.len();
            }
            _ => return self.shell(line, at, outline),
        };
        let has_option = line.is(at + 1, b'-');
        let name = at + 1 + 2 * usize::from(has_option);
        if let Some((name, _)) = line.name(name, b"-.+") {
            outline.define(name, kind);
        }
        line.tokens.len()
    }
}
