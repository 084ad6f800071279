"""What an index may miss, count twice or leave behind."""

import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
import typing
from collections.abc import Collection, Iterator

from .. import servers, tools
from . import corpus
from .table import Measure, at_least, at_most, equal, has_flag, yes

# Deeper than a path of the operating system can be (4,096 bytes).
DEEP, DEEP_NAME = 30, "d" * 200

INTERRUPTED_AFTER_S = 0.3


def index(binary: str, out: str, *arguments: str, statuses: Collection[int] = (0,)) -> subprocess.CompletedProcess[str]:
    return tools.run([binary, "index", "--out", out, *arguments], statuses, text=True)


def finds(binary: str, out: str, text: str) -> bool:
    found = tools.run([binary, "search", "--index", out, "-F", text], statuses=(0, 1, 3), text=True)
    return found.returncode == 0


def edits_that_keep_size_and_time(binary: str, work: str) -> Iterator[Measure]:
    source = corpus.write(f"{work}/a_1", {"x.c": "old text\n", "y.c": "old text\n"})
    out, files = f"{work}/I", [pathlib.Path(source, name) for name in ("x.c", "y.c")]
    index(binary, out, source)
    # The clock of file systems is coarse.
    time.sleep(0.05)
    before = files[0].stat()
    files[0].write_text("new text\n")
    os.utime(files[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    index(binary, out, source)
    yield yes("an edit that keeps size and mtime: is found", finds(binary, out, "new text"))
    before = files[1].stat()
    other = pathlib.Path(work, "other")
    other.write_text("new word\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(files[1])
    index(binary, out, source)
    yield yes("mv of a file of equal size and mtime: is found", finds(binary, out, "new word"))
    if has_flag(binary, "index", "--verify"):
        said = index(binary, out, "--verify", source).stderr
        yield yes("index --verify compares every file", "verified 2 " in said)


def one_package_in_two_backends(binary: str, work: str) -> Iterator[Measure]:
    both = corpus.write(f"{work}/a_1", {"x.c": "needle\n"})
    other = corpus.write(f"{work}/b_1", {"y.c": "something else\n"})
    index(binary, f"{work}/I1", both)
    index(binary, f"{work}/I2", both, other)
    with (servers.backend(binary, f"{work}/I1") as one, servers.backend(binary, f"{work}/I2") as two,
          servers.frontend(binary, [one, two], f"{work}/spool") as frontend):
        answer = wait_for_answer(frontend)
        yield equal("a package in two backends: matches of its one line", answer["found"], 1)
        yield yes("a package in two backends: the answer says so", answer.get("overlaps"))
        ready = frontend.connection.answer("/readyz").body.decode()
        yield yes("a package in two backends: /readyz names it", "a_1" in ready)


def wait_for_answer(frontend: servers.Server, seconds: float = 5) -> typing.Any:
    """Searches until both backends are connected."""
    deadline = time.monotonic() + seconds
    number = 0
    while True:
        number += 1
        answer = frontend.search(q=f"needle -word{number}")
        searched = answer["searched"]
        if (answer["complete"] and searched["of"] >= 2) or time.monotonic() > deadline:
            return answer
        time.sleep(0.1)


def what_lies_beside_packages(binary: str, work: str) -> Iterator[Measure]:
    parent = corpus.write(f"{work}/P", {
        "x_1/f.c": "needle\n", "loose.c": "needle\n", ".hidden/f.c": "needle\n",
        "ignored_1/f.c": "needle\n", ".gitignore": "ignored_1/\n", ".git/HEAD": "ref: refs/heads/main\n",
        ".git/config": "[core]\n", ".git/objects/x": "", ".git/refs/x": "",
    })
    os.symlink("x_1", f"{parent}/link_1")
    index(binary, f"{work}/I", "--each", parent)
    listed = tools.run([binary, "inspect", f"{work}/I", "--skipped"], text=True).stdout
    names = ("loose.c", ".hidden", "ignored_1", "link_1")
    named = sum(any(line.split("\t")[0].endswith(name) for line in listed.splitlines()) for name in names)
    yield equal("--each: of 4 things beside packages are listed", named, len(names))


def sources_without_source(binary: str, work: str) -> Iterator[Measure]:
    os.makedirs(f"{work}/empty")
    done = index(binary, f"{work}/I", f"{work}/empty", statuses=(0, 1, 2))
    yield equal("an empty source: exit status of index", done.returncode, 2)
    bare = corpus.write(f"{work}/bare.git", {
        "HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = true\n", "description": "x\n",
        "objects/info/x": "", "refs/heads/x": "", "hooks/update.sample": "#!/bin/sh\n",
    })
    done = index(binary, f"{work}/J", bare)
    yield yes("a bare git repository: a hint", "bare git repository" in done.stderr)
    source = corpus.write(f"{work}/S", {"x.c": "needle\n"})
    done = index(binary, f"{source}/I", source)
    yield yes("an index inside its source: a line says so", "is inside" in done.stderr)


def deep_directories(binary: str, work: str) -> Iterator[Measure]:
    source = corpus.write(f"{work}/deep_1", {"top.c": "at the top\n"})
    directory = os.open(source, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir(DEEP_NAME, dir_fd=directory)
        below = os.open(DEEP_NAME, os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = below
    with open("deep.c", "w", opener=lambda path, flags: os.open(path, flags, dir_fd=directory)) as file:
        file.write("needle far below\n")
    os.close(directory)
    index(binary, f"{work}/I", source)
    yield yes(f"a file below {DEEP * (len(DEEP_NAME) + 1):,} bytes of directories: is found",
              finds(binary, f"{work}/I", "needle far below"))
    shutil.rmtree(source)


def interrupted(binary: str, work: str, sources: str) -> Iterator[Measure]:
    out = f"{work}/I"
    process = subprocess.Popen([binary, "index", "--each", "--jobs", "1", "--memory", "64M", "--out", out,
                                sources], stderr=subprocess.PIPE, text=True)
    threading.Timer(INTERRUPTED_AFTER_S, process.send_signal, [signal.SIGINT]).start()
    said = process.communicate()[1]
    left = sum(file.stat().st_size for file in pathlib.Path(out).rglob("*") if file.is_file())
    yield yes("Ctrl-C in indexing: a message", said.strip())
    yield at_most("Ctrl-C in indexing: files left", left / 1e6, 0.1, "{:.1f} MB")
    yield Measure("Ctrl-C in indexing: exit status", process.returncode)


def units_of_speed(binary: str, work: str, sources: str) -> Iterator[Measure]:
    """Runs the indexing in a terminal, where it has a progress bar."""
    script = ["script", "-qec", f"{binary} index --each --jobs 1 --out {work}/I {sources}", "/dev/null"]
    shown = tools.run(script, env=dict(os.environ, TERM="xterm")).stdout.decode(errors="replace")
    units = collections.Counter(re.findall(r"[kKMG]i?B/s", shown))
    systems = {"i" in unit for unit in units}
    yield at_least("speeds shown in indexing", sum(units.values()), 1)
    yield equal("speeds shown in indexing: systems of units", len(systems), 1)
