"""`bench cold`: searches of an index that is not in memory, and of one that does not fit in it.

Whole processes: the files of the index are dropped from the page cache before each run (`posix_fadvise`); pages that
another process has mapped stay, and are counted. A server: its page cache is limited by a control group, to a share of
the index. The control group needs root, and version 1 or 2 of control groups with the memory controller.
"""

import contextlib
import ctypes
import glob
import mmap
import os
import random
import re
import statistics
import subprocess
import time
from collections.abc import Iterable, Sequence

from .. import servers, tools
from ..connection import Connection
from ..table import Goals, Wrong, quantiles
from . import search

# A text that is nowhere, a rare one, and one in a sixth of all blocks.
QUERIES = [("no line has this text", None), ("TCP_NODELAY", 0.15), ("arse", 2.0)]
# What a limited server may keep in the page cache, of the index.
SHARES = [1, 0.5, 0.25, 0.1, 0.05]
# Light queries: each is asked once a server, some before the measured ones.
WORDS, WARM_UP = 500, 200
LINES_MAX = 10
# Memory of the server beside the page cache may grow so much while it is measured.
GROWTH_BYTES = 32 << 20
GROUPS = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]


def main(given: str, runs: int = 5) -> int:
    trawl, table = tools.trawl(), Goals()
    with tools.workspace() as work:
        index = given
        if not tools.is_index(given):
            index = tools.build_index(trawl, os.path.join(work, "index"), [given], "--each")
        for text, goal_s in QUERIES:
            with table.rows(text):
                whole_process(table, trawl, index, text, goal_s, runs)
        with table.rows("a server with little memory"), contextlib.suppress(NoGroup):
            limited(table, trawl, index, work)
    return table.finish()


def whole_process(table: Goals, trawl: str, index: str, text: str, goal_s: float | None, runs: int) -> None:
    command = search(trawl, index, "literal", text)
    warm: list[float] = []
    cold: list[tuple[float, int, int]] = []
    answers: set[bytes] = set()
    measured(command)
    for _ in range(runs):
        seconds, _, answer = measured(command)
        warm.append(seconds)
        answers.add(answer)
    for _ in range(runs):
        drop(index)
        left = cached_bytes(index)
        seconds, read, answer = measured(command)
        cold.append((seconds, read, left))
        answers.add(answer)
    if len(answers) != 1:
        raise Wrong("the answers of cold and warm searches differ")
    seconds, read, left = (statistics.median(column) for column in zip(*cold))
    lines = answers.pop().count(b"\n")
    table.row(f"{text}: {lines:,} lines, warm", statistics.median(warm), "{:.3f} s")
    note = f"{read / 1e6:,.0f} MB read" + (f", {left / 1e6:,.0f} MB could not be dropped before" if left else "")
    table.row(f"{text}: cold", seconds, "{:.3f} s", at_most=goal_s, note=note)


