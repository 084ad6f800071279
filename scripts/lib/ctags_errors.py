"""Systematic errors of universal-ctags 5.9, judged by parsers of the languages or proved by the source line."""

import re
import subprocess
import typing
from collections.abc import Callable, Sequence

from .definitions import Definition

SHELL_NAME = re.compile(r"[\w.:+@,?!~^%-]+")
HASKELL_WORDS = set("class data family in infix infixl infixr instance newtype pattern role type where".split())
INSIDE = re.compile(rb"looking for matching [`'][\"'`]|here-document")


class Case(typing.NamedTuple):
    definition: Definition
    group: str
    other: Definition | None
    lines: Sequence[bytes]

    def source(self) -> str:
        line = self.definition.line
        return self.lines[line - 1].decode(errors="replace").strip() if line <= len(self.lines) else ""


Test = Callable[[Case], bool]


class Error(typing.NamedTuple):
    """A kind of tags that are wrong ("missed": no definitions) or that ctags lacks ("extra")."""

    languages: Sequence[str]
    side: str
    reason: str
    test: Test


def line(pattern: str, group: str = "") -> Test:
    """Tests the start of the source line. NAME in the pattern is the name."""

    def test(case: Case) -> bool:
        name = re.escape(case.definition.name)
        return group in ("", case.group) and bool(re.match(pattern.replace("NAME", name), case.source()))

    return test


def in_text(case: Case) -> bool:
    before = b"\n".join(case.lines[: case.definition.line - 1])
    command, variables = ["bash", "-n"], {"LC_ALL": "C"}
    return bool(INSIDE.search(subprocess.run(command, input=before, capture_output=True, env=variables).stderr))


MACRO = r"(?:static\s+|extern\s+)?(?=NAME\b)[A-Z_][A-Z0-9_]+\s*\("
JAVA_METHOD = r"(?!return|new|throw|else)(?:@\w+\s+)?[\w<>\[\]., ?&]+\sNAME\("
FUNCTION = r"(?:async\s+)?(?:function\b|\(?[\w, ]*\)?\s*=>)"
RUST_ITEM = r".*\b(?:fn|struct|enum|union|trait|type|macro_rules!)\s+(?:r#)?NAME\b"
M4_MACRO = r".*\b(m4_defun\w*|m4_define\w*|m4_copy|AU_DEFUN|AU_ALIAS)\(|.*\[.*\b(AC_DEFUN\w*|define)\("

C, SH, HASKELL, TCL = ("C", "C++"), ("Sh",), ("Haskell",), ("Tcl",)
JAVA, JAVASCRIPT, PERL = ("Java",), ("JavaScript",), ("Perl",)

ERRORS = [
    Error(C, "missed", "macro around a function's name: TEST(Class, name) {", line(MACRO, "function")),
    Error(C, "missed", "macro behind a type", line(r".*\b(?=NAME\b)[A-Z_][A-Z0-9_]+\s*(?:\(\(|;)", "type")),
    Error(C, "missed", "variable of an enumeration", line(r".*\benum\s+\w+(?:\s+const)?\s+NAME\[", "type")),
    Error(C, "missed", "#pragma weak", line(r"#\s*pragma\b", "macro")),
    Error(C, "extra", "#define in another branch of #if, or behind @", line(r"#\s*define\s+NAME\b", "macro")),
    Error(C, "extra", "function's name in a macro's brackets", line(r"[A-Z_][A-Z0-9_]+\((?:\w+,\s*)?NAME\b")),
    Error(C, "extra", "defaulted member as a prototype", line(r".*\bNAME\s*\(.*\)[\w\s]*=\s*default;", "method")),
    Error(JAVA, "extra", "class in a function", line(r"(?:\w+\s+)*(?:class|interface|enum)\s+NAME\b", "type")),
    Error(JAVA, "extra", "member of such a class", line(JAVA_METHOD, "method")),
    Error(JAVASCRIPT, "missed", "object or variable as a class", line(r"(?!.*\bclass\s+NAME\b)", "type")),
    Error(JAVASCRIPT, "missed", "module.exports as a function", line(r".*\bmodule\.NAME\s*=", "function")),
    Error(JAVASCRIPT, "missed", "computed key as its object", line(r".*\bNAME(?:\.\w+)*\s*\[.*\]\s*=", "function")),
    Error(JAVASCRIPT, "missed", "value of a call", line(r".*\bNAME = \( ?function", "function")),
    Error(JAVASCRIPT, "extra", "function in a function or behind =", line(r".*\bfunction\s*\*?\s*NAME\s*\(")),
    Error(JAVASCRIPT, "extra", "function as a value", line(rf".*\bNAME[\"']?\s*[:=]\s*{FUNCTION}")),
    Error(PERL, "missed", "package of a function as its name", line(r"sub\s+NAME::", "function")),
    Error(PERL, "extra", "function with its package", line(r"(?:my\s+)?sub\s+(?:\w+::)*NAME\b", "function")),
    Error(("Rust",), "extra", "item in a macro, union", line(RUST_ITEM)),
    Error(("Python",), "missed", "variable with a lambda", lambda it: "lambda" in it.source()),
    Error(SH, "missed", "array, or pattern of sed", lambda it: not SHELL_NAME.fullmatch(it.definition.name)),
    Error(SH, "missed", "text of a string or here-document", in_text),
    Error(SH, "extra", "Tcl behind `exec wish`", line("proc ")),
    Error(HASKELL, "missed", "word of the language", lambda it: it.definition.name in HASKELL_WORDS),
    Error(HASKELL, "missed", "splice of Template Haskell", lambda it: " '" in it.source() and "=" not in it.source()),
    Error(HASKELL, "missed", "further equation, or field", lambda it: it.other is not None),
    Error(HASKELL, "missed", "type in brackets of a field", lambda it: "::" in it.source()),
    Error(HASKELL, "extra", "method, which ctags does not know", line("", "method")),
    Error(HASKELL, "extra", "class, synonym or family", line("", "type")),
    Error(HASKELL, "extra", "operator", lambda it: not re.search(r"\w", it.definition.name)),
    Error(TCL, "extra", "class or method, which ctags does not know", lambda it: it.group in ("method", "type")),
    Error(TCL, "extra", "procedure behind an odd quote", line("proc ")),
    Error(("Lua",), "missed", "value of a call", line(r".*[(,] ?\(?function")),
    Error(("M4",), "extra", "macro not by AC_DEFUN, or in the quotes of another", line(M4_MACRO)),
    Error(("Asm",), "missed", "directive as a name", lambda it: it.definition.name in ("TEXT", "GLOBL", "DATA")),
    Error(("Asm",), "extra", "function of Go's assembler", line(r"(TEXT|GLOBL)\s")),
]


def reason_of(language: str, side: str, case: Case) -> str | None:
    errors = (error for error in ERRORS if language in error.languages and error.side == side)
    return next((error.reason for error in errors if error.test(case)), None)
