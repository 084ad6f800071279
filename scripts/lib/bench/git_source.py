"""What the parts of `bench git` that index repositories share: git without the user's settings, files of an index."""

import os
import time

from .. import tools

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}


def run(repository, *words, statuses=(0,), **options):
    """Runs git in a repository, and returns what it prints, as bytes."""
    options = {"env": ENVIRONMENT} | options
    return tools.run(["git", "-C", repository, *words], statuses, **options).stdout


def import_commits(repository, stream):
    run(repository, "fast-import", "--quiet", stdin=None, input=stream)


def name(source):
    return os.path.basename(os.path.abspath(source)).removesuffix(".git")


def files(index):
    """Returns the bytes of the files of an index, by name. The manifest and the lock are left out."""
    return {entry.name: entry.stat().st_size for entry in os.scandir(index) if entry.name not in ("manifest", "lock")}


def timed(command):
    """Returns the seconds that a command takes."""
    began = time.perf_counter()
    tools.run(command)
    return time.perf_counter() - began


def lines(trawl, index, word, revision):
    """Returns how many lines of each file of a revision have a word, by path, as `trawl search` counts them."""
    command = [trawl, "search", "--index", index, "--count", "--rev", revision, "-F", "-s", "--", word]
    counts = {}
    for line in tools.run(command, (0, 1)).stdout.splitlines():
        path, _, count = line.rpartition(b":")
        counts[path.partition(b"/")[2]] = int(count)
    return counts
