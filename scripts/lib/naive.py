"""Random queries, and the documents and lines that they match, found by a scan of all lines.

A term has its text in the query language and `lines(document)`: None if the document does not match, else the
numbers of the lines because of which it does, which may be none.
"""

import random
import re
import typing
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from .histories import FORMS, PATHS, WORDS, Document, Revision, glob

LANGUAGES = {"c": "c", "py": "python", "md": "markdown"}


# A value of a filter, and whether it holds for a document.
Chosen = tuple[str, Callable[[Document], bool]]


class Term(typing.Protocol):
    """A part of a query."""

    @property
    def text(self) -> str: ...

    def lines(self, document: Document) -> set[int] | None: ...


class Pattern(typing.NamedTuple):
    text: str
    regex: re.Pattern[str]

    def lines(self, document: Document) -> set[int] | None:
        return self.on_lines(document, self.holds)

    def holds(self, line: str) -> bool:
        return bool(self.regex.search(line))

    @staticmethod
    def on_lines(document: Document, holds: Callable[[str], bool]) -> set[int] | None:
        numbered = enumerate(document.lines(), 1)
        return {number for number, line in numbered if holds(line.decode(errors="surrogateescape"))} or None


class OnLine(typing.NamedTuple):
    """Two patterns of one line: `line:(a b)` or `line:(a -b)`."""
    first: Pattern
    second: Pattern
    negated: bool

    @property
    def text(self) -> str:
        return f"line:({self.first.text} {'-' * self.negated}{self.second.text})"

    def lines(self, document: Document) -> set[int] | None:
        return Pattern.on_lines(
            document, lambda line: self.first.holds(line) and self.second.holds(line) != self.negated)


class Filter(typing.NamedTuple):
    key: str
    value: str
    negated: bool
    test: Callable[[Document], bool]

    @property
    def text(self) -> str:
        return f"{'-' * self.negated}{self.key}:{self.value}"

    def lines(self, document: Document) -> set[int] | None:
        return set() if self.test(document) != self.negated else None


class Not(typing.NamedTuple):
    part: Term

    @property
    def text(self) -> str:
        return f"-({self.part.text})"

    def lines(self, document: Document) -> set[int] | None:
        return set() if self.part.lines(document) is None else None


class Group(typing.NamedTuple):
    """Terms of which all must hold, or any."""
    joint: str
    parts: list[Term]

    @property
    def text(self) -> str:
        return self.joint.join(f"({part.text})" if isinstance(part, Group) else part.text for part in self.parts)

    def lines(self, document: Document) -> set[int] | None:
        found = [part.lines(document) for part in self.parts]
        holds = [lines for lines in found if lines is not None]
        return set[int]().union(*holds) if (len(holds) == len(found) if self.joint == " " else holds) else None


class Query(typing.NamedTuple):
    parameters: dict[str, str]
    term: Term
    # Whether it has a filter of revisions: then all revisions are searched.
    all_revisions: bool

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[int]]]:
        """Yields documents with the numbers of their lines; 0 stands for the document."""
        for document in documents:
            if self.all_revisions or document.is_default:
                lines = self.term.lines(document)
                if lines is not None:
                    yield document, sorted(lines) or [0]


