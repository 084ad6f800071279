//! Perl, Raku and Pod.

use super::{Braces, Dialect};
use crate::symbols::scopes::{Head, define_qualified, unquoted};
use crate::symbols::{Kind, Line, Outline, Parent, Role, is_of};
use std::ops::Range;

/// Signs in names: `A::B`, and `a-b` of Raku.
const SIGNS: &[u8] = b":-";

/// Lookahead in a head.
const HEAD_TOKENS_MAX: usize = 64;

impl Braces {
    pub(super) fn perl(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        if std::mem::take(&mut self.is_package_next) && at == 0 {
            self.package_name(line, 0, outline);
            return line.tokens.len();
        }
        let text = line.text(at, outline);
        let is_raku = self.dialect == Dialect::Raku;
        let kind = match text {
            b"__END__" | b"__DATA__" if at == 0 && self.indent == 0 => {
                self.is_over = true;
                return line.tokens.len();
            }
            b"package" if line.tokens.len() == at + 1 => {
                self.is_package_next = true;
                return at + 1;
            }
            b"sub" => Kind::Function,
            b"package" | b"module" => Kind::Module,
            b"method" | b"submethod" => Kind::Method,
            b"class" | b"grammar" => Kind::Class,
            b"role" => Kind::Interface,
            b"token" | b"rule" | b"regex" if is_raku => Kind::Rule,
            b"enum" if is_raku => Kind::Enum,
            b"subset" if is_raku => Kind::Type,
            b"constant" if is_raku => Kind::Constant,
            b"use" if line.text(at + 1, outline) == b"constant" => {
                return self.constants(line, at + 2, outline);
            }
            b"my" | b"our" | b"state" => return self.variables(line, at, outline),
            b"has" => return self.attribute(line, at, outline),
            b"before" | b"after" | b"around" | b"override" | b"augment"
                if line.is(at + 2, b'=') && line.text(at + 4, outline) == b"sub" =>
            {
                let name = unquoted(&line.tokens[at + 1], outline);
                self.function(at, name, Kind::Method, outline);
                return at + 2;
            }
            _ if self.constants.is_some() => {
                self.constant(line, at, outline);
                return at + 1;
            }
            _ => return self.label(line, at, outline),
        };
        self.named(line, at, kind, outline)
    }

    fn named(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        let signs = &SIGNS[..if self.dialect == Dialect::Raku { 2 } else { 1 }];
        let is_name = |token: &super::super::super::parser::Token| {
            let first = token.text(outline).first();
            first.is_some_and(|byte| !b"$@%&".contains(byte)) && token.is_word()
        };
        let found = line.tokens.get(at + 1).filter(|it| is_name(it));
        let Some((mut name, next)) = found.and_then(|_| line.name(at + 1, signs)) else {
            return at + 1;
        };
        if outline.bytes(name.clone()).ends_with(b":") {
            name.end -= 1;
        }
        let has_no_body = line.is(next, b'=') || line.is(next, b',') || line.is(next, b'-');
        if has_no_body && !matches!(kind, Kind::Constant | Kind::Enum) {
            return at + 1;
        }
        self.align(if line.is_head(at) { 0 } else { at }, outline);
        let rest = line.tokens.get(next..).unwrap_or_default();
        if kind == Kind::Module || kind == Kind::Class || kind == Kind::Interface {
            let mut rest = rest.iter().take(HEAD_TOKENS_MAX);
            let end = rest.find(|it| it.is(b'{') || it.is(b';'));
            if end.is_some_and(|it| it.is(b';')) {
                self.package(name, kind, outline);
                return next;
            }
        }
        let definition = define_qualified(name, b":", kind, outline);
        if !matches!(kind, Kind::Constant | Kind::Enum | Kind::Type) {
            self.expect(definition, 0, outline);
        }
        next
    }

    /// Takes the name behind `package` and a comment.
    fn package_name(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) {
        if let Some((name, next)) = line.name(at, b":")
            && line.is(next, b';')
        {
            self.package(name, Kind::Module, outline);
        }
    }

