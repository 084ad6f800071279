//! Files with C in parts: Yacc, Lex, SWIG, XS of Perl.

use super::C;
use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Host {
    #[default]
    Yacc,
    Lex,
    Swig,
    Xs,
}

#[derive(Default)]
pub(crate) struct Grammar {
    host: Host,
    c: C,
    /// Count of `%%`.
    section: usize,
    /// `%{ … %}`
    is_literal: bool,
    braces: usize,
    /// First word of a rule, if nothing follows it yet.
    rule: Option<Token>,
    is_in_rule: bool,
}

impl Parser for Grammar {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if self.host == Host::Xs {
            return self.xs(line, outline);
        }
        if line.is_begin && !line.begins_inside && self.percent(line, outline) {
            return;
        }
        let is_c = match self.host {
            Host::Swig => true,
            _ => self.is_literal || self.section == 2,
        };
        if is_c || self.c.in_directive || self.is_directive(line, outline) {
            self.c.line(line, outline);
        } else if self.host == Host::Yacc && self.section == 1 {
            for token in line.tokens {
                self.rule(*token, outline);
            }
        } else if self.host == Host::Yacc && self.braces > 0 {
            self.block(line.tokens);
        }
    }
}

impl Grammar {
    pub(crate) fn new(host: Host) -> Grammar {
        Grammar {
            host,
            ..Grammar::default()
        }
    }

    fn is_directive(&self, line: &Line<'_>, outline: &Outline<'_>) -> bool {
        let first = line.tokens.first();
        first.is_some_and(|it| it.role == Role::Meta && it.text(outline).starts_with(b"#"))
    }

    fn percent(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) -> bool {
        let text = outline.bytes(line.range.clone());
        if !text.starts_with(b"%") || self.section == 2 {
            return false;
        }
        let is_open = text.trim_ascii_end().ends_with(b"%{");
        if is_open || text.starts_with(b"%}") {
            self.c.leave_to(0, line.range.start, outline);
            self.c.end();
            self.is_literal = is_open;
            self.braces = 0;
        } else if text.starts_with(b"%%") {
            (self.section, self.braces, self.is_in_rule) = (self.section + 1, 0, false);
        } else if !self.is_literal {
            let name = line.tokens.last().copied();
            outline.define_token(name.filter(|_| text.starts_with(b"%module")), Kind::Module);
            self.block(line.tokens);
        }
        true
    }

    fn block(&mut self, tokens: &[Token]) {
        for token in tokens {
            match token.role {
                Role::Sign(b'{') => self.braces += 1,
                Role::Sign(b'}') => self.braces = self.braces.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn rule(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'{') => self.braces += 1,
            Role::Sign(b'}') => self.braces = self.braces.saturating_sub(1),
            _ if self.braces > 0 => {}
            Role::Sign(b';') => {
                outline.leave_to(0, token.end);
                self.is_in_rule = false;
                self.rule = None;
            }
            Role::Sign(b':') => {
                if let Some(name) = self.rule.take() {
                    outline.leave_to(0, name.start);
                    let definition = outline.define(name.range(), Kind::Rule);
                    outline.enter(definition);
                    self.is_in_rule = true;
                }
            }
            _ if token.is_word() => {
                let before = outline.text[..token.start as usize].last();
                let is_first_column = before.is_none_or(|byte| *byte == b'\n');
                let may_begin = !self.is_in_rule || is_first_column;
                self.rule = may_begin.then_some(token);
            }
            _ => self.rule = None,
        }
    }

    /// C up to `MODULE =`, then `name(parameters)` in the first column.
    fn xs(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let text = outline.bytes(line.range.clone());
        if text.starts_with(b"MODULE") && line.is_begin {
            self.c.leave_to(0, line.range.start, outline);
            self.c.end();
            self.section = 1;
            let is_before = |it: &&Token| it.text(outline) != b"PACKAGE";
            let mut words = line.tokens.iter().skip_while(is_before);
            if let [Some(_), Some(_), Some(first)] = [words.next(), words.next(), words.next()] {
                let end = words.take_while(|it| it.is_word() || it.is(b':'));
                let last = end.take_while(|it| it.text(outline) != b"PREFIX").last();
                let end = last.map_or(first.end, |last| last.end);
                outline.leave_to(0, line.range.start);
                let package = outline.define(first.start..end, Kind::Module);
                outline.enter(package);
            }
        } else if self.section == 0 || self.c.in_directive || self.is_directive(line, outline) {
            self.c.line(line, outline);
        } else if line.is_begin
            && let Some(open) = line.tokens.iter().position(|it| it.is(b'('))
            && line.tokens[0].start == line.range.start
            && let Some(name) = open.checked_sub(1).map(|name| line.tokens[name])
            && name.is_word()
        {
            outline.define(name.range(), Kind::Function);
        }
    }
}
