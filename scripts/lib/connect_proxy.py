"""An HTTP proxy that leads every host of a CONNECT request to one address, for clients that cannot name a port."""

import contextlib
import socket
import threading

from .connection import Address

PIECE_BYTES = 1 << 16


class ConnectProxy:
    """Listens on a free port, and forwards to `target`."""

    def __init__(self, target: Address) -> None:
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address: Address = self.listener.getsockname()
        threading.Thread(target=self.accept, daemon=True).start()

    def __str__(self) -> str:
        return "http://%s:%d" % self.address

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(PIECE_BYTES)
            if not piece:
                return
            head += piece
        server = socket.create_connection(self.target)
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=forward, args=(client, server), daemon=True).start()
        forward(server, client)


def forward(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE_BYTES):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
