"""`bench files`: every matching line, written to a file: by ripgrep, from a running server, and from an index in one process."""

import itertools
import os

from . import SPOOL_BYTES, indexes, nested, search
from .. import ripgrep, servers, tools
from ..table import interleaved, load, medians, row

# A word of every hundredth line, a line end of every sixth, and a letter of most lines.
PATTERNS = ["return", ";$", "e"]

# More lines than these are counted, and not compared one by one.
COMPARED_MAX = 3_000_000

# The order in which matches are printed.
ORDERS = {"ordered": [], "as found": ["--sort", "none"]}


def main(corpus, runs):
    wrong, trawl = [], tools.trawl()
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
                commands = {"rg": lambda: [*ripgrep.command("regexp", pattern), corpus]}
                for order, flags in ORDERS.items():
                    # A server has an answer to a pattern that was searched before.
                    commands[f"server, {order}"] = lambda flags=flags: [
                        trawl, "search", *flags, "--server", str(server), "--mode", "regexp", "--", nested(pattern, next(depth))]
                    commands[f"index, {order}"] = lambda flags=flags: search(trawl, index, "regexp", pattern, *flags)
                out = {name: os.path.join(work, f"out-{name}") for name in commands}
                results = interleaved({name: lambda name=name: tools.measured(commands[name](), out[name], (0, 1))
                                       for name in commands}, runs)
                seconds = {name: medians(each)[0] for name, each in results.items()}
                lines = check(reference, pattern, out)
                if lines is None:
                    wrong.append(pattern)
                cells = [f"{lines or 0:,}", f"{1e3 * seconds['rg']:.0f}"]
                for place in places:
                    cells += [f"{1e3 * seconds[place]:.0f}", f"{seconds[place] / seconds['rg']:.2f}"]
                row(pattern, cells, "  WRONG" if lines is None else "")
    return wrong


def check(reference, pattern, out):
    """Returns how many lines each of the files has; `None` if they do not have the same."""
    texts = {name: counted(path) for name, path in out.items()}
    lines, size = texts["server, ordered"]
    if any(counts != (lines, size) for name, counts in texts.items() if name != "rg"):
        return None
    if lines > COMPARED_MAX:
        return lines if lines == searched(reference, out["rg"]) else None
    with open(out["server, ordered"], "rb") as file:
        return lines if reference.agrees("regexp", pattern, file.read()) else None


def searched(reference, path):
    """Returns how many lines of ripgrep's output are of files that are not binary."""
    binary = {os.path.join(os.fsencode(reference.corpus), name) for name in reference.binary}
    with open(path, "rb") as file:
        return sum(line.partition(b":")[0] not in binary for line in file)


def counted(path):
    """Returns the number of lines and of bytes in a file."""
    lines = size = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            lines, size = lines + piece.count(b"\n"), size + len(piece)
    return lines, size