def measured(command: Sequence[str]) -> tuple[float, int, bytes]:
    """Runs a command. Returns seconds, bytes read from disks, and the output."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise Wrong(f"exit status {process.returncode} of {' '.join(command)}")
    return elapsed, usage.ru_inblock * 512, out


def files(index: str) -> list[str]:
    return [entry.path for entry in os.scandir(index) if entry.is_file()]


def drop(index: str) -> None:
    """Drops the files of an index from the page cache."""
    for path in files(index):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cached_bytes(index: str) -> int:
    """Returns how many bytes of an index are in the page cache."""
    libc, pages = ctypes.CDLL(None, use_errno=True), 0
    libc.mmap.restype = ctypes.c_void_p
    for path in filter(os.path.getsize, files(index)):
        with open(path, "rb") as file:
            size = ctypes.c_size_t(os.path.getsize(path))
            start = ctypes.c_void_p(libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(),
                                              ctypes.c_long(0)))
            found = (ctypes.c_ubyte * -(-size.value // mmap.PAGESIZE))()
            libc.mincore(start, size, found)
            libc.munmap(start, size)
            pages += sum(byte & 1 for byte in bytes(found))
    return pages * mmap.PAGESIZE


class NoGroup(Exception):
    pass


class Group:
    """A control group for the memory of a server."""

    def __init__(self) -> None:
        for root in GROUPS:
            self.path = os.path.join(root, f"trawl-bench-{os.getpid()}")
            try:
                os.mkdir(self.path)
            except OSError:
                continue
            if os.path.exists(self.file("memory.stat")):
                return
            os.rmdir(self.path)
        print("left out: a server with little memory, because no control group can be made here: run it as root")
        raise NoGroup

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def command(self, command: Iterable[str]) -> list[str]:
        """Returns the command that runs in the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', self.file("cgroup.procs"), *command]

    def process_bytes(self) -> int:
        """Returns the memory that is not page cache."""
        with open(self.file("memory.stat")) as file:
            found = dict(line.split() for line in file)
        return int(found.get("rss", found.get("anon", 0)))

    def limit(self, size: int) -> None:
        for name in ("memory.limit_in_bytes", "memory.max"):
            if os.path.exists(self.file(name)):
                with open(self.file(name), "w") as file:
                    file.write(str(size))

    def remove(self) -> None:
        os.rmdir(self.path)


def limited(table: Goals, trawl: str, index: str, work: str) -> None:
    """Measures light queries of a server that may keep a share of the index in memory."""
    size = sum(os.path.getsize(path) for path in files(index))
    words = sample(index)
    totals: dict[str, int] = {}
    for share in SHARES:
        group = Group()
        try:
            spool = os.path.join(work, f"spool-{share}")
            drop(index)
            serve = [trawl, "serve", "--index", index, "--spool", spool, *servers.LISTEN]
            with servers.started(group.command(serve)) as server, Connection(server.address) as connection:
                ask(connection, words[:20], totals)
                group.limit(int(group.process_bytes() + GROWTH_BYTES + share * size))
                ask(connection, words[20:WARM_UP], totals)
                p50, p99 = quantiles(ask(connection, words[WARM_UP:], totals))
        finally:
            group.remove()
        what = f"light queries, {100 * share:.0f} % of the index in memory at most"
        table.row(f"{what}: p50", p50, "{:.1f} ms")
        table.row(f"{what}: p99", p99, "{:.1f} ms")


def ask(connection: Connection, words: Iterable[str], totals: dict[str, int]) -> list[float]:
    """Asks for words. Returns the milliseconds of those that are rare, and compares the answers with earlier ones."""
    times = []
    for word in words:
        started = time.perf_counter()
        answer = connection.json("/api/v2/search", q=f'"{word}"')
        elapsed = 1e3 * (time.perf_counter() - started)
        if not answer["complete"]:
            raise Wrong(f"{word}: incomplete: {answer['missing']}")
        if totals.setdefault(word, answer["total"]) != answer["total"]:
            raise Wrong(f"{word}: {answer['total']} lines, and {totals[word]} before")
        if answer["total"] <= LINES_MAX:
            times.append(elapsed)
    return times


def sample(index: str) -> list[str]:
    """Returns words of random places of an index whose content is not compressed."""
    found: set[str] = set()
    rng = random.Random(1)
    shards = glob.glob(os.path.join(glob.escape(index), "*.shard"))
    while len(found) < WORDS:
        path = rng.choice(shards)
        with open(path, "rb") as file:
            # The texts are the first and by far the largest section.
            file.seek(rng.randrange(4096, max(4097, os.path.getsize(path) * 3 // 4)))
            words = re.findall(rb"\b[A-Za-z_][A-Za-z0-9_]{9,30}\b", file.read(16 << 10))
        found.update(word.decode() for word in rng.sample(words, min(3, len(words))))
    words = sorted(found)
    rng.shuffle(words)
    return words
