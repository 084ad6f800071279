//! Declarators, without a symbol table: the last word before `(`, `[`, `=`, `,`, `:` or
//! the end is the name, if a type comes before it. Macros are recognised by their place:
//! `EXPORT(int) f(int a)`, `int EXPORT(f)(int a)`, `int f OF((int a))`.

use crate::symbols::{Kind, Outline, Role, Token};
use std::ops::{ControlFlow, Range};

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
    /// Tokens of its parameters.
    Function(Range<usize>),
    Type(Kind),
    Namespace,
    /// `using Name =`
    Alias,
    Concept,
}

pub(super) type Step = ControlFlow<Option<Declarator>>;

pub(super) const STOP: Step = ControlFlow::Break(None);
pub(super) const GO: Step = ControlFlow::Continue(());

#[derive(Default)]
pub(super) struct Reader<'a> {
    text: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) is_opening: bool,
    class: &'a [u8],
    pub(super) is_typedef: bool,
    pub(super) is_extern: bool,
    pub(super) is_const: bool,
    pub(super) is_friend: bool,
    has_string: bool,
    /// Parts of the type before `last`.
    pub(super) types: u32,
    /// Macro in place of the type.
    pub(super) is_prefixed: bool,
    pub(super) key: Option<Kind>,
    pub(super) qualifier: Option<Range<u32>>,
    pub(super) before: Option<Name>,
    pub(super) last: Option<Name>,
    /// Name is complete; further words are macros.
    pub(super) is_named: bool,
    is_done: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tokens: &'a [Token], is_opening: bool, outline: &Outline<'a>) -> Reader<'a> {
        Reader {
            text: outline.text,
            tokens,
            is_opening,
            class: outline.innermost_name().unwrap_or_default(),
            ..Reader::default()
        }
    }

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
                Role::Meta => GO,
                Role::Number | Role::Key => STOP,
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

    /// `extern "C"`
    pub(super) fn is_linkage(&self) -> bool {
        self.is_extern && self.has_string && self.types == 0 && self.last.is_none()
    }

    pub(super) fn is_typed(&self) -> bool {
        self.types > 0 || self.is_prefixed
    }

    pub(super) fn is_class(&self, name: &Name) -> bool {
        self.bytes(&name.range) == self.class
    }

    pub(super) fn bytes(&self, range: &Range<u32>) -> &'a [u8] {
        &self.text[range.start as usize..range.end as usize]
    }

    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn next_is(&self, sign: u8) -> bool {
        self.is_at(self.at, sign)
    }

    pub(super) fn is_at(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(sign))
    }

    pub(super) fn inside(&self, range: &Range<usize>) -> &'a [Token] {
        let end = range.end.min(self.tokens.len());
        self.tokens.get(range.start..end).unwrap_or_default()
    }

    pub(super) fn name(&mut self, range: Range<u32>, is_special: bool) {
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
            // A macro's block ends the statement without a sign.
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
        self.skip_to_next();
        if self.last.is_some() && is_typed {
            self.types = 1;
            self.key = None;
            return self.found(Form::Variable { has_value });
        }
        self.last = None;
        if is_typed { GO } else { STOP }
    }

    pub(super) fn skip_to_next(&mut self) {
        if self.at > 0 && self.is_at(self.at - 1, b',') {
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

    pub(super) fn found(&mut self, form: Form) -> Step {
        let name = self.last.take();
        ControlFlow::Break(Some(Declarator { name, form }))
    }

    pub(super) fn skip_brackets(&mut self) {
        if self.next_is(b'(') {
            self.at = closing(self.tokens, self.at) + 1;
        }
    }

    pub(super) fn skip_angles(&mut self) {
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

/// Index of the closing bracket, or the number of tokens.
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
