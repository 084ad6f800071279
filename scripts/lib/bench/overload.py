"""`bench overload`: more queries than a frontend can run, and clients that disconnect.

The backends are synthetic, so a query is as heavy as its number says. Each part takes less than two minutes.
An answer is wrong if its count is not what the backends sent, or if its status is neither 200 nor 503 with
a time to retry.
"""

import collections
import json
import os
import random
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from .. import servers, tools
from ..connection import Address, Answer, Connection
from ..table import Goals, Wrong, quantiles

BACKENDS = 4
RUNNING, QUEUED = 4, 32
MEMORY_MIB = 256
LIMITS = ("--running", RUNNING, "--queued", QUEUED, "--memory", f"{MEMORY_MIB}M",
          "--connections-per-client", 4000)

IDENTICAL = 1000
IDENTICAL_EACH = 100_000

HEAVY = 200
HEAVY_EACH = 250_000
# An execution takes a quarter of a second, and 36 of them are admitted.
DEADLINE_S = 60

INTERACTIVE_EACH = 3
INTERACTIVE_IDLE = 1000

GONE = 10_000
GONE_AT_ONCE = 32
GONE_EACH = 20_000
# Every tenth query has 2 million matches, and is far from its end when its client disconnects.
GONE_HEAVY_EVERY, GONE_HEAVY_EACH = 10, 500_000
GONE_AFTER_S = 0.02
GONE_WITHIN_S = 90
IDLE_WITHIN_MS = 250
# Pools keep idle threads and connections for so long.
POOLS_S = 12

COUNTERS = ("started", "shed", "cancelled", "finished")


def main() -> int:
    table, trawl = Goals(), tools.trawl()
    for part in (identical, heavy, disconnected):
        with (table.rows(part.__name__), tools.workspace() as spool,
              servers.synthetic_backends(BACKENDS) as backends,
              servers.frontend(trawl, backends, spool, *LIMITS) as frontend):
            frontend.search(q="matches 1 seed 0", mode="literal", context=0)
            part(table, frontend, spool)
    return table.finish()


def target(each: int, seed: int) -> str:
    query = urllib.parse.quote(f"matches {each} seed {seed}")
    return f"/api/v2/search?q={query}&mode=literal&context=0&per_page=1"


def ask_at_once(address: Address, paths: list[str]) -> list[tuple[Answer, float]]:
    """Requests all paths at the same time. Returns answers, each with its seconds."""
    barrier = threading.Barrier(len(paths))

    def ask(path: str) -> tuple[Answer, float]:
        barrier.wait()
        started = time.perf_counter()
        with Connection(address, DEADLINE_S) as connection:
            answer = connection.answer(path)
        return answer, time.perf_counter() - started

    with ThreadPoolExecutor(len(paths)) as pool:
        return list(pool.map(ask, paths))


def kinds(answers: Iterable[tuple[Answer, float]], expected: int) -> collections.Counter[int]:
    """Counts answers with `expected` matches, and refusals. Raises Wrong for anything else."""
    counted: collections.Counter[int] = collections.Counter()
    for answer, _ in answers:
        if answer.status == 200:
            page = json.loads(answer.body)
            if not page["complete"] or page["total"] != expected:
                raise Wrong(f"{page['total']:,} of {expected:,} matches: {page['missing'][:1]}")
        elif answer.status != 503 or not (answer.header("retry-after") or "").isdigit():
            raise Wrong(f"status {answer.status}: {answer.head[:100]!r} {answer.body[:200]!r}")
        counted[answer.status] += 1
    return counted


def counters(frontend: servers.Server) -> dict[str, float]:
    return {name: frontend.metric(f"trawl_frontend_queries_{name}_total") for name in COUNTERS}


def identical(table: Goals, frontend: servers.Server, _: str) -> None:
    before = counters(frontend)
    answers = ask_at_once(frontend.address, [target(IDENTICAL_EACH, 1)] * IDENTICAL)
    answered = kinds(answers, BACKENDS * IDENTICAL_EACH)[200]
    started = counters(frontend)["started"] - before["started"]
    what = f"{IDENTICAL:,} identical requests at once"
    table.row(f"{what}: executions", started, "{:.0f}", at_most=1)
    table.row(f"{what}: answered", answered, "{:,}", at_least=IDENTICAL)


def interactive(address: Address, seed: int, most: int, stop: threading.Event) -> list[float]:
    """Asks small queries, one after the other, until `stop` is set. Returns their milliseconds."""
    times: list[float] = []
    with Connection(address) as connection:
        while not stop.is_set() and len(times) < most:
            started = time.perf_counter()
            answer = connection.json(target(INTERACTIVE_EACH, seed + len(times)))
            times.append(1e3 * (time.perf_counter() - started))
            if answer["total"] != BACKENDS * INTERACTIVE_EACH or not answer["complete"]:
                reasons = "; ".join(missing["reason"] for missing in answer["missing"])
                raise Wrong(f"an interactive query: {answer['total']} matches; {reasons}")
            stop.wait(0.005)
    return times


