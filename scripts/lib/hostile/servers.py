"""Attacks on a server: slow, half-open and foreign clients, one long line, searches that clients share."""

import contextlib
import os
import resource
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from .. import servers, tools
from ..connection import Connection
from . import corpus as sources
from .attackers import HALF, Bystander, allow_descriptors, close, get, peek, released, send
from .table import Measure, at_most, equal, yes

# What a server takes besides the memory for its queries: code, threads, connections, small caches.
BASE_MIB = 250
MEMORY_MIB = sources.MEMORY_MIB + BASE_MIB

EXPORTS = 40
# More than there are threads for blocking work.
READERS = 700
HALF_OPEN, HALF_OPEN_DESCRIPTORS = 300, 256
# A request must be complete, or is ended, within this time.
HEAD_S = 10

LONG_LINES = 10
# Takes about a second, over all lines.
SLOW = r"needle (\d+) (and other words ){4}$"


def light(number: int) -> dict[str, object]:
    """Parameters of a search with one match, another one for each number."""
    return {"q": f"id{number * 17 % sources.MATCHES:07}", "mode": "literal", "context": 0, "per_page": 1}


class ServerRows:
    """Rows that attack a server of one corpus."""

    def __init__(self, corpus: sources.Corpus) -> None:
        self.corpus = corpus

    def exports(self, binary: str) -> Iterator[Measure]:
        what = f"{EXPORTS} exports of a million matches, unread"
        export = get("/api/v2/export?q=needle&mode=literal&context=0&format=jsonl")
        with self.corpus.serve(binary) as server:
            server.search(q="needle", mode="literal", context=0, per_page=1)
            yield from self.unread(server, what, [export] * EXPORTS)

    def slow_readers(self, binary: str) -> Iterator[Measure]:
        what = f"{READERS} exports of 25,000 matches, unread"
        with self.corpus.serve(binary) as server:
            query = {"q": "needle package:p07", "context": 0}
            server.search(**query, per_page=1)
            export = get("/api/v2/export?q=needle+package:p07&context=0&format=text")
            yield from self.unread(server, what, [export] * READERS)

    def unread(self, server: servers.Server, what: str, requests: list[bytes], seconds: float = 6) -> Iterator[Measure]:
        before = server.descriptors("socket:")
        allow_descriptors(4 * len(requests))
        with Bystander(server, light, what) as seen:
            readers = [send(server.address, number, request) for number, request in enumerate(requests)]
            time.sleep(seconds)
            refused = sum(b" 503" in peek(reader) for reader in filter(None, readers))
        yield from seen.measures(MEMORY_MIB)
        yield Measure(f"{what}: refused with 503", refused)
        close(readers)
        yield released(server, what, before)

    def long_lines(self, binary: str) -> Iterator[Measure]:
        what = f"{LONG_LINES} searches in a line of 100 kB"

        def ask(number: int) -> float:
            started = time.perf_counter()
            with Connection(server.address, 60) as connection:
                connection.answer("/api/v2/search", q=f"z{{{90_000 + number},}}E", mode="regexp",
                                  timeout="1")
            return time.perf_counter() - started

        with self.corpus.serve(binary) as server:
            with (Bystander(server, light, what) as seen, ThreadPoolExecutor(LONG_LINES) as pool):
                slowest = max(pool.map(ask, range(LONG_LINES)))
            yield at_most(f"{what}, timeout=1: slowest answer", slowest, 2, "{:.1f} s")
            used = server.cpu_s()
            time.sleep(3)
            yield at_most(f"{what}: a core works on afterwards", server.cpu_s() - used, 0.1, "{:.1f} s")
            yield from seen.measures(MEMORY_MIB)

    def half_open(self, binary: str) -> Iterator[Measure]:
        what = f"{HALF_OPEN} half-open requests, {HALF_OPEN_DESCRIPTORS} files"
        self.corpus.index(binary)
        with contextlib.ExitStack() as stack:
            with few_descriptors():
                server = stack.enter_context(self.corpus.serve(binary))
            started = time.perf_counter()
            held = [send(server.address, number, HALF) for number in range(HALF_OPEN)]
            with Bystander(server, light, what) as seen:
                time.sleep(4)
            yield from seen.measures(MEMORY_MIB)
            for connection in filter(None, held):
                connection.settimeout(max(0.01, started + HEAD_S + 1 - time.perf_counter()))
                with contextlib.suppress(OSError):
                    connection.recv(1)
            yield at_most(f"{what}: ended within", time.perf_counter() - started, HEAD_S + 0.5, "{:.1f} s")
            close(held)

    def shared_searches(self, binary: str) -> Iterator[Measure]:
        what = "DELETE by another client of the same search"
        query = {"q": SLOW, "mode": "regexp", "context": 0, "per_page": 1}
        with self.corpus.serve(binary) as server:
            mine, theirs = (server.search(**query, wait="false")["id"] for _ in range(2))
            with socket.create_connection(server.address, timeout=5) as other:
                request = f"DELETE /api/v2/search/{theirs} HTTP/1.1\r\nHost: localhost\r\n\r\n"
                other.sendall(request.encode())
                other.recv(16)
            answer = server.page(mine)
            yield yes(f"{what}: mine is complete", answer["complete"])
            yield equal(f"{what}: matches", answer["total"], sources.MATCHES)

    def stopped_search(self, binary: str) -> Iterator[Measure]:
        with self.corpus.serve(binary) as server:
            answer = server.search(q=SLOW, mode="regexp", context=0, per_page=1, timeout="400ms")
            if answer["complete"]:
                raise tools.Failure("the search was faster than its timeout")
            reached = answer.get("reached", answer["searched"])["documents"]
            yield yes("a search stopped by its timeout says what was searched", reached > 0)

    def full_disk(self, binary: str) -> Iterator[Measure]:
        with self.corpus.serve(binary) as server:
            # A file that may not grow fails as a full disk does.
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
            answer = server.search(q="needle", mode="literal", context=0, per_page=1)
            missing = [part["backend"] for part in answer["missing"]]
            yield equal("a full disk: what is missing", ", ".join(missing), "spool")


