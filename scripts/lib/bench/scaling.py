"""`bench scaling`: the coefficients of docs/scaling.md, and the machines that follow from them.

The packages of a directory in an order that depends on their names alone: as many of them as have a sixteenth and a
quarter of the bytes, and all. Each of the three is indexed and served, and asked for what users ask for. Times are
processor time of the server, which other programs disturb less than elapsed time. An exponent is the slope of a line
through the logarithms: 1 means in proportion to the text, 0 the same for any corpus.

Two things are measured apart. The same text in more shards says what a shard costs a light search. A frontend with more
backends, each with an index of its own, says what a backend costs it.

`scaling_model` computes the rest.
"""

import contextlib
import hashlib
import itertools
import os
import random
import shutil
import statistics
import time
from collections.abc import Sequence

from .. import servers, tools
from ..connection import Connection
from ..table import Wrong, load, row
from . import end_to_end, nested, scaling_model
from .build import index_command, size
from .growth import exponent, regular
from .scaling_model import Coefficients

FRACTIONS = (1 / 16, 1 / 4, 1)

# Distinct searches of a class.
RARE, COMMON = 300, 40
LINES_MAX = 10

# The words that are asked for in a class of common words; every corpus has them.
WORDS = ["return", "static", "struct", "include", "define", "printf", "string", "buffer", "length", "error", "value",
         "result",
         "index", "count", "while", "break", "false", "config", "update", "parse"]

# Of an export and a scan: a word of a tenth of all lines, and a pattern that has no trigram.
EXPORTED, SCANNED = "return", ";$"

# Shards of the smallest corpus, and backends of a frontend.
SHARDS, BACKENDS = (1, 16, 64), (1, 4, 16)

SPOOL_BYTES = ("--spool-bytes", "64G")


def main(directory: str) -> int:
    tools.need("rg")
    with tools.workspace() as work:
        print(f"{load()}; processor time of the server unless it says otherwise", flush=True)
        parts = subsets(directory)
        results: list[dict[str, float]] = []
        words: list[str] = []
        for part in parts:
            index = os.path.join(work, "index")
            built = tools.measured(index_command_of(index, part))
            words = words or end_to_end.rare_words(index)
            results.append(measured(index, work, built, part, words))
            shutil.rmtree(index)
        coefficients = tabulated(results)
        shards(work, parts[0], words)
        coefficients.stream_us, coefficients.stream_match_us = streams(work, parts[0], words)
    scaling_model.main(coefficients)
    return 0


def index_command_of(index: str, packages: list[str], *flags: str) -> list[str]:
    """`trawl index` of some packages. They are not searched for packages inside, other than in `bench build`."""
    return [word for word in index_command(index, packages[0], *flags, *packages[1:]) if word != "--each"]


def subsets(directory: str) -> list[list[str]]:
    """Returns lists of packages, each a part of the next one."""
    packages = tools.packages(directory)
    packages.sort(key=lambda path: hashlib.sha256(os.path.basename(path).encode()).digest())
    sizes = [sum(os.path.getsize(path) for path in regular(package)) for package in packages]
    upto = list(itertools.accumulate(sizes))
    parts = []
    for fraction in FRACTIONS:
        # The number of packages whose bytes come nearest to this part.
        count = min(range(len(upto)), key=lambda at: abs(upto[at] - fraction * upto[-1])) + 1
        parts.append(packages[:count])
    return parts


