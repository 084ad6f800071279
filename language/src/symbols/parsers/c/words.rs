//! Words of declarations and declarators.

use super::declarator::{Form, GO, Reader, STOP, Step, closing};
use crate::symbols::{Kind, Role, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Name or unknown.
    Name,
    BuiltIn,
    /// No effect on names.
    Specifier,
    Const,
    Typedef,
    Extern,
    Friend,
    Export,
    Key(Kind),
    /// Brackets may follow.
    Attribute,
    /// `decltype(x)`
    TypeOf,
    Trailing,
    /// `public:`
    Access,
    Operator,
    Template,
    Namespace,
    Using,
    Concept,
    Other,
}

impl Word {
    pub(super) fn of(text: &[u8]) -> Word {
        match text {
            b"void" | b"char" | b"short" | b"int" | b"long" | b"float" | b"double" | b"signed"
            | b"unsigned" | b"bool" | b"_Bool" | b"auto" | b"_Complex" | b"__int128" => {
                Word::BuiltIn
            }
            [b'_', b'_', .., b'_', b'T', b'Y', b'P', b'E', b'_', b'_'] => Word::BuiltIn,
            b"static" | b"inline" | b"register" | b"volatile" | b"virtual" | b"mutable"
            | b"thread_local" | b"_Thread_local" | b"__thread" | b"restrict" | b"__restrict"
            | b"_Noreturn" | b"__inline" | b"__forceinline" | b"typename" | b"consteval"
            | b"constinit" => Word::Specifier,
            b"const" | b"constexpr" => Word::Const,
            b"typedef" => Word::Typedef,
            b"extern" => Word::Extern,
            b"friend" => Word::Friend,
            b"export" => Word::Export,
            b"struct" => Word::Key(Kind::Struct),
            b"union" => Word::Key(Kind::Union),
            b"enum" => Word::Key(Kind::Enum),
            b"class" => Word::Key(Kind::Class),
            b"__attribute" | b"__declspec" | b"alignas" | b"_Alignas" | b"asm" | b"__asm"
            | b"noexcept" | b"throw" | b"requires" | b"layout" | b"static_assert"
            | b"_Static_assert" | b"explicit" => Word::Attribute,
            b"decltype" | b"typeof" | b"__typeof" | b"__typeof__" | b"_Atomic" => Word::TypeOf,
            b"override" | b"final" | b"try" => Word::Trailing,
            b"public" | b"private" | b"protected" | b"signals" | b"slots" | b"Q_SIGNALS"
            | b"Q_SLOTS" => Word::Access,
            b"operator" => Word::Operator,
            b"template" => Word::Template,
            b"namespace" => Word::Namespace,
            b"using" => Word::Using,
            b"concept" => Word::Concept,
            b"if" | b"for" | b"while" | b"switch" | b"return" | b"do" | b"else" | b"case"
            | b"goto" | b"break" | b"continue" | b"sizeof" | b"new" | b"delete" | b"this"
            | b"catch" | b"import" => Word::Other,
            [b'_', b'_', .., b'_', b'_'] => Word::Attribute,
            _ => Word::Name,
        }
    }

    /// Excludes beginnings of expressions and statements.
    pub(super) fn begins_declaration(self) -> bool {
        matches!(
            self,
            Word::BuiltIn
                | Word::Specifier
                | Word::Const
                | Word::Typedef
                | Word::Extern
                | Word::Key(_)
                | Word::Template
                | Word::Namespace
        )
    }

    /// Recognises keywords of C++ that are names in C.
    pub(super) fn may_name(self, text: &[u8]) -> bool {
        match self {
            Word::Key(_) => text == b"class",
            Word::Other => matches!(text, b"new" | b"delete" | b"this" | b"catch"),
            Word::Specifier => matches!(text, b"virtual" | b"mutable" | b"thread_local"),
            Word::Attribute => {
                matches!(text, b"requires" | b"throw" | b"layout" | b"explicit")
                    || text.ends_with(b"__")
            }
            Word::Trailing
            | Word::Friend
            | Word::Export
            | Word::Access
            | Word::Template
            | Word::Namespace
            | Word::Using
            | Word::Concept => true,
            _ => false,
        }
    }
}

pub(super) fn is_upper(text: &[u8]) -> bool {
    text.len() > 1 && !text.iter().any(u8::is_ascii_lowercase)
}

impl Reader<'_> {
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
        let is_last = self.is_opening && self.last.is_none() && self.peek().is_none();
        let is_tag = word == Word::Operator || is_last && word.may_name(text);
        let is_tag = is_tag && self.key.is_some();
        let is_dunder = word == Word::Attribute && text.ends_with(b"__");
        if is_dunder && (self.last.is_some() || self.next_is(b'(')) {
            return word;
        }
        let is_name = is_tag || is_typed && word.may_name(text) && ends_name();
        if is_name { Word::Name } else { word }
    }

    pub(super) fn word(&mut self, token: &Token) -> Step {
        let is_module = |next: &Token| self.bytes(&next.range()) == b"module";
        match self.word_of(token) {
            Word::Name => self.name(token.range(), false),
            Word::BuiltIn => {
                self.types += 1 + u32::from(self.last.take().is_some());
            }
            Word::Export if self.peek().is_some_and(is_module) => return STOP,
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

    /// `public slots:`
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

    /// `operator==`, `operator const char *`
    fn operator(&mut self, operator: &Token) -> Step {
        let begin = self.at;
        if self.next_is(b'(') {
            self.at += 2;
        }
        while !self.next_is(b'(') && self.at < self.tokens.len() {
            self.at += 1;
            if self.next_is(b'<') && self.tokens[self.at - 1].is_word() {
                self.skip_angles();
            }
        }
        let last = self.tokens.get(self.at - 1).filter(|_| self.at > begin);
        let end = last.map_or(operator.end, |last| last.end);
        self.name(operator.start..end, true);
        GO
    }
}
