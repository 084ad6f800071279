"""Takes a right away while its caller reads an event stream and an export, and says when the last private byte came.

The backend runs for moments only (SIGSTOP, SIGCONT), so that both searches last, and so nothing waits in buffers:
what arrives was sent just before.
"""

import contextlib
import os
import pathlib
import signal
import socket
import threading
import time
import typing

from . import servers, tools
from .connection import Address, Connection

# More than arrive in all pulses, so that no stream ends before its right.
LINES = 1_500_000
TTL_S = 4
# A denial that is known holds within a second.
KNOWN_MAX_S = 1.0
STREAMS_S = 2
END_MAX_S = 30
PAUSE_S, PULSE_MAX_S = 0.3, 0.05
PRIVATE, OTHER = b"closed_1", "/raw/p/closed_1/no.c"
STREAMS = {
    "event stream": "/api/v2/events?q=needle",
    "export": "/api/v2/export?q=pin&format=jsonl&order=found",
}


class Service(typing.Protocol):
    """An authorization service that can be told to deny."""

    url: str

    def revoke(self) -> object: ...


class Stream(threading.Thread):
    """Reads an answer as it arrives, and notes when something private came last."""

    def __init__(self, address: Address, path: str, cookie: str) -> None:
        super().__init__(daemon=True)
        self.socket = socket.create_connection(address, timeout=120)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode())
        self.bytes, self.tail = 0, b""
        self.private_at: float | None = None

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while received := self.socket.recv(1 << 20):
                if PRIVATE in self.tail[-len(PRIVATE):] + received:
                    self.private_at = time.monotonic()
                self.bytes += len(received)
                self.tail = (self.tail + received)[-2000:]
                if self.tail.endswith(b"\r\n0\r\n\r\n"):
                    return


class Pulses(threading.Thread):
    """Lets a process run until somebody gets more, and no longer than a moment, again and again."""

    def __init__(self, pid: int, stream: Stream) -> None:
        super().__init__(daemon=True)
        self.pid, self.stream, self.ends = pid, stream, threading.Event()

    def run(self) -> None:
        while not self.ends.is_set():
            had, until = self.stream.bytes, time.monotonic() + PULSE_MAX_S
            os.kill(self.pid, signal.SIGCONT)
            while self.stream.bytes == had and time.monotonic() < until:
                time.sleep(0.001)
            os.kill(self.pid, signal.SIGSTOP)
            self.ends.wait(PAUSE_S)
        os.kill(self.pid, signal.SIGCONT)


def measure(root: pathlib.Path, service: Service, cookie: str) -> list[str]:
    """Prints what came when, and returns what should not have been. `service` decides, and is told to deny."""
    trawl = tools.trawl()
    for package in ("open_1", "closed_1"):
        (root / "many" / package).mkdir(parents=True)
    (root / "many" / "open_1" / "x.c").write_text("a needle, a pin\n")
    with open(root / "many" / "closed_1" / "x.c", "w") as file:
        file.writelines(f"needle pin {line}\n" for line in range(LINES))
    index = tools.build_index(trawl, root / "many-index", [root / "many"], "--each")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        admin = free.getsockname()
    flags = ("--auth-url", service.url, "--public", "open", "--auth-ttl", TTL_S, "--admin-listen", "%s:%d" % admin)
    with (servers.backend(trawl, index) as backend,
          servers.frontend(trawl, [backend], root / "many-spool", *flags) as server, Connection(admin) as metrics):
        reader = Connection(server.address, cookie=cookie)
        streams = {name: Stream(server.address, path, cookie) for name, path in STREAMS.items()}
        pulses = Pulses(backend.pid, streams["export"])
        for thread in (*streams.values(), pulses):
            thread.start()
        try:
            return revoke(streams, service, metrics, reader)
        finally:
            pulses.ends.set()
            pulses.join()


def revoke(streams: dict[str, Stream], service: Service, metrics: Connection, reader: Connection) -> list[str]:
    """Takes the right away once the streams run. `reader` asks for another file meanwhile, and so learns the denial."""
    deadline = time.monotonic() + END_MAX_S
    while any(stream.private_at is None for stream in streams.values()) and time.monotonic() < deadline:
        time.sleep(0.01)
    until = time.monotonic() + STREAMS_S
    while time.monotonic() < until:
        reader.answer(OTHER)
    if not all(stream.is_alive() for stream in streams.values()):
        return ["a stream ended before the right was taken away"]
    service.revoke()
    revoked, known = time.monotonic(), None
    while known is None and time.monotonic() < revoked + END_MAX_S:
        reader.answer(OTHER)
        if b"\ntrawl_frontend_authorization_denials_total " in metrics.get("/metrics"):
            known = time.monotonic()
    if known is None:
        return [f"the denial was not known after {END_MAX_S} s"]
    print(f"right taken away; --auth-ttl {TTL_S}; the denial was known after {known - revoked:.2f} s")
    faults = []
    for name, stream in streams.items():
        stream.join(END_MAX_S)
        assert stream.private_at is not None
        last, has_reason = stream.private_at - known, b"/problems/access-changed" in stream.tail
        print(f"  {name:14} {stream.bytes / 1e6:6.1f} MB  last private byte {stream.private_at - revoked:6.2f} s after "
              f"the revocation, {last:6.2f} s after the denial was known; "
              f"{'ended with access-changed' if has_reason else 'NO REASON'}")
        if last > KNOWN_MAX_S or stream.is_alive() or not has_reason:
            faults.append(f"{name}: private bytes for {last:.1f} s after the denial was known, or no reason")
    return faults
