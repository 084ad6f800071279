"""`scripts/bench overload`: more queries than can be answered, and clients that go away.

The backends are synthetic, so a query is as heavy as its number says. Every row takes less than two
minutes, and says WRONG when an answer is: a count that is not what was sent, a status that is
neither an answer nor a refusal that says when to come back.
"""

import collections
import json
import os
import random
import re
import socket
import tempfile
import threading
import time
import urllib.parse

from .servers import Connection, flags_known, frontend, synthetic_backends
from .table import Table, Wrong, quantiles

BACKENDS = 4
RUNNING, QUEUED = 4, 32
MEMORY_BYTES = 256 << 20

IDENTICAL = 1000
IDENTICAL_EACH = 100_000

HEAVY = 200
HEAVY_EACH = 250_000
# A run takes a quarter of a second, and 36 of them are admitted.
DEADLINE_S = 60

INTERACTIVE_EACH = 3
INTERACTIVE_IDLE = 1000

GONE = 10_000
GONE_AT_ONCE = 32
GONE_EACH = 20_000
# Every tenth is of 2 million matches, and far from its end when its client goes.
GONE_HEAVY_EVERY, GONE_HEAVY_EACH = 10, 500_000
GONE_AFTER_S = 0.02
GONE_WITHIN_S = 90
IDLE_WITHIN_S = 0.25
# Threads and connections that rest are kept so long by whoever may need them again.
RESTING_S = 12


def main():
    table = Table()
    flags = flags_known("frontend", ("--running", RUNNING), ("--queued", QUEUED),
                        ("--memory", "256M"))
    if "--running" not in flags:
        print("trawl frontend has no --running and --queued yet: its own bounds hold")
    for rows in (identical, heavy, disconnected):
        with (tempfile.TemporaryDirectory(dir="/var/tmp") as spool,
              synthetic_backends(BACKENDS) as backends,
              frontend(backends, spool, *flags) as server, table.rows(rows.__name__)):
            rows(table, server, spool)
    return table.finish()


def target(each, seed):
    query = urllib.parse.quote(f"matches {each} seed {seed}")
    return f"/api/v2/search?q={query}&context=0&per_page=1"


def ask(address, path, timeout_s):
    """Status, head, and body of an answer on a connection of its own."""
    with socket.create_connection(address, timeout=timeout_s) as stream:
        stream.sendall(f"GET {path} HTTP/1.1\r\nHost: trawl\r\nConnection: close\r\n\r\n".encode())
        received = b""
        while piece := stream.recv(1 << 16):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.lower(), body


