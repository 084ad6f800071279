"""The part of `bench stream` with an index of a corpus: `trawl serve` and HTTP.

Each round asks for a pattern with the same plan and matches but another identity, so the result cache has
no answer.
"""

import contextlib
import functools
import os
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping

from .. import servers, tools
from ..connection import Address, Connection
from ..table import Goals, Wrong, interleaved
from . import indexes, nested

QUERIES = ["arse", "return"]
CONTEXT_LINES = 2

# Identifiers for small answers: more than are requested in ten seconds, so that none repeats.
WORDS = 400_000
LINES_MAX = 10
# How often a common word occurs, at least.
COMMON_MIN = 1000
STARTED = "trawl_frontend_queries_started_total"
LOAD = ["-t", "2", "-c", "8", "-d", "10s", "--latency"]

# Each thread takes every second word, and starts again after the last.
WRK_SCRIPT = """
local threads = 0
function setup(thread) thread:set("id", threads); threads = threads + 1 end
function init(args)
  words, at = {}, id
  for word in io.lines(args[1]) do words[#words + 1] = word end
end
function request()
  at = (at + 2) % #words
  return wrk.format("GET", "/api/v2/search?q=" .. words[at + 1])
end
"""


def measure(table: Goals, trawls: Mapping[str, str], corpus: str, work: str, runs: int) -> None:
    tools.need("rg")
    tools.testkit()
    built = indexes(trawls, corpus, work)
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        backends = {name: enter(servers.backend(trawl, built[name])) for name, trawl in trawls.items()}
        served = {name: enter(serve(trawl, built[name], work)) for name, trawl in trawls.items()}
        for query in QUERIES:
            with table.rows(query):
                last_match(table, query, backends, served, runs)
                first_match(table, query, served, runs)
    if tools.have("wrk"):
        small_answers(table, trawls, corpus, built, work)


@contextlib.contextmanager
def serve(trawl: str, index: str, work: str) -> Iterator[servers.Server]:
    with tempfile.TemporaryDirectory(dir=work) as spool, servers.serve(trawl, index, spool) as server:
        yield server


def last_match(table: Goals, query: str, backends: dict[str, servers.Server], served: dict[str, servers.Server],
               runs: int) -> None:
    """Compares the time to the last match through a frontend with that of the backend alone."""
    counts: set[float] = set()

    def ask(name: str, depths: Iterator[int]) -> tuple[float, float, float]:
        pattern = nested(query, next(depths))
        _, alone_ms, _, matches = servers.drain(backends[name], "regexp", pattern, CONTEXT_LINES)
        started = time.perf_counter()
        answer = served[name].search(q=pattern, mode="regexp", context=CONTEXT_LINES)
        wall_ms = 1e3 * (time.perf_counter() - started)
        if not answer["complete"]:
            raise Wrong(f"incomplete: {answer['missing']}")
        counts.update((matches, answer["total"]))
        return alone_ms, answer["timings"]["stream_ms"], wall_ms

    results = interleaved({name: functools.partial(ask, name, iter(range(runs + 1)))
                           for name in served}, runs)
    if len(counts) != 1:
        raise Wrong(f"counts differ: {counts}")
    alone, stream, wall = ({name: statistics.median(each[at] for each in results[name])
                            for name in served} for at in range(3))
    table.row(f"{query}: lines", counts.pop(), "{:,.0f}")
    table.row(f"{query}: the backend alone, to END", alone, "{:.1f} ms")
    table.row(f"{query}: last match through serve", stream, "{:.1f} ms", at_most=1.5 * alone["trawl"])
    table.row(f"{query}: whole answer with its first page", wall, "{:.1f} ms")


def first_match(table: Goals, query: str, served: dict[str, servers.Server], runs: int) -> None:
    """Measures the time from the request to the first match in a stream of events."""

    def ask(name: str, depths: Iterator[int]) -> float:
        return first_event(served[name].address, nested(query, next(depths)))

    # Deeper than the patterns of `last_match`, which are in the result cache.
    results = interleaved({name: functools.partial(ask, name, iter(range(runs + 1, 2 * runs + 2)))
                           for name in served}, runs)
    times = {name: statistics.median(each) for name, each in results.items()}
    table.row(f"{query}: first match as an event", times, "{:.1f} ms", at_most=20)


def first_event(address: Address, pattern: str) -> float:
    """Returns the milliseconds until the first event with a match."""
    with Connection(address) as connection:
        started, received = time.perf_counter(), b""
        status, head = connection.send("/api/v2/events", q=pattern, mode="regexp")
        for piece in connection.body(head):
            received += piece
            if re.search(rb"event: ?matches\r?\n.*\"text\"", received):
                return 1e3 * (time.perf_counter() - started)
    raise Wrong(f"status {status}, and no event with a match")


