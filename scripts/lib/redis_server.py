"""A redis-server that can be killed, frozen, wiped and filled with foreign data, and a proxy that slows it."""

import contextlib
import signal
import socket
import subprocess
import threading
import time
import typing
from collections.abc import Iterator

from . import tools

# What Trawl calls its entries.
KEYS = b"trawl:1:*"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Redis:
    """A redis-server on one port, however often it is started."""

    def __init__(self, directory: tools.AnyPath) -> None:
        self.port, self.directory = free_port(), directory
        self.start()

    def start(self) -> None:
        options = ["--port", self.port, "--bind", "127.0.0.1", "--save", "", "--dir", self.directory]
        command = [*tools.need("redis-server"), *map(str, options)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(200):
            with contextlib.suppress(OSError):
                self.ask(b"PING")
                return
            time.sleep(0.05)
        raise tools.Failure("redis-server does not start")

    def ask(self, *words: bytes) -> list[bytes]:
        """Sends a command, and returns the strings of its answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            parts = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
            connection.sendall(b"*%d\r\n%s" % (len(words), parts))
            reader = connection.makefile("rb")
            return list(self.strings(reader))

    def strings(self, reader: typing.BinaryIO) -> Iterator[bytes]:
        line = reader.readline()
        if line[:1] == b"$":
            yield reader.read(int(line[1:]) + 2)[:-2]
        elif line[:1] == b"*":
            for _ in range(int(line[1:])):
                yield from self.strings(reader)

    def foreign(self) -> None:
        """Puts garbage and lists in place of what the frontends have written."""
        for number, key in enumerate(self.ask(b"KEYS", KEYS)):
            if number % 2:
                self.ask(b"SET", key, b"somebody else's", b"KEEPTTL")
            else:
                self.ask(b"DEL", key)
                self.ask(b"LPUSH", key, b"a list")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


class Proxy:
    """Passes bytes on to a port; those that come back after `delay` seconds."""

    def __init__(self, to: int) -> None:
        self.to, self.delay = to, 0.0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.to), timeout=5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            for source, sink, is_late in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.pass_on, args=(source, sink, is_late), daemon=True).start()

    def pass_on(self, source: socket.socket, sink: socket.socket, is_late: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_late and self.delay:
                    time.sleep(self.delay)
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