def foreign_host(binary: str, small: str) -> Iterator[Measure]:
    with sources.served(binary, [small]) as server, Connection(server.address) as connection:
        connection.socket.sendall(get("/api/v2/status", host="evil.example"))
        status = int(bytes(connection.until(b"\r\n\r\n")).split()[1])
        yield equal("a request for evil.example: status", status, 421)


def query_text_in_log(binary: str, small: str) -> Iterator[Measure]:
    secret = "somebodys_private_identifier"
    with tools.workspace() as work, tempfile.TemporaryFile() as log:
        tools.run([binary, "index", "--out", f"{work}/I", small])
        command = [binary, "serve", "--index", f"{work}/I", "--spool", f"{work}/spool",
                   "--slow-query", "0", *servers.LISTEN]
        with servers.running(command, level="info", stderr=log) as process:
            server = servers.Server(process)
            server.search(q=secret, mode="literal")
        log.seek(0)
        text = log.read().decode()
        yield yes("a slow query is logged", "slow query" in text)
        yield yes("a slow query is logged without its text", secret not in text)


def no_backend(binary: str, _: str) -> Iterator[Measure]:
    with tools.workspace() as spool, servers.frontend(binary, ["127.0.0.1:1"], spool) as frontend:
        answer = frontend.connection.answer("/api/v2/search", q="needle")
        yield equal("all backends dead: status", answer.status, 503)


def overlapping_context(binary: str, small: str) -> Iterator[Measure]:
    with sources.served(binary, [small]) as server:
        answer = server.search(q="needle", mode="literal", group="document", context=2, path="context")
        shown: list[int] = []
        for match in answer["groups"][0]["matches"]:
            context = match["context"]
            around = [*context["before"], {"line": match["line"]}, *context["after"]]
            shown += [line["line"] for line in around]
        yield yes("group=document, context: lines ascend", shown == sorted(shown))
        yield equal("group=document, context: lines shown twice", len(shown) - len(set(shown)), 0)


def names_without_version(binary: str, small: str) -> Iterator[Measure]:
    with tempfile.TemporaryDirectory() as alone:
        # Only directories of --each have versions.
        shutil.copytree(small, os.path.join(alone, os.path.basename(small)))
        yield from files_without_version(binary, alone)


def files_without_version(binary: str, directory: str) -> Iterator[Measure]:
    with sources.served(binary, [directory], each=True) as server:
        answer = server.connection.answer("/api/v2/file", package="small", path="context.c")
        yield equal("/file of a package without its version: status", answer.status, 200)
        answer = server.connection.answer("/show", package="small", path="context.c")
        yield yes("/show of a package without its version", answer.status in (200, 301, 302, 303, 307, 308))


def page_beyond_the_last(binary: str, small: str) -> Iterator[Measure]:
    with sources.served(binary, [small]) as server:
        pages = server.search(q="many", mode="literal")["pages"]
        page = server.connection.answer("/search", q="many", mode="literal", group="none", page=99999).body.decode()
        yield yes("a page beyond the last: the page counts as people do", f"{pages}." in page or
                  f"{pages} " in page)


def spool_bound(binary: str, small: str) -> Iterator[Measure]:
    with sources.served(binary, [small]) as server:
        spool_bytes = server.connection.json("/api/v2/limits")["server"]["spool_bytes"]
        yield at_most("the spool of a small index: bound", spool_bytes >> 20, 1024, "{:,} MiB")


@contextlib.contextmanager
def few_descriptors() -> Iterator[None]:
    """Processes that are started inside may open few files, unless they ask for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (HALF_OPEN_DESCRIPTORS, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