def small_answers(table: Goals, trawls: Mapping[str, str], corpus: str, built: dict[str, str], work: str) -> None:
    """Measures the rate of small answers over eight connections, each query a new one."""
    what = "distinct rare identifiers, 8 connections"
    words = rare_words(corpus)
    path = os.path.join(work, "words")
    with open(path, "w") as file:
        file.write("\n".join(words) + "\n")
    with table.rows(what):
        results: dict[str, tuple[float, ...]] = {}
        for name, trawl in trawls.items():
            with serve(trawl, built[name], work) as server:
                for word in words[-10:]:
                    check_small(server, corpus, word)
                cpu_s, before = server.cpu_s(), server.metric(STARTED)
                loaded = load(server, path, work)
                started = server.metric(STARTED) - before
                if started < min(9 * loaded[0], len(words)):
                    raise Wrong(f"only {started:,.0f} of {10 * loaded[0]:,.0f} requests were executed")
                results[name] = *loaded, 1e6 * (server.cpu_s() - cpu_s) / started
        rate, p50, p99, cpu = ({name: result[at] for name, result in results.items()} for at in range(4))
        table.row(what, rate, "{:,.0f}/s", at_least=6400)
        table.row(f"{what}: p50", p50, "{:.2f} ms")
        table.row(f"{what}: p99", p99, "{:.2f} ms", at_most=8.2)
        table.row(f"{what}: CPU, each", cpu, "{:.0f} us")


def rare_words(corpus: str) -> list[str]:
    """Returns identifiers that occur at most ten times in a corpus, shuffled."""
    counted = counted_words(corpus, r"\b[A-Za-z_][A-Za-z0-9_]{7,30}\b", f"n[word] <= {LINES_MAX}")
    # Without ripgrep's remarks on binary files.
    words = sorted(word for word in counted if word.isidentifier())
    random.Random(1).shuffle(words)
    return words[:WORDS]


def common_words(corpus: str) -> list[str]:
    """Returns the 100th to the 1,500th most frequent word of a corpus, shuffled."""
    counted = counted_words(corpus, r"\b[A-Za-z_][A-Za-z0-9_]{2,30}\b", f"n[word] >= {COMMON_MIN}")
    words = sorted(counted, key=lambda word: (-counted[word], word))[100:1500]
    random.Random(1).shuffle(words)
    return words


def counted_words(corpus: str, pattern: str, condition: str) -> dict[str, int]:
    """Returns the words of a corpus, or of an index, that fulfil a condition of awk, and how often each occurs."""
    # The text of an index stands in its shards as it is.
    flags = ["-a", "-g", "*.shard"] if tools.is_index(corpus) else []
    find = ["rg", "--no-config", "--no-ignore", "--hidden", "-g", "!.git", *flags, "-oNI", pattern, corpus]
    # In awk, because Python needs several times the time and memory for half a gigabyte of text.
    count = f"{{n[$0]++}} END {{for (word in n) if ({condition}) print word, n[word]}}"
    found = subprocess.Popen(find, stdout=subprocess.PIPE)
    counted = tools.run(["awk", count], stdin=found.stdout, text=True, env=dict(os.environ, LC_ALL="C"))
    assert found.stdout
    found.stdout.close()
    found.wait()
    lines = (line.rsplit(" ", 1) for line in counted.stdout.splitlines())
    return {word: int(times) for word, times in lines}


def check_small(server: servers.Server, corpus: str, word: str) -> None:
    """Checks that a small answer has as many lines as ripgrep finds in files that are not binary; both ignore the case
    of words in lower case."""
    command = ["rg", "--no-config", "--crlf", "--smart-case", "--no-ignore", "--hidden", "-g", "!.git", "-NI",
               "-F", "-e", word, corpus]
    lines = tools.run(command, (0, 1)).stdout.splitlines()
    expected = sum(b"binary file matches" not in line for line in lines)
    answer = server.search(q=word)
    if not answer["complete"] or answer["total"] != expected:
        raise Wrong(f"{word}: {answer['total']} lines, ripgrep finds {expected}")


def load(server: servers.Server, words: str, work: str) -> tuple[float, ...]:
    """Returns requests a second, and milliseconds at p50 and p99."""
    script = os.path.join(work, "words.lua")
    with open(script, "w") as file:
        file.write(WRK_SCRIPT)
    out = tools.run(["wrk", *LOAD, "-s", script, f"http://{server}", "--", words], text=True).stdout
    if bad := re.search(r"Non-2xx.*|Socket errors.*", out):
        raise Wrong(bad[0])
    [rate] = re.findall(r"Requests/sec: +(\S+)", out)
    times = [re.findall(rf" {percent}% +([\d.]+)(\w+)", out)[0] for percent in (50, 99)]
    scale = {"us": 1e-3, "ms": 1, "s": 1e3}
    return float(rate), *(float(number) * scale[unit] for number, unit in times)
