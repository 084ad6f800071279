"""`bench rare`: searches for distinct rare identifiers a second, over eight connections, of running servers.

The identifiers are those that the corpus has at most ten times, in an order that depends on the corpus alone. Trawl and
zoekt (if it is installed) get the same ones from the same client, in turn, in rounds of some seconds; each identifier
is asked for once. So are texts that are nowhere: the identifiers backwards. The lines of every answer are counted:
builds of trawl must agree on an identifier that both were asked for, zoekt may find fewer lines (it leaves files out,
and it is said for how many identifiers), and a sample must have the lines that ripgrep finds.
"""

import contextlib
import os
import statistics
from collections.abc import Callable, Mapping

from .. import servers, tools, zoekt
from ..table import Goals, Wrong, quantiles
from . import binaries, end_to_end, indexes

Peer = servers.Server | zoekt.Zoekt

CONNECTIONS, SECONDS = 8, 5
SAMPLE = 20
RATE_MIN, P99_MS, TIMES_ZOEKT = 10_000, 5, 5


def main(directory: str, runs: int = 5, baseline: str | None = None) -> int:
    trawls = binaries(baseline)
    client = tools.testkit() / "search_load"
    tools.need("rg")
    table = Goals(bool(baseline))
    with tools.workspace() as work, contextlib.ExitStack() as stack:
        words = end_to_end.rare_words(directory)
        built = indexes(trawls, directory, work)
        contenders: dict[str, Peer] = {}
        served: dict[str, servers.Server] = {}
        for name, trawl in trawls.items():
            spool = os.path.join(work, f"spool-{name}")
            contenders[name] = served[name] = stack.enter_context(servers.serve(trawl, built[name], spool))
        peer = None if tools.is_index(directory) else stack.enter_context(zoekt.zoekt_server(directory, work))
        if peer:
            contenders["zoekt"] = peer
        for what, asked in ("rare identifiers", words), ("texts that are nowhere", [word[::-1] for word in words]):
            with table.rows(what):
                measure(table, what, contenders, client, asked, work, runs)
        with table.rows("sample"):
            for word in [] if tools.is_index(directory) else words[-SAMPLE:]:
                end_to_end.check_small(served["trawl"], directory, word)
    return table.finish()


def measure(table: Goals, what: str, contenders: Mapping[str, Peer], client: tools.AnyPath, words: list[str], work: str,
            runs: int) -> None:
    file = os.path.join(work, "words")
    with open(file, "w") as opened:
        opened.writelines(f"{word}\n" for word in words)
    rounds = {name: Rounds(name, server, client, file) for name, server in contenders.items()}
    for turn in range(runs + 1):
        for each in list(rounds.values())[:: 1 if turn % 2 == 0 else -1]:
            # The first round, with cold caches, is not counted.
            each.ask(counts=turn > 0)
    fewer = agree(rounds, words)
    of = {name: each for name, each in rounds.items() if name != "zoekt"}

    def column(figure: Callable[[Rounds], float]) -> dict[str, float]:
        return {name: figure(each) for name, each in of.items()}

    table.row(f"{what}: requests", column(Rounds.rate), "{:,.0f}/s", at_least=RATE_MIN)
    table.row(f"{what}: p50", column(lambda each: each.quantiles()[0]), "{:.2f} ms")
    table.row(f"{what}: p99", column(lambda each: each.quantiles()[1]), "{:.2f} ms", at_most=P99_MS)
    table.row(f"{what}: processor time of the server, each", column(Rounds.cpu_us), "{:,.0f} us")
    if "zoekt" in rounds:
        peer = rounds["zoekt"]
        p50, p99 = peer.quantiles()
        table.row(f"{what}: requests, zoekt", peer.rate(), "{:,.0f}/s",
                  note=f"p50 {p50:.2f} ms, p99 {p99:.2f} ms; fewer lines for {fewer}")
        table.row(f"{what}: times zoekt", rounds["trawl"].rate() / peer.rate(), "{:.1f}", at_least=TIMES_ZOEKT)


def agree(rounds: dict[str, "Rounds"], words: list[str]) -> int:
    """Returns for how many identifiers zoekt finds fewer lines."""
    first, fewer = rounds["trawl"], 0
    for name, other in rounds.items():
        for number in first.lines.keys() & other.lines.keys():
            ours, theirs = first.lines[number], other.lines[number]
            if name == "zoekt" and theirs < ours:
                fewer += 1
            elif ours != theirs:
                raise Wrong(f"{words[number]}: trawl finds {ours} lines, {name} finds {theirs}")
    return fewer


class Rounds:
    """The answers of a server."""

    def __init__(self, name: str, server: Peer, client: tools.AnyPath, file: str, kind: str | None = None) -> None:
        self.name, self.server, self.client, self.file = name, server, client, file
        self.kind = kind or ("zoekt" if name == "zoekt" else "trawl")
        self.asked = 0
        # Lines of an answer, by the number of its word.
        self.lines: dict[int, int] = {}
        # Milliseconds of each answer; requests a second and microseconds a request, of each round.
        self.times: list[float] = []
        self.rates: list[float] = []
        self.cpu: list[float] = []

    def ask(self, counts: bool) -> None:
        trawl = self.server if isinstance(self.server, servers.Server) else None
        cpu_s = trawl.cpu_s() if trawl else 0.0
        command = [self.client, self.kind, self.server, CONNECTIONS, SECONDS, self.asked, self.file]
        answers = [line.split() for line in tools.run(command, text=True).stdout.splitlines()]
        if not answers:
            raise Wrong("no word is left that was not asked for")
        self.asked = 1 + max(int(number) for number, _, _ in answers)
        for number, lines, _ in answers:
            if lines == "-":
                raise Wrong(f"{self.name}: the answer to word {number} is not whole")
            self.lines[int(number)] = int(lines)
        if counts:
            self.times += [int(micros) / 1e3 for _, _, micros in answers]
            self.rates.append(len(answers) / SECONDS)
            if trawl:
                self.cpu.append(1e6 * (trawl.cpu_s() - cpu_s) / len(answers))

    def rate(self) -> float:
        return statistics.median(self.rates)

    def cpu_us(self) -> float:
        return statistics.median(self.cpu)

    def quantiles(self) -> tuple[float, float]:
        return quantiles(self.times)
