"""What the parts of `bench git` that index repositories share: git without the user's settings, files of an index."""

import os
import time
from collections.abc import Collection, Iterable

from .. import tools

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}


def run(repository: tools.AnyPath, *words: str | bytes, statuses: Collection[int] = (0,),
        input: bytes | None = None) -> bytes:
    """Runs git in a repository, and returns what it prints, as bytes."""
    return tools.run(["git", "-C", repository, *words], statuses, env=ENVIRONMENT, input=input).stdout


def import_commits(repository: tools.AnyPath, stream: bytes) -> None:
    run(repository, "fast-import", "--quiet", input=stream)


def name(source: tools.AnyPath) -> str:
    return os.path.basename(os.path.abspath(source)).removesuffix(".git")


def files(index: str) -> dict[str, int]:
    """Returns the bytes of the files of an index, by name. The manifest and the lock are left out."""
    return {entry.name: entry.stat().st_size for entry in os.scandir(index) if entry.name not in ("manifest", "lock")}


def timed(command: Iterable[object]) -> float:
    """Returns the seconds that a command takes."""
    began = time.perf_counter()
    tools.run(command)
    return time.perf_counter() - began


def lines(trawl: str, index: str, word: str, revision: str) -> dict[bytes, int]:
    """Returns how many lines of each file of a revision have a word, by path, as `trawl search` counts them."""
    command = [trawl, "search", "--index", index, "--count", "--rev", revision, "-F", "-s", "--", word]
    counts = {}
    for line in tools.run(command, (0, 1)).stdout.splitlines():
        path, _, count = line.rpartition(b":")
        counts[path.partition(b"/")[2]] = int(count)
    return counts
