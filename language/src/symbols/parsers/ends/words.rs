//! Words that open and close scopes.

use super::super::super::Kind;
use super::super::super::words::{Words, kind};

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Ruby,
    Crystal,
    Elixir,
    Lua,
    Julia,
    Fish,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Word {
    #[default]
    Other,
    Open,
    /// Opens at the beginning of a statement, else a modifier.
    Statement,
    /// Like `Statement`, with a `do` that opens nothing.
    Loop,
    Do,
    End,
    Define(Kind),
    /// Before names without a scope.
    Names(Kind),
}

const RUBY: &str = "end: end; do: do; open: begin case; statement: if unless;
    loop: while until for; method: def; class: class; module: module;
    names-field: attr_accessor attr_reader attr_writer attr cattr_accessor mattr_accessor
        class_attribute property getter setter;
    names-method: alias alias_method define_method scope delegate";
const CRYSTAL: &str = "struct: struct; enum: enum; union: union; module: lib; function: fun;
    macro: macro; statement: select;
    names-type: alias; names-struct: record; names-class: annotation";
const ELIXIR: &str = "end: end; do: do; open: fn; function: def defp defdelegate;
    macro: defmacro defmacrop defguard defguardp; module: defmodule; interface: defprotocol;
    implementation: defimpl; names-type: @type @typep @opaque;
    names-method: @callback @macrocallback; other: @spec @doc @moduledoc @typedoc @behaviour @impl
        @derive @since @deprecated @compile @dialyzer @tag @moduletag @describetag @before_compile
        @after_compile @external_resource @optional_callbacks @enforce_keys";
const LUA: &str = "end: end until; open: if do repeat; function: function";
const JULIA: &str = "end: end; open: begin let quote try do; statement: if for while;
    function: function; macro: macro; struct: struct; type: type; module: module baremodule";
const FISH: &str = "end: end; statement: if while for switch begin; function: function;
    names-variable: set; names-macro: alias abbr";

pub(super) fn of(dialect: Dialect) -> Words<Word> {
    let tables: &[&str] = match dialect {
        Dialect::Ruby => &[RUBY],
        Dialect::Crystal => &[RUBY, CRYSTAL],
        Dialect::Elixir => &[ELIXIR],
        Dialect::Lua => &[LUA],
        Dialect::Julia => &[JULIA],
        Dialect::Fish => &[FISH],
    };
    Words::of(tables, |name| match name {
        "open" => Word::Open,
        "statement" => Word::Statement,
        "loop" => Word::Loop,
        "do" => Word::Do,
        "end" => Word::End,
        name => match name.strip_prefix("names-") {
            Some(name) => kind(name).map_or(Word::Other, Word::Names),
            None => kind(name).map_or(Word::Other, Word::Define),
        },
    })
}

pub(super) fn is_operator(dialect: Dialect, word: &[u8]) -> bool {
    match word {
        b"then" | b"and" | b"or" | b"not" | b"in" | b"begin" | b"ensure" => true,
        b"do" | b"else" => dialect != Dialect::Fish,
        b"return" | b"const" | b"try" | b"quote" => dialect == Dialect::Julia,
        _ => false,
    }
}
