"""`bench best`: the ten best matches of common searches, proven without looking at most of the candidates.

A running server answers `limit=10&total=estimate`, and its event stream says when the best matches of a search of
everything are final. Another server is asked for pages, whose events say when the ten best files are final. Each
request has other context lines, so none is answered from a result that is kept. The ten matches must be those that a
search of all candidates leaves, in the same order, and the files those of the page that the search leads to. An answer
that the spool could not hold is not compared: the table says how much of it was stored.
"""

import contextlib
import json
import re
import shutil
import socket
import statistics
import time
import typing
import urllib.parse
from collections.abc import Callable, Mapping

from .. import servers, tools
from ..connection import Connection
from ..table import Goals, Wrong

QUERIES = [("arse", None), ("return", None), ("e", None), (r"[a-z]+_init\s*\(", "regexp"), ("printf", None),
           ("eturn", None), ("TCP_NODELAY", None), ("[0-9]{3}-[0-9]{4}", "regexp")]
# The last two have no goal: the one is rare, and the other has so few definitions that all is searched.
GOALS = 6
K, MS_MAX, SHARE_MAX = 10, 20, 0.01
# Answers with more matches may not fit on the disk. Their pages are measured, and not compared with that of the answer.
COMPARED_MATCHES_MAX = 20_000_000

# The spool of a server, and the share of the free disk that it may take at most: the largest answer that is compared
# has some gigabytes with ten lines of context.
SPOOL_BYTES_MAX, SPOOL_SHARE = 32 << 30, 0.75

# What a page says of an incomplete answer: who is missing and why, and how many matches there are.
MISSING, STORED = re.compile("<li><b>([^<]*)</b>: ([^<]*)"), re.compile('class="summary"><b>([^<]*)</b> match')

# Lines of context of the searches for the best matches, and of those whose events are read.
BEST_CONTEXTS, EVENT_CONTEXTS = range(1, 11, 2), range(2, 11, 2)


def main(index: str, runs: int = 5) -> int:
    table = Goals(False)
    found: dict[str, int] = {}
    with tools.workspace() as work, serve(index, work) as server:
        for number, (text, mode) in enumerate(QUERIES):
            with table.rows(text):
                found[text] = measure(table, server, text, mode, runs, has_goal=number < GOALS)
    with tools.workspace() as work, serve(index, work) as server:
        for number, (text, mode) in enumerate(QUERIES):
            what = f"{text}: final files of its page"
            with table.rows(what):
                query, is_compared = matching(text, mode), found.get(text, 0) <= COMPARED_MATCHES_MAX
                pages = [page_ms(server, query | {"context": context}, is_compared) for context in BEST_CONTEXTS[:runs]]
                times, stored = zip(*pages)
                full = [count for count in stored if count is not None]
                note = f"; spool full: {min(full):,} of {found.get(text, 0):,} stored" if full else ""
                table.row(what, statistics.median(times), "{:.1f} ms", note=f"at most {max(times):.1f}{note}",
                          at_most=MS_MAX if number < GOALS else None)
    return table.finish()


def serve(index: str, spool: str) -> contextlib.AbstractContextManager[servers.Server]:
    spool_bytes = min(SPOOL_BYTES_MAX, int(SPOOL_SHARE * shutil.disk_usage(spool).free))
    return servers.serve(tools.trawl(), index, spool, "--spool-bytes", spool_bytes)


def matching(text: str, mode: str | None) -> dict[str, str]:
    return {"q": text, "case": "yes"} | ({"mode": mode} if mode else {})


