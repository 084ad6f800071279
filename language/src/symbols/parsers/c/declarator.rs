//! Declarators of a statement: one name each, with the form of what it declares.
//!
//! Read from left to right, without a symbol table. The last word before `(`, `[`, `=`, `,`, `:`
//! or the end is the name, if a type comes before it. Macros around it are recognised by their
//! place: `EXPORT(int) f(int a)`, `int EXPORT(f)(int a)`, `int f OF((int a))`.

use super::super::super::Kind;
use super::super::super::outline::Outline;
use super::super::super::parser::{Role, Token};
use super::words::{Word, is_upper};
use std::ops::{ControlFlow, Range};

/// Tokens before the `*` of `(WINAPI *name)`.
const BEFORE_POINTER_MAX: usize = 6;

#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) range: Range<u32>,
    /// `Class` of `Class::name`
    pub(super) qualifier: Option<Range<u32>>,
    /// Destructor or operator.
    pub(super) is_special: bool,
}

#[derive(Debug)]
pub(super) struct Declarator {
    pub(super) name: Option<Name>,
    pub(super) form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Variable {
        has_value: bool,
    },
    /// Tokens of its parameters; behind them, the reader's place.
    Function(Range<usize>),
    /// Type without declarators behind it.
    Type(Kind),
    Namespace,
    /// `using Name =`
    Alias,
    Concept,
}

type Step = ControlFlow<Option<Declarator>>;

const STOP: Step = ControlFlow::Break(None);
const GO: Step = ControlFlow::Continue(());