def measured(index: str, work: str, built: tuple[float, int, float], packages: list[str],
             words: list[str]) -> dict[str, float]:
    """Returns the figures of one corpus, by name."""
    seconds, peak, cpu = built
    spool = os.path.join(work, "spool")
    with servers.serve(tools.trawl(), index, spool, *SPOOL_BYTES) as server:
        status = server.connection.json("/api/v2/status")
        text, shards_of = status["bytes"], status["shards"]
        anonymous = server.status("RssAnon")
        asked = Asked(server)
        rare = [word for word in words[: 4 * RARE] if asked.total(word) <= LINES_MAX][:RARE]
        found: dict[str, float] = {
            "text MB": text / 1e6,
            "packages": len(packages),
            "shards": shards_of,
            "index, bytes a byte": size(index) / text,
            "build, s/GB": 1e9 * cpu / text,
            "build, elapsed s": seconds,
            "build, peak MiB": peak / 2**20,
            "memory at start, MiB": anonymous / 2**20,
        }
        # Each has another filter, so that no kept answer is used.
        searches: list[tuple[str, list[str], dict[str, object]]] = [
            ("text that is nowhere", [word[::-1] + "q" for word in rare], {}),
            ("rare identifier", rare, {}),
            ("ten best of a common word", WORDS * (COMMON // len(WORDS)), {"limit": 10, "total": "estimate"}),
            ("common word, exact total", WORDS, {}),
        ]
        for what, texts, parameters in searches:
            cpu_s, ms = asked.all(texts, **parameters)
            found[f"{what}, ms"] = 1e3 * cpu_s
            found[f"{what}, p50 ms"] = ms
        found |= exported(server, EXPORTED, "common")
        found |= exported(server, SCANNED, "scan")
        found["memory after all, MiB"] = server.status("RssAnon") / 2**20
    shutil.rmtree(spool)
    return found


class Asked:
    """Sends searches of which no two are the same."""

    def __init__(self, server: servers.Server) -> None:
        self.server, self.number = server, 0

    def total(self, word: str) -> int:
        answer = self.server.search(q=f'"{word}"', context=0)
        if not answer["complete"]:
            raise Wrong(f"{word}: incomplete: {answer['missing']}")
        return int(answer["total"])

    def all(self, texts: Sequence[str], **parameters: object) -> tuple[float, float]:
        """Returns the processor seconds of a search, and the median of the milliseconds."""
        cpu_s, times = self.server.cpu_s(), []
        for text in texts:
            self.number += 1
            began = time.perf_counter()
            answer = self.server.search(q=f'"{text}" -path:no.such.{self.number}', context=0, **parameters)
            times.append(1e3 * (time.perf_counter() - began))
            if not answer["complete"]:
                raise Wrong(f"{text}: incomplete: {answer['missing']}")
        return (self.server.cpu_s() - cpu_s) / len(texts), statistics.median(times)


def exported(server: servers.Server, pattern: str, what: str) -> dict[str, float]:
    """Returns what all lines cost that match: to find, spool and order them, and to read them back, as text."""
    written = server.metric("trawl_frontend_spool_written_bytes_total")
    cpu_s, began = server.cpu_s(), time.perf_counter()
    answer = server.search(q=pattern, mode="regexp", context=0)
    cpu_s, seconds = server.cpu_s() - cpu_s, time.perf_counter() - began
    if not answer["complete"]:
        raise Wrong(f"{pattern}: incomplete: {answer['missing']}")
    written = server.metric("trawl_frontend_spool_written_bytes_total") - written
    lines = answer["total"]
    read_s, sent = server.cpu_s(), 0
    with Connection(server.address, timeout_s=600) as connection:
        status, head = connection.send("/api/v2/export", q=pattern, mode="regexp", context=0, format="text")
        sent = sum(len(piece) for piece in connection.body(head))
    if status != 200:
        raise Wrong(f"{pattern}: status {status} of an export")
    read_s = server.cpu_s() - read_s
    return {
        f"{what}, million lines": lines / 1e6,
        f"{what}, s": cpu_s,
        f"{what}, elapsed s": seconds,
        f"{what}, us a line": 1e6 * cpu_s / lines,
        f"{what}, spooled bytes a line": written / lines,
        f"{what}, read back, us a line": 1e6 * read_s / lines,
        f"{what}, sent bytes a line": sent / lines,
    }


def tabulated(results: list[dict[str, float]]) -> Coefficients:
    """Prints the figures with their exponents. Returns those that the model needs."""
    row("", [f"{result['text MB'] / 1e3:.2f} GB" for result in results] + ["exponent"])
    for name in results[0]:
        values = [result[name] for result in results]
        is_fit = all(value > 0 for value in values) and name != "text MB"
        fitted = f"{exponent([(each['text MB'], each[name]) for each in results]):.2f}" if is_fit else ""
        cells = [f"{value:,.3g}" if value < 1e3 else f"{value:,.0f}" for value in values]
        row(name, [*cells, fitted])
    first_page = {what: line(results, f"{what}, ms") for what in scaling_model.FIRST_PAGE}
    return Coefficients(results[-1], 1e6 * results[-1]["text MB"], first_page)


def line(results: list[dict[str, float]], name: str) -> statistics.LinearRegression:
    """Returns seconds by byte of text, and for none: lists and candidates that do not match grow with the text."""
    texts = [1e6 * each["text MB"] for each in results]
    return statistics.linear_regression(texts, [each[name] / 1e3 for each in results])


def shards(work: str, packages: list[str], words: list[str]) -> None:
    """Measures what each shard adds to a light search."""
    points = []
    sources = os.path.join(work, "packages")
    total = sum(os.path.getsize(path) for package in packages for path in regular(package))
    split(packages, sources, max(SHARDS))
    row("shards of the smallest corpus", ["light, us"])
    for count in SHARDS:
        index, spool = os.path.join(work, "index"), os.path.join(work, "spool")
        tools.run(index_command(index, sources, "--shard-size", str(total // count + 1)))
        with servers.serve(tools.trawl(), index, spool) as server:
            opened = server.connection.json("/api/v2/status")["shards"]
            asked = Asked(server)
            asked.all(words[:RARE])
            cpu_s, _ = asked.all([word[::-1] + "z" for word in words[:RARE]])
        points.append((opened, 1e6 * cpu_s))
        row(f"{opened}", [f"{1e6 * cpu_s:.0f}"])
        shutil.rmtree(index)
        shutil.rmtree(spool)
    slope, _ = statistics.linear_regression(*zip(*points))
    row("each shard adds", [f"{slope:.1f} us"])


def split(packages: list[str], target: str, count: int) -> None:
    """Copies packages in pieces, so that they can be put into many shards: `count` packages of about the same size."""
    paths = [path for package in packages for path in regular(package) if not os.path.islink(path)]
    files = [(path, os.path.getsize(path)) for path in paths]
    random.Random(1).shuffle(files)
    sizes = [0] * count
    for path, bytes_of in files:
        at = sizes.index(min(sizes))
        sizes[at] += bytes_of
        of_directory = hashlib.sha256(os.path.dirname(path).encode()).hexdigest()[:16]
        directory = os.path.join(target, f"part{at:03}", of_directory)
        os.makedirs(directory, exist_ok=True)
        with contextlib.suppress(OSError):
            shutil.copyfile(path, os.path.join(directory, os.path.basename(path)))


def streams(work: str, packages: list[str], words: list[str]) -> tuple[float, float]:
    """Returns the microseconds of a frontend for a backend and light search, and for a match that it receives."""
    sources = os.path.join(work, "packages")
    parts = sorted(os.path.join(sources, name) for name in os.listdir(sources))
    groups = [parts[at::max(BACKENDS)] for at in range(max(BACKENDS))]
    points, a_match = [], 0.0
    row("backends of a frontend", ["light, us", "a match, us"])
    with contextlib.ExitStack() as stack:
        started = []
        for number, group in enumerate(groups):
            index = os.path.join(work, f"index{number}")
            tools.run(index_command_of(index, group))
            started.append(stack.enter_context(servers.backend(tools.trawl(), index)))
        for count in BACKENDS:
            spool = os.path.join(work, "spool")
            with servers.frontend(tools.trawl(), started[:count], spool) as frontend:
                asked = Asked(frontend)
                asked.all(words[:20])
                cpu_s, _ = asked.all([word[::-1] + "y" for word in words[:RARE]])
                match_s = frontend.cpu_s()
                total = sum(frontend.search(q=nested(EXPORTED, depth), mode="regexp", context=0)["total"]
                            for depth in (1, 2, 3))
                a_match = 1e6 * (frontend.cpu_s() - match_s) / max(total, 1)
            shutil.rmtree(spool)
            points.append((count, 1e6 * cpu_s))
            row(f"{count}", [f"{1e6 * cpu_s:.0f}", f"{a_match:.2f}"])
    slope, _ = statistics.linear_regression(*zip(*points))
    row("each backend adds", [f"{slope:.1f} us"])
    return max(slope, 0.0), a_match
