//! Batchfile, Vim Script, Tcsh.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::Line;
use super::super::super::scopes::qualifier;
use super::{Lines, SCOPES};

impl Lines {
    pub(super) fn batchfile(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if line.is(0, b':') {
            if let Some((name, _)) = line.name(1, b"-._$#@!") {
                self.begin(name, Kind::Label, outline);
            }
        } else if line.text(0, outline).eq_ignore_ascii_case(b"set")
            && let Some((name, next)) = line.name(1, b"-._").filter(|_| line.is_word(1))
            && line.is(next, b'=')
        {
            self.names.define(name, Kind::Variable, outline);
        }
    }

    pub(super) fn vim(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let mut at = 0;
        while let b"export" | b"silent" | b":" | b"!" | b"static" = line.text(at, outline) {
            at += 1;
        }
        let command = line.text(at, outline);
        at += 1 + usize::from(line.is(at + 1, b'!'));
        let kind = match command {
            b"function" | b"func" | b"fu" | b"fun" | b"def" | b"functio" => Kind::Function,
            b"endfunction" | b"endfunc" | b"endf" | b"endfun" | b"enddef" => {
                return self.leave_here(line, outline);
            }
            b"command" | b"com" => Kind::Macro,
            b"augroup" | b"aug" => Kind::Module,
            b"let" | b"var" => Kind::Variable,
            b"const" | b"final" => Kind::Constant,
            _ => return,
        };
        while line.is(at, b'-') {
            at += 1;
            while line.touches(at + 1) {
                at += 1;
            }
            at += 1;
        }
        let signs: &[u8] = if kind == Kind::Function { b"<>." } else { b"" };
        let Some((name, next)) = line.name(at, signs) else {
            return;
        };
        match kind {
            Kind::Function if line.is(next, b'(') => self.begin(name, kind, outline),
            Kind::Function => {}
            Kind::Variable | Kind::Constant => {
                if outline.depth() == 0 && line.is_assignment(next) {
                    let name = qualifier(&name, SCOPES, outline).map_or(name, |(_, name)| name);
                    self.names.define(name, kind, outline);
                }
            }
            _ if line.text(at, outline).eq_ignore_ascii_case(b"END") => {}
            _ => self.names.define(name, kind, outline),
        }
    }

    pub(super) fn tcsh(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let kind = match line.text(0, outline) {
            b"alias" => Kind::Macro,
            b"set" | b"setenv" => Kind::Variable,
            _ => {
                let is_label = line.tokens.len() == 2 && line.is_word(0) && line.is(1, b':');
                if is_label && line.text(0, outline) != b"default" {
                    outline.define(line.tokens[0].range(), Kind::Label);
                }
                return;
            }
        };
        if let Some((name, _)) = line.name(1, b"-.").filter(|_| line.is_word(1)) {
            self.names.define(name, kind, outline);
        }
    }
}
