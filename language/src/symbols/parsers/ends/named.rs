//! Names behind the words that define them.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Line, Role};
use super::super::super::scopes::define_qualified;
use super::{Dialect, Ends, behind_parameters};

impl Ends {
    pub(super) fn define_named(
        &mut self,
        line: &Line<'_>,
        at: usize,
        signs: &[u8],
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        let Some((name, next)) = line.name(at + 1, signs).filter(|_| line.is_word(at + 1)) else {
            self.open(line, at, None, outline);
            return at + 1;
        };
        let definition = match self.dialect {
            Dialect::Fish => outline.define(name, kind),
            _ => define_qualified(name, b".", kind, outline),
        };
        self.open(line, at, definition, outline);
        next
    }

    /// `class A::B`, `class << self`, `def self.x=(y)`, `def [](i)`, `def x = 1`.
    pub(super) fn define_ruby(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        if kind.is_type() && line.is(at + 1, b'<') {
            self.open(line, at, None, outline);
            return at + 1;
        }
        let Some(first) = line.tokens.get(at + 1).map(|it| it.start) else {
            self.open(line, at, None, outline);
            return at + 1;
        };
        let (mut name, mut next) = line.name(at + 1, b".:").unwrap_or((first..first, at + 1));
        let is_function = matches!(kind, Kind::Function | Kind::Method);
        while !is_function && outline.bytes(name.clone()).starts_with(b":") {
            name.start += 1;
        }
        let is_operator = name.is_empty() || outline.bytes(name.clone()).ends_with(b".");
        while let Some(token) = line.tokens.get(next)
            && let Role::Sign(sign) = token.role
            && (is_function && token.start == name.end && !b"();,{".contains(&sign))
            && (is_operator || sign == b'=')
        {
            name.end = token.end;
            next += 1;
        }
        let signs: &[u8] = if is_operator { b"." } else { b".:" };
        let definition = define_qualified(name, signs, kind, outline);
        let before = at
            .checked_sub(1)
            .map_or(&b""[..], |at| line.text(at, outline));
        let is_foreign = line.text(at, outline) == b"fun" && outline.innermost().is_some();
        if before == b"abstract" && is_function || is_foreign {
            if let Some(index) = definition {
                outline.definition(index).is_declaration = true;
            }
        } else if !(is_function && line.is_assignment(behind_parameters(line, next))) {
            self.open(line, at, definition, outline);
        }
        next
    }

    pub(super) fn define_elixir(
        &mut self,
        line: &Line<'_>,
        at: usize,
        kind: Kind,
        outline: &mut Outline<'_>,
    ) -> usize {
        self.drop_pending(outline);
        let has_paren = usize::from(line.is(at + 1, b'('));
        let Some((name, next)) = line.name(at + 1 + has_paren, b".") else {
            return at + 1;
        };
        let definition = define_qualified(name, b".", kind, outline);
        if !matches!(
            line.text(at, outline),
            b"defdelegate" | b"defguard" | b"defguardp"
        ) {
            self.pending = definition;
        }
        next
    }

    /// `function M.f`, `function M:f`, `M.f = function`.
    pub(super) fn define_lua(
        &mut self,
        line: &Line<'_>,
        at: usize,
        outline: &mut Outline<'_>,
    ) -> usize {
        let named = line.name(at + 1, b".:").filter(|_| line.is_word(at + 1));
        let (name, next) = match named {
            Some((name, next)) => (Some(name), next),
            None => (name_before(line, at), at + 1),
        };
        let definition = name.and_then(|name| {
            let is_method = outline.bytes(name.clone()).contains(&b':');
            let kind = if is_method {
                Kind::Method
            } else {
                Kind::Function
            };
            define_qualified(name, b".:", kind, outline)
        });
        self.open(line, at, definition, outline);
        next
    }
}

fn name_before(line: &Line<'_>, at: usize) -> Option<std::ops::Range<u32>> {
    let last = at.checked_sub(2).filter(|last| line.is(last + 1, b'='))?;
    let end = line.tokens.get(last).filter(|it| it.is_word())?.end;
    let mut first = last;
    while line.touches(first) && (line.is_word(first - 1) || line.is(first - 1, b'.')) {
        first -= 1;
    }
    Some(line.tokens[first].start..end)
}
