"""Random directories and git histories that share texts, and a reader of what their revisions have.

The reader takes files from `git cat-file --batch` and knows nothing of how the histories were made.
"""

import contextlib
import os
import random
import re
import subprocess
import typing
from collections.abc import Callable, Iterator, Sequence

from . import tools

WORDS = ["task", "int", "ask", "back", "stat", "kbt", "Task", "naïve", "taſk", "\u212abt"]
# Words that are the same in another form.
FORMS = ["nai\u0308ve", "it’s", "it's", "“int”", '"int"', "–int", "--int"]
PATHS = ["a.c", "b.md", "src/a.c", "src/b", "t/x.py", "src/with space.c", "naïve.md", "deep/er/src/a.c"]
BRANCHES = ["main", "dev", "feature/x", "feature/y", "vnext"]
TAGS = ["v0.0", "v0.1", "v1.0", "v1.1", "v1.2"]
SUBMODULE = "1" * 40

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}


# Reads an object of a repository by name. Returns id and bytes.
Read = Callable[[str], tuple[str, bytes]]


class Revision(typing.NamedTuple):
    """A reference with its commit. The name of a commit that was given by id is the id."""
    name: str
    commit: str

    @property
    def short(self) -> str:
        return re.sub("^refs/(heads|tags)/", "", self.name)

    @property
    def is_branch(self) -> bool:
        return self.name.startswith("refs/heads/")


class Document(typing.NamedTuple):
    package: str
    path: str
    text: bytes
    # The revisions of a git package, by name, and the default one.
    revisions: tuple[Revision, ...] = ()
    default: Revision | None = None

    @property
    def is_default(self) -> bool:
        return self.default is None or self.default in self.revisions

    def lines(self) -> list[bytes]:
        """Returns the lines without line ends."""
        pieces = self.text.split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        return [piece.removesuffix(b"\r") for piece in pieces]


def is_binary(text: bytes) -> bool:
    return b"\0" in text[:8000]


