"""`bench stream`: how fast a frontend receives matches, with goals.

First the frontend alone: four synthetic backends send as fast as the frontend reads, on the same
processors. Then, with a corpus, backend, frontend and HTTP together (`end_to_end`). Every answer must be
complete and have the right count, and the pages that are read must have the right order and texts.

With a baseline, a frontend of each binary is connected to the same backends, and they are asked in turn.
"""

import contextlib
import ctypes
import functools
import random
import statistics
import tempfile
import time
import typing
from collections.abc import Callable, Mapping

from .. import servers, tools
from ..table import Goals, Wrong, quantiles
from . import SPOOL_BYTES, binaries, end_to_end

BACKENDS = 4
MILLION = 1_000_000

SPOOLED = "trawl_frontend_spool_written_bytes_total"
PAGES = 300
PER_PAGE = 10
# Steps of the part of a rank that orders documents (schema/src/order.rs).
SCORE_STEPS = 4_096


def main(corpus: str | None = None, runs: int = 5, baseline: str | None = None) -> int:
    trawls = binaries(baseline)
    table = Goals(bool(baseline))
    with tools.workspace() as work:
        senders_alone(table)
        scenario = functools.partial(Scenario, table, trawls, work)
        with scenario(MILLION, line_bytes=100) as million:
            million.ask(runs, warm_up=True)
            million.speed()
            million.first_page(100)
        with scenario(MILLION, line_bytes=1000) as wide:
            wide.ask(runs, warm_up=True)
            wide.bandwidth()
        with scenario(10 * MILLION, line_bytes=100) as ten_million:
            ten_million.ask(1)
            ten_million.peak_memory()
            ten_million.ask(max(1, runs // 2) - 1)
            ten_million.speed()
            ten_million.first_page(1000)
            ten_million.random_pages()
        with scenario(30 * MILLION, line_bytes=40) as thirty_million:
            try:
                thirty_million.ask(1)
            finally:
                thirty_million.peak_memory()
            thirty_million.speed()
            thirty_million.random_pages()
        if corpus:
            end_to_end.measure(table, trawls, corpus, work, runs)
    return table.finish()


def senders_alone(table: Goals) -> None:
    with servers.synthetic_backends(1) as [address]:
        _, all_ms, sent, matches = servers.drain(address, "literal", "matches 5000000 seed 1", 0)
    table.row("one backend alone, to a reader that discards", matches / all_ms / 1e3, "{:.2f} M/s")
    table.row("a match of 100 bytes of text, on the wire", sent / matches, "{:.1f} bytes")


class Scenario(contextlib.ExitStack):
    """A frontend of each binary, connected to four synthetic backends, and the answers it gave."""

    def __init__(self, table: Goals, trawls: Mapping[str, str], work: str, matches: int, line_bytes: int) -> None:
        super().__init__()
        self.what = f"4 x {matches // BACKENDS:,} of {line_bytes:,} bytes"
        self.table, self.trawls, self.work = table, trawls, work
        self.matches, self.line_bytes, self.seed = matches, line_bytes, 0

    def __enter__(self) -> typing.Self:
        super().__enter__()
        # Outermost: a wrong answer ends the servers, and replaces the other rows of the scenario.
        self.enter_context(self.table.rows(self.what))
        backends = self.enter_context(servers.synthetic_backends(BACKENDS, self.line_bytes))
        self.frontends: dict[str, servers.Server] = {}
        self.asked: dict[str, list[Asked]] = {}
        for name, trawl in self.trawls.items():
            spool = self.enter_context(tempfile.TemporaryDirectory(dir=self.work))
            frontend = self.enter_context(servers.frontend(trawl, backends, spool, *SPOOL_BYTES))
            frontend.search(q="matches 1 seed 0", mode="literal", context=0)
            self.frontends[name], self.asked[name] = frontend, []
        return self

    def ask(self, times: int, warm_up: bool = False) -> None:
        """Asks every frontend in turn. The warm-up is not counted."""
        for turn in range(times + warm_up):
            order = list(self.frontends.items())
            for name, frontend in order if turn % 2 == 0 else reversed(order):
                asked = Asked(frontend, self.matches, self.seed)
                if turn >= warm_up:
                    self.asked[name].append(asked)
            self.seed += 1

    def row(self, what: str, figure: Callable[["Asked"], float], form: str, at_most: float | None = None,
            at_least: float | None = None) -> None:
        values = {name: statistics.median(map(figure, asked)) for name, asked in self.asked.items()}
        self.table.row(f"{self.what}: {what}", values, form, at_most, at_least)

    def speed(self) -> None:
        self.row("matches", lambda each: self.matches / MILLION / each.stream_s, "{:.2f} M/s", at_least=2)
        self.row("into the spool", lambda each: each.spooled_mb / each.stream_s, "{:,.0f} MB/s")
        self.row("CPU, a million", lambda each: each.cpu_s * MILLION / self.matches, "{:.3f} s", at_most=0.5)

    def bandwidth(self) -> None:
        self.row("into the spool", lambda each: each.spooled_mb / each.stream_s, "{:,.0f} MB/s", at_least=600)
        self.row("CPU, a GB", lambda each: 1e3 * each.cpu_s / each.spooled_mb, "{:.3f} s")

    def first_page(self, goal_ms: float) -> None:
        self.row("last frame to first page", lambda each: each.waited_ms, "{:,.1f} ms", at_most=goal_ms)
        self.row("  of which ranking and rendering", lambda each: each.ranked_ms, "{:,.1f} ms")

    def peak_memory(self) -> None:
        peaks = {name: frontend.status("VmHWM") >> 20 for name, frontend in self.frontends.items()}
        self.table.row(f"{self.what}: peak memory", peaks, "{:,} MiB", at_most=256)

    def random_pages(self) -> None:
        """Requests the same random pages from every frontend."""
        numbers = random.Random(1).sample(range(self.asked["trawl"][-1].pages), PAGES)
        times: dict[str, list[float]] = {name: [] for name in self.frontends}
        scores: dict[str, dict[int, list[int]]] = {name: {} for name in self.frontends}
        for number in numbers:
            for name, frontend in self.frontends.items():
                started = time.perf_counter()
                answer = frontend.page(self.asked[name][-1].id, page=number, per_page=PER_PAGE)
                times[name].append(1e3 * (time.perf_counter() - started))
                page = check_page(answer, PER_PAGE)
                scores[name][number] = [page[0], page[-1]]
        for each in scores.values():
            in_order = [score for number in sorted(each) for score in each[number]]
            if in_order != sorted(in_order, reverse=True):
                raise Wrong("pages are not in order")
        p50, p99 = ({name: quantiles(each)[at] for name, each in times.items()} for at in (0, 1))
        self.table.row(f"{self.what}: random pages, p50", p50, "{:.2f} ms")
        self.table.row(f"{self.what}: random pages, p99", p99, "{:.2f} ms", at_most=10)


class Asked:
    """A query for `matches` matches: its answer, and what it took."""

    def __init__(self, frontend: servers.Server, matches: int, seed: int) -> None:
        spooled = frontend.metric(SPOOLED)
        cpu_s, started = frontend.cpu_s(), time.perf_counter()
        answer = frontend.search(q=f"matches {matches // BACKENDS} seed {seed}", mode="literal", context=0,
                                 per_page=PER_PAGE)
        wall_s = time.perf_counter() - started
        self.cpu_s = frontend.cpu_s() - cpu_s
        self.spooled_mb = (frontend.metric(SPOOLED) - spooled) / 1e6
        if not answer["complete"] or answer["total"] != matches:
            reasons = "; ".join({missing["reason"] for missing in answer["missing"]})
            raise Wrong(f"{answer['total']:,} of {matches:,} matches, "
                        f"complete: {answer['complete']}; {reasons[:120]}")
        check_page(answer, PER_PAGE)
        timings = answer["timings"]
        self.id, self.pages = answer["id"], answer["pages"]
        self.stream_s = timings["stream_ms"] / 1e3
        self.ranked_ms = timings["rank_ms"] + timings["render_ms"]
        # From the last frame to the first page, as the client sees it.
        self.waited_ms = 1e3 * wall_s - timings["stream_ms"] - timings["queue_ms"]


def check_page(answer: typing.Any, count: int) -> list[int]:
    """Checks that a page has `count` matches, best first, with the right texts. Returns the scores of their ranks."""
    matches = answer["matches"]
    scores = [int(ctypes.c_float(match["rank"]).value * SCORE_STEPS) for match in matches]
    if len(matches) != count or scores != sorted(scores, reverse=True):
        raise Wrong(f"page {answer['page']} has {len(matches)} matches of {count}, or they are not in order")
    for match in matches:
        if not match["text"].startswith(f"line {match['line']} "):
            raise Wrong(f"page {answer['page']}: wrong text at line {match['line']}")
    return scores
