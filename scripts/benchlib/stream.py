"""`scripts/bench stream`: the figures for the result stream, beside what is measured.

First the frontend alone: four synthetic backends send as fast as they are read, on the same two
processors. Then, with a corpus, the whole way. Every answer is checked: that it is complete, its
count, and of the pages that are looked at the order and the texts.
"""

import contextlib
import random
import statistics
import tempfile
import time

from . import whole_way
from .servers import drain, flags_known, frontend, synthetic_backends
from .table import Table, Wrong, quantiles

BACKENDS = 4
MILLION = 1_000_000

# 30 million short lines and their pointers take 4 GB; a finished query of 10 million is kept
# beside the next one.
SPOOL_BYTES = ("--spool-bytes", "12G")

PAGES = 300
PER_PAGE = 10


def main(corpus=None, runs=5):
    runs = int(runs)
    table = Table()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        senders_alone(table)
        throughput(table, work, runs)
        large_frames(table, work, runs)
        ten_million(table, work, max(1, runs // 2))
        thirty_million(table, work)
        if corpus:
            whole_way.measure(table, corpus, work, runs)
    return table.finish()


@contextlib.contextmanager
def synthetic_frontend(work, line_bytes):
    flags = flags_known("frontend", SPOOL_BYTES)
    with (tempfile.TemporaryDirectory(dir=work) as spool,
          synthetic_backends(BACKENDS, line_bytes) as backends,
          frontend(backends, spool, *flags) as server):
        yield server


class Asked:
    """One query for so many matches in all, its answer, and what it took."""

    def __init__(self, server, matches, seed):
        spooled = server.metric("trawl_frontend_spool_written_bytes_total")
        cpu_s, started = server.cpu_s(), time.perf_counter()
        answer = server.search(q=f"matches {matches // BACKENDS} seed {seed}", context=0,
                               per_page=PER_PAGE)
        self.wall_s = time.perf_counter() - started
        self.cpu_s = server.cpu_s() - cpu_s
        self.spooled = server.metric("trawl_frontend_spool_written_bytes_total") - spooled
        if not answer["complete"] or answer["total"] != matches:
            reasons = {missing["reason"] for missing in answer["missing"]}
            raise Wrong(f"{answer['total']:,} of {matches:,} matches, "
                        f"complete: {answer['complete']}; {'; '.join(reasons)[:120]}")
        check_page(answer, PER_PAGE)
        timings = answer["timings"]
        self.id, self.pages = answer["id"], answer["pages"]
        self.stream_s = timings["stream_ms"] / 1e3
        self.ranked_s = (timings["rank_ms"] + timings["render_ms"]) / 1e3
        # From the last frame to the first page, as the one who waits for it sees it.
        self.waited_s = self.wall_s - self.stream_s - timings["queue_ms"] / 1e3


def check_page(answer, count):
    """A page has so many matches, best first, whose texts are those of their lines."""
    matches = answer["matches"]
    ranks = [match["rank"] for match in matches]
    if len(matches) != count or ranks != sorted(ranks, reverse=True):
        raise Wrong(f"page {answer['page']} has {len(matches)} matches of {count}, or disorder")
    for match in matches:
        if not match["text"].startswith(f"line {match['line']} "):
            raise Wrong(f"page {answer['page']}: another text at line {match['line']}")
    return ranks


def median(asked, figure):
    return statistics.median(figure(each) for each in asked)


def senders_alone(table):
    with synthetic_backends(1) as [address]:
        _, all_ms, sent, matches = drain(address, "literal", "matches 5000000 seed 1", 0)
    table.row("one sender alone, to a reader that discards", "",
              f"{matches / all_ms / 1e3:.1f} M/s, {sent / all_ms / 1e3:,.0f} MB/s")
    table.row("a match of 100 bytes of text, on the wire", "", f"{sent / matches:.1f} bytes")


def speed(table, what, asked, matches):
    rate = median(asked, lambda each: matches / each.stream_s)
    bandwidth = median(asked, lambda each: each.spooled / each.stream_s)
    cpu = median(asked, lambda each: each.cpu_s * MILLION / matches)
    table.row(f"{what}: matches a second", ">= 2 M/s", f"{rate / 1e6:.2f} M/s", rate >= 2e6)
    table.row(f"{what}: into the spool", "", f"{bandwidth / 1e6:,.0f} MB/s")
    table.row(f"{what}: processors, a million", "<= 0.5 s", f"{cpu:.2f} s", cpu <= 0.5)


def first_page(table, what, asked, figure_s):
    ranked = 1e3 * median(asked, lambda each: each.ranked_s)
    waited = median(asked, lambda each: each.waited_s)
    table.row(f"{what}: last frame to first page", f"< {1e3 * figure_s:,.0f} ms",
              f"{1e3 * waited:,.1f} ms (own clock {ranked:,.1f})", waited < figure_s)


def throughput(table, work, runs):
    what = "4 x 250,000 of 100 bytes"
    with table.rows(what), synthetic_frontend(work, 100) as server:
        # The first one finds cold memory and is not counted.
        asked = [Asked(server, MILLION, seed) for seed in range(runs + 1)][1:]
        speed(table, what, asked, MILLION)
        first_page(table, what, asked, 0.1)


def large_frames(table, work, runs):
    what = "4 x 250,000 of 1,000 bytes"
    with table.rows(what), synthetic_frontend(work, 1000) as server:
        asked = [Asked(server, MILLION, seed) for seed in range(runs + 1)][1:]
        bandwidth = median(asked, lambda each: each.spooled / each.stream_s)
        table.row(f"{what}: into the spool", ">= 600 MB/s", f"{bandwidth / 1e6:,.0f} MB/s",
                  bandwidth >= 600e6)
        cpu = median(asked, lambda each: each.cpu_s * 1e9 / each.spooled)
        table.row(f"{what}: processors, a GB", "", f"{cpu:.2f} s")


def ten_million(table, work, runs):
    what, matches = "4 x 2,500,000 of 100 bytes", 10 * MILLION
    with table.rows(what), synthetic_frontend(work, 100) as server:
        asked = [Asked(server, matches, 0)]
        peak(table, what, server)
        asked += [Asked(server, matches, seed) for seed in range(1, runs)]
        speed(table, what, asked, matches)
        first_page(table, what, asked, 1.0)
        random_pages(table, server, asked[-1])


def peak(table, what, server):
    peak, now = server.status("VmHWM"), server.status("RssAnon")
    table.row(f"{what}: peak memory", "<= 256 MiB",
              f"{peak >> 20:,} MiB ({now >> 20:,} own after)", peak <= 256 << 20)


def random_pages(table, server, asked):
    what = f"random pages of {asked.pages * PER_PAGE:,} matches"
    numbers = random.Random(1).sample(range(asked.pages), PAGES)
    times, ends = [], {}
    for number in numbers:
        started = time.perf_counter()
        answer = server.page(asked.id, page=number, per_page=PER_PAGE)
        times.append(1e3 * (time.perf_counter() - started))
        ranks = check_page(answer, PER_PAGE)
        ends[number] = ranks[0], ranks[-1]
    in_order = [rank for number in sorted(ends) for rank in ends[number]]
    if in_order != sorted(in_order, reverse=True):
        raise Wrong("pages are not in order")
    p50, p99 = quantiles(times)
    table.row(what, "p99 < 10 ms", f"p50 {p50:.2f} ms, p99 {p99:.2f} ms", p99 < 10)


def thirty_million(table, work):
    what, matches = "4 x 7,500,000 of 40 bytes", 30 * MILLION
    with table.rows(what), synthetic_frontend(work, 40) as server:
        try:
            asked = Asked(server, matches, 0)
        finally:
            peak(table, what, server)
        speed(table, what, [asked], matches)
        random_pages(table, server, asked)