class Texts:
    """Texts of which many files have the same one."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.shared = [self.new() for _ in range(6)]

    def new(self) -> bytes:
        chance = self.chance
        words = WORDS * 2 + FORMS
        lines = [chance.choice((" ", " ", "  ", ";", "(")).join(chance.choices(words, k=chance.randint(0, 4)))
                 for _ in range(chance.randint(0, 7))]
        end = "\r\n" if chance.random() < 0.1 else "\n"
        text = (end.join(lines) + end * (chance.random() < 0.8)).encode()
        rare = chance.random()
        if rare < 0.03:
            return text + b"task\0 int\n"
        if rare < 0.08:
            return text + b"\nback \xff int\n"
        if rare < 0.10:
            return text * 40
        return text

    def some(self) -> bytes:
        return self.chance.choice(self.shared) if self.chance.random() < 0.7 else self.new()


class Directory:
    """A package of files."""

    def __init__(self, path: str, texts: Texts) -> None:
        self.path, self.package, self.texts = path, os.path.basename(path), texts
        self.grow()

    def grow(self) -> None:
        chance = self.texts.chance
        for path in chance.sample(PATHS, chance.randint(1, 4)):
            file = os.path.join(self.path, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "wb") as out:
                out.write(self.texts.some())

    def documents(self, _patterns: Sequence[str]) -> Iterator[Document]:
        for directory, _, names in os.walk(self.path):
            for name in names:
                file = os.path.join(directory, name)
                with open(file, "rb") as opened:
                    text = opened.read()
                if not is_binary(text):
                    yield Document(self.package, os.path.relpath(file, self.path), text)


class History:
    """A bare git repository with branches and tags."""

    def __init__(self, path: str, texts: Texts) -> None:
        self.path, self.texts, self.chance = path, texts, texts.chance
        self.package = os.path.basename(path).removesuffix(".git")
        self.commits, self.head = 0, "main"
        self.tips: dict[str, int] = {}
        for directory in ("objects", "refs/heads", "refs/tags"):
            os.makedirs(f"{path}/{directory}")
        with open(f"{path}/config", "w") as config:
            config.write("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        self.set_head("main")
        self.grow()

    def set_head(self, branch: str) -> None:
        self.head = branch
        with open(f"{self.path}/HEAD", "w") as head:
            head.write(f"ref: refs/heads/{branch}\n")

    def grow(self) -> None:
        """Adds commits and tags. Moves or deletes branches, also back (a forced push)."""
        chance = self.chance
        stream: list[str | bytes] = []
        for _ in range(chance.randint(1, 5)):
            branch = chance.choice(BRANCHES) if self.tips else "main"
            parent = self.tips.get(branch)
            if self.commits and (parent is None or chance.random() < 0.2):
                parent = chance.choice([None, *range(1, self.commits + 1)])
            stream.append(self.commit(branch, parent))
        for name in chance.sample(TAGS, chance.randint(0, 3)):
            target = chance.randint(1, self.commits)
            if chance.random() < 0.3:
                stream.append(f"tag {name}\nfrom :{target}\ntagger t <t> {9000 + self.commits} +0000\ndata 1\nt\n")
            else:
                stream.append(f"reset refs/tags/{name}\nfrom :{target}\n\n")
        deletable = sorted(set(self.tips) - {self.head, "main"})
        if deletable and chance.random() < 0.3:
            branch = chance.choice(deletable)
            del self.tips[branch]
            stream.append(f"reset refs/heads/{branch}\nfrom {'0' * 40}\n\n")
        if chance.random() < 0.2:
            self.set_head(chance.choice(sorted(self.tips)))
        packed = ("-c", "fastimport.unpackLimit=0") if chance.random() < 0.5 else ()
        self.git(*packed, "fast-import", "--quiet", "--force", "--import-marks-if-exists=marks",
                 "--export-marks=marks", input=b"".join(map(as_bytes, stream)))

    def commit(self, branch: str, parent: int | None) -> bytes:
        """Returns a commit for fast-import. Without a parent the branch begins anew."""
        chance = self.chance
        self.commits += 1
        self.tips[branch] = self.commits
        head = f"commit refs/heads/{branch}\nmark :{self.commits}\ncommitter a <a> {1000 + self.commits} +0000\n"
        # An empty branch first, because fast-import would go on from the one that it has seen.
        stream: list[str | bytes] = [f"reset refs/heads/{branch}\n\n" if parent is None else "", head, "data 1\nx\n"]
        if parent is not None:
            stream.append(f"from :{parent}\n")
        for path in chance.sample(PATHS, chance.randint(1, 4)):
            if chance.random() < 0.2 and parent is not None:
                stream.append(f"D {path}\n")
                continue
            text, mode = self.texts.some(), chance.choice(("100644", "100644", "100644", "100755"))
            stream += [f"M {mode} inline {path}\ndata {len(text)}\n", text, "\n"]
        if chance.random() < 0.1:
            stream += ["M 120000 inline link\ndata 3\na.c\n", f"M 160000 {SUBMODULE} module\n"]
        return b"".join(map(as_bytes, stream))

    def git(self, *words: str, input: bytes | None = None) -> bytes:
        return tools.run(["git", "-C", self.path, *words], env=ENVIRONMENT, input=input).stdout

    def documents(self, patterns: Sequence[str]) -> Iterator[Document]:
        """Yields what the revisions that the patterns choose have: a document for each path and text."""
        refs = self.git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags").decode().split()
        with open(f"{self.path}/HEAD") as file:
            head = file.read().removeprefix("ref: ").strip()
        with objects(self.path) as read:
            chosen: dict[str, tuple[Revision, int, int]] = {}
            for number, pattern in enumerate(patterns or ["HEAD"]):
                for name in chosen_by(pattern, refs, head):
                    commit, text = read(f"{name}^{{commit}}")
                    chosen.setdefault(name, (Revision(name, commit), committed(text), number))
            # The default revision: HEAD's, or else the youngest one of the first pattern.
            first = [entry for entry in chosen.values() if entry[2] == 0]
            default = chosen[head][0] if head in chosen else max(first, key=lambda entry: entry[1])[0]
            found: dict[tuple[str, str], list[Revision]] = {}
            for revision, _, _ in sorted(chosen.values()):
                for path, blob in files(read, read(f"{revision.commit}^{{tree}}")[1]):
                    found.setdefault((path, blob), []).append(revision)
            for (path, blob), revisions in found.items():
                text = read(blob)[1]
                if not is_binary(text):
                    yield Document(self.package, path, text, tuple(revisions), default)


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def glob(pattern: str) -> re.Pattern[str]:
    """Returns a regular expression for a glob with *, ?, [] and {}, in which * crosses slashes."""
    translated = re.escape(pattern)
    for mark, meaning in ((r"\*", ".*"), (r"\?", "."), (r"\[", "["), (r"\]", "]"), (r"\{", "("), (r"\}", ")")):
        translated = translated.replace(mark, meaning)
    return re.compile(translated.replace(",", "|"))


def chosen_by(pattern: str, refs: list[str], head: str) -> list[str]:
    """Returns the names of the revisions that an argument of --ref chooses."""
    if pattern == "all":
        return refs
    if pattern == "HEAD":
        return [head]
    if re.fullmatch("[0-9a-f]{40}", pattern):
        return [pattern]
    matches = glob(pattern).fullmatch
    return [name for name in refs if matches(name) or matches(Revision(name, "").short)]


def committed(commit: bytes) -> int:
    found = re.search(rb"^committer .*> (\d+)", commit, re.M)
    assert found, commit
    return int(found[1])


def files(read: Read, tree: bytes, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yields path and id of the regular files of a tree, which is given as git's bytes."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, name = tree[at:end].split(b" ", 1)
        blob, at = tree[end + 1:end + 21].hex(), end + 21
        if mode == b"40000":
            yield from files(read, read(blob)[1], f"{prefix}{name.decode()}/")
        elif mode in (b"100644", b"100755"):
            yield prefix + name.decode(), blob


@contextlib.contextmanager
def objects(repository: str) -> Iterator[Read]:
    """Yields a function that reads an object by name, from one process. It returns id and bytes."""
    process = subprocess.Popen(["git", "-C", repository, "cat-file", "--batch"], env=ENVIRONMENT,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    asked, answered = process.stdin, process.stdout
    assert asked and answered

    def read(name: str) -> tuple[str, bytes]:
        asked.write(name.encode() + b"\n")
        asked.flush()
        head = answered.readline().split()
        if len(head) != 3:
            raise tools.Failure(f"git cat-file: {name} of {repository}: {head}")
        return head[0].decode(), answered.read(int(head[2]) + 1)[:-1]

    try:
        yield read
    finally:
        asked.close()
        answered.close()
        process.wait()