def measure(table: Goals, server: servers.Server, text: str, mode: str | None, runs: int, has_goal: bool) -> int:
    query = matching(text, mode)
    started = time.perf_counter()
    whole = server.search(**query, limit=K, context=0, explain="true")
    whole_ms = 1e3 * (time.perf_counter() - started)

    def best(context: int) -> typing.Any:
        return server.search(**query, limit=K, total="estimate", context=context, explain="true")

    best(0)
    times, answers = [], []
    for context in BEST_CONTEXTS[:runs]:
        started = time.perf_counter()
        answers.append(best(context))
        times.append(1e3 * (time.perf_counter() - started))
    for answer in [whole, *answers]:
        if not answer["complete"]:
            raise Wrong(f"{text}: the answer is incomplete: {answer['missing']}")
        if places(answer) != places(whole):
            raise Wrong(f"{text}: the ten best are {places(answer)}, expected {places(whole)}")
        if answer is not whole and answer["total_relation"] != ("gte" if whole["found"] >= K else "eq"):
            raise Wrong(f"{text}: {answer['total_relation']} with {whole['found']} matches")
    finals = [final_ms(server, "/api/v2/events", query | {"context": context}, b"matches", places, places(whole))
              for context in EVENT_CONTEXTS[:runs]]
    candidates = whole["explain"]["candidates"]
    share = answers[0]["explain"]["candidates"] / max(candidates, 1)
    at_most, count = MS_MAX if has_goal else None, int(whole["found"])
    table.row(f"{text}: ten best", statistics.median(times), "{:.1f} ms", at_most=at_most,
              note=f"at most {max(times):.1f}; all {count:,} counted after {whole_ms:.0f}")
    table.row(f"{text}: final event", statistics.median(finals), "{:.1f} ms", at_most=at_most,
              note=f"at most {max(finals):.1f}")
    table.row(f"{text}: verified, of {candidates:,} blocks", share, "{:.4%}", at_most=SHARE_MAX if has_goal else None)
    return count


def places(answer: typing.Any) -> list[tuple[str, str, int]]:
    return [(match["package"], match["path"], match["line"]) for match in answer["matches"]]


def page_ms(server: servers.Server, query: Mapping[str, object], is_compared: bool) -> tuple[float, int | None]:
    """Returns the milliseconds until the events of a page say that its files are final, or that the search has ended;
    and how many matches were stored, if the spool could not hold all."""
    shown: list[list[str]] = []
    elapsed = final_ms(server, "/search/events", query, b"boxes", lambda event: shown.append(files(event["html"])),
                       None)
    if not is_compared:
        return elapsed, None
    page = "data-events-href"
    while "data-events-href" in page:
        time.sleep(0.1)
        with Connection(server.address) as connection:
            page = connection.get("/search", **query).decode()
    missing = dict(MISSING.findall(page))
    if set(missing) == {"spool"}:
        stored = STORED.search(page)
        assert stored, "the page of an incomplete answer says how many matches there are"
        return elapsed, int(re.sub(r"\D", "", stored[1]))
    if missing:
        raise Wrong(f"{query['q']}: the page is incomplete: {missing}")
    if shown and shown != [files(page)]:
        raise Wrong(f"{query['q']}: the final files are {shown}, expected {files(page)}")
    return elapsed, None


def files(html: str) -> list[str]:
    return re.findall('data-box="([^"]*)"', html)


def final_ms(server: servers.Server, path: str, query: Mapping[str, object], name: bytes,
             what: Callable[[typing.Any], object], expected: object) -> float:
    """Returns the milliseconds until an event of a running search is final. `what` it shows must be as expected."""
    target = f"{path}?{urllib.parse.urlencode(query)}"
    started = time.perf_counter()
    with socket.create_connection(server.address) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        with connection.makefile("rb") as lines:
            event = b""
            for line in lines:
                line = line.strip()
                if line.startswith(b"event:"):
                    event = line[6:].strip()
                elif line.startswith(b"data:") and event == name:
                    best = json.loads(line[5:])
                    if best["final"]:
                        elapsed = 1e3 * (time.perf_counter() - started)
                        shown = what(best)
                        if shown != expected:
                            raise Wrong(f"{query['q']}: final are {shown}, expected {expected}")
                        return elapsed
                elif line.startswith(b"data:") and event == b"done":
                    return 1e3 * (time.perf_counter() - started)
    raise Wrong(f"{query['q']}: no event is final")
