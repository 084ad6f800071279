"""`bench growth`: what grows with the corpus, and how fast.

The corpus once, 4 and 16 times, until the disk is too small. Every text of a copy gets a last line of its own, so that
no text is stored once for several. An exponent of 1 means: in proportion to the corpus; of 0: the same for any corpus.
"""

import math
import os
import random
import shutil
import statistics
import time
from collections.abc import Iterable, Iterator

from .. import servers, tools
from ..connection import Connection
from ..table import Wrong, load, row
from . import nested
from .build import index_command, size

FACTORS = [1, 4, 16]
# A factor is left out if it would leave less than this on the disk.
FREE_BYTES = 10 << 30
# Bytes on the disk for each byte of text: itself, its index, and sorted runs while it is built.
BYTES_PER_BYTE = 2.7
LIGHT, COMMON = 200, 5
COLUMNS = ["text MB", "index MB", "build s", "build CPU s", "build MiB", "light ms", "common ms", "serve MiB"]


def main(corpus: str, _runs: int) -> list[str]:
    rows: list[tuple[float, ...]] = []
    with tools.workspace() as work:
        copies = os.path.join(work, "copies")
        print(f"{load()}; `serve MiB` is without mapped pages")
        row("times the corpus", COLUMNS)
        salts: list[list[str]] = []
        for factor in FACTORS:
            text = sum(os.path.getsize(path) for path in regular(corpus))
            if shutil.disk_usage(work).free < factor * text * BYTES_PER_BYTE + FREE_BYTES:
                print(f"{factor}: left out: the disk has {shutil.disk_usage(work).free / 1e9:.0f} GB")
                break
            while len(salts) < factor:
                salts.append(salted(corpus, os.path.join(copies, str(len(salts))), len(salts)))
            rows.append((factor, *measured(copies, work, salts)))
            row(str(factor), [f"{value:,.1f}" for value in rows[-1][1:]])
    if len(rows) > 1:
        row("exponent", [f"{exponent([(each[0], each[at]) for each in rows]):.2f}" for at in range(1, len(rows[0]))])
    return []


def regular(directory: str) -> Iterator[str]:
    for at, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(at, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def salted(corpus: str, copy: str, number: int) -> list[str]:
    """Copies a corpus, with a last line of its own in each text. Returns what these lines say."""
    salts: list[str] = []
    for path in regular(corpus):
        package, _, rest = os.path.relpath(path, corpus).partition(os.sep)
        target = os.path.join(copy, f"{package}~{number}", rest) if rest else os.path.join(copy, package)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(path, "rb") as file:
            text = file.read()
        if b"\0" not in text[:8000]:
            salts.append(f"salt{number}z{len(salts)}q")
            text += f"\n{salts[-1]}\n".encode()
        with open(target, "wb") as file:
            file.write(text)
    return salts


def measured(copies: str, work: str, salts: list[list[str]]) -> tuple[float, ...]:
    index, spool = os.path.join(work, "index"), os.path.join(work, "spool")
    packages = [os.path.join(copies, str(number)) for number in range(len(salts))]
    seconds, peak, cpu = tools.measured(index_command(index, *packages))
    with servers.serve(tools.trawl(), index, spool) as server, Connection(server.address) as connection:
        chosen = random.Random(1).sample([salt for some in salts for salt in some], LIGHT)
        light = [asked(connection, f'"{salt}"', "keyword", 1) for salt in chosen]
        common = [asked(connection, nested("return", depth), "regexp", len(salts)) for depth in range(1, COMMON + 1)]
        memory = server.status("RssAnon")
    text = sum(os.path.getsize(path) for path in regular(copies))
    result = (text / 1e6, size(index) / 1e6, seconds, cpu, peak / 2**20, statistics.median(light),
              statistics.median(common), memory / 2**20)
    shutil.rmtree(index)
    shutil.rmtree(spool)
    return result


def asked(connection: Connection, query: str, mode: str, total_multiple_of: int) -> float:
    """Returns the milliseconds until the first page of a complete answer."""
    started = time.perf_counter()
    answer = connection.json("/api/v2/search", q=query, mode=mode, context=0)
    elapsed = 1e3 * (time.perf_counter() - started)
    if not answer["complete"] or not answer["total"] or answer["total"] % total_multiple_of:
        raise Wrong(f"{query}: {answer['total']} lines")
    return elapsed


def exponent(points: Iterable[tuple[float, float]]) -> float:
    """Returns the slope of a line through the logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    return statistics.linear_regression(*zip(*logs)).slope
