"""`bench git --only tags`: an index of the last twenty tags of a repository, beside the unique bytes of their blobs.

The reference is an index of a directory that has each of these blobs once, as a file. Blobs that trawl lists as
skipped, links and submodules are left out of it. The lines that `trawl search` counts at each tag are compared with
those of `git grep`.
"""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence

from .. import tools
from ..table import Goals, Wrong, interleaved, medians
from . import git_source as git

TAGS = 20
WORDS = ("return", "main", "error: ")

# Builds of a second scatter more than others.
BUILDS_A_RUN = 3

# Like git, trawl takes a file for binary that has a NUL in its beginning.
BINARY_PREFIX = 8000

# git takes these files for binary; trawl searches them.
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def measure(table: Goals, trawl: str, sources: Sequence[tools.AnyPath], runs: int) -> None:
    for source in sources:
        with table.rows(f"{git.name(source)}: tags"), tools.workspace() as work:
            tags = versions(source)
            if tags:
                Tags(table, trawl, source, tags, work).measure(runs)
            else:
                print(f"left out: {git.name(source)} has no tag with a version: give a REPOSITORY that has")


def versions(source: tools.AnyPath) -> list[str]:
    """Returns the last tags that name a version, by the order of their numbers."""
    tags = git.run(source, "tag").decode().split()
    numbered = [(re.search(r"\d+(?:\.\d+)+", tag), tag) for tag in tags]
    ordered = sorted(([int(part) for part in found[0].split(".")], tag) for found, tag in numbered if found)
    return [tag for _, tag in ordered][-TAGS:]


class Tags:
    """Tags of a repository, their index, and a directory with each of their blobs."""

    def __init__(self, table: Goals, trawl: str, source: tools.AnyPath, tags: list[str], work: str) -> None:
        self.table, self.trawl, self.source, self.tags, self.work = table, trawl, source, tags, work
        self.what = f"{git.name(source)}, {len(tags)} tags"
        self.refs = [word for tag in tags for word in ("--ref", f"refs/tags/{tag}")]
        self.index, self.directory = os.path.join(work, "index"), os.path.join(work, "blobs")

    def measure(self, runs: int) -> None:
        self.build(self.index, "--git", self.source, *self.refs)
        blob_bytes = self.write_blobs()
        size = sum(git.files(self.index).values())
        self.table.row(f"{self.what}: unique bytes of blobs", blob_bytes / 1e6, "{:,.1f} MB")
        self.table.row(f"{self.what}: index with content", size / 1e6, "{:,.1f} MB")
        self.table.row(f"{self.what}: index, times the unique bytes", size / blob_bytes, "{:.2f}", at_most=1.3)
        self.compare_times(runs)
        self.check()

    def compare_times(self, runs: int) -> None:
        again = os.path.join(self.work, "again")
        contenders: dict[str, tuple[tools.AnyPath, ...]] = {
            "tags": ("--git", self.source, *self.refs), "blobs": ("--no-ignore", self.directory)}
        measured = interleaved({name: functools.partial(self.build, again, *words)
                                for name, words in contenders.items()}, BUILDS_A_RUN * runs)
        (tags, _, tags_cpu), (blobs, _, blobs_cpu) = (medians(measured[name]) for name in contenders)
        self.table.row(f"{self.what}: trawl index of each blob as a file", blobs, "{:.2f} s")
        self.table.row(f"{self.what}: trawl index --git", tags, "{:.2f} s")
        self.table.row(f"{self.what}: build time, times that of files", tags / blobs, "{:.2f}", at_most=1.5)
        self.table.row(f"{self.what}: processor time, likewise", tags_cpu / blobs_cpu, "{:.2f}")

    def build(self, index: str, *words: tools.AnyPath) -> tuple[float, int, float]:
        """Builds an index from nothing. Returns seconds, peak bytes, and processor seconds."""
        shutil.rmtree(index, ignore_errors=True)
        return tools.measured([self.trawl, "index", "--index", index, *words])

    def blobs(self) -> dict[bytes, set[bytes]]:
        """Returns the paths of all blobs of regular files, by id."""
        paths: dict[bytes, set[bytes]] = {}
        for tag in self.tags:
            for line in git.run(self.source, "ls-tree", "-r", "-z", f"refs/tags/{tag}").split(b"\0")[:-1]:
                mode, _, rest = line.split(b" ", 2)
                id, path = rest.split(b"\t", 1)
                if mode in (b"100644", b"100755"):
                    paths.setdefault(id, set()).add(path)
        return paths

    def skipped(self) -> dict[bytes, set[bytes]]:
        """Returns the reasons of files that trawl has left out, by path: at other tags it may have another file."""
        reasons: dict[bytes, set[bytes]] = {}
        for line in tools.run([self.trawl, "inspect", "--index", self.index, "--skipped"]).stdout.splitlines():
            path, reason = line.rsplit(b"\t", 1)
            reasons.setdefault(path.partition(b"/")[2], set()).add(reason)
        return reasons

    def write_blobs(self) -> int:
        """Writes each blob that is indexed to a file, and returns their bytes."""
        blobs, skipped, total = self.blobs(), self.skipped(), 0
        self.utf16: set[bytes] = set()
        command = ["git", "-C", self.source, "cat-file", "--batch"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=git.ENVIRONMENT) as process:
            assert process.stdin and process.stdout
            for id, paths in blobs.items():
                process.stdin.write(id + b"\n")
                process.stdin.flush()
                size = int(process.stdout.readline().split()[2])
                content = process.stdout.read(size)
                process.stdout.read(1)
                if content[:2] in UTF16:
                    self.utf16 |= paths
                if not left_out(content, set[bytes]().union(*(skipped.get(path, ()) for path in paths))):
                    total += size
                    self.write(id.decode(), min(paths), content)
            process.stdin.close()
        return total

    def write(self, id: str, path: bytes, content: bytes) -> None:
        directory = os.path.join(self.directory, id[:2])
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, f"{id}-{os.fsdecode(os.path.basename(path))}"), "wb") as file:
            file.write(content)

    def check(self) -> None:
        """Compares the lines of some words at each tag with git's."""
        lines = 0
        for tag in self.tags:
            for word in WORDS:
                trawl = git.lines(self.trawl, self.index, word, tag)
                judge = self.git_lines(word, tag)
                for path in sorted(trawl.keys() | judge.keys()):
                    if path not in self.utf16 and trawl.get(path) != judge.get(path):
                        raise Wrong(f"{tag}: {word!r} in {path!r}: {trawl.get(path)} lines, git {judge.get(path)}")
                lines += sum(trawl.values())
        self.table.row(f"{self.what}: lines that git grep finds, too", lines, "{:,}")

    def git_lines(self, word: str, tag: str) -> dict[bytes, int]:
        out = git.run(self.source, "grep", "-c", "-I", "-z", "-F", "-e", word, f"refs/tags/{tag}", statuses=(0, 1))
        found = (line.split(b"\0") for line in out.splitlines())
        return {path.split(b":", 1)[1]: int(count) for path, count in found}


def left_out(content: bytes, reasons: set[bytes]) -> bool:
    """Returns whether trawl has skipped a file, for one of the reasons that are listed for its path."""
    others = [reason for reason in reasons if not re.match(rb"binary|a symbolic link|a submodule", reason)]
    return bool(others) or (b"binary" in reasons and b"\0" in content[:BINARY_PREFIX])
