"""`bench common`: the ten best matches of common words a second, over eight connections, of running servers.

The words are the 100th to the 1,500th most frequent of the corpus, in an order that depends on the corpus alone. Trawl
(`limit=10&total=estimate`) and zoekt (its first page of ten files, if it is installed) get the same ones from the same
client, in turn, in rounds of some seconds. Trawl gets each word with another filter each time, which leaves nothing
out, so that none is answered from a result that is kept. The ten matches of a sample must be those that a search of all
candidates leaves. Then the same with the exact total, which a page shows.
"""

import contextlib
import os
from collections.abc import Callable, Iterable

from .. import servers, tools, zoekt
from ..table import Goals, Wrong
from . import binaries, end_to_end, indexes
from .best import K, places
from .rare import Rounds

# How often each word can be asked for.
TIMES = 100
SAMPLE = 200
P99_MS = 50
# The parameters of the two kinds of answers.
KINDS = {"best": f"limit={K}&total=estimate", "total": "per_page=10"}


def main(directory: str, runs: int = 5, baseline: str | None = None) -> int:
    trawls = binaries(baseline)
    client = tools.testkit() / "search_load"
    tools.need("rg")
    table = Goals(bool(baseline))
    with tools.workspace() as work, contextlib.ExitStack() as stack:
        words = end_to_end.common_words(directory)
        built = indexes(trawls, directory, work)
        ours = {kind: [f"%22{word}%22+-path:no.such.{kind}.{time}&{parameters}"
                       for time in range(TIMES) for word in words]
                for kind, parameters in KINDS.items()}
        rounds: dict[str, dict[str, Rounds]] = {kind: {} for kind in KINDS}
        served: dict[str, servers.Server] = {}
        for name, trawl in trawls.items():
            spool = os.path.join(work, f"spool-{name}")
            server = served[name] = stack.enter_context(servers.serve(trawl, built[name], spool))
            for kind, lines in ours.items():
                rounds[kind][name] = Rounds(name, server, client, written(work, kind, lines))
        peer = None if tools.is_index(directory) else stack.enter_context(zoekt.zoekt_server(directory, work))
        if peer:
            file = written(work, "zoekt", [f"%22{word}%22" for word in words * TIMES])
            for of in rounds.values():
                of["zoekt"] = Rounds("zoekt", peer, client, file, kind="zoekt-page")
        with table.rows("sample"):
            for word in words[:SAMPLE]:
                check(served["trawl"], word)
        with table.rows("ten best"):
            measure(table, "ten best", rounds["best"], runs, times=5, p99_ms=P99_MS)
        with table.rows("exact total"):
            measure(table, "exact total", rounds["total"], runs, times=1)
    return table.finish()


def written(work: str, name: str, words: Iterable[str]) -> str:
    file = os.path.join(work, f"words-{name}")
    with open(file, "w") as opened:
        opened.writelines(f"{word}\n" for word in words)
    return file


def check(server: servers.Server, word: str) -> None:
    query = {"q": f'"{word}"', "limit": K, "context": 0}
    best, whole = server.search(**query, total="estimate"), server.search(**query)
    if places(best) != places(whole):
        raise Wrong(f"{word}: the ten best are {places(best)}, expected {places(whole)}")


def measure(table: Goals, what: str, rounds: dict[str, Rounds], runs: int, times: float,
            p99_ms: float | None = None) -> None:
    for turn in range(runs + 1):
        for each in list(rounds.values())[:: 1 if turn % 2 == 0 else -1]:
            # The first round, with cold caches, is not counted.
            each.ask(counts=turn > 0)
    of = {name: each for name, each in rounds.items() if name != "zoekt"}

    def column(figure: Callable[[Rounds], float]) -> dict[str, float]:
        return {name: figure(each) for name, each in of.items()}

    table.row(f"common words, {what}: requests", column(Rounds.rate), "{:,.0f}/s")
    table.row(f"common words, {what}: p50", column(lambda each: each.quantiles()[0]), "{:.2f} ms")
    table.row(f"common words, {what}: p99", column(lambda each: each.quantiles()[1]), "{:.2f} ms", at_most=p99_ms)
    table.row(f"common words, {what}: processor time of the server", column(Rounds.cpu_us), "{:,.0f} us")
    if "zoekt" in rounds:
        peer = rounds["zoekt"]
        p50, p99 = peer.quantiles()
        table.row("common words: first page of zoekt, requests", peer.rate(), "{:,.0f}/s",
                  note=f"p50 {p50:.2f} ms, p99 {p99:.2f} ms")
        table.row(f"common words, {what}: times zoekt", rounds["trawl"].rate() / peer.rate(), "{:.1f}", at_least=times)
