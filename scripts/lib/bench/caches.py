"""`bench caches`: many callers for one expensive answer, and more expensive answers than can be rendered.

An expensive answer is a page by file, of a query with many matches whose result is on the disk: its search is over,
and each view of it is rendered. Every part runs with the cache and, in the same run, without it
(`--rendered-memory 0`). The client is one process that sends without waiting for answers (open loop); light queries
are sent by another one.
"""

import collections
import multiprocessing
import multiprocessing.queues
import multiprocessing.synchronize
import selectors
import socket
import statistics
import time
import typing

from .. import servers, tools
from ..connection import Address, Connection
from ..table import Goals, Wrong, quantiles

QUERY = "/api/v2/search?q=return&mode=literal&context=0&group=document"
FACETS = "/api/v2/facets?q={}&mode=regexp&context=0"
# Different queries with almost the same matches, so that none is answered from the result of another: each pair has one
# for a caller alone and one for all of them.
SEARCHES = [("r.turn", "retur."), ("re.urn", "retu.n"), ("ret.rn", "r%28e%29turn"), ("%28r%29eturn", "re%28t%29urn"),
            ("ret%28u%29rn", "retu%28r%29n")]
LIGHT = "/api/v2/search?q=%22no+such+text+{}%22"

CALLERS = 1000
# The share of the time of one build that callers may wait longer, and what 1,000 requests take besides.
WAIT_RATIO, WAIT_MS = 1.2, 20
CPU_RATIO_MAX = 0.1
ANSWERED_WITHIN_S = 60

SUSTAINED_S = 4
OVERLOAD_S = 5
OVERLOAD_FACTOR = 10
SERVED_MIN = 0.9
REFUSED_WITHIN_MS = 10
LIGHT_P99_MS = 100
NORMAL_WITHIN_S = 5
CONNECTIONS_MAX = 3000
# Requests without an answer are given up so long after the last one was sent.
DRAIN_S = 20

FLAGS = ("--connections-per-client", 2 * CONNECTIONS_MAX)


def main(index: str) -> int:
    trawl, table = tools.trawl(), Goals()
    for part in (expensive_answer, overload):
        without: float | None = None
        for name, flags in (("without the cache", ("--rendered-memory", 0)), ("with it", ())):
            with (table.rows(f"{part.__name__} {name}"), tools.workspace() as spool,
                  servers.serve(trawl, index, spool, *FLAGS, *flags) as server):
                # The search itself is not measured.
                server.connection.get(f"{QUERY}&per_page=1")
                without = part(table, server, name, without)
    return table.finish()


class Views:
    """Views of the answer, none of which was asked for before."""

    def __init__(self) -> None:
        self.number = 0

    def next(self) -> str:
        self.number += 1
        page, rest = self.number % 8, self.number // 8
        per_page, per_document = 1000 - rest % 500, 5 - rest // 500 % 5
        return f"{QUERY}&per_page={per_page}&page={page}&per_document={per_document}"


class Sent:
    """A request that was sent, on a connection of its own until it is answered."""

    def __init__(self, stream: socket.socket, at: float) -> None:
        self.stream, self.at = stream, at
        self.status, self.head = 0, b""
        # Bytes of the body that have not arrived yet, once its length is known.
        self.left: int | None = None

    def read(self) -> bool:
        """Reads what has arrived. Returns whether that is all; `status` is 0 if the server closed the connection."""
        while True:
            try:
                piece = self.stream.recv(1 << 18)
            except BlockingIOError:
                return False
            if not piece:
                self.status = 0
                return True
            if self.left is None:
                self.head += piece
                head, found, body = self.head.partition(b"\r\n\r\n")
                if not found:
                    continue
                self.head = head.lower()
                self.status = int(head.split()[1])
                length = self.head.partition(b"content-length: ")[2].split(b"\r\n")[0]
                self.left = int(length) - len(body)
            else:
                self.left -= len(piece)
            if self.left <= 0:
                return True


