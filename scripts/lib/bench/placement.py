"""`bench placement`: which of 1,000 nodes has which of 100,000 shards, and what changes when nodes do.

The program that measures compares each map that was changed with one that was computed from nothing.
"""

import re

from .. import tools
from ..table import Goals

SHARDS, NODES = 100_000, 1_000

# What a computation and a change may take, and how many of the bytes a fifth node may move.
COMPUTED_MS_MAX, CHANGED_MS_MAX, MOVED_MAX = 1_000, 50, 25


def main() -> int:
    tools.need("cargo")
    command = ["cargo", "bench", "-q", "--locked", "-p", "cluster", "--bench", "placement", "--", SHARDS, NODES]
    table = Goals()
    for line in tools.run(command, text=True).stdout.splitlines():
        moved = re.fullmatch(r"(.*) moves (\S+) % of the bytes", line)
        if moved:
            table.row(f"{moved[1]} moves", float(moved[2]), "{} % of bytes", at_most=MOVED_MAX)
            continue
        took = re.fullmatch(r"(.*): (\S+) ms", line)
        assert took, line
        bound = CHANGED_MS_MAX if line.startswith(" ") else COMPUTED_MS_MAX
        table.row(took[1], float(took[2]), "{:.1f} ms", at_most=bound)
    return table.finish()
