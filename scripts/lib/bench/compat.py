"""`bench compat`: the same queries by the interfaces of other products and by /api/v2/search, of one running server.

Each query has another filter each time, which leaves nothing out, so that none is answered from a result that is kept.
Answers have the first 50 files with their matches (GitHub's: at most two fragments of each); the counts of all must be
equal. Then all interfaces are asked at once, 50 times a second each. If zoekt is installed, the same requests fetch all
matches of the queries of `bench server` from its server and from this one.
"""

import itertools
import json
import os
import threading
import time
import typing
import urllib.parse
from collections.abc import Callable

from .. import servers, tools
from ..connection import Connection
from ..table import Goals, Wrong, interleaved, medians, quantiles
from ..zoekt import Zoekt, zoekt_server
from . import SERVED, binaries, indexes

QUERIES = ("TCP_NODELAY", "curl_easy_setopt", "mutex_lock", "printf", "return")
LIGHT = QUERIES[:2]
FILES = 50
SLOWER_MAX = 1.1
FIRST_EVENT_MS, P99_MS = 10, 50
RATE, SECONDS = 50, 10

Ask = Callable[[Connection, str, int], tuple[float, int]]


def main(directory: str, runs: int = 9) -> int:
    table = Goals()
    with tools.workspace() as work:
        built = indexes(binaries(None), directory, work)["trawl"]
        with servers.serve(tools.trawl(), built, os.path.join(work, "spool")) as server:
            for word in QUERIES:
                with table.rows(word):
                    compare(table, server, word, runs)
            with table.rows("first event"):
                times = [streamed(server.connection, LIGHT[0], next(NUMBERS))[0] for _ in range(runs)]
                table.row("stream of Sourcegraph: first event", sorted(times)[runs // 2], "{:.1f} ms",
                          at_most=FIRST_EVENT_MS)
            with table.rows("at once"):
                at_once(table, server)
            with zoekt_server(directory, work) as zoekt:
                if zoekt is None:
                    print("left out: zoekt is not installed")
                else:
                    for mode, text in SERVED:
                        with table.rows(text):
                            of_zoekt(table, server, zoekt, mode, text, runs)
    return table.finish()


NUMBERS = itertools.count()


def compare(table: Goals, server: servers.Server, word: str, runs: int) -> None:
    def asked(ask: Ask) -> Callable[[], tuple[float, int]]:
        return lambda: ask(server.connection, word, next(NUMBERS))

    results = interleaved({name: asked(ask) for name, ask in INTERFACES.items()}, runs)
    counts = {name: counted[0][1] for name, counted in results.items()}
    expected = counts.pop("api")
    if any(count != expected for count in counts.values()):
        raise Wrong(f"{word}: {expected} files by the API, by others {counts}")
    times = {name: medians(counted)[0] for name, counted in results.items()}
    table.row(f"{word}: /api/v2/search", times["api"], "{:.1f} ms", note=f"{expected:,} files")
    for name in counts:
        table.row(f"{word}: {name}", times[name] / times["api"], "{:.2f}", at_most=SLOWER_MAX,
                  note=f"{times[name]:.1f} ms")


def api(connection: Connection, word: str, number: int) -> tuple[float, int]:
    elapsed, answer = timed(connection, "/api/v2/search", q=f'"{word}" -path:no.such.{number}', group="document",
                            per_page=FILES, per_document=5, case="no")
    return elapsed, answer["documents"]


def zoekt(connection: Connection, word: str, number: int) -> tuple[float, int]:
    body = json.dumps({"Q": f"case:no content:{word} -f:no.such.{number}",
                       "Opts": {"ChunkMatches": True, "NumContextLines": 2, "MaxDocDisplayCount": FILES}}).encode()
    started = time.perf_counter()
    answer = b"".join(connection.pieces("/api/search", body))
    elapsed = time.perf_counter() - started
    return elapsed * 1000, json.loads(answer)["Result"]["FileCount"]


def github(connection: Connection, word: str, number: int) -> tuple[float, int]:
    elapsed, answer = timed(connection, "/api/v3/search/code", q=f"content:{word} NOT path:no.such.{number}",
                            per_page=FILES)
    return elapsed, answer["total_count"]


INTERFACES: dict[str, Ask] = {"api": api, "zoekt": zoekt, "github": github}


def timed(connection: Connection, path: str, **parameters: object) -> tuple[float, typing.Any]:
    """Returns milliseconds to the last byte, and the answer."""
    started = time.perf_counter()
    answer = connection.get(path, **parameters)
    return (time.perf_counter() - started) * 1000, json.loads(answer)


def streamed(connection: Connection, word: str, number: int) -> tuple[float, float]:
    """Returns milliseconds to the first piece of a stream of Sourcegraph's, and to its end."""
    query = urllib.parse.urlencode({"q": f"{word} -file:no.such.{number}", "v": "V3", "cm": "t", "display": FILES})
    started, times, last = time.perf_counter(), [], b""
    _, head = connection.send(f"/.api/search/stream?{query}")
    for piece in connection.body(head):
        times.append(time.perf_counter() - started)
        last = (last + piece)[-100:]
    if b"event: done" not in last:
        raise Wrong(f"{word}: the stream ends with {last!r}")
    return times[0] * 1000, times[-1] * 1000


def of_zoekt(table: Goals, server: servers.Server, zoekt: Zoekt, mode: str, text: str, runs: int) -> None:
    ours = Zoekt(server.connection, server.address)

    def asked(of: Zoekt) -> Callable[[], tuple[float, int]]:
        return lambda: of.all(mode, text, f" -f:no.such.{next(NUMBERS)}")

    contenders = {"ours": asked(ours), "zoekt": asked(zoekt)}
    results = {name: medians(each) for name, each in interleaved(contenders, runs).items()}
    (time_ours, lines_ours), (time_zoekt, lines_zoekt) = results["ours"], results["zoekt"]
    table.row(f"{text}: zoekt/trawl, all matches", time_zoekt / time_ours, "{:.2f}",
              note=f"{1e3 * time_ours:.1f} ms, {lines_ours:,.0f} lines; zoekt {lines_zoekt:,.0f}")


def sourcegraph(connection: Connection, word: str, number: int) -> tuple[float, int]:
    return streamed(connection, word, number)[1], 0


def at_once(table: Goals, server: servers.Server) -> None:
    times: dict[str, list[float]] = {}
    failures: list[Exception] = []

    def ask_all(name: str, ask: Ask) -> None:
        connection, began = Connection(server.address), time.monotonic()
        for turn in range(RATE * SECONDS):
            time.sleep(max(began + turn / RATE - time.monotonic(), 0))
            try:
                times.setdefault(name, []).append(ask(connection, LIGHT[turn % 2], next(NUMBERS))[0])
            except Exception as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=ask_all, args=it) for it in (INTERFACES | {"sourcegraph": sourcegraph}).items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise Wrong(f"{len(failures)} interfaces failed at {RATE} requests a second each: {failures[0]}")
    for name, of in sorted(times.items()):
        p50, p99 = quantiles(of)
        table.row(f"{name}: p99 at {RATE} requests a second each", p99, "{:.1f} ms", at_most=P99_MS,
                  note=f"p50 {p50:.1f} ms")
