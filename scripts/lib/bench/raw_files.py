"""`bench caches --only raw`: raw files behind an authorization service, with and without kept decisions.

A service that takes 450 ms, and 40 connections: the most that can be served without kept decisions (`--auth-ttl 0`),
and with them 14 times as much, at a fixed rate, each time from when a request was due. A service that takes 10 ms: the
most that can be served with kept decisions, beside a server without authorization, in turn. Decisions are refreshed
during the runs, which no request may wait for. At last requests that need many decisions each.
"""

import contextlib
import json
import os
import pathlib
import re
import statistics
import time

from .. import servers, tools
from ..connection import Connection
from ..redis_server import free_port
from ..table import Goals, Wrong
from ..two_worlds import service
from ..two_worlds.worlds import Caller, Reply

CONNECTIONS = 40
SECONDS = 8
# Times the rate without kept decisions.
TIMES_MIN = 14
SLOW_S, QUICK_S = 0.450, 0.010
# Seconds that decisions are kept in the runs, so that several refreshes are in each.
TTL_S = 2
SHARE_MIN = 0.9
DECISIONS_MIN = 20_000
FILES = 40
# Packages that are not public, in the run that counts decisions: as many as need no batches.
PACKAGES = 64
# Repositories of a request, in that run.
NAMES = 1000
COOKIE = "cookie: user=member"


def main(runs: int = 3) -> int:
    trawl, programs, table = tools.trawl(), tools.testkit(), Goals()
    with tools.workspace() as work:
        paths = corpus(work)
        index = tools.build_index(trawl, os.path.join(work, "index"), [os.path.join(work, "src")], "--each")
        bench = Bench(table, trawl, index, work, programs / "http_load", paths, runs)
        with table.rows("raw files, a slow service"):
            bench.slow()
        with table.rows("raw files, a quick service"):
            bench.quick()
        with table.rows("decisions"):
            bench.decisions()
    return table.finish()


def corpus(work: str) -> list[str]:
    """Writes packages that only members may see, and returns the addresses of their files."""
    paths = []
    for package in range(PACKAGES):
        # Not `team-01`, which is version 01 of `team`.
        name = f"team-p{package:02}"
        os.makedirs(os.path.join(work, "src", name))
        for file in range(FILES if package == 0 else 1):
            with open(os.path.join(work, "src", name, f"f{file}.c"), "w") as opened:
                opened.write(f"int value_{package}_{file};\n" * 100)
            if package == 0:
                paths.append(f"/raw/p/{name}/f{file}.c")
    return paths


