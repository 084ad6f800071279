"""Starts servers on free ports, and looks at them from outside: /metrics and /proc."""

import contextlib
import functools
import os
import re
import subprocess
import typing
from collections.abc import Iterable, Iterator

from . import tools
from .connection import Connection

LISTEN = ("--listen", "127.0.0.1:0")


# A server that is stopped or overloaded shows no metrics.
PANICS_WITHIN_S = 5


class Server:
    """A server process that has printed the address on which it listens."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process, self.pid = process, process.pid
        assert process.stdout
        line = process.stdout.readline().decode()
        found = re.search(r"(127\.0\.0\.1):(\d+)", line)
        if not found:
            raise tools.Failure(f"{self.command()} did not start: {line}")
        self.address, self.is_http = (found[1], int(found[2])), "http://" in line

    def __str__(self) -> str:
        return "%s:%d" % self.address

    def command(self) -> str:
        words = self.process.args
        return " ".join(map(str, words)) if isinstance(words, list) else str(words)

    @functools.cached_property
    def connection(self) -> Connection:
        return Connection(self.address)

    def search(self, **parameters: object) -> typing.Any:
        return self.connection.json("/api/v2/search", **parameters)

    def page(self, search_id: str, **parameters: object) -> typing.Any:
        return self.connection.json(f"/api/v2/search/{search_id}", **parameters)

    def metric(self, name: str) -> float:
        """Returns a counter or gauge, or 0 if it has not been set yet."""
        metrics = self.connection.get("/metrics").decode()
        found = re.search(rf"^{name} (\S+)$", metrics, re.M)
        return float(found[1]) if found else 0.0

    def check_panics(self) -> None:
        """Fails if the server has panicked. One that has ended, or needs a key for its metrics, is not asked."""
        if not self.is_http or self.process.poll() is not None:
            return
        with contextlib.suppress(OSError, ValueError), Connection(self.address, PANICS_WITHIN_S) as connection:
            answer = connection.answer("/metrics")
            if answer.status == 200 and b"\ntrawl_panics_total 0\n" not in answer.body:
                raise tools.Failure(f"{self.command()} has panicked")

    def cpu_s(self) -> float:
        """Returns the CPU seconds since the start, in steps of 10 ms."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status(self, field: str) -> int:
        """Returns a number of /proc/PID/status, with memory in bytes."""
        with open(f"/proc/{self.pid}/status") as file:
            words = dict(line.split(":", 1) for line in file)[field].split()
        return int(words[0]) * (1024 if words[1:] == ["kB"] else 1)

    def descriptors(self, prefix: str = "") -> int:
        """Returns how many file descriptors are open whose name starts with `prefix`."""
        count = 0
        for entry in os.scandir(f"/proc/{self.pid}/fd"):
            # A descriptor may be closed between the listing and the look at it.
            with contextlib.suppress(FileNotFoundError):
                count += os.readlink(entry.path).startswith(prefix)
        return count


@contextlib.contextmanager
def running(command: Iterable[object], level: str = "error",
            stderr: int | typing.IO[bytes] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process, which is terminated at the end. Its log has lines of `level` and above."""
    env = dict(os.environ, TRAWL_LOG=level)
    # SIGXFSZ stays ignored, so that a file that may not grow is an error of the write.
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=stderr,
                               env=env, restore_signals=False)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def started(command: Iterable[object]) -> Iterator[Server]:
    with running(command) as process:
        server = Server(process)
        yield server
        server.check_panics()


def backend(trawl: tools.AnyPath, index: tools.AnyPath, *flags: object,
            listen: str = "127.0.0.1:0") -> contextlib.AbstractContextManager[Server]:
    return started([trawl, "backend", "--index", index, "--listen", listen, *flags])


def serve(trawl: tools.AnyPath, index: tools.AnyPath, spool: tools.AnyPath,
          *flags: object) -> contextlib.AbstractContextManager[Server]:
    return started([trawl, "serve", "--index", index, "--spool", spool, *LISTEN, *flags])


def frontend(trawl: tools.AnyPath, backends: Iterable[object], spool: tools.AnyPath,
             *flags: object) -> contextlib.AbstractContextManager[Server]:
    named = [word for backend in backends for word in ("--backend", backend)]
    return started([trawl, "frontend", *named, "--spool", spool, *LISTEN, *flags])


@contextlib.contextmanager
def synthetic_backends(count: int, line_bytes: int = 100, per_document: int = 50) -> Iterator[list[Server]]:
    """Backends that send as many matches as a query says: `matches N seed S`."""
    program = tools.testkit() / "synthetic_backend"
    options = ["--line-bytes", line_bytes, "--per-document", per_document]
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(started([program, "--shard", shard, *options]))
               for shard in range(count)]


def drain(address: object, mode: str, pattern: str, context: int) -> tuple[float, ...]:
    """Reads one answer of a backend. Returns ms to the first match and to END, bytes, and matches."""
    program = tools.RELEASE / "drain"
    done = tools.run([program, address, mode, pattern, context], text=True)
    return tuple(float(word) for word in done.stdout.split())
