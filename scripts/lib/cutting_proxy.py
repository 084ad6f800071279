"""A proxy in front of backends, which cuts or freezes the answer to a search after some bytes.

It forwards bytes and looks only at the headers of frames that a frontend sends: the length (4 bytes, little endian) and
the kind of the frame.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable

from .connection import Address

SEARCH, HEADER_BYTES, PIECE_BYTES = 2, 16, 1 << 16


class Fault:
    """What happens to the answer to the next search, whichever backend answers it: after `after_bytes` the connection
    is closed (`then` is called first), or nothing more is forwarded."""

    def __init__(self, after_bytes: int, freezes: bool = False,
                 then: Callable[["Proxy"], object] | None = None) -> None:
        self.left, self.freezes, self.then = after_bytes, freezes, then
        self.happened = threading.Event()


class Faults:
    """The fault of the next search."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.next: Fault | None = None

    def set(self, fault: Fault) -> Fault:
        with self.lock:
            self.next = fault
        return fault

    def take(self) -> Fault | None:
        with self.lock:
            fault, self.next = self.next, None
            return fault


class Proxy:
    """Listens on a free port, and forwards to `backend`, an address that may change."""

    def __init__(self, backend: Address, faults: Faults) -> None:
        self.backend, self.faults = backend, faults
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address: Address = self.listener.getsockname()
        threading.Thread(target=self.accept, daemon=True).start()

    def __str__(self) -> str:
        return "%s:%d" % self.address

    def accept(self) -> None:
        while True:
            frontend, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(frontend,), daemon=True).start()

    def serve(self, frontend: socket.socket) -> None:
        with frontend, contextlib.suppress(OSError), socket.create_connection(self.backend) as backend:
            for each in frontend, backend:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            current: list[Fault | None] = []
            requests = threading.Thread(target=self.requests, args=(frontend, backend, current), daemon=True)
            requests.start()
            self.answers(backend, frontend, current)
            for each in frontend, backend:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def requests(self, frontend: socket.socket, backend: socket.socket, current: list[Fault | None]) -> None:
        """Forwards requests, and takes the next fault for a search."""
        buffer = bytearray()
        with contextlib.suppress(OSError):
            while piece := frontend.recv(PIECE_BYTES):
                buffer += piece
                while len(buffer) >= HEADER_BYTES:
                    length, kind = struct.unpack_from("<IB", buffer)
                    end = HEADER_BYTES + length
                    if len(buffer) < end:
                        break
                    if kind == SEARCH:
                        current[:] = [self.faults.take()]
                    backend.sendall(buffer[:end])
                    del buffer[:end]
            backend.shutdown(socket.SHUT_RDWR)

    def answers(self, backend: socket.socket, frontend: socket.socket, current: list[Fault | None]) -> None:
        """Forwards answers until the connection ends or a fault happens."""
        while piece := backend.recv(PIECE_BYTES):
            fault = current[0] if current else None
            if fault is None:
                frontend.sendall(piece)
                continue
            passed, fault.left = piece[:fault.left], fault.left - len(piece)
            frontend.sendall(passed)
            if fault.left > 0:
                continue
            if fault.then:
                fault.then(self)
            fault.happened.set()
            if not fault.freezes:
                return
            while backend.recv(PIECE_BYTES):
                pass