def heavy(table: Goals, frontend: servers.Server, _: str) -> None:
    stop = threading.Event()
    idle_p99 = quantiles(interactive(frontend.address, 1_000_000, INTERACTIVE_IDLE, stop))[1]
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(interactive, frontend.address, 2_000_000, 1 << 30, stop)
        started = time.perf_counter()
        answers = ask_at_once(frontend.address, [target(HEAVY_EACH, seed) for seed in range(HEAVY)])
        elapsed = time.perf_counter() - started
        stop.set()
        busy_times = busy.result()
    what = f"{HEAVY} heavy queries at once"
    counted = kinds(answers, BACKENDS * HEAVY_EACH)
    table.row(f"{what}: slowest answer", max(seconds for _, seconds in answers), "{:.1f} s",
              at_most=DEADLINE_S, note=f"{counted[200]} answered, {counted[503]} refused")
    refusals = [1e3 * seconds for answer, seconds in answers if answer.status == 503]
    table.row(f"{what}: slowest refusal", max(refusals, default=0), "{:.0f} ms")
    peak = frontend.status("VmHWM") - frontend.status("RssFile")
    table.row(f"{what}: peak memory without mapped files", peak >> 20, "{} MiB", at_most=MEMORY_MIB)
    table.row("an interactive query without them, p99", idle_p99, "{:.1f} ms")
    table.row("an interactive query meanwhile, p99", quantiles(busy_times)[1], "{:.1f} ms",
              at_most=2 * idle_p99 + 50, note=f"{len(busy_times)} in {elapsed:.1f} s")


def disconnected(table: Goals, frontend: servers.Server, spool: str) -> None:
    # A few connections, threads and files are made once and kept.
    warm_up = [target(GONE_EACH, GONE + seed) for seed in range(RUNNING)]
    kinds(ask_at_once(frontend.address, warm_up), BACKENDS * GONE_EACH)
    time.sleep(POOLS_S)
    before, counted = held(frontend, spool), counters(frontend)
    started = time.perf_counter()
    failures = disconnect_all(frontend.address)
    gone = time.perf_counter()
    idle_s = until_idle(frontend, gone)
    what = f"{GONE:,} clients that disconnect"
    table.row(f"{what}: connections that failed", len(failures), at_most=0, note="; ".join(failures[-1:]))
    table.row(f"{what}: processors idle after", 1e3 * idle_s, "{:.0f} ms", at_most=IDLE_WITHIN_MS)
    time.sleep(POOLS_S)
    frontend.connection = Connection(frontend.address)
    note = ", ".join(f"{count - counted[name]:.0f} {name}" for name, count in counters(frontend).items())
    table.row(f"{what}: all requests sent", gone - started, "{:.0f} s", note=note)
    for name, after in held(frontend, spool).items():
        table.row(f"{what}: {name}", after, at_most=before[name])


def disconnect_all(address: Address) -> list[str]:
    """Sends requests, 32 at a time, and closes each connection at a random moment. Returns errors."""
    numbers, moments = iter(range(GONE)), random.Random(1)
    failures: list[str] = []
    deadline = time.monotonic() + GONE_WITHIN_S

    def some(_: int) -> None:
        for number in numbers:
            is_heavy = number % GONE_HEAVY_EVERY == 0
            path = target(GONE_HEAVY_EACH if is_heavy else GONE_EACH, number)
            try:
                with socket.create_connection(address, timeout=10) as stream:
                    stream.sendall(f"GET {path} HTTP/1.1\r\nHost: trawl\r\n\r\n".encode())
                    time.sleep(moments.random() * GONE_AFTER_S)
            except OSError as error:
                failures.append(str(error))
            if time.monotonic() > deadline:
                failures.append(f"stopped after {number:,}")
                break

    with ThreadPoolExecutor(GONE_AT_ONCE) as pool:
        list(pool.map(some, range(GONE_AT_ONCE)))
    return failures


def until_idle(frontend: servers.Server, since: float, most_s: float = 30) -> float:
    """Returns the seconds from `since` to the start of 200 ms in which the frontend does not work."""
    while (began := time.perf_counter()) < since + most_s:
        cpu_s = frontend.cpu_s()
        time.sleep(0.2)
        if frontend.cpu_s() - cpu_s <= 0.01:
            return began - since
    return most_s


def held(frontend: servers.Server, spool: str) -> dict[str, int]:
    """Returns what a frontend keeps, by name."""
    return {
        "sockets": frontend.descriptors("socket:"),
        "open files of the spool": frontend.descriptors(spool),
        "descriptors": frontend.descriptors(),
        "threads": frontend.status("Threads"),
        "spools of incomplete executions": sum(
            not is_complete(spool, name) for name in os.listdir(spool) if name != "lock"),
        "queries running": int(frontend.metric("trawl_frontend_queries_running")),
    }


def is_complete(spool: str, name: str) -> bool:
    """Returns whether a directory of the spool has the complete result of a finished execution."""
    return os.path.exists(os.path.join(spool, name, "manifest"))