class Queries:
    """Makes queries from names of packages and revisions."""

    def __init__(self, packages: list[str], documents: Iterable[Document], chance: random.Random) -> None:
        self.chance, self.packages = chance, packages
        self.revisions = sorted({revision for document in documents for revision in document.revisions})

    def query(self) -> Query:
        chance = self.chance
        self.keys: set[str] = set()
        mode = chance.choice(("keyword", "keyword", "keyword", "keyword", "literal", "regexp"))
        parameters = {"mode": mode}
        term: Term
        if mode == "keyword":
            term = self.group(2)
            parameters["q"] = term.text
        else:
            expression = self.regex() if mode == "regexp" else self.text() + chance.choice(("", " ", " " + self.text()))
            ignored, exact = chance.random() < 0.4, chance.random() < 0.3
            shown = expression if mode == "regexp" else re.escape(expression) if exact else spelled(expression)
            parameters["exact"] = "yes" if exact else "no"
            parameters |= {"q": expression, "case": "no" if ignored else "yes"}
            term = Pattern("", compiled(shown, ignored))
        filters = [self.filter() for _ in range(chance.choice((0, 0, 1, 2)))] if mode != "keyword" else []
        filters += [self.filter()] if mode == "keyword" and chance.random() < 0.2 else []
        for filter in filters:
            # As a parameter, each key but once.
            if filter and filter.key != "ext" and filter.key not in parameters:
                parameters[filter.key] = "-" * filter.negated + filter.value
                term = Group(" ", [term, filter])
        return Query(parameters, term, has_revisions(term))

    def group(self, depth: int) -> Group:
        chance = self.chance
        joint = " or " if chance.random() < 0.25 else " "
        alternatives = joint != " "
        parts: list[Term] = [self.pattern() if chance.random() < 0.8 else self.filter(False) or self.pattern()]
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            kind = chance.random()
            part: Term | None
            if kind < 0.5:
                part = self.filter(False if alternatives else None)
            elif kind < 0.7 or not depth:
                part = self.pattern()
            elif kind < 0.85 or alternatives:
                # An alternative must not be negated.
                part = self.group(depth - 1)
            else:
                # Two negations would cancel each other, and show the lines again.
                group = self.group(0)
                part = Not(group) if len(group.parts) > 1 else None
            parts += [part] if part else []
        return Group(joint, parts)

    def word(self) -> str:
        return self.chance.choice(WORDS)

    def text(self) -> str:
        return self.chance.choice(WORDS + FORMS)

    def pattern(self) -> Pattern | OnLine:
        kind, word, other = self.chance.random(), self.word(), self.word()
        if kind < 0.1:
            first, second = (Pattern(f'"{it}"c', compiled(spelled(it), False)) for it in (word, other))
            return OnLine(first, second, self.chance.random() < 0.5)
        if kind < 0.5:
            word = self.chance.choice([*WORDS, "nai\u0308ve", "it’s", "–int"])
            return Pattern(word, compiled(spelled(word), word == word.lower()))
        ignored = self.chance.random() < 0.5
        case = "i" if ignored else "c"
        if kind < 0.7:
            text = self.chance.choice((word, f"{word} {other}", f"{word};"))
            return Pattern(f'"{text}"{case}', compiled(spelled(text), ignored))
        if kind < 0.8:
            return Pattern(f'"{word}"{case}w', compiled(rf"\b{spelled(word)}\b", ignored))
        expression = self.regex()
        return Pattern(f"/{expression}/{case}", compiled(expression, ignored))

    def regex(self) -> str:
        word, other = self.word(), self.word()
        return self.chance.choice((
            f"^{word}", f"{word}$", rf"\b{word}\b", rf"{word}\s+{other}", f"({word}|{other})", f"{word[:2]}[a-z]+",
            f"{word[0]}.{word[2:]}", f"{word}.*{other}", rf"\w+{word[-1]}", f"{word}(;|$)", f"{word}{{1,2}} ?{other}",
            f"^{word}?$", f"[{word[0]}{other[0]}]{word[1:]}"))

    def filter(self, negated: bool | None = None) -> Filter | None:
        """Returns a filter, or None if the query has one with which it would be read as alternatives."""
        chance = self.chance
        negated = chance.random() < 0.3 if negated is None else negated
        key = chance.choice(("package", "path", "lang", "ext", "kind", *["rev"] * 4, "branch"))
        value, test = getattr(self, key)() if key != "branch" else self.rev(branches=True)
        alternatives = key in ("lang", "ext", "kind") or (key in ("package", "path") and value.startswith("="))
        if alternatives and key in self.keys:
            return None
        self.keys.add(key if alternatives else "")
        return Filter(key, value, negated, test)

    def package(self) -> Chosen:
        name = self.chance.choice(self.packages)
        base = re.split(r"[_-](?=\d)", name)[0]
        start = base[:self.chance.randint(1, 3)]
        return self.chance.choice((
            ("=" + name, lambda it: it.package == name),
            # No directory is found by `--each`, so no name has a version.
            ("=" + base, lambda it: it.package == base),
            ("^" + start, lambda it: it.package.startswith(start)),
        ))

    def path(self) -> Chosen:
        path = self.chance.choice([path for path in PATHS if " " not in path])
        # A value that begins with a slash would be a regular expression between slashes.
        part, end = path[:3], path.rsplit("/", 1)[-1][-2:]
        return self.chance.choice((
            ("=" + path, lambda it: it.path == path),
            ("^" + re.escape(part), lambda it: it.path.startswith(part)),
            (re.escape(end) + "$", lambda it: it.path.endswith(end)),
            ("src", lambda it: "src" in it.path),
        ))

    def lang(self) -> Chosen:
        end, name = self.chance.choice(sorted(LANGUAGES.items()))
        return name, lambda it: it.path.endswith("." + end)

    def ext(self) -> Chosen:
        end = self.chance.choice(sorted(LANGUAGES))
        return end, lambda it: it.path.endswith("." + end)

    def kind(self) -> Chosen:
        kind = self.chance.choice(("source", "tests", "documentation", "vendored"))
        return kind, lambda it: kind_of(it.path) == kind

    def rev(self, branches: bool = False) -> Chosen:
        chance = self.chance
        value = chance.choice(("HEAD", "HEAD", "nosuch", "main", "v*", "*", "feature/*", "{main,dev}", "refs/tags/*",
                               "*e*", "v1.?", "[fm]*"))
        if self.revisions and chance.random() < 0.6:
            revision = chance.choice(self.revisions)
            value = chance.choice((revision.short, revision.short, revision.name, "=" + revision.short,
                                   revision.name.removeprefix("refs/"), revision.commit,
                                   revision.commit[:chance.randint(7, 39)]))
        # With `=` an id means a commit, too; only globs are ruled out.
        exact = value.removeprefix("=")
        matches = glob(exact).fullmatch

        def holds(revision: Revision, default: Revision | None) -> bool:
            names = (revision.name, revision.short, revision.name.removeprefix("refs/"))
            by_id = bool(re.fullmatch("[0-9a-f]{7,40}", exact)) and revision.commit.startswith(exact)
            is_head = exact == "HEAD" and revision == default
            return (any(map(matches, names)) or by_id or is_head) and (not branches or revision.is_branch)

        return value, lambda it: any(holds(revision, it.default) for revision in it.revisions)


