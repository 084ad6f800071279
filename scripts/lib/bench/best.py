"""`bench best`: the ten best matches of common searches, proven without looking at most of the candidates.

A running server answers `limit=10&total=estimate`, and its event stream says when the best matches of a search of
everything are final. Each request has other context lines, so none is answered from a result that is kept. The ten
matches must be those that a search of all candidates leaves, in the same order.
"""

import json
import socket
import statistics
import time
import urllib.parse

from .. import servers, tools
from ..table import Goals, Wrong

QUERIES = [("arse", None), ("return", None), ("e", None), (r"[a-z]+_init\s*\(", "regexp"), ("printf", None),
           ("eturn", None), ("TCP_NODELAY", None), ("[0-9]{3}-[0-9]{4}", "regexp")]
# The last two have no goal: the one is rare, and the other has so few definitions that all is searched.
GOALS = 6
K, MS_MAX, SHARE_MAX = 10, 20, 0.01

# Lines of context of the searches for the best matches, and of those whose events are read.
BEST_CONTEXTS, EVENT_CONTEXTS = range(1, 11, 2), range(2, 11, 2)


def main(index, runs=5):
    table = Goals(False)
    with tools.workspace() as work, servers.serve(tools.trawl(), index, work) as server:
        for number, (text, mode) in enumerate(QUERIES):
            with table.rows(text):
                measure(table, server, text, mode, runs, has_goal=number < GOALS)
    return table.finish()


def measure(table, server, text, mode, runs, has_goal):
    query = {"q": text, "case": "yes"} | ({"mode": mode} if mode else {})
    started = time.perf_counter()
    whole = server.search(**query, limit=K, context=0, explain="true")
    whole_ms = 1e3 * (time.perf_counter() - started)
    best = lambda context: server.search(**query, limit=K, total="estimate", context=context, explain="true")
    best(0)
    times, answers = [], []
    for context in BEST_CONTEXTS[:runs]:
        started = time.perf_counter()
        answers.append(best(context))
        times.append(1e3 * (time.perf_counter() - started))
    for answer in answers:
        if places(answer) != places(whole):
            raise Wrong(f"{text}: the ten best are {places(answer)}, expected {places(whole)}")
        if answer["total_relation"] != ("gte" if whole["found"] >= K else "eq"):
            raise Wrong(f"{text}: {answer['total_relation']} with {whole['found']} matches")
    finals = [final_ms(server, query | {"context": context}, places(whole)) for context in EVENT_CONTEXTS[:runs]]
    candidates = whole["explain"]["candidates"]
    share = answers[0]["explain"]["candidates"] / max(candidates, 1)
    goal = {"at_most": MS_MAX} if has_goal else {}
    table.row(f"{text}: ten best", statistics.median(times), "{:.1f} ms", note=f"at most {max(times):.1f}; all {whole['found']:,} counted after {whole_ms:.0f}", **goal)
    table.row(f"{text}: final event", statistics.median(finals), "{:.1f} ms", note=f"at most {max(finals):.1f}", **goal)
    table.row(f"{text}: verified, of {candidates:,} blocks", share, "{:.4%}", **({"at_most": SHARE_MAX} if has_goal else {}))


def places(answer):
    return [(match["package"], match["path"], match["line"]) for match in answer["matches"]]


def final_ms(server, query, expected):
    """Returns the milliseconds until the event stream of a search says that its best matches are final."""
    target = "/api/v2/events?" + urllib.parse.urlencode(query)
    started = time.perf_counter()
    with socket.create_connection(server.address) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        with connection.makefile("rb") as lines:
            event = b""
            for line in lines:
                line = line.strip()
                if line.startswith(b"event:"):
                    event = line[6:].strip()
                elif line.startswith(b"data:") and event == b"matches":
                    best = json.loads(line[5:])
                    if best["final"]:
                        elapsed = 1e3 * (time.perf_counter() - started)
                        if places(best) != expected:
                            raise Wrong(f"{query['q']}: final are {places(best)}, expected {expected}")
                        return elapsed
    raise Wrong(f"{query['q']}: no event is final")