    /// `package A;`: lasts until the next one or the end of its block.
    fn package(&mut self, name: Range<u32>, kind: Kind, outline: &mut Outline<'_>) {
        if self.scopes.is_at_floor() {
            self.scopes.lower_floor(self.end, outline);
            let definition = define_qualified(name, b":", kind, outline);
            self.scopes.open(definition, Head::default(), outline);
            self.scopes.raise_floor();
        } else {
            let definition = define_qualified(name, b":", kind, outline);
            outline.adopt(definition);
        }
    }

    /// `A => 1`, `{ A => 1 }`
    fn constants(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let token = line.tokens.get(at);
        match token.map(|it| it.role) {
            Some(Role::Sign(b'{')) => self.constants = Some(outline.depth() + 1),
            Some(Role::String) => {
                let name = token.map_or(0..0, |it| unquoted(it, outline));
                outline.define(name, Kind::Constant);
            }
            Some(Role::Word | Role::Keyword) => {
                outline.define(token.map_or(0..0, |it| it.range()), Kind::Constant);
            }
            _ => {}
        }
        at
    }

    pub(super) fn constant(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) {
        let is_key = line.is(at + 1, b'=') && line.is(at + 2, b'>');
        if is_key && self.brackets & 1 == 0 && self.constants == Some(outline.depth()) {
            outline.define(line.tokens[at].range(), Kind::Constant);
        }
    }

    /// `our ($a, @b)`
    fn variables(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let is_outside = outline.depth() == 0 || outline.scope_kind() == Some(Kind::Module);
        if self.dialect == Dialect::Raku || !is_outside || self.brackets & 1 == 1 {
            return at + 1;
        }
        for token in line.tokens.iter().skip(at + 1).take(HEAD_TOKENS_MAX) {
            match token.role {
                Role::Word if token.end > token.start + 1 => {
                    let has_sigil = b"$@%".contains(&token.text(outline)[0]);
                    let name = token.start + u32::from(has_sigil)..token.end;
                    self.names.define(name, Kind::Variable, outline);
                }
                Role::Sign(b'(' | b',') => {}
                _ => break,
            }
        }
        at + 1
    }

    /// `has name => …` of Moose, `has $.name` of Raku.
    fn attribute(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        if self.dialect == Dialect::Raku {
            let rest = line.tokens.iter().skip(at + 1).take(HEAD_TOKENS_MAX);
            let mut names = rest.skip_while(|it| !it.is(b'.') && !it.is(b'!'));
            let name = names.nth(1).filter(|it| it.is_word());
            outline.define_token(name.copied(), Kind::Field);
            return at + 1;
        }
        let is_attribute = line.is(at + 2, b'=') || line.is(at + 2, b',') || line.is(at + 2, b'(');
        if let Some(name) = line.tokens.get(at + 1).filter(|_| is_attribute) {
            let name = unquoted(name, outline);
            let is_change = outline.bytes(name.clone()).starts_with(b"+");
            outline.define(name.start + u32::from(is_change)..name.end, Kind::Field);
        }
        at + 2
    }

    fn label(&mut self, line: &Line<'_>, at: usize, outline: &mut Outline<'_>) -> usize {
        let is_label = at == 0
            && line.is(1, b':')
            && line.touches(1)
            && !line.is(2, b':')
            && line.tokens[0].role == Role::Word;
        let is_upper =
            |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        let begins_loop = || is_of("for foreach while until", line.text(2, outline));
        if is_label && (begins_loop() || line.text(0, outline).iter().all(is_upper)) {
            outline.define(line.tokens[0].range(), Kind::Label);
        }
        at + 1
    }

    /// Heading of Pod.
    pub(super) fn section(&self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if !matches!(self.dialect, Dialect::Perl | Dialect::Raku) {
            return;
        }
        let text = outline.bytes(line.range.clone());
        let Some([b'1'..=b'6', title @ ..]) = text.trim_ascii_start().strip_prefix(b"=head") else {
            return;
        };
        let start = line.range.end - title.trim_ascii_start().len() as u32;
        let length = title.trim_ascii().len() as u32;
        outline.define_in(Parent::None, start..start + length, Kind::Section);
    }
}
