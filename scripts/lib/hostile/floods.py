"""Many clients at once, against a frontend with synthetic backends."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from .. import servers, tools
from ..bench.overload import target
from ..connection import Connection
from .attackers import HALF, Bystander, allow_descriptors, close, get, released, send
from .table import Measure, at_least

BACKENDS = 4
MEMORY_MIB = 64
# What a frontend takes besides the memory for its queries: code, threads, connections, small caches.
BASE_MIB = 250

READERS, HALF_OPEN = 1000, 1000
EXPORTED_EACH = 250_000
HEAVY, HEAVY_EACH = 50, 250_000

STREAMS = 10_000
STREAMS_S = 10
# The most that a stream takes beside the memory for queries.
STREAM_KIB = 32


def light(number: int) -> dict[str, object]:
    return {"q": f"matches 1 seed {3_000_000 + number}", "mode": "literal", "context": 0, "per_page": 1}


@contextlib.contextmanager
def frontend(binary: str) -> Iterator[servers.Server]:
    with (tools.workspace() as spool, servers.synthetic_backends(BACKENDS) as backends,
          servers.frontend(binary, backends, spool, "--memory", f"{MEMORY_MIB}M") as server):
        server.search(q="matches 1 seed 0", mode="literal", context=0)
        yield server


def everything(binary: str, seconds: float) -> Iterator[Measure]:
    what = f"{READERS:,} slow, {HALF_OPEN:,} half-open, {HEAVY} heavy, {seconds} s"
    path = target(EXPORTED_EACH, 7).replace("/api/v2/search", "/api/v2/export")
    export = get(path.replace("&per_page=1", "&format=text"))
    stop = threading.Event()

    def ask(seed: int) -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError, ValueError), Connection(server.address, 30) as connection:
                connection.answer(target(HEAVY_EACH, 100 + seed))
            stop.wait(0.1)

    allow_descriptors(4 * (READERS + HALF_OPEN))
    with frontend(binary) as server:
        before = server.descriptors("socket:")
        with ThreadPoolExecutor(HEAVY) as pool:
            heavy = [pool.submit(ask, seed) for seed in range(HEAVY)]
            held = [send(server.address, number, request) for number in range(READERS)
                    for request in (export, HALF)]
            with Bystander(server, light, what) as seen:
                time.sleep(seconds)
            stop.set()
            close(held)
            for each in heavy:
                each.result()
        yield from seen.measures(MEMORY_MIB + BASE_MIB)
        yield released(server, what, before)


def idle_streams(binary: str) -> Iterator[Measure]:
    """Clients that follow a search in which nothing is found for a while."""
    what = f"{STREAMS:,} idle event streams"
    request = get(f"/api/v2/events?q=matches+0+seed+1+hold+{3 * STREAMS_S}&mode=literal&context=0")
    allow_descriptors(2 * STREAMS)
    with frontend(binary) as server:
        before = server.descriptors("socket:")
        streams = [send(server.address, number, request) for number in range(STREAMS)]
        with Bystander(server, light, what) as seen:
            time.sleep(STREAMS_S)
        yield at_least(f"{what}: are followed", sum(map(follows, filter(None, streams))), STREAMS)
        yield from seen.measures(MEMORY_MIB + BASE_MIB + STREAMS * STREAM_KIB // 1024)
        close(streams)
        yield released(server, what, before)


def follows(stream: socket.socket) -> bool:
    """Returns whether events have arrived, and the stream goes on."""
    stream.settimeout(5)
    with contextlib.suppress(OSError):
        head = stream.recv(64 << 10)
        return b" 200" in head[:16] and b"event-stream" in head.lower()
    return False
