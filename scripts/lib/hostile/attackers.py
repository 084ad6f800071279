"""Clients that do harm, and what other clients notice meanwhile."""

import contextlib
import itertools
import resource
import socket
import threading
import time
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping

from .. import browser_headers, servers
from ..connection import Address, Connection
from ..table import quantiles
from .table import Measure, at_most

# Addresses of loopback, so that the attackers are not one client.
SOURCES = [f"127.0.1.{number}" for number in range(1, 26)]

LIGHT_P99_MS = 100
# A light query that takes this long was not answered.
LIGHT_TIMEOUT_S = 3

HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


def allow_descriptors(count: int) -> None:
    """Raises this process's limit of open files, which it needs for its own ends of connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(count, hard)), hard))


def connect(address: Address, number: int) -> socket.socket | None:
    """A connection from one of the attackers, or None if it is refused."""
    source = (SOURCES[number % len(SOURCES)], 0)
    try:
        return socket.create_connection(address, timeout=5, source_address=source)
    except OSError:
        return None


def send(address: Address, number: int, request: bytes) -> socket.socket | None:
    """Sends a request, and does not read."""
    connection = connect(address, number)
    with contextlib.suppress(OSError):
        if connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(request)
    return connection


def get(path: str, host: str = "localhost") -> bytes:
    lines = [f"{name}: {value}\r\n" for name, value in browser_headers.headers(path).items()]
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{''.join(lines)}\r\n".encode()


def peek(connection: socket.socket) -> bytes:
    """Returns the first bytes of an answer that has arrived."""
    connection.setblocking(False)
    with contextlib.suppress(OSError):
        return connection.recv(16)
    return b""


def close(connections: Iterable[socket.socket | None]) -> None:
    for connection in filter(None, connections):
        connection.close()


class Bystander:
    """Asks light queries, one after the other and each on a new connection, and looks at the server."""

    def __init__(self, server: servers.Server, light: Callable[[int], Mapping[str, object]], what: str) -> None:
        self.server, self.light, self.what = server, light, what
        self.times_ms: list[float] = []
        self.unanswered = 0
        self.anonymous, self.threads, self.descriptors = 0, 0, 0
        self.stop = threading.Event()
        self.works = [threading.Thread(target=self.ask), threading.Thread(target=self.look)]

    def __enter__(self) -> typing.Self:
        for work in self.works:
            work.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for work in self.works:
            work.join()

    def ask(self) -> None:
        for number in itertools.count():
            started = time.perf_counter()
            try:
                with Connection(self.server.address, LIGHT_TIMEOUT_S) as connection:
                    answer = connection.json("/api/v2/search", **self.light(number))
                is_answered = answer["complete"] and answer["total"] > 0
            except Exception:  # Whatever it is, the client has no answer.
                is_answered = False
            self.unanswered += not is_answered
            took_ms = 1e3 * (time.perf_counter() - started)
            self.times_ms.append(took_ms if is_answered else max(took_ms, 1e3 * LIGHT_TIMEOUT_S))
            if self.stop.wait(0.005):
                break

    def look(self) -> None:
        while not self.stop.wait(0.1):
            with contextlib.suppress(OSError, KeyError):
                self.anonymous = max(self.anonymous, self.server.status("RssAnon"))
                self.threads = max(self.threads, self.server.status("Threads"))
                self.descriptors = max(self.descriptors, self.server.descriptors())

    def measures(self, memory_mib: int) -> Iterator[Measure]:
        """Yields what other clients notice, and what the server takes."""
        times = self.times_ms if len(self.times_ms) > 1 else self.times_ms * 2
        yield at_most(f"{self.what}: light queries, p99", quantiles(times)[1], LIGHT_P99_MS, "{:.0f} ms")
        yield at_most(f"{self.what}: light queries not answered", self.unanswered, 0)
        yield at_most(f"{self.what}: peak memory", self.anonymous >> 20, memory_mib, "{:,} MiB")
        yield Measure(f"{self.what}: threads", self.threads)
        yield Measure(f"{self.what}: descriptors", self.descriptors)


def released(server: servers.Server, what: str, before: int) -> Measure:
    """Waits until the sockets of the attack are closed."""
    started = time.perf_counter()
    while server.descriptors("socket:") > before + 8 and time.perf_counter() - started < 20:
        time.sleep(0.01)
    return at_most(f"{what}: released after", 1e3 * (time.perf_counter() - started), 1000, "{:.0f} ms")
