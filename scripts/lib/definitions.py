"""Definitions in source texts, and which of one program are those of another."""

import collections
import re
import typing
from collections.abc import Iterable, Sequence

# Lines that two programs may differ about one definition.
LINES_MAX = 3

# Groups of which one program may take the one and another program the other, for a definition on the same line.
FAMILIES = {
    "method": "function",
    "prototype": "function",
    "module": "type",
    "implementation": "type",
    # Of a function in assembler.
    "label": "function",
    "constant": "variable",
    "field": "variable",
    "enumerator": "variable",
}
# The same for a definition on a line nearby. A module has types of its name.
NEAR_FAMILIES = {"method": "function", "prototype": "function"}

# Groups whose names may be written with that of a class or module before them.
QUALIFIED = {"function", "method", "prototype", "type", "module", "implementation"}
QUALIFIERS = re.compile(r"(?:::)?(?:[\w$@-]+(?:<[^<>]*>)?(?:::|[.:#]))+(?=[\w$@~!?&])|::(?=\w)")
QUOTED = re.compile(r"([\"'`])(.+)\1")


class Definition(typing.NamedTuple):
    line: int
    # As it is compared.
    name: str
    # As the program says.
    kind: str
    # The kinds of languages that are compared with each other.
    group: str
    is_declaration: bool

    def key(self) -> tuple[int, str, str]:
        return self.line, self.name, FAMILIES.get(self.group, self.group)

    def near_key(self) -> tuple[str, str, bool]:
        return self.name, NEAR_FAMILIES.get(self.group, self.group), self.is_declaration

    def counted_group(self) -> str | None:
        """Returns the group in which it is extra if no other program has it. Not every program reports declarations
        of types and variables, or says that a definition is a declaration."""
        if not self.is_declaration:
            return self.group
        return "prototype" if FAMILIES.get(self.group, self.group) == "function" else None


def compared_name(name: str, group: str) -> str:
    """Returns a name without quotes, blanks and qualifiers."""
    name = "".join(name.split())
    if quoted := QUOTED.fullmatch(name):
        name = quoted[2]
    if group not in QUALIFIED:
        return name
    # A method of Objective-C has the names of its parameters.
    if name.endswith(":") and name[0] != ":":
        return name.split(":")[0]
    return name[found.end():] if (found := QUALIFIERS.match(name)) else name


def unique(definitions: Iterable[Definition]) -> list[Definition]:
    """Leaves out definitions of the same name on the same line, such as a struct and its typedef."""
    found: dict[tuple[int, str, str], Definition] = {}
    for definition in definitions:
        found.setdefault(definition.key(), definition)
    return list(found.values())


class Comparison:
    """The definitions of one file: those that both have, those that were missed, and extra ones."""

    def __init__(self, expected: Iterable[Definition], ours: Iterable[Definition]) -> None:
        self.found: list[tuple[Definition, Definition]] = []
        self.missed = unique(expected)
        self.extra = unique(ours)
        self.match_lines()
        if self.missed and self.extra:
            self.match_near()

    def match_lines(self) -> None:
        """Finds the definitions on the same line. What is expected with a body may be without one, as of an interface,
        but not the other way round."""
        extra = {definition.key(): definition for definition in self.extra}
        missed = []
        for expected in self.missed:
            ours = extra.get(expected.key())
            if ours and (ours.is_declaration or not expected.is_declaration):
                self.found.append((expected, extra.pop(expected.key())))
            else:
                missed.append(expected)
        self.missed, self.extra = missed, list(extra.values())

    def match_near(self) -> None:
        """Finds the definitions that are a few lines away."""
        named: dict[tuple[str, str, bool], list[Definition]] = collections.defaultdict(list)
        for ours in self.extra:
            named[ours.near_key()].append(ours)
        missed = []
        for expected in self.missed:
            there = named.get(expected.near_key(), [])
            nearest = closest(expected, there)
            if nearest and abs(nearest.line - expected.line) <= LINES_MAX:
                there.remove(nearest)
                self.found.append((expected, nearest))
            else:
                missed.append(expected)
        self.missed, self.extra = missed, [definition for there in named.values() for definition in there]


def closest(wanted: Definition, definitions: Sequence[Definition]) -> Definition | None:
    return min(definitions, key=lambda definition: abs(definition.line - wanted.line), default=None)