class OpenLoop:
    """Sends requests at given times, whether or not earlier ones are answered."""

    def __init__(self, address: Address, connections: int) -> None:
        self.address, self.selector = address, selectors.DefaultSelector()
        self.host = "%s:%d" % address
        self.idle = [self.connect() for _ in range(connections)]
        self.waiting: dict[socket.socket, Sent] = {}
        # Status, time of the request, milliseconds, time of the answer, and head.
        self.answered: list[tuple[int, float, float, float, bytes]] = []
        self.unsent, self.closed = 0, 0

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in [*self.idle, *self.waiting]:
            stream.close()
        self.selector.close()

    def connect(self) -> socket.socket:
        stream = socket.create_connection(self.address)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setblocking(False)
        return stream

    def send(self, path: str) -> None:
        if not self.idle:
            self.unsent += 1
            return
        stream = self.idle.pop()
        stream.send(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
        self.waiting[stream] = Sent(stream, time.perf_counter())
        self.selector.register(stream, selectors.EVENT_READ, self.waiting[stream])

    def poll(self, seconds: float) -> None:
        for key, _ in self.selector.select(max(0, seconds)):
            sent: Sent = key.data
            stream = sent.stream
            if not sent.read():
                continue
            self.selector.unregister(stream)
            del self.waiting[stream]
            if sent.status == 0:
                self.closed += 1
                stream.close()
                continue
            now = time.perf_counter()
            self.answered.append((sent.status, sent.at, 1e3 * (now - sent.at), now, sent.head))
            self.idle.append(stream)

    def drain(self, seconds: float) -> None:
        deadline = time.perf_counter() + seconds
        while self.waiting and time.perf_counter() < deadline:
            self.poll(0.1)


def milliseconds(server: servers.Server, path: str) -> float:
    started = time.perf_counter()
    server.connection.get(path)
    return 1e3 * (time.perf_counter() - started)


def expensive_answer(table: Goals, server: servers.Server, name: str, without: float | None) -> float:
    """Sends 1,000 requests for one answer at once: for facets of a search that has not begun, and for a view of a
    finished one. Returns the processor seconds of the latter."""
    what = f"{CALLERS:,} callers for facets of a new search, {name}"
    goals = name == "with it"
    alone_ms, p99_ms = [], []
    started_before, misses_before = started(server), misses(server)
    for one, many in SEARCHES:
        alone_ms.append(milliseconds(server, FACETS.format(one)))
        _, times = at_once(server, what, FACETS.format(many))
        p99_ms.append(quantiles(times)[1])
    searches = 2 * len(SEARCHES)
    table.row(f"{what}: searched", started(server) - started_before, "{:.0f}", at_most=searches)
    if goals:
        table.row(f"{what}: built", misses(server) - misses_before, "{:.0f}", at_most=searches)
    alone = statistics.median(alone_ms)
    table.row(f"{what}: p99", statistics.median(p99_ms), "{:.0f} ms",
              at_most=WAIT_RATIO * alone + WAIT_MS if goals else None,
              note=f"median of {len(SEARCHES)}; one caller alone, of as large a search: {alone:.0f} ms")
    if goals:
        # What the requests and this client take.
        what = f"{CALLERS:,} callers for an answer that is kept"
        _, times = at_once(server, what, FACETS.format(SEARCHES[0][1]))
        table.row(f"{what}: p99", quantiles(times)[1], "{:.0f} ms")
    what = f"{CALLERS:,} callers for one view, {name}"
    view = f"{QUERY}&per_page=200"
    misses_before = misses(server)
    cpu_s, times = at_once(server, what, view)
    if goals:
        table.row(f"{what}: built", misses(server) - misses_before, "{:.0f}", at_most=1)
    table.row(f"{what}: p99", quantiles(times)[1], "{:.0f} ms")
    table.row(f"{what}: processor time", cpu_s, "{:.2f} s",
              at_most=CPU_RATIO_MAX * without if goals and without else None)
    return cpu_s


def at_once(server: servers.Server, what: str, path: str) -> tuple[float, list[float]]:
    """Sends 1,000 requests at once. Returns processor seconds, and the milliseconds of each."""
    with OpenLoop(server.address, CALLERS) as clients:
        cpu_s = server.cpu_s()
        for _ in range(CALLERS):
            clients.send(path)
        clients.drain(ANSWERED_WITHIN_S)
        cpu_s = server.cpu_s() - cpu_s
        answered = clients.answered
    good = sum(status == 200 for status, *_ in answered)
    if good < CALLERS:
        raise Wrong(f"{what}: {good:,} were answered")
    return cpu_s, [answer[2] for answer in answered]


def started(server: servers.Server) -> float:
    return server.metric("trawl_frontend_queries_started_total")


def misses(server: servers.Server) -> float:
    return server.metric(r'trawl_frontend_cache_requests_total\{cache="rendered",result="miss"\}')


def sustained(server: servers.Server, views: Views) -> float:
    """Returns how many views a second are answered to four clients that wait for each."""
    with OpenLoop(server.address, 4) as clients:
        until = time.perf_counter() + SUSTAINED_S
        while time.perf_counter() < until:
            while clients.idle:
                clients.send(views.next())
            clients.poll(0.05)
        return len(clients.answered) / SUSTAINED_S


def light(address: Address, stop: multiprocessing.synchronize.Event,
          times: "multiprocessing.queues.Queue[tuple[list[float], int]]") -> None:
    """Asks light queries until `stop` is set. Puts their milliseconds into `times`, and how many failed."""
    failed, connection = 0, Connection(address)
    took: list[float] = []
    while not stop.is_set():
        started = time.perf_counter()
        try:
            failed += connection.answer(LIGHT.format(len(took))).status != 200
        except ConnectionError:
            failed += 1
            connection = Connection(address)
        took.append(1e3 * (time.perf_counter() - started))
        stop.wait(0.01)
    times.put((took, failed))


def overload(table: Goals, server: servers.Server, name: str, _: float | None) -> None:
    """Sends ten times as many different views as can be rendered."""
    views, what = Views(), f"{OVERLOAD_FACTOR} times the load, {name}"
    goals = name == "with it"
    peak = sustained(server, views)
    idle_ms = statistics.median(milliseconds(server, views.next()) for _ in range(5))
    rate = OVERLOAD_FACTOR * peak
    stop = multiprocessing.Event()
    times: multiprocessing.queues.Queue[tuple[list[float], int]] = multiprocessing.Queue()
    bystander = multiprocessing.Process(target=light, args=(server.address, stop, times))
    with OpenLoop(server.address, min(CONNECTIONS_MAX, int(rate * OVERLOAD_S))) as clients:
        bystander.start()
        began = time.perf_counter()
        for number in range(int(rate * OVERLOAD_S)):
            due = began + number / rate
            while (now := time.perf_counter()) < due:
                clients.poll(due - now)
            clients.poll(0)
            clients.send(views.next())
        ended = time.perf_counter()
        stop.set()
        took, failed = times.get()
        bystander.join()
        clients.drain(DRAIN_S)
        given_up, closed, unsent = len(clients.waiting), clients.closed, clients.unsent
        answered = clients.answered
    normal_s = until_normal(server, views, ended, 2 * idle_ms)
    statuses = collections.Counter(status for status, *_ in answered)
    if set(statuses) - {200, 503}:
        raise Wrong(f"answers of other kinds: {dict(statuses)}")
    refused = [answer for answer in answered if answer[0] == 503]
    if any(b"retry-after: " not in head for *_, head in refused):
        raise Wrong("a refusal has no Retry-After")
    served = sum(answer[0] == 200 and answer[3] <= ended for answer in answered) / (ended - began)
    table.row(f"{what}: served, of {peak:.0f}/s", served / peak, "{:.2f}",
              at_least=SERVED_MIN if goals else None,
              note=f"{rate:.0f}/s sent for {OVERLOAD_S} s; {statuses[200]} served in the end, {len(refused)} refused, "
                   f"{unsent} not sent")
    table.row(f"{what}: without an answer", closed + given_up, "{}", at_most=0 if goals else None,
              note=f"{closed} closed by the server")
    if refused:
        table.row(f"{what}: refused within, p99", quantiles([it[2] for it in refused])[1], "{:.1f} ms",
                  at_most=REFUSED_WITHIN_MS if goals else None)
    table.row(f"{what}: light queries, p99", quantiles(took)[1], "{:.1f} ms",
              at_most=LIGHT_P99_MS if goals else None, note=f"{len(took)} queries")
    table.row(f"{what}: light queries that failed", failed, "{}", at_most=0 if goals else None)
    table.row(f"{what}: back to normal after", normal_s, "{:.1f} s",
              at_most=NORMAL_WITHIN_S if goals else None)


def until_normal(server: servers.Server, views: Views, since: float, most_ms: float) -> float:
    """Returns the seconds from `since` until a view is answered in so much time."""
    while time.perf_counter() < since + 60:
        started = time.perf_counter()
        answer = server.connection.answer(views.next())
        if answer.status == 200 and 1e3 * (time.perf_counter() - started) <= most_ms:
            break
    return time.perf_counter() - since