pub(super) struct Reader<'a> {
    text: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    /// A brace ends the statement.
    is_opening: bool,
    /// Type around the statement.
    class: &'a [u8],
    pub(super) is_typedef: bool,
    pub(super) is_extern: bool,
    pub(super) is_const: bool,
    pub(super) is_friend: bool,
    has_string: bool,
    /// Words and signs of a type before `last`.
    pub(super) types: u32,
    /// A macro is in place of the type.
    is_prefixed: bool,
    key: Option<Kind>,
    qualifier: Option<Range<u32>>,
    before: Option<Name>,
    last: Option<Name>,
    /// `last` is the name; words behind it are macros.
    is_named: bool,
    is_done: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tokens: &'a [Token], is_opening: bool, outline: &Outline<'a>) -> Reader<'a> {
        Reader {
            text: outline.text,
            tokens,
            at: 0,
            is_opening,
            class: outline.innermost_name(),
            is_typedef: false,
            is_extern: false,
            is_const: false,
            is_friend: false,
            has_string: false,
            types: 0,
            is_prefixed: false,
            key: None,
            qualifier: None,
            before: None,
            last: None,
            is_named: false,
            is_done: false,
        }
    }

    /// Returns the next declarator.
    pub(super) fn next(&mut self) -> Option<Declarator> {
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            let step = match token.role {
                Role::Word | Role::Keyword | Role::Type => self.word(token),
                Role::Sign(sign) => self.sign(token, sign),
                Role::String => {
                    self.has_string = true;
                    GO
                }
                Role::Number | Role::Meta | Role::Key => STOP,
            };
            if let ControlFlow::Break(found) = step {
                self.is_done |= found.is_none();
                return found;
            }
        }
        if self.is_done {
            return None;
        }
        self.is_done = true;
        self.end_of_name(false).break_value()?
    }

    /// True for `extern "C"`.
    pub(super) fn is_linkage(&self) -> bool {
        self.is_extern && self.has_string && self.types == 0 && self.last.is_none()
    }

    /// True if a type came, or a macro in its place.
    pub(super) fn is_typed(&self) -> bool {
        self.types > 0 || self.is_prefixed
    }

    pub(super) fn is_class(&self, name: &Name) -> bool {
        self.bytes(&name.range) == self.class
    }

    pub(super) fn bytes(&self, range: &Range<u32>) -> &'a [u8] {
        &self.text[range.start as usize..range.end as usize]
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn next_is(&self, sign: u8) -> bool {
        self.is_at(self.at, sign)
    }

    fn is_at(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(sign))
    }

    fn next_is_word(&self, word: &[u8]) -> bool {
        self.peek()
            .is_some_and(|next| self.bytes(&next.range()) == word)
    }

    /// Tokens of a range that may end behind the last one.
    pub(super) fn inside(&self, range: &Range<usize>) -> &'a [Token] {
        let end = range.end.min(self.tokens.len());
        self.tokens.get(range.start..end).unwrap_or_default()
    }

    fn word_of(&self, token: &Token) -> Word {
        let text = self.bytes(&token.range());
        let word = Word::of(text);
        let ends_name = || match self.peek().map(|next| next.role) {
            None => !self.is_opening,
            Some(Role::Sign(b':')) => matches!(word, Word::Specifier | Word::Export | Word::Other),
            Some(Role::Sign(sign)) => b";,=[(".contains(&sign),
            Some(_) => false,
        };
        let is_typed = self.types > 0 || self.last.is_some() || self.key.is_some();
        let is_tag = word == Word::Operator && self.key.is_some();
        let is_name = is_tag || is_typed && word.may_name(text) && ends_name();
        if is_name { Word::Name } else { word }
    }

    fn word(&mut self, token: &Token) -> Step {
        match self.word_of(token) {
            Word::Name => self.name(token.range(), false),
            Word::BuiltIn => {
                self.types += 1 + u32::from(self.last.take().is_some());
            }
            Word::Export if self.next_is_word(b"module") => return STOP,
            Word::Specifier | Word::Export | Word::Trailing => {}
            Word::Const => self.is_const = true,
            Word::Typedef => self.is_typedef = true,
            Word::Extern => self.is_extern = true,
            Word::Friend => self.is_friend = true,
            Word::Key(kind) => {
                self.key.get_or_insert(kind);
                (self.types, self.last) = (0, None);
            }
            Word::Attribute => self.skip_brackets(),
            Word::TypeOf => {
                self.types += 1;
                self.skip_brackets();
            }
            Word::Access => self.access(),
            Word::Operator => return self.operator(token),
            Word::Template if self.next_is(b'<') => self.skip_angles(),
            Word::Namespace => return self.namespace(),
            Word::Concept | Word::Using => return self.alias(self.word_of(token)),
            Word::Template | Word::Other => return STOP,
        }
        GO
    }

    fn name(&mut self, range: Range<u32>, is_special: bool) {
        if self.is_named {
            return;
        }
        if let Some(last) = self.last.take() {
            self.types += 1;
            self.before = Some(last);
        }
        self.last = Some(Name {
            range,
            qualifier: self.qualifier.take(),
            is_special,
        });
    }

    /// Forgets what comes before `public slots:`.
    fn access(&mut self) {
        let rest = self.tokens.iter().skip(self.at);
        let words = rest.take_while(|it| it.is_word()).count().min(1);
        let colon = self.at + words;
        if self.is_at(colon, b':') {
            self.at = colon + 1;
            (self.types, self.last, self.is_prefixed) = (0, None, false);
        }
    }

    fn alias(&mut self, word: Word) -> Step {
        let (name, next) = (self.peek(), self.tokens.get(self.at + 1));
        let form = match word {
            Word::Concept => Form::Concept,
            _ if next.is_some_and(|next| next.is(b'=') || next.is(b'[')) => Form::Alias,
            _ => return STOP,
        };
        let Some(name) = name.filter(|name| name.is_word()) else {
            return STOP;
        };
        self.name(name.range(), false);
        self.at = self.tokens.len();
        self.found(form)
    }

    fn namespace(&mut self) -> Step {
        while let Some(token) = self.peek() {
            match token.role {
                Role::Sign(b':') => {}
                Role::Sign(b'=') => return STOP,
                Role::Sign(b'[') => {
                    self.at = closing(self.tokens, self.at);
                }
                _ if self.bytes(&token.range()) == b"inline" => {}
                _ if token.is_word() => {
                    self.qualifier = self.last.take().map(|outer| outer.range);
                    self.name(token.range(), false);
                }
                _ => {}
            }
            self.at += 1;
        }
        self.found(Form::Namespace)
    }

    /// Reads `operator==` or `operator const char *` up to its parameters.
    fn operator(&mut self, operator: &Token) -> Step {
        let begin = self.at;
        let mut end = operator.end;
        if self.next_is(b'(') {
            self.at += 2;
        }
        while !self.next_is(b'(') && self.at < self.tokens.len() {
            self.at += 1;
        }
        let last = self
            .at
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last));
        if let Some(last) = last.filter(|_| self.at > begin) {
            end = last.end;
        }
        self.name(operator.start..end, true);
        GO
    }

    fn sign(&mut self, token: &Token, sign: u8) -> Step {
        match sign {
            b'(' => return self.group(),
            b'[' => {
                self.at = closing(self.tokens, self.at - 1) + 1;
                self.is_named = self.last.is_some();
            }
            b'<' if self.last.is_some() => {
                self.at -= 1;
                self.skip_angles();
            }
            b':' => return self.colon(),
            b'*' | b'&' | b'^' => {
                if !self.is_typed() && self.last.is_none() && self.key.is_none() {
                    return STOP;
                }
                self.types += u32::from(self.last.take().is_some());
                (self.key, self.is_const) = (None, false);
            }
            b'~' => {
                if let Some(name) = self.peek().filter(|name| name.is_word()) {
                    self.name(token.start..name.end, true);
                    self.at += 1;
                }
            }
            b'{' if self.key.is_some() => {
                (self.types, self.key, self.last) = (1, None, None);
            }
            // A block of a macro ends the statement without a sign.
            b'{' if self.peek().is_some_and(Token::is_word) => {
                (self.types, self.last, self.is_named) = (0, None, false);
            }
            b'=' | b'{' => return self.end_of_name(true),
            b',' => return self.end_of_name(false),
            b'\\' => {}
            _ => return STOP,
        }
        GO
    }

    fn colon(&mut self) -> Step {
        if self.next_is(b':') {
            self.at += 1;
            self.qualifier = self.last.take().map(|last| last.range);
        } else if self.key.is_some() && self.tokens.iter().skip(self.at).any(|it| it.is(b'{')) {
            let bases = self.tokens.iter().skip(self.at);
            self.at += bases.take_while(|it| !it.is(b'{')).count();
        } else if self.key.is_some() && (self.types == 0 || self.is_opening) {
            self.at = self.tokens.len();
        } else if self.is_typed() {
            return self.end_of_name(false);
        } else {
            // A label.
            self.last = None;
        }
        GO
    }

    /// Ends a declarator without parameters, and goes to the next one.
    fn end_of_name(&mut self, has_value: bool) -> Step {
        let is_end = self.at >= self.tokens.len() && !has_value;
        if let Some(kind) = self.key
            && is_end
            && (self.types == 0 || self.is_opening)
        {
            return self.found(Form::Type(kind));
        }
        let is_typed = self.is_typed() || self.key.is_some();
        self.is_named = false;
        self.to_next();
        if self.last.is_some() && is_typed {
            self.types = 1;
            self.key = None;
            return self.found(Form::Variable { has_value });
        }
        self.last = None;
        if is_typed { GO } else { STOP }
    }

    /// Goes behind the comma that ends the declarator.
    pub(super) fn to_next(&mut self) {
        if self
            .at
            .checked_sub(1)
            .is_some_and(|before| self.is_at(before, b','))
        {
            return;
        }
        while let Some(token) = self.peek() {
            match token.role {
                Role::Sign(b'(' | b'[') => self.at = closing(self.tokens, self.at),
                Role::Sign(b',') => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.is_done = true;
    }

    fn found(&mut self, form: Form) -> Step {
        let name = self.last.take();
        ControlFlow::Break(Some(Declarator { name, form }))
    }

    /// Reads round brackets: parameters, or a name with macros or pointers around it.
    fn group(&mut self) -> Step {
        let open = self.at - 1;
        let close = closing(self.tokens, open);
        self.at = close + 1;
        let inside = open + 1..close;
        let has_parameters = self.next_is(b'(');
        if self.is_named {
            return GO;
        }
        if self.key.is_some() && self.types == 0 {
            self.last = None;
            return GO;
        }
        let is_special = self.last.as_ref().is_some_and(|last| last.is_special);
        let is_behind = has_parameters || self.next_is(b'[') || self.last.is_none();
        if is_behind && !is_special && self.is_pointer(inside.clone(), has_parameters) {
            return self.pointer(inside);
        }
        let words = self.inside(&inside);
        if has_parameters
            && !is_special
            && let Some(name) = words.last()
            && words.iter().all(Token::is_word)
        {
            if self
                .last
                .as_ref()
                .is_none_or(|last| is_upper(self.bytes(&last.range)))
            {
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
        if is_nested && is_macro && self.before.is_some() && self.types > 1 {
            self.last = self.before.take();
        } else if self.is_prefix(last, is_value || is_nested) && !self.is_old_style(inside.clone())
        {
            self.is_prefixed |= !is_value;
            self.last = None;
            return GO;
        } else if is_value && is_upper(name) {
            // A macro behind a name: `type name MACRO(1);`.
            self.last = self.before.take();
            self.is_named = true;
            return GO;
        } else if self.is_expression() {
            return STOP;
        }
        self.found(Form::Function(inside))
    }

    /// True for a macro before a type or name: `EXPORT(int) f(int a)`, `int ATTRIBUTE(1) f(int a)`.
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
            Word::Name => !is_upper(text) && self.is_at(self.at + 1, b'('),
            Word::BuiltIn | Word::Specifier | Word::Const | Word::Key(_) => true,
            _ => false,
        };
        is_word && (is_value || is_upper_before) && begins_type
    }

    /// True if the brackets are followed by an operator.
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

    /// True for parameters in the style of K&R, with the type of at least one behind them.
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
            && !parameters.is_empty()
            && parameters.iter().all(is_name)
            && behind.iter().skip(1).any(|word| {
                let text = self.bytes(&word.range());
                word.is_word() && parameters.iter().any(|it| self.bytes(&it.range()) == text)
            })
    }

    /// True for `*name` and `Class::*name`.
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

    /// Reads `(*name)(int)`, or `(*name(int))(int)` for a function.
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

    fn skip_brackets(&mut self) {
        if self.next_is(b'(') {
            self.at = closing(self.tokens, self.at) + 1;
        }
    }

    /// Goes behind the `>` of the `<` here.
    fn skip_angles(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.peek() {
            match token.role {
                Role::Sign(b'<') => depth += 1,
                Role::Sign(b'>') if self.is_at(self.at - 1, b'-') => {}
                Role::Sign(b'>') => depth = depth.saturating_sub(1),
                Role::Sign(b'(') => self.at = closing(self.tokens, self.at),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}

/// Index of the bracket that closes the one at `open`; the number of tokens if none does.
pub(super) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.role {
            Role::Sign(b'(' | b'[') => depth += 1,
            Role::Sign(b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}
