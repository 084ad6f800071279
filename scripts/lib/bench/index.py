"""`bench index`: sizes of blocks, and layouts of posting lists."""

import functools
import os
import re
import subprocess

from .. import tools
from ..table import interleaved, load, medians, row
from . import QUERIES, search
from .build import built, index_command

BLOCK_SIZES = [1024, 2048, 4096, 8192]


def main(corpus: str, runs: int) -> list[str]:
    tools.need("cargo")
    with tools.workspace() as work:
        indexes = {size: os.path.join(work, f"index-{size}") for size in BLOCK_SIZES}
        print(load())
        row("block size", [f"{size:,}" for size in indexes])
        builds = interleaved({
            size: functools.partial(built, index_command(made, corpus, "--block-size", str(size)), made)
            for size, made in indexes.items()}, runs)
        of_sizes = [medians(builds[size]) for size in indexes]
        row("trawl index, seconds", [f"{seconds:.2f}" for seconds, _, _, _ in of_sizes])
        row("  CPU seconds", [f"{cpu:.2f}" for _, _, cpu, _ in of_sizes])
        row("  peak MB", [f"{peak / 1e6:.0f}" for _, peak, _, _ in of_sizes])
        row("index without text, x text", [f"{beside_text(made):.4f}" for made in indexes.values()])
        print("trawl search, milliseconds; text verified")
        out = os.path.join(work, "out")
        wrong = [text for mode, text in QUERIES if not compare_searches(indexes, mode, text, runs, out)]
        compare_codecs(indexes, runs)
        return wrong


def beside_text(index: str) -> float:
    """Returns the size of an index of one shard without its text, as a share of the text."""
    shown = tools.run([tools.trawl(), "inspect", "--index", index], text=True)
    [share] = re.findall(r"^  file .* (\S+) x text$", shown.stdout, re.MULTILINE)
    return float(share) - 1


def compare_searches(indexes: dict[int, str], mode: str, text: str, runs: int, out: str) -> bool:
    """Prints the times of a query on every index, and returns whether all answers are equal."""
    answers: set[int] = set()

    def measure(made: str) -> tuple[float, int, float]:
        used = tools.measured(search(tools.trawl(), made, mode, text), out, (0, 1))
        with open(out, "rb") as file:
            answers.add(hash(file.read()))
        return used

    results = interleaved(
        {size: functools.partial(measure, made) for size, made in indexes.items()}, runs)
    times = [medians(results[size]) for size in indexes]
    row(f"{mode[0]} {text}", [f"{1e3 * seconds:.1f}" for seconds, _, _ in times],
        "" if len(answers) == 1 else "  WRONG: answers differ")
    # Steadier than the time on a busy machine.
    row("  CPU", [f"{1e3 * cpu:.1f}" for _, _, cpu in times])
    row("  verified", [verified(made, mode, text) for made in indexes.values()])
    return len(answers) == 1


def verified(index: str, mode: str, text: str) -> str:
    """Returns how much text a search verifies."""
    command = search(tools.trawl(), index, mode, text, "--explain")
    explained = tools.run(command, (0, 1), stdout=subprocess.DEVNULL, text=True).stderr
    found = re.search(r"^blocks verified: .*\), (.*?);", explained, re.MULTILINE)
    assert found, explained
    return found[1]


def compare_codecs(indexes: dict[int, str], runs: int) -> None:
    """Prints the sizes of posting lists in other layouts, and how long candidates take to evaluate."""
    queries = [word for query in QUERIES for word in query]
    results: dict[str, dict[int, list[float]]] = {}
    for size, made in indexes.items():
        command = ["cargo", "bench", "--quiet", "--locked", "-p", "index", "--bench", "codecs", "--",
                   "--index", made, "--runs", runs, *queries]
        for line in tools.run(command, cwd=tools.ROOT, text=True).stdout.splitlines():
            name, *cells = line.split("\t")
            results.setdefault(name, {})[size] = [float(cell) for cell in cells]
    print("all posting lists, MB")
    for name, columns in results.items():
        row(name, [f"{cells[0] / 1e6:.1f}" for cells in columns.values()])
    print("candidates evaluated, microseconds")
    for number, (mode, text) in enumerate(QUERIES, start=1):
        for name, columns in results.items():
            row(f"{mode[0]} {text[:15]:16}{name}",
                [f"{cells[number]:.0f}" for cells in columns.values()])
