"""`bench server`: running servers, asked over a connection that stays open.

Every measurement starts a new server with an empty spool, so that no result cache has the answer. A
query with other context lines first brings text and index into memory. The server's counter of
started queries proves that the measured query was executed, and that its repetition was not.
"""

import contextlib
import functools
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

from .. import ripgrep, servers, tools
from ..table import Ratios, Wrong, interleaved, load, medians, row
from ..zoekt import Zoekt, zoekt_server
from . import SERVED, SPOOL_BYTES, binaries, indexes

STARTED = "trawl_frontend_queries_started_total"


# Columns of a row, and the text of an export.
Measured = tuple[Sequence[float], bytes]


def main(corpus: str, runs: int, baseline: str | None) -> list[str]:
    with contextlib.ExitStack() as stack:
        work = stack.enter_context(tools.workspace())
        reference = ripgrep.Reference(corpus)
        trawls = binaries(baseline)
        built = indexes(trawls, corpus, work)
        zoekt = stack.enter_context(zoekt_server(corpus, work))
        print(f"milliseconds for all matches; {load()}")
        columns = [*trawls, *(["ratio"] if baseline else []), "stream", "spool"]
        row("query", ["lines", *columns, *(["zoekt", "zoekt lines", "zoekt/trawl"] if zoekt else [])])
        ratios = Ratios()
        wrong: list[str] = []
        for mode, text in SERVED:
            contenders: dict[str, Callable[[], Measured]] = {
                name: functools.partial(cold, trawl, built[name], work, mode, text) for name, trawl in trawls.items()}
            if zoekt:
                contenders["zoekt"] = functools.partial(of_zoekt, zoekt, mode, text)
            results = interleaved(contenders, runs)
            _, export = results["trawl"][0]
            if not reference.agrees(mode, text, export):
                wrong.append(text)
            times = {name: medians([seconds for seconds, _ in results[name]]) for name in trawls}
            name, this = f"{mode[0]} {text}", times["trawl"]
            lines = export.count(b"\n")
            cells = [f"{lines:,}", *(f"{1e3 * times[each][0]:.2f}" for each in trawls)]
            if baseline:
                cells.append(ratios.add(name, this[0], times["baseline"][0]))
                ratios.add(f"{name}, from the spool", this[2], times["baseline"][2])
            cells += [f"{1e3 * this[1]:.2f}", f"{1e3 * this[2]:.2f}"]
            if zoekt:
                peer, peer_lines = medians([found for found, _ in results["zoekt"]])
                cells += [f"{1e3 * peer:.2f}", f"{peer_lines:,.0f}", f"{peer / this[0]:.2f}"]
            row(name, cells, "  WRONG" if text in wrong else "")
        ratios.finish()
        first_match(built["trawl"], runs)
        return wrong


def cold(trawl: str, index: str, work: str, mode: str, text: str) -> Measured:
    """Returns the seconds until the last match, those of the stream of a page, those from the spool, and the export."""
    with tempfile.TemporaryDirectory(dir=work) as spool, servers.serve(
            trawl, index, spool, *SPOOL_BYTES) as server:
        export_all(server, mode, text, context=1)
        before = server.metric(STARTED)
        elapsed, export = export_all(server, mode, text)
        again, _ = export_all(server, mode, text)
        executions = server.metric(STARTED) - before
        if executions != 1:
            raise Wrong(f"{text}: {executions:.0f} executions for two exports, expected 1")
        # Pages are made of matches, which an export as text does not keep.
        answer = server.search(q=text, mode=mode, context=0, per_page=1)
        if not answer["complete"]:
            raise Wrong(f"{text}: incomplete: {answer['missing']}")
        return (elapsed, answer["timings"]["stream_ms"] / 1e3, again), export


def of_zoekt(zoekt: Zoekt, mode: str, text: str) -> Measured:
    """Returns the seconds that all matches take and their number, and no export."""
    return zoekt.all(mode, text), b""


def export_all(server: servers.Server, mode: str, text: str, context: int = 0) -> tuple[float, bytes]:
    """Returns the seconds that an export takes, and its text."""
    started = time.perf_counter()
    pieces = server.connection.pieces(
        "/api/v2/export", q=text, mode=mode, context=context, format="text")
    return time.perf_counter() - started, b"".join(pieces)


def first_match(index: str, runs: int) -> None:
    """Measures the time from the request to the first match inside the backend."""
    tools.need("cargo")
    subprocess.run(["cargo", "bench", "--quiet", "--locked", "-p", "backend", "--bench", "first_match",
                    "--", index, str(runs)], cwd=tools.ROOT, check=True)
