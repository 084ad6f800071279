//! Perl, Raku, shells, Awk, Tcl, PowerShell, R: a head, then braces with its body.

mod perl;
#[cfg(test)]
mod perl_tests;
mod power_shell;
mod r;
mod shell;
mod tcl;
#[cfg(test)]
mod tests;

use crate::symbols::scopes::{Head, Names, Scopes};
use crate::symbols::{Kind, Line, Outline, Parser, Role};
use std::ops::Range;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Perl,
    Raku,
    Shell,
    Spec,
    Awk,
    Tcl,
    PowerShell,
    R,
}

#[derive(Default)]
pub(crate) struct Braces {
    dialect: Dialect,
    scopes: Scopes,
    names: Names,
    pending: Option<Pending>,
    /// Innermost brackets, a bit each: 1 for a round or square one, 0 for a brace.
    brackets: u128,
    /// Depth in `use constant {`.
    constants: Option<usize>,
    is_package_next: bool,
    is_in_r6: bool,
    /// Indentation of a function whose body is in round brackets.
    subshell: Option<usize>,
    /// Set behind `__END__`.
    is_over: bool,
    indent: usize,
    end: u32,
}

struct Pending {
    definition: Option<u32>,
    depth: usize,
    /// Braces before its body, as in `proc f {x} {…}`.
    groups: usize,
}

impl Parser for Braces {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let (Some(first), Some(last)) = (line.tokens.first(), line.tokens.last()) else {
            return self.section(line, outline);
        };
        if self.is_over {
            return;
        }
        if line.is_begin {
            self.indent = line.indent(outline);
            if !first.is(b'{') && !first.is(b'(') && self.brackets & 1 == 0 {
                self.drop_pending_here(outline);
            }
        }
        let mut starts = line.is_begin && !line.begins_inside;
        let mut at = 0;
        while let Some(token) = line.tokens.get(at) {
            match token.role {
                Role::Sign(b'[') if starts && self.dialect == Dialect::PowerShell => {
                    at = line.behind_brackets(at, b'[', b']');
                }
                Role::Sign(sign) => {
                    self.sign(line, at, sign, outline);
                    let is_round = sign == b')' || sign == b'(' && !line.touches(at);
                    starts = b"{};&|".contains(&sign) || is_round && self.is_shell();
                    starts &= !(line.touches(at) && line.is(at - 1, b'$'));
                    at += 1;
                }
                _ if starts => {
                    let next = self.statement(line, at, outline);
                    starts = next == at + 1 && self.is_before_statement(line, at, outline);
                    at = next;
                }
                Role::Word if self.constants.is_some() => {
                    self.constant(line, at, outline);
                    at += 1;
                }
                _ => at += 1,
            }
        }
        self.end = last.end;
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.drop_pending(true, outline);
    }
}

impl Braces {
    pub(crate) fn new(dialect: Dialect) -> Braces {
        Braces {
            dialect,
            ..Braces::default()
        }
    }

    fn is_shell(&self) -> bool {
        matches!(self.dialect, Dialect::Shell | Dialect::Spec)
    }

    fn sign(&mut self, line: &Line<'_>, at: usize, sign: u8, outline: &mut Outline<'_>) {
        let has_round = !self.is_shell() && self.dialect != Dialect::Tcl;
        match sign {
            b'{' => {
                let definition = self.take_pending(outline);
                let head = line.head(at, self.indent);
                self.scopes.open(definition, head, outline);
                self.brackets <<= 1;
            }
            b'}' => self.close(line, at, outline),
            b'(' | b'[' if has_round => self.brackets = self.brackets << 1 | 1,
            b')' | b']' if has_round && self.brackets & 1 == 1 => self.brackets >>= 1,
            b'(' => self.open_subshell(outline),
            b')' if at == 0 && self.subshell == Some(self.indent) => {
                self.subshell = None;
                let end = line.tokens[at].end;
                self.scopes.close_from(self.indent, end, outline);
            }
            b';' if self.brackets & 1 == 0 => self.drop_pending(true, outline),
            _ => {}
        }
    }

    fn close(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) {
        while self.brackets & 1 == 1 {
            self.brackets >>= 1;
        }
        self.brackets >>= 1;
        self.drop_pending_here(outline);
        let end = line.tokens[at].end;
        if at == 0 {
            self.scopes.close_at(self.indent, end, outline);
        } else if !self.scopes.is_at_floor() {
            self.scopes.close(end, outline);
        }
        self.constants = self.constants.filter(|depth| *depth <= outline.depth());
    }

    fn open_subshell(&mut self, outline: &mut Outline<'_>) {
        if let Some(pending) = self.pending.take() {
            self.subshell = Some(self.indent);
            let head = Head::at(self.indent);
            self.scopes.open(pending.definition, head, outline);
        }
    }

    fn take_pending(&mut self, outline: &Outline<'_>) -> Option<u32> {
        let pending = self.pending.as_mut()?;
        if pending.depth != outline.depth() || self.brackets & 1 == 1 {
            return None;
        }
        if pending.groups > 0 {
            pending.groups -= 1;
            return None;
        }
        self.pending.take()?.definition
    }

    /// Drops a definition without a body, unless a scope is open in its parameters.
    fn drop_pending_here(&mut self, outline: &mut Outline<'_>) {
        let depth = outline.depth();
        if self.pending.as_ref().is_some_and(|it| it.depth >= depth) {
            self.drop_pending(false, outline);
        }
    }

    fn drop_pending(&mut self, is_declaration: bool, outline: &mut Outline<'_>) {
        let pending = self.pending.take();
        let is_declaration = is_declaration && self.dialect == Dialect::Perl;
        if let Some(index) = pending.and_then(|it| it.definition) {
            outline.definition(index).is_declaration = is_declaration;
        }
    }

    fn expect(&mut self, definition: Option<u32>, groups: usize, outline: &Outline<'_>) {
        let depth = outline.depth();
        self.pending = Some(Pending {
            definition,
            depth,
            groups,
        });
    }

    /// Closes forgotten scopes.
    fn align(&mut self, at: usize, outline: &mut Outline<'_>) {
        if at == 0 {
            self.scopes.align(self.indent, self.end, outline);
            self.brackets = 0;
        }
    }

    /// Returns the next token to read.
    fn statement(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        match self.dialect {
            Dialect::Perl | Dialect::Raku => self.perl(line, at, outline),
            Dialect::Shell => self.shell(line, at, outline),
            Dialect::Spec => self.spec(line, at, outline),
            Dialect::Awk => self.awk(line, at, outline),
            Dialect::Tcl => self.tcl(line, at, outline),
            Dialect::PowerShell => self.power_shell(line, at, outline),
            Dialect::R => self.r(line, at, outline),
        }
    }

    fn is_before_statement(&self, line: &Line<'_>, at: usize, outline: &Outline<'_>) -> bool {
        match line.text(at, outline) {
            b"then" | b"do" | b"else" => self.is_shell(),
            b"my" | b"our" | b"multi" | b"proto" | b"unit" | b"only" => {
                self.dialect == Dialect::Raku
            }
            b"hidden" | b"static" => self.dialect == Dialect::PowerShell,
            _ => false,
        }
    }

    fn awk(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        if !matches!(line.text(at, outline), b"function" | b"func") {
            return at + 1;
        }
        let Some((name, next)) = line.name(at + 1, b":") else {
            return at + 1;
        };
        self.function(at, name, Kind::Function, outline);
        next
    }

    fn function(&mut self, at: usize, name: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        self.align(at, outline);
        let definition = outline.define(name, kind);
        self.expect(definition, 0, outline);
    }
}
