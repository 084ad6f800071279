"""Sources that are attacked, and servers of them."""

import contextlib
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping

from .. import servers, tools

PACKAGES = 40
FILES = 5
LINES = 5000
MATCHES = PACKAGES * FILES * LINES

# A line that takes long to match.
LONG_LINE_BYTES = 100_000

MEMORY_MIB = 64


def write(root: str, files: Mapping[str, str | bytes]) -> str:
    """Writes files, given by path and text."""
    for path, text in files.items():
        file = pathlib.Path(root, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(root)


def generate(root: str) -> None:
    """Writes a million lines that all have `needle`, each with a number of its own, and one long line."""
    number = 0
    for package in range(PACKAGES):
        for file in range(FILES):
            lines = range(number, number + LINES)
            text = "".join(f"id{line:07} needle {line * 7919 % 1000:03} {'and other words ' * 4}\n" for line in lines)
            write(root, {f"p{package:02}_1/f{file}.c": text})
            number += LINES
    # It has the trigrams of the patterns that are searched in it.
    write(root, {"long_1/z.c": "zzE " + "z" * LONG_LINE_BYTES + "\n"})


class Corpus:
    """Sources and, for each binary, its index of them."""

    def __init__(self, work: str) -> None:
        self.work, self.sources = work, os.path.join(work, "S")
        self.indexes: dict[str, str] = {}
        generate(self.sources)

    def index(self, binary: str) -> str:
        if binary not in self.indexes:
            out = os.path.join(self.work, f"I{len(self.indexes)}")
            tools.run([binary, "index", "--each", "--out", out, self.sources])
            self.indexes[binary] = out
        return self.indexes[binary]

    @contextlib.contextmanager
    def serve(self, binary: str, *flags: object) -> Iterator[servers.Server]:
        """A server of the corpus, with little memory for searches."""
        memory = ("--search-memory", f"{MEMORY_MIB}M")
        with (tools.workspace() as spool,
              servers.serve(binary, self.index(binary), spool, *memory, *flags) as server):
            server.search(q="id0000000", mode="literal")
            yield server


@contextlib.contextmanager
def served(binary: str, sources: Iterable[str], *flags: object, each: bool = False) -> Iterator[servers.Server]:
    """A server of a few files."""
    with tools.workspace() as work:
        out = os.path.join(work, "I")
        tools.run([binary, "index", *(["--each"] if each else []), "--out", out, *sources])
        with servers.serve(binary, out, os.path.join(work, "spool"), *flags) as server:
            yield server


def small(root: str) -> str:
    """Writes a package whose matches are near to each other, and one of three pages of matches."""
    numbers = dict.fromkeys(range(1, 40), "")
    numbers |= {7: " needle", 9: " needle", 19: " needle", 14: " void needle() {"}
    return write(f"{root}/small_1.0", {
        "context.c": "".join(f"line {line}{text}\n" for line, text in numbers.items()),
        "many.c": "".join(f"many {line}\n" for line in range(30)),
    })
