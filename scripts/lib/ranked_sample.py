"""Takes definitions at random from what ctags finds in a corpus: rows for scripts/compare/ranking_sample.txt.

A row has a name that one package defines, once or twice, outside of tests, documentation, patches and files of others;
and at least FILES_MIN files have the word, so that its place among them says something. Rows are spread over languages
and packages, and dealt to two halves in turn."""

import collections
import json
import random
import re
import typing
from collections.abc import Iterable, Mapping

from lib import tools

# A name with the files that define it, and the same in a half.
Defined = tuple[str, list[str]]
Row = tuple[str, str, list[str]]

# Rows of each language in a half.
LANGUAGES = {
    "C": 14,
    "C++": 6,
    "Python": 6,
    "Go": 5,
    "Java": 4,
    "Perl": 4,
    "Rust": 4,
    "JavaScript": 1,
    "Sh": 1,
}
HALVES = ("tune", "report")
# Files that have the word, at least.
FILES_MIN = 4
# Rows of one package in a half, at most: some packages have a fifth of all names.
PER_PACKAGE_MAX = 4
# Files that define the name, at most.
DEFINED_MAX = 2
# Candidates that ripgrep counts, for each row that is wanted. Most names are in a file or two.
CANDIDATES = 40
KINDS = {
    *("class", "enum", "func", "function", "interface", "macro", "method", "struct", "subroutine"),
    *("type", "typedef", "union"),
}
NAME = re.compile(r"[A-Za-z_]\w{4,60}")
LEFT_OUT = re.compile(
    r"(^|/)(\.pc|debian|vendor|_?vendored|_vendor|third[_-]?party|node_modules|[\w-]*tests?|testing|testdata|testsuite|"
    r"t|regress|spec|examples?|samples?|bench(es|marks?)?|fixtures?|docs?|Documentation|man|contrib)/"
    r"|(^|/)(test_[^/]*|conftest\.py|configure)$|[_.-]tests?\.\w+$|Tests?\.java$|\.(min|pb)\.\w+$|\.pl\.in$",
    re.IGNORECASE,
)


def rows(corpus: str, seed: int) -> list[Row]:
    """Returns rows: half, name, files that define it."""
    chance = random.Random(seed)
    names_of, candidates = defined(corpus), {}
    for language, count in LANGUAGES.items():
        names = sorted(names_of[language].items())
        chance.shuffle(names)
        candidates[language] = names[: CANDIDATES * count * len(HALVES)]
    files = files_with(corpus, [name for names in candidates.values() for name, _ in names])
    out: list[Row] = []
    for language, count in LANGUAGES.items():
        known = [row for row in candidates[language] if len(files[row[0]]) >= FILES_MIN]
        out += dealt(known, count)
    return out


def dealt(known: Iterable[Defined], count: int) -> list[Row]:
    """Returns rows of one language, in turn for one half and the other."""
    out: list[Row] = []
    per_package: collections.Counter[tuple[str, str]] = collections.Counter()
    wanted = [half for _ in range(count) for half in HALVES]
    for name, paths in known:
        package = paths[0].split("_")[0]
        if wanted and per_package[package, wanted[0]] < PER_PACKAGE_MAX:
            per_package[package, wanted[0]] += 1
            out.append((wanted.pop(0), name, [without_version(path) for path in paths]))
    return out


def without_version(path: str) -> str:
    package, rest = path.split("/", 1)
    return f"{package.split('_')[0]}/{rest}"


def defined(corpus: str) -> dict[str, dict[str, list[str]]]:
    """Returns the names of each language with the files that define them."""
    command = ["ctags", "-R", "--links=no", "--output-format=json", "--fields=+l", "-f", "-"]
    command.append("--languages=" + ",".join(LANGUAGES))
    tools.need("ctags", "rg")
    tags = collections.defaultdict(list)
    for line in tools.run(command, cwd=corpus).stdout.splitlines():
        tag = json.loads(line)
        tag["path"] = tag["path"].removeprefix("./")
        if NAME.fullmatch(tag["name"]) and not LEFT_OUT.search(tag["path"]):
            tags[tag["name"]].append(tag)
    names: dict[str, dict[str, list[str]]] = collections.defaultdict(dict)
    for name, of_name in tags.items():
        paths = sorted({tag["path"] for tag in of_name})
        languages = {tag["language"] for tag in of_name}
        packages = {path.split("/")[0] for path in paths}
        is_clear = len(languages) == len(packages) == 1 and len(paths) <= DEFINED_MAX
        if is_clear and all(is_definition(tag) for tag in of_name):
            names[languages.pop()][name] = paths
    return {language: names[language] for language in LANGUAGES}


def is_definition(tag: typing.Any) -> bool:
    # What other languages call a method.
    return tag["kind"] in KINDS or (tag["language"], tag["kind"]) == ("Python", "member")


def files_with(corpus: str, names: Iterable[str]) -> Mapping[str, set[bytes]]:
    """Returns the files that have each of the names as a word."""
    words = "\n".join(names).encode()
    command = ["rg", "-a", "-o", "-w", "-F", "--no-ignore", "--hidden", "--no-line-number", "--null", "-f", "-", "."]
    found = tools.run(command, cwd=corpus, input=words).stdout
    files: dict[str, set[bytes]] = collections.defaultdict(set)
    for line in found.splitlines():
        path, _, name = line.partition(b"\0")
        files[name.decode()].add(path)
    return files
