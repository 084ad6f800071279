"""A small HTTP/1.1 client, which adds less to a measured time than the one of the standard library. It sends the
headers of browsers, except in benchmarks."""

import json
import re
import socket
import typing
import urllib.parse
from collections.abc import Iterator

from . import browser_headers
from .browser_headers import Piece
from .tools import Failure

# Host and port.
Address = tuple[str, int]


class Answer(typing.NamedTuple):
    status: int
    head: bytes
    body: bytes

    def header(self, name: str) -> str | None:
        """Returns the value of a header in lower case, or None."""
        found = re.search(rb"\r\n" + name.encode() + rb": *(.*?)\r\n", self.head)
        return found and found[1].decode()


class Refused(Failure):
    """The status of an answer is not 200."""

    def __init__(self, path: str, answer: Answer) -> None:
        super().__init__(f"status {answer.status} for {path}: {answer.body[:300].decode(errors='replace')}")
        self.status = answer.status


class Connection:
    """A connection that stays open. Every answer is read to its end before the next request."""

    # A benchmark would measure compression, too.
    is_browser = True

    def __init__(self, address: Address, timeout_s: float = 120, cookie: str | None = None) -> None:
        self.address, self.cookie = address, cookie
        self.socket = socket.create_connection(address, timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def json(self, path: str, /, **parameters: object) -> typing.Any:
        return json.loads(self.get(path, **parameters))

    def get(self, path: str, /, **parameters: object) -> bytes:
        """Returns the body of an answer, whose status must be 200."""
        return b"".join(self.pieces(path, **parameters))

    def pieces(self, path: str, body: bytes | None = None, /, **parameters: object) -> list[Piece]:
        """Returns the body in the pieces in which it arrived, because joining them takes time."""
        status, head = self.send(path, body, **parameters)
        pieces = list(self.body(head))
        if status != 200:
            raise Refused(path, Answer(status, head, b"".join(pieces)))
        return pieces

    def answer(self, path: str, /, **parameters: object) -> Answer:
        """Returns an answer of any status."""
        status, head = self.send(path, **parameters)
        return Answer(status, head, b"".join(self.body(head)))

    def send(self, path: str, body: bytes | None = None, /, **parameters: object) -> tuple[int, bytes]:
        """Sends a request: a POST if it has a body. Returns status and head of the answer."""
        method, extra = "GET", self.browser_lines(path) + (f"Cookie: {self.cookie}\r\n" if self.cookie else "")
        if body is not None:
            method = "POST"
            extra += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        target = path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")
        host = "%s:%d" % self.address
        request = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n"
        self.socket.sendall(request.encode() + (body or b""))
        head = bytes(self.until(b"\r\n\r\n")).lower()
        return int(head.split()[1]), head

    def browser_lines(self, path: str) -> str:
        names = browser_headers.headers(path) if self.is_browser else {}
        return "".join(f"{name}: {value}\r\n" for name, value in names.items())

    def body(self, head: bytes) -> Iterator[Piece]:
        """Yields the pieces of a body as they arrive, decoded."""
        encoding = re.search(rb"\r\ncontent-encoding: *(\S+)", head)
        return browser_headers.decoded(encoding and encoding[1].decode(), self.encoded_body(head))

    def encoded_body(self, head: bytes) -> Iterator[Piece]:
        if found := re.search(rb"\r\ncontent-length: *(\d+)", head):
            yield self.take(int(found[1]))
            return
        while length := int(self.until(b"\r\n"), 16):
            yield self.take(length)
            self.until(b"\r\n")
        self.until(b"\r\n")

    def until(self, end: bytes) -> bytearray:
        while (at := self.buffer.find(end)) < 0:
            received = self.socket.recv(64 << 10)
            if not received:
                raise ConnectionError(f"{self.address}: the server closed the connection")
            self.buffer += received
        return self.take(at + len(end))

    def take(self, length: int) -> bytearray:
        """Returns `length` bytes, and receives those that have not arrived yet in their place."""
        taken = self.buffer[:length]
        del self.buffer[:length]
        if (have := len(taken)) < length:
            taken += bytes(length - have)
            rest = memoryview(taken)[have:]
            while rest:
                received = self.socket.recv_into(rest)
                if not received:
                    raise ConnectionError(f"{self.address}: the server closed the connection")
                rest = rest[received:]
        return taken