def at_once(address, paths, timeout_s):
    """Asks for all paths at the same time; answers, each with its seconds, or what went wrong."""
    gate, answers = threading.Barrier(len(paths)), [None] * len(paths)

    def one(index, path):
        gate.wait()
        started = time.perf_counter()
        try:
            answers[index] = *ask(address, path, timeout_s), time.perf_counter() - started
        except OSError as error:
            answers[index] = 0, str(error).encode(), b"", time.perf_counter() - started

    threads = [threading.Thread(target=one, args=each) for each in enumerate(paths)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def kinds(answers, expected):
    """How many were answered and how many refused; anything else is wrong."""
    counted = collections.Counter()
    for status, head, body, _ in answers:
        if status == 200:
            answer = json.loads(body)
            if not answer["complete"] or answer["total"] != expected:
                raise Wrong(f"{answer['total']:,} of {expected:,} matches: {answer['missing']}")
            counted["answered"] += 1
        elif status == 503 and re.search(rb"\r\nretry-after: *\d+", head):
            counted["shed"] += 1
        else:
            raise Wrong(f"status {status}: {head[:100]} {body[:200]}")
    return counted


def identical(table, server, _):
    before = server.metric("trawl_frontend_queries_started_total")
    answers = at_once(server.address, [target(IDENTICAL_EACH, 1)] * IDENTICAL, DEADLINE_S)
    counted = kinds(answers, BACKENDS * IDENTICAL_EACH)
    started = server.metric("trawl_frontend_queries_started_total") - before
    table.row(f"{IDENTICAL:,} identical requests at once: executions", "1",
              f"{started:.0f}; {counted['answered']:,} answered",
              started == 1 and counted["answered"] == IDENTICAL)


class Interactive(threading.Thread):
    """Small queries, one after the other, until it is told to stop."""

    def __init__(self, address, seed, most):
        super().__init__()
        self.connection, self.seed, self.most = Connection(address), seed, most
        self.over = threading.Event()
        self.times, self.error = [], None

    def run(self):
        try:
            while not self.over.is_set() and len(self.times) < self.most:
                self.seed += 1
                started = time.perf_counter()
                answer = json.loads(self.connection.get(target(INTERACTIVE_EACH, self.seed)))
                self.times.append(1e3 * (time.perf_counter() - started))
                if answer["total"] != BACKENDS * INTERACTIVE_EACH or not answer["complete"]:
                    raise Wrong(f"an interactive query: {answer['total']} matches")
                self.over.wait(0.005)
        except (Wrong, SystemExit) as error:
            status = re.search(r"http/1.1 (\d+)", str(error))
            self.error = status[1] if status else str(error)

    def p99(self):
        return quantiles(self.times)[1] if len(self.times) > 1 else float("inf")


def heavy(table, server, _):
    idle = Interactive(server.address, 1_000_000, INTERACTIVE_IDLE)
    idle.start()
    idle.join()
    if idle.error:
        raise Wrong(idle.error)
    busy = Interactive(server.address, 2_000_000, 1 << 30)
    busy.start()
    started = time.perf_counter()
    answers = at_once(server.address, [target(HEAVY_EACH, seed) for seed in range(HEAVY)],
                      DEADLINE_S)
    elapsed = time.perf_counter() - started
    busy.over.set()
    busy.join()
    what = f"{HEAVY} heavy queries at once"
    counted = kinds(answers, BACKENDS * HEAVY_EACH)
    slowest = max(each[3] for each in answers)
    shed = [each[3] for each in answers if each[0] == 503]
    table.row(f"{what}: answered or shed", f"{HEAVY} in {DEADLINE_S} s",
              f"{counted['answered']} + {counted['shed']} in {slowest:.1f} s",
              sum(counted.values()) == HEAVY and slowest <= DEADLINE_S)
    if shed:
        table.row(f"{what}: until shed, at most", "", f"{1e3 * max(shed):.0f} ms")
    peak, mapped = server.status("VmHWM"), server.status("RssFile")
    table.row(f"{what}: peak memory, but for what is mapped", f"<= {MEMORY_BYTES >> 20} MiB",
              f"{(peak - mapped) >> 20:,} MiB (mapped {mapped >> 20})",
              peak - mapped <= MEMORY_BYTES)
    bound = 2 * idle.p99() + 50
    ended = "" if not busy.error else f", then {busy.error}"[:20]
    table.row("an interactive query meanwhile", f"p99 <= {bound:.0f} ms",
              f"p99 {busy.p99():.1f} ms of {len(busy.times)}{ended}",
              not busy.error and busy.p99() <= bound)
    table.row("  idle", "", f"p99 {idle.p99():.1f} ms; heavy took {elapsed:.1f} s")


def disconnected(table, server, spool):
    # What is made once and kept: a few connections, threads (those that sort among them), and files.
    kinds(at_once(server.address, [target(GONE_EACH, GONE + seed) for seed in range(RUNNING)], 10),
          BACKENDS * GONE_EACH)
    time.sleep(RESTING_S)
    before = held(server, spool)
    names = ("started", "shed", "cancelled", "finished")
    counters = [f"trawl_frontend_queries_{name}_total" for name in names]
    counted = [server.metric(counter) for counter in counters]
    started = time.perf_counter()
    failures = disconnect_all(server.address)
    gone = time.perf_counter()
    idle_s = until_idle(server, gone)
    what = f"{GONE:,} clients that go"
    table.row(f"{what}: connections refused or late", "0",
              f"{len(failures)} {failures[-1] if failures else ''}", not failures)
    table.row(f"{what}: processors idle after", f"<= {1e3 * IDLE_WITHIN_S:.0f} ms",
              f"{1e3 * idle_s:.0f} ms", idle_s <= IDLE_WITHIN_S)
    time.sleep(RESTING_S)
    server.connection = Connection(server.address)
    counted = [server.metric(counter) - was for counter, was in zip(counters, counted)]
    said = ", ".join(f"{count:.0f} {name}" for count, name in zip(counted, names))
    table.row(f"{what}, in {gone - started:.0f} s", "", said)
    after = held(server, spool)
    for name in before:
        table.row(f"{what}: {name}", f"<= {before[name]}", str(after[name]),
                  after[name] <= before[name])


def disconnect_all(address):
    """Asks, and closes the connection at a random moment, so many at once; what went wrong."""
    numbers, moments, failures = iter(range(GONE)), random.Random(1), []
    give_up = time.monotonic() + GONE_WITHIN_S

    def some():
        for number in numbers:
            is_heavy = number % GONE_HEAVY_EVERY == 0
            path = target(GONE_HEAVY_EACH if is_heavy else GONE_EACH, number)
            try:
                with socket.create_connection(address, timeout=10) as stream:
                    stream.sendall(f"GET {path} HTTP/1.1\r\nHost: trawl\r\n\r\n".encode())
                    time.sleep(moments.random() * GONE_AFTER_S)
            except OSError as error:
                failures.append(str(error))
            if time.monotonic() > give_up:
                failures.append(f"stopped after {number:,}")
                break

    threads = [threading.Thread(target=some) for _ in range(GONE_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def until_idle(server, since, most_s=30):
    """Seconds from `since` to the beginning of a fifth of a second without work."""
    while (began := time.perf_counter()) < since + most_s:
        cpu_s = server.cpu_s()
        time.sleep(0.2)
        if server.cpu_s() - cpu_s <= 0.01:
            return began - since
    return most_s


def held(server, spool):
    """What a frontend holds on to."""
    return {
        "sockets": server.descriptors("socket:"),
        "files of the spool, open": server.descriptors(spool),
        "descriptors": server.descriptors(),
        "threads": server.status("Threads"),
        "spools of incomplete runs": sum(
            not is_complete(server, name) for name in os.listdir(spool) if name != "lock"),
        "queries running": int(server.metric("trawl_frontend_queries_running")),
    }


def is_complete(server, name):
    """Whether a directory of the spool is of a finished run that has an answer."""
    search = name.partition("-")[0]
    status, _, body = ask(server.address, f"/api/v2/search/{search}?wait=false", 10)
    return status == 200 and json.loads(body)["complete"]
