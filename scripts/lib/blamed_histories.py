"""Random histories of a git repository in which it is hard to say what commit a line comes from.

Lines repeat, with indents, blank lines and form feeds, so blocks of them fit in several places. Commits insert, remove,
move and copy blocks, shuffle a file, restore an old text, change line ends, and move several files at once, with
changes. Merges take files from both sides. Commits have equal times, and sometimes one that is before that of their
parents.
"""

import itertools
import random
import subprocess

from lib import tools

NAMES = ["a.c", "b.c", "mod.rs", "lib.rs", "README"]
DIRECTORIES = ["", "src/", "src/deep/", "other/"]
BRANCHES = ["main", "side", "topic"]
# The lines of files, by path.
Files = dict[str, list[str]]

BODIES = ["", "}", "{", "return;", "\x0c", "if x {", "fn f() {", "use a;", "// note", "\tx"]


def write(path: str, rng: random.Random, commits: int) -> None:
    """Makes a bare repository with so many commits."""
    tools.run(["git", "init", "-q", "--bare", "-b", "main", path])
    history = History(rng)
    stream = b"".join(history.commit() for _ in range(commits)) + history.heads()
    subprocess.run(["git", "-C", path, "fast-import", "--quiet", "--force"], input=stream, check=True)


class History:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.seconds, self.mark = rng, 1_700_000_000, 0
        first = {name: self.lines(rng.randint(20, 300)) for name in NAMES}
        # The last commit of each branch and its files.
        self.branches: dict[str, tuple[int, Files]] = {name: (0, dict(first)) for name in BRANCHES}
        # Texts that files had, which a commit may restore.
        self.old: list[list[str]] = []

    def commit(self) -> bytes:
        """Returns the next commit for `git fast-import`."""
        rng = self.rng
        branch = rng.choice([*BRANCHES, "main"])
        parent, files = self.branches[branch]
        files, parents = dict(files), [parent] if parent else []
        others = [mark for mark, _ in self.branches.values() if mark not in (0, parent)]
        if parent and others and rng.random() < 0.12:
            other = rng.choice(others)
            parents.append(other)
            theirs = next(files for mark, files in self.branches.values() if mark == other)
            for path in theirs:
                if rng.random() < 0.5:
                    is_theirs = path not in files or rng.random() < 0.5
                    files[path] = theirs[path] if is_theirs else self.mixed(files[path], theirs[path])
        if not parents or len(parents) == 1 or rng.random() < 0.2:
            for _ in range(rng.randint(1, 3)):
                self.change(files)
        self.mark += 1
        self.seconds += rng.choice([0, 0, 1, 2, 60, -30])
        self.branches[branch] = (self.mark, files)
        head = f"commit refs/heads/{branch}\nmark :{self.mark}\ncommitter A <a@b> {self.seconds} +0000\ndata 1\nx\n"
        for word, parent in zip(["from", "merge"], parents):
            head += f"{word} :{parent}\n"
        out = [head.encode(), b"deleteall\n"]
        for path, lines in files.items():
            text = "".join(lines).encode()
            out.append(f"M 100644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n")
        return b"".join(out)

    def heads(self) -> bytes:
        """Merges all branches into the main one, so that its history has every commit."""
        main, _ = self.branches["main"]
        others = "".join(f"merge :{mark}\n" for name, (mark, _) in self.branches.items() if mark and name != "main")
        self.mark += 1
        return (f"commit refs/heads/main\nmark :{self.mark}\ncommitter A <a@b> {self.seconds} +0000\ndata 1\nx\n"
                f"from :{main}\n{others}\n").encode()

    def line(self) -> str:
        rng = self.rng
        body = rng.choice(BODIES) if rng.random() < 0.5 else f"call({rng.randint(0, 400)});"
        return " " * (4 * rng.choice([0, 0, 1, 1, 2, 3])) * bool(body) + body + "\n"

    def lines(self, count: int) -> list[str]:
        return [self.line() for _ in range(count)]

    def mixed(self, ours: list[str], theirs: list[str]) -> list[str]:
        """Returns the start of one text and the end of the other."""
        at = self.rng.random()
        return ours[: int(at * len(ours))] + theirs[int(at * len(theirs)):]

    def change(self, files: Files) -> None:
        rng = self.rng
        path = rng.choice(list(files))
        lines = list(files[path])
        self.old.append(list(lines))
        kind = rng.choices(["insert", "remove", "replace", "move", "copy", "shuffle", "restore", "ends", "rename",
                            "renames", "delete"], [8, 6, 6, 4, 3, 1, 1, 1, 3, 2, 1])[0]
        at = rng.randint(0, len(lines))
        count = rng.choice([1, 1, 2, 3, 8, 30])
        if kind == "insert":
            lines[at:at] = self.lines(count)
        elif kind == "remove" and len(lines) > 20:
            del lines[at : at + count]
        elif kind == "replace":
            lines[at : at + count] = self.lines(count)
        elif kind == "move":
            block = lines[at : at + count]
            del lines[at : at + count]
            to = rng.randint(0, len(lines))
            lines[to:to] = block
        elif kind == "copy":
            lines[at:at] = rng.choice(list(files.values()))[:count]
        elif kind == "shuffle":
            some = rng.sample(range(len(lines)), len(lines) // 3)
            for one, other in itertools.pairwise(some):
                lines[one], lines[other] = lines[other], lines[one]
        elif kind == "restore":
            lines = list(rng.choice(self.old))
        elif kind == "ends":
            ends = [("\n", "\r\n"), ("\r\n", "\n")][lines[:1] != [] and lines[0].endswith("\r\n")]
            lines = [line.removesuffix(ends[0]).removesuffix("\r") + ends[1] for line in lines]
        if kind in ("rename", "renames"):
            for path in rng.sample(list(files), min(len(files), 1 if kind == "rename" else 3)):
                lines = files.pop(path)
                if rng.random() < 0.7:
                    start = rng.randint(0, len(lines))
                    new = self.lines(rng.randint(0, len(lines) // 2))
                    lines = lines[:start] + new + lines[start + rng.randint(0, 40):]
                name = path.rsplit("/", 1)[-1] if rng.random() < 0.6 else rng.choice(NAMES)
                files[rng.choice(DIRECTORIES) + name] = lines or self.lines(5)
        elif kind == "delete" and len(files) > 3:
            del files[path]
        else:
            files[path] = lines or self.lines(5)
        if len(files) < 6:
            files[rng.choice(DIRECTORIES) + rng.choice(NAMES)] = self.lines(rng.randint(20, 300))
