//! Words that open and close scopes.

use super::super::super::Kind;
use super::dialect::Dialect;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Other,
    Open,
    /// Opens at the beginning of a statement, else a modifier.
    Statement,
    /// Like `Statement`, with a `do` that opens nothing.
    Loop,
    Do,
    End,
    Define(Kind),
}

pub(super) fn of(dialect: Dialect, word: &[u8]) -> Word {
    match dialect {
        Dialect::Ruby => ruby(word),
        Dialect::Crystal => crystal(word),
        Dialect::Elixir => elixir(word),
        Dialect::Lua => lua(word),
        Dialect::Julia => julia(word),
        Dialect::Fish => fish(word),
    }
}

pub(super) fn is_operator(dialect: Dialect, word: &[u8]) -> bool {
    match word {
        b"then" | b"and" | b"or" | b"not" | b"in" | b"begin" | b"ensure" => true,
        b"do" | b"else" => dialect != Dialect::Fish,
        b"return" | b"const" | b"try" | b"quote" => dialect == Dialect::Julia,
        _ => false,
    }
}

fn ruby(word: &[u8]) -> Word {
    match word {
        b"end" => Word::End,
        b"do" => Word::Do,
        b"begin" | b"case" => Word::Open,
        b"if" | b"unless" => Word::Statement,
        b"while" | b"until" | b"for" => Word::Loop,
        b"def" => Word::Define(Kind::Method),
        b"class" => Word::Define(Kind::Class),
        b"module" => Word::Define(Kind::Module),
        _ => Word::Other,
    }
}

fn crystal(word: &[u8]) -> Word {
    match word {
        b"struct" => Word::Define(Kind::Struct),
        b"enum" => Word::Define(Kind::Enum),
        b"union" => Word::Define(Kind::Union),
        b"lib" => Word::Define(Kind::Module),
        b"fun" => Word::Define(Kind::Function),
        b"macro" => Word::Define(Kind::Macro),
        b"select" => Word::Statement,
        _ => ruby(word),
    }
}

fn elixir(word: &[u8]) -> Word {
    match word {
        b"end" => Word::End,
        b"do" => Word::Do,
        b"fn" => Word::Open,
        b"def" | b"defp" | b"defdelegate" => Word::Define(Kind::Function),
        b"defmacro" | b"defmacrop" | b"defguard" | b"defguardp" => Word::Define(Kind::Macro),
        b"defmodule" => Word::Define(Kind::Module),
        b"defprotocol" => Word::Define(Kind::Interface),
        b"defimpl" => Word::Define(Kind::Implementation),
        _ => Word::Other,
    }
}

fn lua(word: &[u8]) -> Word {
    match word {
        b"end" | b"until" => Word::End,
        b"if" | b"do" | b"repeat" => Word::Open,
        b"function" => Word::Define(Kind::Function),
        _ => Word::Other,
    }
}

fn julia(word: &[u8]) -> Word {
    match word {
        b"end" => Word::End,
        b"begin" | b"let" | b"quote" | b"try" | b"do" => Word::Open,
        b"if" | b"for" | b"while" => Word::Statement,
        b"function" => Word::Define(Kind::Function),
        b"macro" => Word::Define(Kind::Macro),
        b"struct" => Word::Define(Kind::Struct),
        b"type" => Word::Define(Kind::Type),
        b"module" | b"baremodule" => Word::Define(Kind::Module),
        _ => Word::Other,
    }
}

fn fish(word: &[u8]) -> Word {
    match word {
        b"end" => Word::End,
        b"if" | b"while" | b"for" | b"switch" | b"begin" => Word::Statement,
        b"function" => Word::Define(Kind::Function),
        _ => Word::Other,
    }
}
