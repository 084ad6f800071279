//! Words of declarations.

use crate::symbols::Kind;

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
            b"void"
            | b"char"
            | b"short"
            | b"int"
            | b"long"
            | b"float"
            | b"double"
            | b"signed"
            | b"unsigned"
            | b"bool"
            | b"_Bool"
            | b"auto"
            | b"_Complex"
            | b"__int128"
            | [b'_', b'_', .., b'_', b'T', b'Y', b'P', b'E', b'_', b'_'] => Word::BuiltIn,
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
