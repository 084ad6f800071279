//! Round brackets of a declarator: parameters, `(*name)`, `MACRO(name)`, or arguments of a macro.

use super::declarator::{Form, GO, Name, Reader, STOP, Step, closing};
use super::words::{Word, is_upper};
use crate::symbols::{Role, Token};
use std::ops::Range;

/// Lookahead for the `*` of `(WINAPI *name)`.
const BEFORE_POINTER_MAX: usize = 6;

/// Bound of tokens of K&R parameters, read for each declaration.
const OLD_PARAMETERS_MAX: usize = 64;

impl Reader<'_> {
    pub(super) fn group(&mut self) -> Step {
        let open = self.at - 1;
        let close = closing(self.tokens, open);
        self.at = close + 1;
        let inside = open + 1..close;
        let has_parameters = self.next_is(b'(');
        if self.is_named {
            return GO;
        }
        let is_special = self.last.as_ref().is_some_and(|last| last.is_special);
        // `(WINAPI *name) OF((int a))`
        let is_macro = |next: &Token| Word::of(self.bytes(&next.range())) == Word::Name;
        let is_called = has_parameters
            || (self.types == 0 || self.last.is_none())
                && self.peek().is_some_and(is_macro)
                && self.is_at(self.at + 1, b'(')
                && self.is_at(self.at + 2, b'(');
        let is_behind = is_called || self.next_is(b'[') || self.last.is_none();
        if is_behind && !is_special && self.is_pointer(inside.clone(), is_called) {
            return self.pointer(inside);
        }
        if self.key.is_some() && self.types == 0 {
            self.last = None;
            return GO;
        }
        let words = self.inside(&inside);
        if has_parameters
            && !is_special
            && let Some(name) = words.last()
            && words.iter().all(Token::is_word)
        {
            // A macro that extends the name touches the bracket.
            let begin = self.tokens.get(open).map_or(0, |open| open.start);
            let extends =
                |last: &Name| last.range.end == begin && !is_upper(self.bytes(&last.range));
            if !self.last.as_ref().is_some_and(extends) {
                self.name(name.range(), false);
            }
            let (open, close) = (self.at, closing(self.tokens, self.at));
            self.at = close + 1;
            return self.found(Form::Function(open + 1..close));
        }
        self.parameters(inside)
    }

    fn parameters(&mut self, inside: Range<usize>) -> Step {
        let Some(last) = &self.last else {
            return if self.is_typed() { GO } else { STOP };
        };
        let name = self.bytes(&last.range);
        let is_nested =
            self.is_at(inside.start, b'(') && closing(self.tokens, inside.start) + 1 == inside.end;
        let is_macro = is_upper(name) || name.starts_with(b"_");
        let first = self.inside(&inside).first().map(|first| first.role);
        let is_value = matches!(first, Some(Role::Number | Role::String));
        let names = |before: &Name| self.peek().is_none() || !is_upper(self.bytes(&before.range));
        if is_nested && is_macro && self.before.as_ref().is_some_and(names) && self.types > 1 {
            self.last = self.before.take();
        } else if self.is_prefix(last, is_value || is_nested) && !self.is_old_style(inside.clone())
        {
            self.is_prefixed |= !is_value;
            self.last = None;
            return GO;
        } else if is_value && is_upper(name) && self.before.is_some() {
            // `type name MACRO(1);`
            self.last = self.before.take();
            self.is_named = true;
            return GO;
        } else if self.is_expression() {
            return STOP;
        }
        self.found(Form::Function(inside))
    }

    /// `EXPORT(int) f(int a)`, `int ATTRIBUTE(1) f(int a)`
    fn is_prefix(&self, last: &Name, is_value: bool) -> bool {
        let Some(next) = self.peek() else {
            return false;
        };
        let text = self.bytes(&next.range());
        let word = Word::of(text);
        let is_word = next.is_word() && text != b"noexcept" && word != Word::Trailing;
        if last.qualifier.is_some() || last.is_special || self.is_class(last) {
            return false;
        }
        let is_upper_before = is_upper(self.bytes(&last.range));
        if self.types == 0 && (!self.is_prefixed || is_upper_before) {
            return is_word || next.is(b'*') || next.is(b'&');
        }
        let begins_type = match word {
            Word::Name => (is_value || !is_upper(text)) && self.is_at(self.at + 1, b'('),
            Word::BuiltIn | Word::Specifier | Word::Const | Word::Key(_) | Word::Access => true,
            _ => false,
        };
        is_word && (is_value || is_upper_before) && begins_type
    }

    fn is_expression(&self) -> bool {
        let Some(next) = self.peek() else {
            return false;
        };
        match next.role {
            Role::Sign(b'-') => !self.tokens.get(self.at + 1).is_some_and(|it| it.is(b'>')),
            Role::Sign(sign) => b".+?|/%!^<>*".contains(&sign),
            Role::Number => true,
            _ => false,
        }
    }

    /// Recognises K&R parameters by the type of at least one behind them.
    pub(super) fn is_old_style(&self, inside: Range<usize>) -> bool {
        let parameters = self.inside(&inside);
        let Some(behind) = self.tokens.get(inside.end + 1..) else {
            return false;
        };
        let is_name = |it: &Token| {
            it.is(b',') || it.is_word() && Word::of(self.bytes(&it.range())) == Word::Name
        };
        behind.first().is_some_and(Token::is_word)
            && !behind.get(1).is_some_and(|it| it.is(b'('))
            && (1..=OLD_PARAMETERS_MAX).contains(&parameters.len())
            && parameters.iter().all(is_name)
            && self.is_declared(behind, parameters)
    }

    fn is_declared(&self, declarations: &[Token], parameters: &[Token]) -> bool {
        let mut depth = 0_usize;
        declarations.windows(2).any(|pair| {
            let text = self.bytes(&pair[1].range());
            match pair[1].role {
                Role::Sign(b'(') => depth += 1,
                Role::Sign(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            (depth == 0 || pair[0].is(b'*'))
                && pair[1].is_word()
                && parameters.iter().any(|it| self.bytes(&it.range()) == text)
        })
    }

    /// `*name`, `Class::*name`
    fn is_pointer(&self, inside: Range<usize>, has_parameters: bool) -> bool {
        let mut head = self.inside(&inside).iter().take(BEFORE_POINTER_MAX);
        let first = head.clone().next();
        let is_star = |it: &Token| it.is(b'*') || it.is(b'^') || it.is(b'&');
        first.is_some_and(is_star)
            || has_parameters
                && head
                    .find(|it| !it.is_word() && !it.is(b':'))
                    .is_some_and(is_star)
    }

    /// `(*name)(int)`; `(*name(int))(int)` for a function.
    fn pointer(&mut self, inside: Range<usize>) -> Step {
        let (mut name, mut at) = (None, inside.start);
        self.types += 1;
        self.last = None;
        while let Some(token) = self.inside(&(at..inside.end)).first() {
            let text = self.bytes(&token.range());
            match token.role {
                Role::Sign(b'(') => {
                    let nested = at + 1..closing(self.tokens, at);
                    self.skip_brackets();
                    if let Some(name) = name {
                        self.name(name, false);
                        return self.found(Form::Function(nested));
                    }
                    at = nested.start;
                    continue;
                }
                Role::Sign(b'[') => break,
                _ if token.is_word() && Word::of(text) == Word::Name => name = Some(token.range()),
                _ => {}
            }
            at += 1;
        }
        self.skip_brackets();
        match name {
            Some(name) => self.name(name, false),
            None => return STOP,
        }
        self.is_named = true;
        GO
    }
}

/// `DEFUN(name)`
pub(super) fn is_macro(reader: &Reader<'_>, name: &Name) -> bool {
    !reader.is_typed() && name.qualifier.is_none() && is_upper(reader.bytes(&name.range))
}

/// `EXPORT(int, name, (int a));`
pub(super) fn declares(name: &[u8]) -> bool {
    let words: [&[u8]; 3] = [b"EXPORT", b"FUNCTION", b"METHOD"];
    let has = |word: &&[u8]| name.windows(word.len()).any(|part| part == *word);
    is_upper(name) && words.iter().any(has)
}

/// `TEST(Class, name)`, `FUNCTION(int, name, (int a))`, `DEFUN("text", name, …)`
pub(super) fn name_in_macro(reader: &Reader<'_>, inside: Range<usize>, of: Name) -> Option<Name> {
    let arguments = reader.inside(&inside);
    let mut parts = reader.bytes(&of.range).windows(4);
    let is_test = parts.any(|part| part == b"TEST");
    let mut name = Name {
        qualifier: None,
        ..of
    };
    match arguments {
        [] => {}
        [class, comma, test] if is_test && comma.is(b',') && class.is_word() && test.is_word() => {
            name.qualifier = Some(class.range());
            name.range = test.range();
        }
        _ => {
            let first = || arguments.iter().find(|it| it.is_word()).map(Token::range);
            let inner = || name_before_group(reader, inside).or_else(|| name_of_call(arguments));
            name.range = inner().or_else(first)?;
        }
    }
    Some(name)
}

/// `UNUSED(static int name(void))`
fn name_of_call(arguments: &[Token]) -> Option<Range<u32>> {
    let mut triples = arguments.windows(3);
    let found = triples.find(|it| it[0].is_word() && it[1].is_word() && it[2].is(b'('))?;
    Some(found[1].range())
}

/// Word before `, (` or `), (`.
pub(super) fn name_before_group(reader: &Reader<'_>, inside: Range<usize>) -> Option<Range<u32>> {
    let is_name = |it: &&Token| it.is_word() && Word::of(reader.bytes(&it.range())) == Word::Name;
    let mut parts = reader.inside(&inside).windows(4);
    parts.find_map(|it| match it {
        [name, close, comma, open] if close.is(b')') && comma.is(b',') && open.is(b'(') => {
            Some(name).filter(is_name).map(Token::range)
        }
        [_, name, comma, open] if comma.is(b',') && open.is(b'(') => {
            Some(name).filter(is_name).map(Token::range)
        }
        _ => None,
    })
}
