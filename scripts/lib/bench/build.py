"""`bench build`: what building an index takes, for trawl and for codesearch."""

import os
import shutil
from collections.abc import Mapping, Sequence

from .. import tools
from ..table import interleaved, load, medians, row


def main(corpus: str, runs: int) -> None:
    with tools.workspace() as work:
        index, csearch_index = os.path.join(work, "index"), os.path.join(work, "csearchindex")
        env = dict(os.environ, CSEARCHINDEX=csearch_index)
        contenders = {"trawl index": lambda: built(index_command(index, corpus), index, env)}
        if tools.have("cindex"):
            contenders["cindex"] = lambda: built(["cindex", corpus], csearch_index, env)
        print(load())
        row("", ["seconds", "peak MB", "CPU seconds", "size MB"])
        for name, results in interleaved(contenders, runs).items():
            seconds, peak, cpu, size = medians(results)
            row(name, [f"{seconds:.2f}", f"{peak / 1e6:.0f}", f"{cpu:.2f}", f"{size / 1e6:.1f}"])


def index_command(index: str, corpus: str, *flags: str) -> list[str]:
    return [tools.trawl(), "index", "--each", "--no-ignore", "--index", index, *flags, corpus]


def built(command: Sequence[str], made: str, env: Mapping[str, str] | None = None) -> tuple[float, int, float, int]:
    """Builds an index anew. Returns seconds, peak bytes, CPU seconds, and bytes of the index."""
    if os.path.isdir(made):
        shutil.rmtree(made)
    elif os.path.exists(made):
        os.remove(made)
    return *tools.measured(command, env=env), size(made)


def size(path: str) -> int:
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(entry.stat().st_size for entry in os.scandir(path))
