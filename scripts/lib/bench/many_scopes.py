"""`bench caches --only scopes`: one query over everything, asked by 50 callers at once, each with a scope of its own.

Then the same by 50 callers who see the same. Frontend and backend are processes of their own, so the frontend's memory
is measured: what it takes besides what it had before, when each caller had sent a light query, must be within
`--memory`, which is for running queries.
"""

import concurrent.futures
import os
import threading
import time
from collections.abc import Sequence

from .. import servers, tools
from ..connection import Refused
from ..scoped import Caller, running
from ..table import Goals, Wrong

CALLERS = 50
PACKAGES = 500
LINES = 200
MEMORY = 128 << 20
EVERY_S = 0.02
PATIENCE_S = 300
# Words that are in every line. Each query asks for another one, so that no answer is there already.
DIFFERENT, EQUAL = "in_each", "in_all"


def main() -> int:
    table = Goals()
    with tools.workspace() as work:
        index = tools.build_index(tools.trawl(), os.path.join(work, "index"), [corpus(work)], "--each")
        spool = os.path.join(work, "spool")
        with (table.rows("50 scopes at once"), running() as asked,
              servers.backend(tools.trawl(), index) as backend,
              servers.frontend(tools.trawl(), [backend], spool, "--memory", MEMORY, "--spool-bytes", "8G",
                               "--queued", CALLERS, "--auth-url", asked.url, "--auth-batch") as server):
            what = f"{CALLERS} callers, {PACKAGES * LINES:,} matches each"
            idle = light(server)
            table.row(f"{what}: RssAnon before", idle / 2**20, "{:,.0f} MiB")
            for kind, query, left_out in (("different", DIFFERENT, range(CALLERS)), ("equal", EQUAL, [0] * CALLERS)):
                before = spools(spool)
                peak, seconds, refused = at_once(server, query, left_out)
                many = spools(spool) - before
                expected = len(set(left_out))
                table.row(f"{what}, {kind} scopes: RssAnon more at its peak", (peak - idle) / 2**20, "{:,.0f} MiB",
                          at_most=MEMORY / 2**20)
                table.row(f"{what}, {kind} scopes: spools", many, at_most=expected)
                table.row(f"{what}, {kind} scopes: all answered", seconds, "{:,.1f} s",
                          note=f"{refused} times 503 with Retry-After")
                if many < expected:
                    raise Wrong(f"{many} spools of {expected} scopes")
    return table.finish()


def corpus(work: str) -> str:
    source = os.path.join(work, "src")
    for number in range(PACKAGES + 1):
        package = os.path.join(source, name(number))
        os.makedirs(package)
        with open(os.path.join(package, "a.c"), "w") as file:
            file.writelines(f"int line_{line} {DIFFERENT} {EQUAL};\n" for line in range(LINES))
    return source


def name(number: int) -> str:
    return f"p{number:04}x"


def caller(server: servers.Server, left_out: int) -> Caller:
    """Somebody who sees all packages but one."""
    return Caller(server.address, {name(number) for number in range(PACKAGES + 1) if number != left_out}, PATIENCE_S)


def light(server: servers.Server) -> int:
    """Sends a query that finds nothing for each caller. Returns RssAnon after that."""
    for left_out in range(CALLERS):
        with caller(server, left_out) as asking:
            asking.search(q="nothing_has_this")
    return server.status("RssAnon")


def at_once(server: servers.Server, query: str, left_out: Sequence[int]) -> tuple[int, float, int]:
    """Asks for all callers at once. Returns the greatest RssAnon, the seconds and how often one was refused."""
    callers = [caller(server, left) for left in left_out]
    peak, has_ended = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not has_ended.wait(EVERY_S):
            peak = max(peak, server.status("RssAnon"))

    watching = threading.Thread(target=watch)
    watching.start()
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
        refused = sum(pool.map(lambda asking: ask(asking, query), callers))
    seconds = time.monotonic() - began
    has_ended.set()
    watching.join()
    for asking in callers:
        asking.socket.close()
    return peak, seconds, refused


def ask(asking: Caller, query: str) -> int:
    """Searches until the answer is there, which must be whole. Returns how often the server refused."""
    for refused in range(1000):
        try:
            answer = asking.search(q=query, timeout="300s")
        except Refused as error:
            if error.status != 503:
                raise
            time.sleep(1)
            continue
        if not answer["complete"] or answer["found"] != PACKAGES * LINES:
            raise Wrong(f"{query}: {answer['found']} matches, complete: {answer['complete']} {answer['missing']}")
        return refused
    raise Wrong(f"{query}: refused again and again")


def spools(directory: str) -> int:
    """Counts results on the disk."""
    return sum(os.path.exists(os.path.join(entry, "manifest")) for entry in os.scandir(directory))
