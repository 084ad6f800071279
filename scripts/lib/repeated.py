"""Clients that send one request again and again, and note when the answer changes."""

import collections
import http.client
import itertools
import threading
import time
import typing

from . import browser_headers
from .connection import Address

ALLOWED, DENIED, NEW = "user=ann", "user=eve", "user=new{}"

CLIENTS = {
    "public": ("/raw/p/open_1/x.c", "user=bob"),
    "allowed": ("/raw/p/closed_1/x.c", ALLOWED),
    "search": ("/api/v2/search?q=needle", ALLOWED),
    "denied": ("/raw/p/closed_1/x.c", DENIED),
    "new": ("/api/v2/search?q=needle", NEW),
}
EVERY_S = 0.05


class Seen(typing.NamedTuple):
    """What a client got in a phase of so many seconds: how often, when that changed, and the longest time for one."""
    counts: collections.Counter[str]
    changes: list[tuple[float, str]]
    slowest: float
    seconds: float

    def describe(self) -> str:
        shown = ", ".join(f"{what} from {at:.1f} s" for at, what in self.changes)
        return f"{self.counts.total():6} answers  slowest {self.slowest * 1000:7.0f} ms  {shown}"

    def last(self, what: str) -> float:
        """Until when it got this, in seconds."""
        ends = [at for at, _ in self.changes[1:]] + [self.seconds]
        return max((end for (_, got), end in zip(self.changes, ends) if got == what), default=0.0)

    def since(self, what: str) -> float:
        """From when on it got nothing else."""
        at, got = self.changes[-1]
        return at if got == what else self.seconds


class Client(threading.Thread):
    def __init__(self, address: Address, name: str) -> None:
        super().__init__(daemon=True)
        self.address, (self.path, self.cookie) = address, CLIENTS[name]
        self.lock, self.ends = threading.Lock(), False
        self.begin_phase()

    def begin_phase(self) -> None:
        with self.lock:
            self.began, self.slowest = time.monotonic(), 0.0
            self.counts: collections.Counter[str] = collections.Counter()
            self.changes: list[tuple[float, str]] = []

    def seen(self) -> Seen:
        with self.lock:
            seconds = time.monotonic() - self.began
            return Seen(self.counts.copy(), list(self.changes), self.slowest, seconds)

    def run(self) -> None:
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        for number in itertools.count():
            if self.ends:
                return
            started = time.monotonic()
            headers = browser_headers.headers(self.path) | {"cookie": self.cookie.format(number)}
            connection.request("GET", self.path, headers=headers)
            response = connection.getresponse()
            body, took = browser_headers.body(response), time.monotonic() - started
            is_part = b'"complete":false' in body
            what = f"{response.status}{' of public' * is_part}"
            with self.lock:
                # An answer that was on its way when the phase began belongs to the one before.
                if started >= self.began:
                    if not self.changes or self.changes[-1][1] != what:
                        self.changes.append((time.monotonic() - self.began, what))
                    self.counts[what] += 1
                    self.slowest = max(self.slowest, took)
            time.sleep(EVERY_S)
