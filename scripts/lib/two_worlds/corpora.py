"""Packages and git repositories, public and private, that share texts.

Each world has an index with the same public ones, built in the same steps; the first world has private ones too,
which stand in the same shards, own the texts that both have, and have names that are near public ones.
"""

import os
import random
import shutil
import subprocess
from collections.abc import Sequence

from .. import tools

# The names of what everybody may see, of what only members of a team may see, and of what nobody here may see.
PUBLIC = ("pub-alpha", "pub-beta", "pub-gamma", "pub-delta", "pub-zeta")
TEAM = ("team-eps", "team-kappa")
PRIVATE = ("aaa-vault", "pab-beta", "pub.alpha", "secret-eps", "zzz-vault")
REPOSITORIES = {"pub-hist": "public", "team-repo": "team", "pub_hist": "private", "vault-repo": "private"}

PUBLIC_WORDS = ("task", "int", "back", "stat", "parse", "render", "errno", "malloc", "naïve", "Task", "return",
                "needle")
PRIVATE_WORDS = ("quokka", "wombatkey", "needlework", "taskforce", "hunter2token")
PATHS = ("a.c", "b.md", "src/a.c", "src/b.py", "src/with space.c", "t/x.py", "naïve.md", "deep/er/src/a.c",
         "web/p.html")
# Lines with words in code, and some in definitions, comments and strings.
FORMS = ("{};\n",) * 5 + ("// {}\n", 'x = "{}";\n', "int {}(void) {{}}\n", "def {}(): pass\n", "# {}\n")
BINARY = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}


class Corpora:
    """The sources of both worlds below a directory."""

    def __init__(self, work: str, seed: int) -> None:
        self.work, self.rng = work, random.Random(seed)
        self.shared = [self.text(PUBLIC_WORDS) for _ in range(12)]
        self.steps: list[list[str]] = [[], []]
        for number, name in enumerate(PUBLIC + TEAM + PRIVATE):
            self.add(name, ["1.0"] if number % 3 else ["1.0", "2.0-1"])
        for name in REPOSITORIES:
            self.repository(name)

    def add(self, name: str, versions: list[str]) -> None:
        """Makes a package in each version."""
        for version in versions:
            directory = os.path.join(self.work, "packages", f"{name}_{version}")
            words = PRIVATE_WORDS + PUBLIC_WORDS if name in PRIVATE else PUBLIC_WORDS
            for path in self.rng.sample(PATHS, self.rng.randint(4, len(PATHS))):
                self.write(os.path.join(directory, path), self.some_text(words))
            self.write(os.path.join(directory, "skipped.bin"), BINARY)
            self.write(os.path.join(directory, f"{name}-only.c"), self.text(words))
            if self.rng.random() < 0.5:
                os.symlink("a.c", os.path.join(directory, "link.c"))
            self.steps[self.rng.random() < 0.4].append(directory)

    def some_text(self, words: Sequence[str]) -> str:
        """Returns a text that others have too, or a new one."""
        return self.rng.choice(self.shared) if self.rng.random() < 0.5 else self.text(words)

    def text(self, words: Sequence[str]) -> str:
        lines = range(self.rng.randint(1, 60))
        return "".join(self.rng.choice(FORMS).format(" ".join(self.rng.choices(words, k=self.rng.randint(1, 7))))
                       for _ in lines)

    @staticmethod
    def write(path: str, content: str | bytes) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def repository(self, name: str) -> None:
        """Makes a repository with two branches, a tag, texts of others, and files that are not text."""
        path = os.path.join(self.work, "git", f"{name}.git")
        words = PRIVATE_WORDS + PUBLIC_WORDS if REPOSITORIES[name] == "private" else PUBLIC_WORDS
        self.git("init", "-q", "--bare", "-b", "main", path)
        stream: list[str | bytes] = []
        for number, branch in enumerate(("main", "main", "dev", "main"), 1):
            message = f"{self.rng.choice(words)} {number}"
            stream.append(f"commit refs/heads/{branch}\nmark :{number}\ncommitter {name} <{name}@example.org> "
                          f"{1700000000 + number} +0000\ndata {len(message.encode())}\n{message}\n"
                          + ("from :1\n" if number == 3 else ""))
            for file in [*self.rng.sample(PATHS, 4), "image.png"]:
                content = BINARY if file == "image.png" else self.some_text(words).encode()
                stream.append(f"M 100644 inline {file}\ndata {len(content)}\n".encode() + content + b"\n")
        stream.append("reset refs/tags/v1.0\nfrom :2\n\n")
        data = b"".join(part if isinstance(part, bytes) else part.encode() for part in stream)
        self.git("-C", path, "fast-import", "--quiet", input=data)

    @staticmethod
    def git(*words: str, input: bytes | None = None) -> None:
        done = subprocess.run(["git", *words], env=ENVIRONMENT, capture_output=True, input=input)
        if done.returncode:
            raise tools.Failure(f"git {words}: {done.stderr.decode(errors='replace')}")

    def build(self, world: str, has_private: bool) -> tuple[str, str]:
        """Builds the index of a world and its directory of repositories, and returns both."""
        index, repositories = (os.path.join(self.work, f"{world}-{kind}") for kind in ("index", "repos"))
        shown = [name for name, kind in REPOSITORIES.items() if has_private or kind != "private"]
        for name in shown:
            shutil.copytree(self.path_of(name), os.path.join(repositories, f"{name}.git"))
        for number, step in enumerate(self.steps):
            directories = [path for path in step if has_private or not is_private(path)]
            flags = [word for name in (shown if number else []) for word in ("--git", self.path_of(name))]
            parent = os.path.join(self.work, f"{world}-packages-{number}")
            for path in directories:
                shutil.copytree(path, os.path.join(parent, os.path.basename(path)), symlinks=True)
            tools.run([tools.trawl(), "index", "--no-ignore", "--index", index, *flags,
                       *(["--ref", "all"] if flags else []),
                       *(["--each", "--replace-versions", parent] if directories else [])])
        return index, repositories

    def path_of(self, repository: str) -> str:
        return os.path.join(self.work, "git", f"{repository}.git")


def is_private(path: str) -> bool:
    return os.path.basename(path).rsplit("_", 1)[0] in PRIVATE


def names() -> tuple[str, ...]:
    """All names of packages and repositories."""
    return PUBLIC + TEAM + PRIVATE + tuple(REPOSITORIES)


def private_names() -> set[str]:
    return set(PRIVATE) | {name for name, kind in REPOSITORIES.items() if kind == "private"}
