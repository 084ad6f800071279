"""Systematic errors of universal-ctags 5.9, as judged by mvdan/sh, tree-sitter-haskell, luaparse, tclsh and ast."""

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
        return self.lines[line - 1].decode(errors="replace") if line <= len(self.lines) else ""


class Error(typing.NamedTuple):
    language: str
    side: str
    reason: str
    test: Callable[[Case], bool]


def in_text(case: Case) -> bool:
    before = b"\n".join(case.lines[: case.definition.line - 1])
    command, variables = ["bash", "-n"], {"LC_ALL": "C"}
    return bool(INSIDE.search(subprocess.run(command, input=before, capture_output=True, env=variables).stderr))


ERRORS = [
    Error("Sh", "missed", "array, or pattern of sed", lambda it: not SHELL_NAME.fullmatch(it.definition.name)),
    Error("Sh", "missed", "text of a string or here-document", in_text),
    Error("Sh", "extra", "Tcl behind `exec wish`", lambda it: it.source().lstrip().startswith("proc ")),
    Error("Haskell", "missed", "word of the language", lambda it: it.definition.name in HASKELL_WORDS),
    Error("Haskell", "missed", "splice of Template Haskell", lambda it: " '" in it.source() and "=" not in it.source()),
    Error("Haskell", "missed", "further equation, or field", lambda it: it.other is not None),
    Error("Haskell", "missed", "type in brackets of a field", lambda it: "::" in it.source()),
    Error("Haskell", "extra", "method, which ctags does not know", lambda it: it.group == "method"),
    Error("Haskell", "extra", "class, synonym or family", lambda it: it.group == "type"),
    Error("Haskell", "extra", "operator", lambda it: not re.search(r"\w", it.definition.name)),
    Error("Tcl", "extra", "class or method, which ctags does not know", lambda it: it.group in ("method", "type")),
    Error("Tcl", "extra", "procedure behind an odd quote", lambda it: it.source().lstrip().startswith("proc ")),
    Error("Lua", "missed", "value of a call", lambda it: "(function" in it.source() or ", function" in it.source()),
    Error("Python", "missed", "variable of a function, with a lambda", lambda it: "lambda" in it.source()),
]


def reason_of(language: str, side: str, case: Case) -> str | None:
    errors = (error for error in ERRORS if (error.language, error.side) == (language, side))
    return next((error.reason for error in errors if error.test(case)), None)
