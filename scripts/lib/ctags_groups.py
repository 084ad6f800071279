"""The kinds of universal-ctags for each language, in groups that are compared with the kinds of Trawl."""

import typing
from collections.abc import Mapping

# Kinds that are no definition: references, parameters, imports.
IGNORED = ""

# Groups by kind, for languages that do not say otherwise. Other kinds are groups of their own.
GROUPS: Mapping[str, str] = {
    kind: group
    for group, kinds in {
        "function": "delegate func fun function generator guard operator procedure sub subprogram subroutine task",
        "method": "activeBindingFunc feature getter method rpc setter singletonMethod submethod",
        "type": "annotation category class domain enum grammar ifclass interface message object protocol record role "
                "service struct subtype talias trait type typealias typedef union",
        "macro": "macro",
        "prototype": "callback methodSpec prototype subprogspec subroutineDeclaration",
        "module": "library module namespace package packspec pkg submodule",
        "implementation": "implementation",
        "constant": "const constant",
        "variable": "globalVar var variable",
        "field": "accessor anonMember attribute component field member oneof property RecordField",
        "enumerator": "constructor Constructor enumConstant enumerator",
        "section": "chapter heading1 heading2 heading3 l4subsection l5subsection section subsection subsubsection "
                   "title",
        "label": "label",
        "key": "key",
        "target": "target",
        "selector": "selector",
        "id": "id",
        "table": "index table view",
        "": "local parameter unknown",
    }.items()
    for kind in kinds.split()
}

# The same for one language.
OF_LANGUAGE: Mapping[str, Mapping[str, str]] = {
    "Asm": {"define": "constant"},
    "Autoconf": {"condition": "key", "definition": "constant", "optenable": "key", "optwith": "key",
                 "subst": "variable", "template": "constant"},
    "C++": {"alias": "type"},
    "CMake": {"option": "variable", "project": "module"},
    "CSS": {"class": "selector", "id": "selector"},
    "Cobol": {"paragraph": "function", "program": "module"},
    "D": {"alias": "type", "template": "type"},
    "Diff": {"deletedFile": IGNORED, "hunk": IGNORED, "modifiedFile": IGNORED, "newFile": IGNORED},
    "Elixir": {"exception": "type"},
    "Elm": {"alias": "type", "port": "function"},
    "EmacsLisp": {"custom": "variable", "inline": "function", "minorMode": "function", "derivedMode": "function",
                  "subst": "function"},
    "Fortran": {"program": "module"},
    "Gdbinit": {"definition": "function"},
    "Glade": {"class": IGNORED},
    "Go": {"packageName": IGNORED},
    "HTML": {"anchor": "id", "class": IGNORED},
    "JSON": dict.fromkeys(("array", "boolean", "null", "number", "object", "string"), "key"),
    "Make": {"macro": "variable"},
    # Perl has the same classes as packages, and the same methods as subroutines.
    "Moose": {"attribute": "field", "class": "module", "role": "module", "wrapper": "method"},
    "OCaml": {"val": "prototype"},
    # Its "class" is a method of a class.
    "ObjectiveC": {"class": "method", "var": "field"},
    "PHP": {"alias": IGNORED, "define": "constant"},
    "PuppetManifest": {"definition": "type"},
    "Python": {"member": "method", "namespace": IGNORED},
    "QtMoc": {"signal": "prototype", "slot": "prototype"},
    "R": {"dataframe": "variable", "library": IGNORED, "list": "variable", "vector": "variable"},
    "ReStructuredText": {"target": "label"},
    "Robot": {"keyword": "function"},
    "Ruby": {"alias": "method", "library": IGNORED},
    "SCSS": {"class": "selector", "id": "selector", "mixin": "function", "placeholder": "selector"},
    "SML": {"functor": "module", "signature": "type", "structure": "module", "value": "variable"},
    "SQL": {"package": "module"},
    "Scheme": {"set": "variable"},
    "SystemVerilog": {"program": "module"},
    "TTCN": {"altstep": "function", "testcase": "function"},
    "TypeScript": {"alias": "type"},
    "VHDL": {"entity": "module"},
    # Nonterminals of the grammar.
    "YACC": {"label": "rule"},
}

# The kinds of Trawl. Its other kinds are groups of their own.
OURS: typing.Final = dict.fromkeys(("class", "enum", "interface", "struct", "trait", "typedef", "union"), "type")


def group_of(language: str, kind: str) -> str:
    """Returns the group of a kind of ctags, which is empty if it is no definition."""
    kinds = OF_LANGUAGE.get(language, {})
    return kinds[kind] if kind in kinds else GROUPS.get(kind, kind)
