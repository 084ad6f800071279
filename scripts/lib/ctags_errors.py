"""Systematic errors of universal-ctags 5.9, which are no differences. Counts are of the corpus of 67 packages."""

import re
from collections.abc import Iterable, Mapping

from .definitions import Definition

# Tags that are no definitions, by language: directives of Go's assembler as labels and constants (3,440).
NO_NAMES: Mapping[str, re.Pattern[str]] = {"Asm": re.compile(r"TEXT|GLOBL|DATA|MOV\w+")}

# Parts of names that ctags has: the first word of a heading (4,570), the last word of a key (470).
PARTS: Mapping[str, re.Pattern[str]] = {
    "Man": re.compile(r"\S+"),
    "Iniconf": re.compile(r"\w+(?=\W*$|\s*:)"),
    "SystemdUnit": re.compile(r"\w+(?=\W*$)"),
}

# Lines whose definitions ctags does not know: functions of Go's assembler (1,260); macros of M4 by functions other than
# AC_DEFUN, or in the quotes of another one (1,840); variables, constants and options of Autoconf in files of M4
# (4,960); `+=`, and conditions of Automake before a name (1,290); subsections of manual pages (1,280).
UNKNOWN: Mapping[str, re.Pattern[str]] = {
    "Asm": re.compile(r"\s*(TEXT|GLOBL)\s"),
    "Autoconf": re.compile(r".*\b(AC_SUBST|AC_ARG_VAR|AC_DEFINE|AC_DEFINE_UNQUOTED|AM_CONDITIONAL)\("),
    "M4": re.compile(r".*\b(m4_defun\w*|m4_define\w*|m4_copy|AU_DEFUN|AU_ALIAS)\(|.*\[.*\b(AC_DEFUN\w*|define)\("
                     r"|.*\b(AC_SUBST|AC_SUBST_FILE|AC_ARG_\w+|AC_DEFINE\w*|AH_TEMPLATE|AM_CONDITIONAL)\("),
    "Make": re.compile(r"\s*(@\w+@)+\w|.*\+="),
    "Automake": re.compile(r"\s*(@\w+@)+\w|.*\+="),
    "Iniconf": re.compile(r".*\+="),
    "Man": re.compile(r"\.\s*S[Ss]\b"),
}

# Languages in which ctags has a variable or target again at each line that sets it or adds to it. Trawl has the first,
# which is where a reader looks (Make 3,000, Autoconf 570, CMake 560, batch files 390).
REPEATED = {"Make", "Autoconf", "Automake", "CMake", "DosBatch"}


def part(language: str, name: str) -> str:
    found = PARTS[language].search(name) if language in PARTS else None
    return found[0] if found else name


def corrected(language: str, tags: Iterable[Definition]) -> list[Definition]:
    """Leaves out tags that are no definitions, and repeated ones."""
    no_names = NO_NAMES.get(language)
    found = [tag for tag in tags if not (no_names and no_names.fullmatch(tag.name))]
    if language not in REPEATED:
        return found
    first: dict[tuple[str, str], Definition] = {}
    for tag in found:
        first.setdefault((tag.name, tag.group), tag)
    return list(first.values())


def is_unknown(language: str, line: str) -> bool:
    return language in UNKNOWN and bool(UNKNOWN[language].match(line))
