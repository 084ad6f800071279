"""`bench git --only branch`: a second branch with ten changed files, in an index that has the default branch.

Every round adds another such branch. A line that only the branch has must be found in its ten files.
"""

import os
import statistics
from collections.abc import Sequence

from .. import tools
from ..table import Goals, Wrong
from . import git_source as git

CHANGED = 10


def measure(table: Goals, trawl: str, sources: Sequence[tools.AnyPath], runs: int) -> None:
    for source in sources:
        with table.rows(f"{git.name(source)}: a second branch"), tools.workspace() as work:
            measure_one(table, trawl, source, runs, work)


def measure_one(table: Goals, trawl: str, source: tools.AnyPath, runs: int, work: str) -> None:
    what = f"{git.name(source)}, a branch with {CHANGED} changed files"
    clone, index = os.path.join(work, "clone.git"), os.path.join(work, "index")
    tools.run(["git", "clone", "-q", "--bare", "--local", "--single-branch", source, clone], env=git.ENVIRONMENT)
    command = [trawl, "index", "--index", index, "--git", clone, "--ref", "refs/heads/*"]
    first = git.timed(command)
    table.row(f"{what}: the default branch before", first, "{:.2f} s")
    table.row(f"{what}: its index", sum(git.files(index).values()) / 1e6, "{:,.1f} MB")
    times, sizes = [], []
    for number in range(runs):
        before = git.files(index)
        word = add_branch(clone, f"second{number}")
        times.append(git.timed(command))
        sizes.append(sum(size for file, size in git.files(index).items() if file not in before))
        check(trawl, index, word, f"second{number}")
    table.row(f"{what}: trawl index --git again", statistics.median(times), "{:.2f} s", at_most=1)
    table.row(f"{what}: bytes beside the manifest", statistics.median(sizes) / 1e6, "{:.2f} MB", at_most=2)


def add_branch(clone: str, branch: str) -> str:
    """Makes a branch of the default one, with another line in some files. Returns a word of that line."""
    word = f"changed_on_{branch}"
    stream = [f"commit refs/heads/{branch}\ncommitter a <a@b> 1700000000 +0000\ndata 3\nten\nfrom HEAD^0\n".encode()]
    for path in some_files(clone):
        text = git.run(clone, "cat-file", "blob", b"HEAD:" + path) + f"\n{word}\n".encode()
        stream.append(b"M 644 inline " + quoted(path) + f"\ndata {len(text)}\n".encode() + text + b"\n")
    git.import_commits(clone, b"".join(stream))
    return word


def some_files(clone: str) -> list[bytes]:
    """Returns files of text of the default branch, from all over its tree."""
    listed = git.run(clone, "grep", "-I", "-l", "-z", "-e", "", "HEAD").split(b"\0")[:-1]
    files = [path.removeprefix(b"HEAD:") for path in listed]
    return files[:: len(files) // CHANGED][:CHANGED]


def quoted(path: bytes) -> bytes:
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def check(trawl: str, index: str, word: str, branch: str) -> None:
    found = git.lines(trawl, index, word, branch)
    if sorted(found.values()) != [1] * CHANGED:
        raise Wrong(f"{word} is in {found} of {branch}, not in {CHANGED} files")
    if elsewhere := git.lines(trawl, index, word, "HEAD"):
        raise Wrong(f"{word} is in {elsewhere} of the default branch")
