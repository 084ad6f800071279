//! Forms of definitions in script languages, and texts that are none.

use crate::Language;
use crate::symbols::{Kind, Parent, Symbols};
use proptest::prelude::*;

#[test]
fn forms_define_their_name() {
    let forms = [
        ("python", "async def NAME(self):", Kind::Function),
        (
            "python",
            "    def NAME(self, x=(1, 2)) -> int:",
            Kind::Function,
        ),
        ("python", "class NAME(Base, metaclass=Meta):", Kind::Class),
        ("python", "class NAME[T: int]:", Kind::Class),
        ("python", "class NAME(str, Enum):", Kind::Enum),
        ("python", "def NAME[T](x: T) -> T: return x", Kind::Function),
        ("python", "NAME: Final[int] = 1", Kind::Constant),
        ("python", "type NAME[T] = list[T]", Kind::Type),
        ("python", "NAME = lambda x: x", Kind::Function),
        (
            "cython",
            "cdef inline double NAME(int *x) nogil:",
            Kind::Function,
        ),
        ("cython", "cpdef NAME(x):", Kind::Function),
        ("cython", "ctypedef struct NAME:", Kind::Struct),
        ("cython", "cdef class NAME:", Kind::Class),
        ("starlark", "def NAME(ctx):", Kind::Function),
        ("ruby", "def self.NAME(x)", Kind::Function),
        ("ruby", "private def NAME = 1", Kind::Function),
        ("ruby", "class NAME < Struct.new(:a)", Kind::Class),
        ("ruby", "module A::NAME", Kind::Module),
        ("ruby", "NAME = Struct.new(:a) do", Kind::Constant),
        ("crystal", "abstract class NAME(T) < B", Kind::Class),
        ("crystal", "macro NAME(x)", Kind::Macro),
        ("crystal", "lib NAME", Kind::Module),
        ("elixir", "defp NAME(x) do", Kind::Function),
        ("elixir", "def NAME, do: 1", Kind::Function),
        ("elixir", "defmacrop NAME(x) do", Kind::Macro),
        ("elixir", "defmodule A.NAME do", Kind::Module),
        ("elixir", "@opaque NAME :: term", Kind::Type),
        ("lua", "function M.NAME(x)", Kind::Function),
        ("lua", "function M:NAME(x)", Kind::Method),
        ("lua", "local function NAME(x)", Kind::Function),
        ("lua", "M.sub.NAME = function(x)", Kind::Function),
        ("julia", "function Base.NAME(x::T) where T", Kind::Function),
        ("julia", "NAME(x) = x + 1", Kind::Function),
        ("julia", "mutable struct NAME{T} <: Q", Kind::Struct),
        ("julia", "@inline function NAME(x)", Kind::Function),
        ("julia", "const NAME = 1", Kind::Constant),
        ("r", "NAME <- function(x) {", Kind::Function),
        ("r", "NAME = function(x) x", Kind::Function),
        ("r", "setGeneric(\"NAME\", function(x) 1)", Kind::Function),
        ("perl", "sub NAME {", Kind::Function),
        ("perl", "package A::NAME 1.0;", Kind::Module),
        ("perl", "use constant NAME => 1;", Kind::Constant),
        ("perl", "our %NAME = ();", Kind::Variable),
        ("raku", "multi method NAME(Int $x) {", Kind::Method),
        ("raku", "unit class NAME;", Kind::Class),
        ("raku", "token NAME { x }", Kind::Rule),
        ("shell", "NAME() {", Kind::Function),
        ("shell", "NAME ()", Kind::Function),
        ("shell", "function NAME", Kind::Function),
        ("shell", "function NAME() (", Kind::Function),
        ("shell", "[ -n x ] || NAME() { :; }", Kind::Function),
        ("shell", "alias NAME='x'", Kind::Macro),
        ("fish", "function NAME -d 'x'", Kind::Function),
        ("tcl", "proc ::a::NAME {x} {", Kind::Function),
        ("tcl", "namespace eval NAME {", Kind::Module),
        ("tcl", "oo::class create NAME {", Kind::Class),
        ("tcsh", "alias NAME 'x'", Kind::Macro),
        ("awk", "function NAME(x) {", Kind::Function),
        ("powershell", "Function NAME {", Kind::Function),
        ("powershell", "enum NAME {", Kind::Enum),
        ("batchfile", ":NAME", Kind::Label),
        ("vim script", "function! s:NAME() abort", Kind::Function),
        ("vim script", "command! -nargs=* NAME call x", Kind::Macro),
        ("makefile", "x NAME: y", Kind::Target),
        ("makefile", "override NAME := x", Kind::Variable),
        ("makefile", "define NAME", Kind::Variable),
        ("cmake", "FUNCTION(NAME x)", Kind::Function),
        ("cmake", "add_library(NAME STATIC x.c)", Kind::Target),
        ("dockerfile", "FROM --platform=x y AS NAME", Kind::Target),
        ("m4", "AC_DEFUN([NAME], [x])", Kind::Macro),
        ("m4", "define(`NAME', `x')", Kind::Macro),
        ("kconfig", "menuconfig NAME", Kind::Constant),
        ("rpm spec", "%global NAME() x", Kind::Macro),
        ("ninja", "build NAME: cc x", Kind::Target),
        ("qmake", "NAME += x", Kind::Variable),
    ];
    for (language, form, kind) in forms {
        let symbols = Symbols::of(Language::named(language), form.as_bytes());
        let mut named = symbols.definitions.iter();
        let is_it = |name: &std::ops::Range<u32>| {
            let name = &form[name.start as usize..name.end as usize];
            name.strip_prefix("s:").unwrap_or(name) == "NAME"
        };
        let found = named.find(|it| is_it(&it.name));
        assert_eq!(found.map(|it| it.kind), Some(kind), "{language}: {form}");
    }
}

