//! Names behind the words that define them.

use super::*;

/// `Base.:+` of Julia
pub(super) const OPERATORS: &[u8] = b".:+-*/<>=!^%&|~";

impl Ends {
    pub(super) fn define_named(&mut self, it: At<'_>, outline: &mut Outline<'_>) -> usize {
        let At { line, at, kind } = it;
        let is_fish = self.dialect == Dialect::Fish;
        let signs: &[u8] = match kind {
            _ if is_fish => b"-./:@+,",
            Kind::Function => OPERATORS,
            _ => b".",
        };
        let named = line.name(at + 1, signs).filter(|_| line.is_word(at + 1));
        let definition = match named.clone() {
            Some((name, _)) if is_fish => outline.define(name, kind),
            Some((name, _)) => define_qualified(name, b".:", kind, outline),
            None => None,
        };
        self.open(line, at, definition, outline);
        named.map_or(at + 1, |(_, next)| next)
    }

    /// `class A::B`, `class << self`, `def self.x=(y)`, `def [](i)`, `def x = 1`.
    pub(super) fn define_ruby(&mut self, it: At<'_>, outline: &mut Outline<'_>) -> usize {
        let At { line, at, kind } = it;
        let first = line.tokens.get(at + 1).map(|it| it.start);
        let Some(first) = first.filter(|_| !(kind.is_type() && line.is(at + 1, b'<'))) else {
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
        let is_abstract = at > 0 && line.text(at - 1, outline) == b"abstract" && is_function;
        let is_foreign = line.text(at, outline) == b"fun" && outline.innermost().is_some();
        if is_abstract || is_foreign {
            self.pending = definition;
            self.drop_pending(outline);
        } else if !(is_function && line.is_assignment(behind_parameters(line, next))) {
            self.open(line, at, definition, outline);
        }
        next
    }

    pub(super) fn define_elixir(&mut self, it: At<'_>, outline: &mut Outline<'_>) -> usize {
        let At { line, at, kind } = it;
        self.drop_pending(outline);
        let has_paren = usize::from(line.is(at + 1, b'('));
        let name = line.name(at + 1 + has_paren, b".");
        let is_name = |(name, _): &(Range<u32>, usize)| outline.bytes(name.clone()) != b"unquote";
        let Some((name, next)) = name.filter(is_name) else {
            return at + 1;
        };
        let definition = define_qualified(name, b".", kind, outline);
        let word = line.text(at, outline);
        if word != b"defdelegate" && !word.starts_with(b"defguard") {
            self.pending = definition;
        }
        next
    }

    /// `function M.f`, `function M:f`, `M.f = function`.
    pub(super) fn define_lua(&mut self, it: At<'_>, outline: &mut Outline<'_>) -> usize {
        let At { line, at, .. } = it;
        let named = line.name(at + 1, b".:").filter(|_| line.is_word(at + 1));
        let next = named.as_ref().map_or(at + 1, |(_, next)| *next);
        let name = named
            .map(|(name, _)| name)
            .or_else(|| name_before(line, at));
        let definition = name.and_then(|name| {
            let is_method = outline.bytes(name.clone()).contains(&b':');
            define_qualified(name, b".:", Kind::of_function(is_method), outline)
        });
        self.open(line, at, definition, outline);
        next
    }
}

fn name_before(line: &Line<'_>, at: usize) -> Option<Range<u32>> {
    let last = at.checked_sub(2).filter(|last| line.is(last + 1, b'='))?;
    let end = line.tokens.get(last).filter(|it| it.is_word())?.end;
    let mut first = last;
    while line.touches(first) && (line.is_word(first - 1) || line.is(first - 1, b'.')) {
        first -= 1;
    }
    Some(line.tokens[first].start..end)
}
