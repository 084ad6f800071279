"""`bench cluster`: what it costs that a search goes over the network: `trawl frontend` with one `trawl backend`,
against `trawl serve`, which answers with the same code in one process; and the memory of connections without a search.

Each search has another alternative that is nowhere, since answers are kept. Both servers search the same index in turn.
They must find the same number of matches.
"""

import contextlib
import os
import selectors
import socket
import statistics
import time
import typing

from .. import servers, tools
from ..connection import Address
from ..table import Goals, Wrong, interleaved, medians
from . import indexes

# Searches by what they cost, and how many are measured at a time.
SEARCHES = {
    "rare words": (["TCP_NODELAY", "XCreateWindow", "errno == EINTR"], 30),
    "common words": (["arse", "parse", "/[a-z]+_init *[(]/"], 4),
    "words of a tenth of all lines": (["return", "int"], 2),
}
SLOWER_MAX = 1.05

BACKENDS, CONNECTIONS = 200, 1000
IDLE_BYTES_MAX = 64 << 10
# A connection is idle when its greetings have come: one a second.
SETTLED_S = 3


def main(directory: str, runs: int = 5) -> int:
    trawl = tools.trawl()
    table = Goals()
    with tools.workspace() as work, contextlib.ExitStack() as stack:
        index = indexes({"trawl": trawl}, directory, work)["trawl"]
        enter = stack.enter_context
        backend = enter(servers.backend(trawl, index))
        frontend = enter(servers.frontend(trawl, [backend], os.path.join(work, "spool-frontend")))
        serve = enter(servers.serve(trawl, index, os.path.join(work, "spool-serve")))
        paths = {"serve": [serve], "frontend and backend": [frontend, backend]}
        for what, (texts, count) in SEARCHES.items():
            with table.rows(what):
                searches(table, what, {name: Path(each, texts, count) for name, each in paths.items()}, runs)
        with table.rows("idle connections"):
            idle(table, trawl, work)
    return table.finish()


class Path:
    """The processes through which a search goes, of which the first one answers."""

    # Shared, so that no two searches are the same.
    number = 0

    def __init__(self, processes: list[servers.Server], texts: list[str], count: int) -> None:
        self.processes, self.texts, self.count = processes, texts, count
        self.totals: dict[str, int] = {}

    def ask(self) -> tuple[float, float]:
        """Returns milliseconds and processor milliseconds of a search."""
        cpu_s, began = self.cpu_s(), time.perf_counter()
        for _ in range(self.count):
            for text in self.texts:
                Path.number += 1
                answer = self.processes[0].search(q=f"{text} or zq{Path.number}qz")
                if not answer["complete"] or self.totals.setdefault(text, answer["total"]) != answer["total"]:
                    raise Wrong(f"{text}: {answer['total']} matches, missing {answer['missing']}")
        took, cpu_s = time.perf_counter() - began, self.cpu_s() - cpu_s
        asked = self.count * len(self.texts)
        return 1e3 * took / asked, 1e3 * cpu_s / asked

    def cpu_s(self) -> float:
        return sum(process.cpu_s() for process in self.processes)


def searches(table: Goals, what: str, paths: dict[str, Path], runs: int) -> None:
    results = interleaved({name: path.ask for name, path in paths.items()}, runs)
    if len({tuple(path.totals.items()) for path in paths.values()}) != 1:
        raise Wrong(f"totals differ: {[path.totals for path in paths.values()]}")
    (serve, serve_cpu), (cluster, cluster_cpu) = (medians(results[name]) for name in paths)
    ratio = statistics.median(far[0] / near[0] for near, far in zip(*results.values()))
    cpu = f"processor time {serve_cpu:.2f} and {cluster_cpu:.2f} ms"
    table.row(f"{what}: serve", serve, "{:.2f} ms")
    table.row(f"{what}: frontend and backend", cluster, "{:.2f} ms", note=cpu)
    table.row(f"{what}: frontend and backend, times serve", ratio, "{:.3f}", at_most=SLOWER_MAX)


def idle(table: Goals, trawl: str, work: str) -> None:
    """Measures connections without a search, of a backend and of a frontend."""
    package = os.path.join(work, "small", "package")
    os.makedirs(package)
    with open(os.path.join(package, "file"), "w") as file:
        file.write("text\n")
    index = tools.build_index(trawl, os.path.join(work, "small-index"), [package])
    with servers.backend(trawl, index) as backend:
        before = backend.status("RssAnon")
        with contextlib.ExitStack() as open_ones:
            for _ in range(CONNECTIONS):
                connection = open_ones.enter_context(socket.create_connection(backend.address))
                connection.recv(1 << 16)
            time.sleep(SETTLED_S)
            each = (backend.status("RssAnon") - before) / CONNECTIONS
        table.row(f"an idle connection at a backend, of {CONNECTIONS:,}", each / 1024, "{:.1f} KiB",
                  at_most=IDLE_BYTES_MAX / 1024)
        memory = [frontend_bytes(trawl, work, backend, count) for count in (1, 1 + BACKENDS)]
        each = (memory[1] - memory[0]) / BACKENDS
        table.row(f"an idle connection at a frontend, of {BACKENDS:,} to a backend each", each / 1024, "{:.1f} KiB",
                  at_most=IDLE_BYTES_MAX / 1024)


def frontend_bytes(trawl: str, work: str, backend: servers.Server, count: int) -> int:
    """Returns the memory of a frontend with so many backends, which are one."""
    spool = os.path.join(work, f"spool-{count}")
    with (Doors(backend.address, count) as doors,
          servers.frontend(trawl, doors.addresses, spool) as frontend):
        deadline = time.monotonic() + 60
        while frontend.metric("trawl_frontend_backends_connected") < count:
            doors.pass_on(0.05)
            if time.monotonic() > deadline:
                raise Wrong(f"not all of {count} backends are connected")
        end = time.monotonic() + SETTLED_S
        while time.monotonic() < end:
            doors.pass_on(0.05)
        return frontend.status("RssAnon")


class Doors:
    """Ports that lead to one backend, so that it looks like many."""

    def __init__(self, address: Address, count: int) -> None:
        self.address, self.selector = address, selectors.DefaultSelector()
        self.open: list[socket.socket] = []
        self.addresses: list[str] = []
        for _ in range(count):
            listener = socket.create_server(("127.0.0.1", 0))
            self.open.append(listener)
            self.addresses.append("%s:%d" % listener.getsockname())
            self.selector.register(listener, selectors.EVENT_READ, None)

    def pass_on(self, seconds: float) -> None:
        """Passes bytes on for some time."""
        for key, _ in self.selector.select(seconds):
            end = key.fileobj
            assert isinstance(end, socket.socket)
            if key.data is None:
                self.connect(end)
            elif data := end.recv(1 << 16):
                key.data.sendall(data)
            else:
                self.selector.unregister(end)
                key.data.shutdown(socket.SHUT_WR)

    def connect(self, listener: socket.socket) -> None:
        ends = listener.accept()[0], socket.create_connection(self.address)
        self.open += ends
        for one, other in (ends, ends[::-1]):
            self.selector.register(one, selectors.EVENT_READ, other)

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.open:
            each.close()
        self.selector.close()
