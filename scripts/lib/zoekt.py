"""The server of zoekt, if it is installed."""

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator

from . import tools
from .connection import Address, Connection
from .ripgrep import escape
from .servers import running

UNLIMITED = 1 << 30


@contextlib.contextmanager
def zoekt_server(corpus: str, work: str) -> Iterator["Zoekt | None"]:
    """A zoekt server over a corpus, or None if zoekt is not installed."""
    if not tools.have("zoekt-index", "zoekt-webserver"):
        yield None
        return
    indexer, webserver = tools.need("zoekt-index", "zoekt-webserver")
    index = os.path.join(work, "zoekt")
    tools.run([indexer, "-index", index, "-disable_ctags", "-file_limit", UNLIMITED,
               "-max_trigram_count", UNLIMITED, *tools.packages(corpus)])
    with socket.create_server(("127.0.0.1", 0)) as free:
        address: Address = free.getsockname()
    with running([webserver, "-index", index, "-rpc", "-listen", "%s:%d" % address]):
        yield Zoekt(connected(address), address)


def connected(address: Address, patience_s: float = 60) -> Connection:
    """Returns a connection to a server that is starting."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return Connection(address)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise tools.Failure(f"{address}: no server after {patience_s} s") from None
            time.sleep(0.1)


class Zoekt:
    def __init__(self, connection: Connection, address: Address) -> None:
        self.connection, self.address = connection, address

    def __str__(self) -> str:
        return "%s:%d" % self.address

    def all(self, mode: str, text: str, also: str = "") -> tuple[float, int]:
        """Returns the seconds that all matches take, and the number of lines. The query ends with `also`."""
        pattern = text if mode == "regexp" else escape(text)
        pattern = pattern.replace("\\", "\\\\").replace('"', '\\"')
        limits = ("ShardMaxMatchCount", "TotalMaxMatchCount", "ShardRepoMaxMatchCount", "MaxDocDisplayCount")
        options = dict.fromkeys(limits, UNLIMITED) | {"MaxWallTime": 600 * 10**9}
        body = json.dumps({"Q": f'case:yes content:"{pattern}"{also}', "Opts": options}).encode()
        started = time.perf_counter()
        answer = self.connection.pieces("/api/search", body)
        elapsed = time.perf_counter() - started
        files = json.loads(b"".join(answer))["Result"]["Files"] or []
        return elapsed, sum(len(file["LineMatches"]) for file in files)
