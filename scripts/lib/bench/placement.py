"""`bench placement`: which of 1,000 nodes has which of 100,000 shards, and what a fifth node moves."""

import re

from .. import tools
from ..table import Goals

SHARDS, NODES = 100_000, 1_000

# What a computation may take, and how many of the bytes a fifth node may move.
COMPUTED_MS_MAX, MOVED_MAX = 1_000, 25


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
        table.row(took[1], float(took[2]), "{:.1f} ms", at_most=COMPUTED_MS_MAX)
    return table.finish()
