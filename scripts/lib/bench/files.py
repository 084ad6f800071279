"""`bench files`: every matching line, written to a file: by ripgrep, a running server, and one process of trawl."""

import functools
import itertools
import os
from collections.abc import Callable, Iterator

from .. import ripgrep, servers, tools
from ..table import interleaved, load, medians, row
from . import SPOOL_BYTES, indexes, nested, search

# A word of every hundredth line, a line end of every sixth, and a letter of most lines.
PATTERNS = ["return", ";$", "e"]

# More lines than these are counted, and not compared one by one.
COMPARED_MAX = 3_000_000

# The order in which matches are printed.
ORDERS: dict[str, list[str]] = {"ordered": [], "as found": ["--sort", "none"]}


def main(corpus: str, runs: int) -> list[str]:
    trawl = tools.trawl()
    wrong: list[str] = []
    with tools.workspace() as work:
        reference = ripgrep.Reference(corpus)
        index = indexes({"trawl": trawl}, corpus, work)["trawl"]
        spool = os.path.join(work, "spool")
        with servers.serve(trawl, index, spool, *SPOOL_BYTES) as server:
            print(f"milliseconds until all lines are in a file, and of ripgrep's; {load()}")
            places = [f"{place}, {order}" for place in ("server", "index") for order in ORDERS]
            row("pattern", ["lines", "rg", *itertools.chain.from_iterable((place, "of rg") for place in places)])
            for pattern in PATTERNS:
                depth = itertools.count(1)
                commands: dict[str, Callable[[], list[str]]] = {"rg": functools.partial(of_ripgrep, pattern, corpus)}
                for order, flags in ORDERS.items():
                    commands[f"server, {order}"] = functools.partial(of_server, trawl, server, pattern, depth, *flags)
                    commands[f"index, {order}"] = functools.partial(search, trawl, index, "regexp", pattern, *flags)
                out = {name: os.path.join(work, f"out-{name}") for name in commands}
                results = interleaved({name: functools.partial(measured, command, out[name])
                                       for name, command in commands.items()}, runs)
                seconds = {name: medians(each)[0] for name, each in results.items()}
                lines = check(reference, pattern, out)
                if lines is None:
                    wrong.append(pattern)
                cells = [f"{lines or 0:,}", f"{1e3 * seconds['rg']:.0f}"]
                for place in places:
                    cells += [f"{1e3 * seconds[place]:.0f}", f"{seconds[place] / seconds['rg']:.2f}"]
                row(pattern, cells, "  WRONG" if lines is None else "")
    return wrong


def of_ripgrep(pattern: str, corpus: str) -> list[str]:
    return [*ripgrep.command("regexp", pattern), corpus]


def of_server(trawl: str, server: servers.Server, pattern: str, depth: Iterator[int], *flags: str) -> list[str]:
    """Returns a command of the next depth: a server has an answer to a pattern that was searched before."""
    pattern = nested(pattern, next(depth))
    return [trawl, "search", *flags, "--server", str(server), "--mode", "regexp", "--", pattern]


def measured(command: Callable[[], list[str]], out: str) -> tuple[float, int, float]:
    return tools.measured(command(), out, (0, 1))


def check(reference: ripgrep.Reference, pattern: str, out: dict[str, str]) -> int | None:
    """Returns how many lines each of the files has; `None` if they do not have the same."""
    texts = {name: counted(path) for name, path in out.items()}
    lines, size = texts["server, ordered"]
    if any(counts != (lines, size) for name, counts in texts.items() if name != "rg"):
        return None
    if lines > COMPARED_MAX:
        return lines if lines == searched(reference, out["rg"]) else None
    with open(out["server, ordered"], "rb") as file:
        return lines if reference.agrees("regexp", pattern, file.read()) else None


def searched(reference: ripgrep.Reference, path: str) -> int:
    """Returns how many lines of ripgrep's output are of files that are not binary."""
    binary = {os.path.join(os.fsencode(reference.corpus), name) for name in reference.binary}
    with open(path, "rb") as file:
        return sum(line.partition(b":")[0] not in binary for line in file)


def counted(path: str) -> tuple[int, int]:
    """Returns the number of lines and of bytes in a file."""
    lines = size = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            lines, size = lines + piece.count(b"\n"), size + len(piece)
    return lines, size
