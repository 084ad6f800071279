//! CMake, M4 with Autoconf, Kconfig, Dockerfile.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Role};
use super::super::super::scopes::unquoted;
use super::Lines;
use std::ops::Range;

impl Lines {
    pub(super) fn cmake(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !line.is(1, b'(') {
            return;
        }
        let mut lower = [0; 32];
        let command = line.text(0, outline);
        let Some(lower) = lower.get_mut(..command.len()) else {
            return;
        };
        lower.copy_from_slice(command);
        lower.make_ascii_lowercase();
        let name = match line.tokens.get(2).map(|it| it.role) {
            Some(Role::String) => Some(unquoted(&line.tokens[2], outline)),
            _ => line.name(2, b"-.+/:@").map(|(name, _)| name),
        };
        let kind = match &*lower {
            b"function" => Kind::Function,
            b"macro" => Kind::Macro,
            b"endfunction" | b"endmacro" => return self.leave_here(line, outline),
            b"add_executable" | b"add_library" | b"add_custom_target" => Kind::Target,
            b"option" | b"cmake_dependent_option" => Kind::Constant,
            b"project" => Kind::Module,
            b"set" if outline.depth() == 0 => Kind::Variable,
            _ => return,
        };
        let Some(name) = name.filter(|name| !outline.bytes(name.clone()).contains(&b'$')) else {
            return;
        };
        match kind {
            Kind::Function | Kind::Macro => self.begin(name, kind, outline),
            Kind::Variable => self.names.define(name, kind, outline),
            _ => drop(outline.define(name, kind)),
        }
    }

    /// `AC_DEFUN([name], …)`, ``define(`name', …)``.
    pub(super) fn m4(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for at in 0..line.tokens.len() {
            if !line.is_word(at) || !line.is(at + 1, b'(') {
                continue;
            }
            let kind = match line.text(at, outline) {
                b"define" | b"m4_define" | b"m4_define_default" | b"m4_defun"
                | b"m4_defun_once" | b"m4_defun_init" | b"m4_copy" | b"AC_DEFUN"
                | b"AC_DEFUN_ONCE" | b"AU_DEFUN" | b"AU_ALIAS" | b"AC_DEFUNC" => Kind::Macro,
                b"AC_SUBST" | b"AC_SUBST_FILE" | b"AC_ARG_VAR" => Kind::Variable,
                b"AC_DEFINE" | b"AC_DEFINE_UNQUOTED" | b"AH_TEMPLATE" => Kind::Constant,
                b"AC_ARG_ENABLE" | b"AC_ARG_WITH" | b"AM_CONDITIONAL" => Kind::Key,
                _ => continue,
            };
            let quotes = line.tokens[at + 2..].iter();
            let quotes = quotes.take_while(|it| it.is(b'[') || it.is(b'`')).count();
            if let Some((name, next)) =
                line.name(at + 2 + quotes, if quotes > 0 { b"-.+()" } else { b"" })
                && line.is_word(at + 2 + quotes)
                && [b']', b'\'', b',', b')']
                    .iter()
                    .any(|sign| line.is(next, *sign))
            {
                self.m4_define(name, kind, outline);
            }
        }
    }

    fn m4_define(&mut self, name: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        if kind == Kind::Macro {
            outline.define(name, kind);
        } else {
            self.names.define(name, kind, outline);
        }
    }

    pub(super) fn kconfig(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if let b"config" | b"menuconfig" = line.text(0, outline)
            && let [_, name] = line.tokens
            && !name.text(outline).iter().any(u8::is_ascii_lowercase)
        {
            self.begin(name.range(), Kind::Constant, outline);
        } else if line.range.start == line.tokens[0].start {
            self.leave_all(outline);
        }
    }

    pub(super) fn dockerfile(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let command = line.text(0, outline);
        if command.eq_ignore_ascii_case(b"FROM") {
            let mut tokens = 1..line.tokens.len();
            let stage = tokens.find(|at| line.text(*at, outline).eq_ignore_ascii_case(b"AS"));
            self.leave_all(outline);
            if let Some((name, _)) = stage.and_then(|at| line.name(at + 1, b"-.")) {
                self.begin(name, Kind::Target, outline);
            }
            return;
        }
        if !matches!(command, b"ARG" | b"ENV") {
            return;
        }
        for at in 1..line.tokens.len() {
            let is_name = at == 1 || !line.touches(at) && line.is(at + 1, b'=');
            if is_name && line.is_word(at) && line.text(at - 1, outline) != b"=" {
                let name = line.tokens[at].range();
                self.names.define(name, Kind::Variable, outline);
            }
        }
    }
}
