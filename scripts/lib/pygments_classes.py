"""Classes of the bytes of source texts by pygments, with its oddities put right.

A text is lexed as Latin-1, so that the offsets of pygments are those of the bytes.
"""

import functools
import re
import typing

from pygments import token
from pygments.lexer import Lexer, bygroups, include, inherit, this, using
from pygments.lexers import find_lexer_class_by_name
from pygments.lexers.javascript import JavascriptLexer, TypeScriptLexer
from pygments.lexers.perl import PerlLexer
from pygments.lexers.shell import BashLexer

CODE, COMMENT, STRING = "code", "comment", "string"


class Run(typing.NamedTuple):
    start: int
    end: int
    name: str


# Names of pygments, where they are not those of Trawl in lower case.
ALIASES = {"Shell": "bash"}

# Text that is lexed as a directive, as it has neither strings nor comments, or a path.
DIRECTIVES = re.compile(r"^([ \t]*)#(?=[ \t]*(?!include|import|error|warning|pragma|line|\d)\w)", re.MULTILINE)
PRAGMAS = re.compile(r"\{-#.*?#-\}", re.DOTALL)
WITH_DIRECTIVES = ("C", "C++", "Objective-C")


def classes(language: str, text: bytes) -> list[Run]:
    """Returns the runs of comments and strings, ascending."""
    source = text.decode("latin-1")
    if language in WITH_DIRECTIVES:
        # To pygments, all of a macro is one token, `//` in its strings a comment, and `#if 0` another.
        source = DIRECTIVES.sub(r"\1 ", source)
    if language == "Haskell":
        # To pygments, a pragma is a comment.
        source = PRAGMAS.sub(lambda found: " " * len(found[0]), source)
    runs: list[Run] = []
    is_symbol = False
    for start, kind, value in lexer(language).get_tokens_unprocessed(source):
        name = class_of(language, kind, value)
        if kind in token.String.Symbol:
            # `:name` of Ruby is a name, but `:"name"` has the form of a string.
            is_symbol, name = symbol(is_symbol, value)
        if name != CODE and value:
            add(runs, Run(start, start + len(value), name))
    return runs


def class_of(language: str, kind: typing.Any, value: str) -> str:
    if kind in token.Comment.PreprocFile:
        # `<stdio.h>` looks like a string, and editors show it as one.
        return STRING
    if kind in token.Comment.Preproc and value.startswith(("#!/", "#! /")):
        return COMMENT
    if kind in token.Comment.Preproc:
        return CODE
    if kind in token.Comment:
        return COMMENT
    if kind in token.String.Doc and value.startswith(("/*", "//")):
        # Comments for documentation, in PHP.
        return COMMENT
    if kind in token.String.Escape and language == "Shell":
        # A backslash outside of strings.
        return CODE
    if kind in token.String:
        return STRING
    return CODE


def symbol(is_inside: bool, value: str) -> tuple[bool, str]:
    quotes = value.count('"') + value.count("'")
    is_string = is_inside or quotes > 0
    return is_inside != (quotes == 1), STRING if is_string else CODE


def add(runs: list[Run], run: Run) -> None:
    if runs and runs[-1].name == run.name and runs[-1].end >= run.start:
        runs[-1] = runs[-1]._replace(end=run.end)
    else:
        runs.append(run)


class Shell(BashLexer):
    """Variables in strings are of the string, commands are code, and a here-document ends with a line of its own."""

    tokens: typing.ClassVar = {
        "basic": [
            # A `#` inside of a word begins no comment.
            (r"\A#!.+\n", token.Comment.Hashbang),
            (r"(?<![^\s;|&()`])#[^\n]*", token.Comment.Single),
            (r"#", token.Text),
            # pygments ends it at any occurrence of the word.
            (r"(<<-?[ \t]*)(['\"])([^'\"\n]+)(\2)([^\n]*\n)((?:[^\n]*\n)*?[ \t]*\3)(?=[ \t;)]*(?:\n|\Z))",
             bygroups(token.Operator, token.String, token.String, token.String, using(this), token.String.Heredoc)),
            (r"(<<-?[ \t]*\\?)([\w.!%+-]+)([^\n]*\n)((?:[^\n]*\n)*?[ \t]*\2)(?=[ \t;)]*(?:\n|\Z))",
             bygroups(token.Operator, token.Name, using(this), token.String.Heredoc)),
            (r"<<", token.Operator),
            (r"`", token.Operator, "backticks"),
            inherit,
        ],
        "backticks": [(r"`", token.Operator, "#pop"), include("root")],
        # `${name}` is no string outside of one.
        "interp": [(r"\$\{#?", token.Operator, "curly"), inherit],
        "curly": [(r"\}", token.Operator, "#pop"), (r"#", token.Operator), inherit],
        "data": [
            (r'(?s)\$?"(\\.|[^"\\$`])*"', token.String.Double),
            (r'"', token.String.Double, "string"),
            inherit,
        ],
        "string": [
            (r'"', token.String.Double, "#pop"),
            (r'(?s)(\\.|[^"\\$`])+', token.String.Double),
            include("in-string"),
        ],
        "in-string": [
            (r"`", token.Operator, "backticks"),
            (r"\$\(\(", token.Keyword, "math"),
            (r"\$\(", token.Keyword, "paren"),
            (r"\$\{", token.String, "string-curly"),
            (r"\$", token.String),
        ],
        "string-curly": [
            (r"\}", token.String, "#pop"),
            (r'"', token.String, "string"),
            (r"(?s)(\\.|[^\"}\\$`])+", token.String),
            include("in-string"),
        ],
    }