class Bench:
    def __init__(self, table: Goals, trawl: str, index: str, work: str, load: pathlib.Path, paths: list[str],
                 runs: int) -> None:
        self.table, self.trawl, self.index, self.work = table, trawl, index, work
        self.load, self.paths, self.runs, self.spools = load, paths, runs, 0

    def serve(self, asked: service.Service | None = None, ttl_s: float = TTL_S,
              *more: str) -> contextlib.AbstractContextManager[servers.Server]:
        flags = ["--auth-url", asked.url, "--auth-ttl", ttl_s, *more] if asked else []
        self.spools += 1
        return servers.serve(self.trawl, self.index, os.path.join(self.work, f"spool-{self.spools}"), *flags)

    def slow(self) -> None:
        admin = "127.0.0.1", free_port()
        with service.running(SLOW_S) as asked:
            with self.serve(asked, 0) as server:
                most, _ = self.request(server, 0)
                # As many as can just be served.
                _, before = self.request(server, int(most * 0.9))
            with self.serve(asked, TTL_S, "--admin-listen", "%s:%d" % admin) as server, Connection(admin) as metrics:
                self.request(server, 0, seconds=1)
                waited, asked_before = counted(metrics, "wait"), asked.asked
                rate, after = self.request(server, int(most * TIMES_MIN * 1.05))
                waited, refreshes = counted(metrics, "wait") - waited, asked.asked - asked_before
        what = f"service of {SLOW_S * 1000:.0f} ms, {CONNECTIONS} connections"
        self.table.row(f"{what}: nothing kept", most, "{:,.0f}/s")
        self.table.row(f"{what}: decisions kept", rate, "{:,.0f}/s", at_least=TIMES_MIN * most)
        self.table.row(f"{what}: p99, nothing kept", before, "{:,.1f} ms")
        self.table.row(f"{what}: p99, decisions kept", after, "{:,.1f} ms", at_most=before / 4)
        self.table.row(f"{what}: times that it was asked meanwhile", refreshes, "{:,}", at_least=1)
        self.table.row(f"{what}: requests that waited meanwhile", waited, "{:,.0f}", at_most=0)

    def quick(self) -> None:
        with service.running(QUICK_S) as asked, self.serve(asked) as limited, self.serve() as free:
            self.request(limited, 0, seconds=1)
            self.request(free, 0, seconds=1)
            asked_before = asked.asked
            rates: dict[servers.Server, list[float]] = {limited: [], free: []}
            for turn in range(self.runs):
                for server in (limited, free) if turn % 2 else (free, limited):
                    rates[server].append(self.request(server, 0)[0])
            refreshes = asked.asked - asked_before
        with_rights, without = (statistics.median(rates[server]) for server in (limited, free))
        what = f"service of {QUICK_S * 1000:.0f} ms"
        self.table.row(f"{what}: without authorization", without, "{:,.0f}/s")
        self.table.row(f"{what}: decisions kept", with_rights, "{:,.0f}/s", at_least=SHARE_MIN * without)
        self.table.row(f"{what}: times that it was asked meanwhile", refreshes, "{:,}", at_least=self.runs)

    def decisions(self) -> None:
        """Asks for commits of many repositories at once: each is a decision, and none of them exists."""
        admin = "127.0.0.1", free_port()
        body = json.dumps({"revisions": [{"repo": f"team-r{number:03}"} for number in range(NAMES)]})
        with service.running(QUICK_S) as asked, self.serve(asked, 60, "--admin-listen", "%s:%d" % admin) as server, \
                Caller(server.address, "member") as caller, Connection(admin) as metrics:
            def ask() -> Reply:
                return caller.ask("/api/v2/commits", "POST", [("content-type", "application/json")], body)

            ask()
            before, began = kept(metrics), time.monotonic()
            while time.monotonic() - began < SECONDS:
                if (reply := ask()).status != 200:
                    raise Wrong(f"status {reply.status}: {reply.body[:200]!r}")
            decided = (kept(metrics) - before) / (time.monotonic() - began)
        self.table.row(f"kept decisions, {NAMES} a request, one connection", decided, "{:,.0f}/s",
                       at_least=DECISIONS_MIN)

    def request(self, server: servers.Server, rate: int, seconds: float = SECONDS) -> tuple[float, float]:
        """Returns answers a second, and p99 in milliseconds."""
        file = os.path.join(self.work, "paths")
        with open(file, "w") as opened:
            opened.writelines(f"{path}\n" for path in self.paths)
        command = [self.load, server, CONNECTIONS, seconds, file, rate, COOKIE]
        words = tools.run(command, text=True).stdout.split()
        requests, elapsed, _, p99, failed = (float(word) for word in words)
        if failed:
            raise Wrong(f"{failed:.0f} of {requests:.0f} requests failed")
        return requests / elapsed, p99 / 1e3


def counted(metrics: Connection, result: str) -> float:
    """Returns how many requests for decisions had this result."""
    text = metrics.get("/metrics").decode()
    found = re.findall(r"^trawl_frontend_cache_requests_total\{([^}]*)\} (\S+)$", text, re.M)
    return sum(float(count) for labels, count in found
               if 'cache="authorization"' in labels and f'result="{result}"' in labels)


def kept(metrics: Connection) -> float:
    return counted(metrics, "fresh") + counted(metrics, "stale")
