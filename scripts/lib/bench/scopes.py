"""`bench caches --only scope`: what a light query costs a caller who sees a part of 100,000 packages.

One server asks an authorization service, and its caller sees every other package; the other one has no
authorization. Both search the same index. The same queries go to both in turn; each finds one line of a package
that the caller sees. The first request of a new scope, which computes what is visible, is measured by itself.
"""

import os
import random
import statistics
import time

from .. import servers, tools
from ..table import Goals, Wrong
from ..two_worlds import service
from ..two_worlds.worlds import Caller

PACKAGES = 100_000
QUERIES = 2_000
WARM = 100
MORE_US_MAX = 100


def main() -> int:
    trawl, table = tools.trawl(), Goals()
    with tools.workspace() as work:
        index = tools.build_index(trawl, os.path.join(work, "index"), [corpus(work)], "--each")
        spools = [os.path.join(work, name) for name in ("limited", "free")]
        with (table.rows("a scope"), service.running() as asked,
              servers.serve(trawl, index, spools[0], "--auth-url", asked.url, "--auth-batch") as limited,
              servers.serve(trawl, index, spools[1]) as free):
            measure(table, Caller(limited.address, "member"), Caller(free.address, "member"))
    return table.finish()


def corpus(work: str) -> str:
    """Writes packages of one file each. Members see those whose names begin with team."""
    source = os.path.join(work, "src")
    for number in range(PACKAGES):
        package = os.path.join(source, f"{'team' if number % 2 else 'other'}-p{number:06}")
        os.makedirs(package)
        with open(os.path.join(package, "a.c"), "w") as file:
            file.write(f"int value_{number:06};\nint in_all;\n")
    return source


def measure(table: Goals, limited: Caller, free: Caller) -> None:
    what = f"a light query, {PACKAGES:,} packages"
    table.row(f"{what}: the first of a scope", ask(limited, 1, first=True) * 1e3, "{:,.1f} ms")
    expect(limited, "in_all", PACKAGES // 2)
    expect(free, "in_all", PACKAGES)
    chosen = random.Random(1)
    times: dict[Caller, list[float]] = {limited: [], free: []}
    for turn in range(WARM + QUERIES):
        # A package that the caller sees; the number of the turn makes a query that was not asked before.
        number = 2 * chosen.randrange(PACKAGES // 2) + 1
        for caller in (limited, free) if turn % 2 else (free, limited):
            seconds = ask(caller, number, turn)
            if turn >= WARM:
                times[caller].append(seconds)
    with_scope, without = (1e6 * statistics.median(times[caller]) for caller in (limited, free))
    table.row(f"{what}: without authorization", without, "{:,.0f} us")
    table.row(f"{what}: with a scope", with_scope, "{:,.0f} us")
    table.row(f"{what}: more", with_scope - without, "{:,.0f} us", at_most=MORE_US_MAX)


def ask(caller: Caller, number: int, turn: int = 0, first: bool = False) -> float:
    """Searches for the line of one package, and returns the seconds."""
    path = f"/api/v2/search?q=value_{number:06}+-absent_{turn}{'_first' if first else ''}"
    began = time.perf_counter()
    reply = caller.ask(path)
    seconds = time.perf_counter() - began
    if reply.status != 200 or b'"total":1,' not in reply.body:
        raise Wrong(f"{path}: {reply.status} {reply.body[:200]!r}")
    return seconds


def expect(caller: Caller, word: str, lines: int) -> None:
    reply = caller.ask(f"/api/v2/search?q={word}&want=count")
    if f'"found":{lines},'.encode() not in reply.body:
        raise Wrong(f"{word}: not {lines} lines: {reply.body[:200]!r}")