class JavaScript(JavascriptLexer):
    """Braces in the code of a template literal do not end it."""

    tokens: typing.ClassVar = {
        "interp-inside": [
            (r"\{", token.Punctuation, "#push"),
            (r"\}", token.String.Interpol, "#pop"),
            include("root"),
        ],
    }


class TypeScript(TypeScriptLexer):
    tokens: typing.ClassVar = {"interp-inside": JavaScript.tokens["interp-inside"]}


class Perl(PerlLexer):
    """Documentation may end with the file, or follow `__END__`, and `<$file>` is no string."""

    tokens: typing.ClassVar = {
        "root": [
            (r"^=[a-zA-Z]\w*.*?(?:^=cut[^\n]*|\Z)", token.Comment.Multiline),
            (r"<[$\w]*>", token.Operator),
            # A regular expression may have many lines.
            (r"(?<=[~(&|!])\s*/(?:\\.|[^\\/])*/[a-z]*", token.String),
            (r"[$@%]#?\{\^?\w+\}", token.Name.Variable),
            (r"\$#\{?\$?", token.Name.Variable),
            (r"[$@%&]\$*(?:::)?\w+(?:::\w+)*", token.Name.Variable),
            (r"&&", token.Operator),
            # Keys, methods and names that look like an operator.
            (r"(?<=\{)\s*-?\w+\s*(?=\})", token.Name),
            (r"->\s*\w+", token.Name),
            (r"\b\w+(?=\s*=>)", token.Name),
            (r"sub\s+\w+", token.Name),
            (r"__(END|DATA)__\b", token.Keyword, "data-part"),
            # pygments wants its end behind the word, with at most a semicolon between.
            (r"(<<)(~?[ \t]*(?=['\"\w]))(['\"]?)([a-zA-Z_]\w*)(\3)([^\n]*\n)((?:[^\n]*\n)*?[ \t]*\4)(?=\n|\Z)",
             bygroups(token.Operator, token.Operator, token.String, token.String, token.String, using(this),
                      token.String.Heredoc)),
            (r"\b(?:q[qwrx]?|m)\s*(?=[(\[{<])", token.String, ("flags", "quoted")),
            (r"\b(?:q[qwrx]?|m)([^\w\s,;=)])(?:\\.|(?!\1)[^\\])*\1[a-z]*", token.String),
            (r"\b(?:s|tr|y)(?=[(\[{<])", token.String, ("flags", "quoted", "blank", "quoted")),
            (r"\b(?:s|tr|y)([^\w\s,;=)}])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[a-z]*", token.String),
            inherit,
        ],
        "data-part": [
            (r"^=[a-zA-Z]\w*.*?(?:^=cut[^\n]*|\Z)", token.Comment.Multiline),
            (r"[^\n]+|\n", token.Text),
        ],
        "flags": [(r"[a-z]*", token.String, "#pop")],
        "blank": [(r"\s*", token.Text, "#pop")],
        "quoted": [
            (r"\(", token.String, ("#pop", "round")),
            (r"\[", token.String, ("#pop", "square")),
            (r"\{", token.String, ("#pop", "curly")),
            (r"<", token.String, ("#pop", "angle")),
            (r"(.)(?:\\.|(?!\1)[^\\])*\1", token.String, "#pop"),
        ],
        **{
            name: [
                (r"\\.", token.String),
                (re.escape(first), token.String, "#push"),
                (re.escape(last), token.String, "#pop"),
                (rf"[^\\{re.escape(first)}{re.escape(last)}]+", token.String),
            ]
            for name, first, last in (("round", "(", ")"), ("square", "[", "]"), ("curly", "{", "}"),
                                      ("angle", "<", ">"))
        },
    }


LEXERS: dict[str, type[Lexer]] = {
    "JavaScript": JavaScript,
    "Perl": Perl,
    "Shell": Shell,
    "TypeScript": TypeScript,
}


@functools.cache
def lexer(language: str) -> Lexer:
    found = LEXERS.get(language) or find_lexer_class_by_name(ALIASES.get(language, language.lower()))
    return found()
