"""Systematic errors of universal-ctags 5.9, proved by the source line."""

import typing
from collections.abc import Sequence


class Error(typing.NamedTuple):
    """A kind of tags that are wrong or missing."""

    languages: Sequence[str]
    # "missed": ctags has what is no definition. "extra": ctags lacks a definition.
    side: str
    group: str
    # Regular expression for the start of the line, where NAME is the name.
    line: str
    reason: str


C = ("C", "C++")
MACRO = r"(?:static\s+|extern\s+)?(?=NAME\b)[A-Z_][A-Z0-9_]+\s*\("
JAVA_METHOD = r"(?!return|new|throw|else)(?:@\w+\s+)?[\w<>\[\]., ?&]+\sNAME\("
FUNCTION = r"(?:async\s+)?(?:function\b|\(?[\w, ]*\)?\s*=>)"
RUST_ITEM = r".*\b(?:fn|struct|enum|union|trait|type|macro_rules!)\s+(?:r#)?NAME\b"

ERRORS = (
    Error(C, "missed", "function", MACRO, "macro around a function's name as a function: TEST(Class, name) {"),
    Error(C, "missed", "type", r".*\b(?=NAME\b)[A-Z_][A-Z0-9_]+\s*(?:\(\(|;)", "macro behind a type as its name"),
    Error(C, "missed", "type", r".*\benum\s+\w+(?:\s+const)?\s+NAME\[", "variable of an enumeration as a type"),
    Error(C, "missed", "macro", r"#\s*pragma\b", "#pragma weak as a macro"),
    Error(C, "extra", "macro", r"#\s*define\s+NAME\b", "#define in the other branch of #if, or behind @"),
    Error(C, "extra", "", r"[A-Z_][A-Z0-9_]+\((?:\w+,\s*)?NAME\b", "function's name in a macro's brackets"),
    Error(C, "extra", "method", r".*\bNAME\s*\(.*\)[\w\s]*=\s*default;", "defaulted member as a prototype"),
    Error(["Java"], "extra", "type", r"(?:\w+\s+)*(?:class|interface|enum)\s+NAME\b", "class in a function"),
    Error(["Java"], "extra", "method", JAVA_METHOD, "member of such a class"),
    Error(["JavaScript"], "missed", "type", r"(?!.*\bclass\s+NAME\b)", "object or variable as a class"),
    Error(["JavaScript"], "missed", "function", r".*\bmodule\.NAME\s*=", "module.exports as a function"),
    Error(["JavaScript"], "extra", "", r".*\bfunction\s*\*?\s*NAME\s*\(", "function in a function or behind ="),
    Error(["JavaScript"], "extra", "", rf".*\bNAME[\"']?\s*[:=]\s*{FUNCTION}", "function as a value"),
    Error(["Perl"], "missed", "function", r"sub\s+NAME::", "package of a function as its name"),
    Error(["Perl"], "extra", "function", r"(?:my\s+)?sub\s+(?:\w+::)*NAME\b", "function with a package in its name"),
    Error(["Rust"], "extra", "", RUST_ITEM, "item in a macro, union"),
)
