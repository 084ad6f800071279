"""`bench web`: how long a page of results takes, at the server and in a browser, and how many bytes it has.

At the server: pages of ten files, whose searches are over, with and without kept colours. In a browser (the packages of
`web/browser_tests`; without them these rows are left out): from Enter to the first match on the screen of a server that
has not seen the query, and what happens in the page while matches stream in.
"""

import gzip
import html
import json
import os
import re
import shutil
import statistics
import subprocess
import time
import typing

from .. import servers, tools
from ..connection import Connection
from ..table import Goals, Wrong, quantiles

BROWSER = str(tools.ROOT / "web" / "browser_tests")

# Words that many files have, so that the best ten files of each are others.
WORDS = """malloc strlen socket buffer length offset config parse render encode decode mutex thread signal window
    token header client server request response timeout retry cache hash table queue stack tree node list array string
    format print debug error warning usage version license copyright""".split()
# The same page again, with kept colours.
AGAIN = 5
KEPT_MS, READ_MS = 5, 25
GZIP_RATIO, ASSETS_KB = 2, 60
# The queries of the browser, as a person types them, and how they are read. The first one finds nothing: what it takes
# is the time of the browser and of the machine, with which the others are to be compared.
TYPED = [("no_such_word_anywhere_2", "keyword"), ("XCreateWindow", "keyword"), ("arse", "keyword"),
         ("return", "keyword"), (";$", "regexp")]
FIRST_MATCH_MS, TASK_MS, HEAP_MB = 100, 50, 20
BLOCKING = re.compile(rb'<link rel="stylesheet"|<script(?![^>]*type="module")')
COLOURED = re.compile(rb'<span class="c-\w">([^<]*)</span>')


def main(index: str, runs: int = 3) -> int:
    trawl, table = tools.trawl(), Goals()
    with table.rows("server"), tools.workspace() as spool, servers.serve(trawl, index, spool) as server:
        at_server(table, server.connection)
    if not os.path.isdir(os.path.join(BROWSER, "node_modules")):
        print("the browser is not measured: run scripts/ci/browser_tests once, which fetches its packages")
        return table.finish()
    with table.rows("browser"):
        rounds = []
        for _ in range(runs):
            with tools.workspace() as spool, servers.serve(trawl, index, spool) as server:
                rounds.append(in_browser(server))
        show(table, rounds)
    return table.finish()


def at_server(table: Goals, connection: Connection) -> None:
    read: list[float] = []
    kept: list[float] = []
    ratios: list[float] = []
    for word in WORDS:
        # The search itself is not measured.
        connection.json("/api/v2/search", q=word, per_page=1)
        times = [timed(connection, word) for _ in range(AGAIN + 1)]
        read.append(times[0][0])
        kept += [ms for ms, _ in times[1:]]
        page = times[0][1]
        ratios.append(len(gzip.compress(page)) / len(gzip.compress(COLOURED.sub(rb"\1", page))))
    for what, took, at_most in (("read for it", read, READ_MS), ("kept", kept, KEPT_MS)):
        p50, p99 = quantiles(took)
        table.row(f"page of ten files, colours {what}: p50", p50, "{:.1f} ms")
        table.row(f"page of ten files, colours {what}: p99", p99, "{:.1f} ms", at_most=at_most)
    table.row("gzip of a page, times that without colours", statistics.median(ratios), "{:.2f}", at_most=GZIP_RATIO)
    _, page = timed(connection, "arse")
    table.row("different files on page 1 of arse", len(files(page)), "{}", at_least=10)
    table.row("gzip of page 1 of arse", len(gzip.compress(page)) / 1000, "{:.1f} kB")
    table.row("files that block the first paint", len(BLOCKING.findall(page)), "{}", at_most=1)
    table.row("gzip of style and scripts", assets(connection, page) / 1000, "{:.1f} kB", at_most=ASSETS_KB)


def timed(connection: Connection, word: str) -> tuple[float, bytes]:
    """Returns the milliseconds that a page took, and the page."""
    started = time.perf_counter()
    page = connection.get("/search", q=word)
    ms = (time.perf_counter() - started) * 1000
    if b"<mark>" not in page:
        raise Wrong(f"the page of {word} shows no match")
    return ms, page


def files(page: bytes) -> set[str]:
    """Returns the files to which a page leads."""
    links = re.findall(rb'href="/show\?([^"]*)"', page)
    named = (re.match(r"(package=[^&]*&path=[^&]*)", html.unescape(link.decode())) for link in links)
    return {name[1] for name in named if name}


def assets(connection: Connection, page: bytes) -> int:
    """Returns the bytes that a browser loads with a page, compressed."""
    found = re.findall(rb'(?:href|src)="(/assets/[^"]*\.(?:css|js|svg))"', page)
    wanted, total = [path.decode() for path in found], 0
    seen: set[str] = set()
    while wanted:
        path = wanted.pop()
        if path in seen:
            continue
        seen.add(path)
        body = connection.get(path)
        total += len(gzip.compress(body))
        folder = path.rpartition("/")[0]
        wanted += [f"{folder}/{name.decode()}" for name in re.findall(rb"""from '\./([\w.]+)'""", body)]
    return total


def in_browser(server: servers.Server) -> typing.Any:
    """Measures each query once, in one browser."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        raise Wrong("there is no browser: install chromium, or set CHROMIUM")
    command = ["node", os.path.join(BROWSER, "measure.js"), f"http://{server}", json.dumps(TYPED)]
    done = subprocess.run(command, env=dict(os.environ, CHROMIUM=chromium), capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Wrong(f"measure.js: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def show(table: Goals, rounds: list[typing.Any]) -> None:
    for at, (query, _) in enumerate(TYPED):
        each = [measured[at] for measured in rounds]
        first = statistics.median(one["first_ms"] for one in each)
        if at == 0:
            table.row("a word in no file: Enter to the page that says so", first, "{:.0f} ms")
            continue
        table.row(f"{query}: Enter to the first match", first, "{:.0f} ms", at_most=FIRST_MATCH_MS)
        task = statistics.median(one["task_ms"] for one in each)
        table.row(f"{query}: longest task", task, "{:.0f} ms", at_most=TASK_MS)
        shift = max(one["shift"] for one in each)
        table.row(f"{query}: layout shift", shift, "{:.3f}", at_most=0)
        heap = statistics.median(one["heap_bytes"] for one in each) / 1e6
        table.row(f"{query}: growth of the heap while it runs", heap, "{:.1f} MB", at_most=HEAP_MB)