def kind_of(path: str) -> str:
    if path.startswith("t/"):
        return "tests"
    return "source" if path.endswith((".c", ".py")) else "documentation"


def has_revisions(term: Term) -> bool:
    if isinstance(term, Group):
        return any(map(has_revisions, term.parts))
    return has_revisions(term.part) if isinstance(term, Not) else getattr(term, "key", "") in ("rev", "branch")


def spelled(text: str) -> str:
    """Returns an expression of the forms of a text: those of its words between blanks and typographic signs."""
    signs = {"’": "'", "“": '"', "”": '"', "–": "--?"}
    parts = re.split("([ ’“”–])", text)
    forms = [[re.escape(unicodedata.normalize(form, part)) for form in ("NFC", "NFD")] for part in parts]
    each = ([re.escape(part), *both, signs.get(part, both[0])] for part, both in zip(parts, forms, strict=True))
    return "".join(f"(?:{'|'.join(alternatives)})" for alternatives in each)


def compiled(expression: str, ignores_case: bool) -> re.Pattern[str]:
    # Bytes that are not UTF-8 are no character, so that `.` does not match them.
    expression = re.sub(r"(?<!\\)\.", "[^\n\udc80-\udcff]", expression)
    return re.compile(expression, re.IGNORECASE if ignores_case else 0)