const LANGUAGES: &[&str] = &[
    "python",
    "cython",
    "starlark",
    "ruby",
    "crystal",
    "elixir",
    "lua",
    "julia",
    "fish",
    "perl",
    "raku",
    "shell",
    "rpm spec",
    "awk",
    "tcl",
    "powershell",
    "r",
    "makefile",
    "qmake",
    "ninja",
    "kconfig",
    "cmake",
    "m4",
    "dockerfile",
    "batchfile",
    "vim script",
    "tcsh",
    "pod",
    "meson",
];

const WORDS: &[&str] = &[
    "\n",
    "\n",
    "\n  ",
    "\n\t",
    " ",
    "a",
    "b.c",
    "A::B",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "=",
    "<-",
    "=>",
    "function",
    "def",
    "class",
    "module",
    "sub",
    "package",
    "use constant",
    "end",
    "do",
    "if",
    "while",
    "fn",
    "proc",
    "method",
    "namespace eval",
    "cdef",
    "extern",
    "lambda",
    "enum",
    "has",
    "attr_reader",
    "set(",
    "define(",
    "`",
    "'",
    "\"",
    "define",
    "endef",
    "#",
    "\\",
    "$",
    "@",
    "%",
    "=head1 x",
    "=cut",
    "<<EOT",
    "EOT",
    "__END__",
    "R6Class(",
    "@type",
    "local",
    "const",
    "FROM",
    "AS",
    "config",
    "A",
    "|",
    "&",
    "*",
    "+",
    "-",
    "~",
    "::",
    "é",
    "\0",
];

proptest! {
    #[test]
    fn any_text_has_definitions_within_it(
        words in prop::collection::vec(0..WORDS.len(), 0..60),
        noise in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut text: Vec<u8> = words.iter().flat_map(|at| WORDS[*at].bytes()).collect();
        text.extend(noise);
        for language in LANGUAGES {
            let symbols = Symbols::of(Language::named(language), &text);
            for (at, it) in symbols.definitions.iter().enumerate() {
                prop_assert!(it.name.start < it.name.end, "{language}");
                prop_assert!(it.name.end <= it.end && it.end as usize <= text.len(), "{language}");
                if let Parent::Definition(parent) = it.parent {
                    prop_assert!((parent as usize) < at, "{language}");
                }
            }
        }
    }
}

#[test]
fn a_string_without_end_ends_before_the_next_definition() {
    for (language, head) in [
        ("perl", "sub NAME {"),
        ("raku", "sub NAME {"),
        ("ruby", "def NAME(x)"),
        ("elixir", "defmodule NAME do"),
        ("tcl", "proc NAME {x} {"),
        ("julia", "function NAME(x)"),
        ("powershell", "function NAME {"),
        ("python", "def NAME(x):"),
        ("lua", "function NAME(x)"),
    ] {
        let text = format!("x = \"\n\n{head}\n");
        let symbols = Symbols::of(Language::named(language), text.as_bytes());
        let last = symbols.definitions.last().map(|it| it.name.clone());
        let at = text.find("NAME").map(|at| at as u32..at as u32 + 4);
        assert_eq!(last, at, "{language}");
    }
}

#[test]
fn deep_and_long_texts_take_linear_time() {
    for unit in [
        "{",
        "(",
        "def f\n",
        "sub a ",
        "a(",
        ";[",
        "package a|",
        "has ",
        "do ",
        "if x\n ",
    ] {
        let text = unit.repeat(200_000 / unit.len());
        for language in LANGUAGES {
            Symbols::of(Language::named(language), text.as_bytes());
        }
    }
}
